/* Convolutions and pools, which walk every place of every window and owe nothing to the evaluator's index maps. */
#include "float_run.h"

#include <assert.h>
#include <math.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Every (x, weight, output) triple of a convolution adds x * w to the output: the terms of each of the three
 * results are gathered by walking all triples, which owes nothing to the evaluator's index maps.  They are the same in
 * every run of a case, so they are found once. */
typedef struct terms {
   uint32_t *left, *right; /* elements of the operands */
   uint64_t count, room;
} terms_t;

struct float_plan {
   const rkb_program_t *program;
   terms_t **terms; /* by node, then output element; NULL until a convolution asks */
};

float_plan_t *float_plan_new(const rkb_program_t *program) {
   float_plan_t *plan = calloc(1, sizeof *plan);
   assert(plan);
   plan->program = program;
   plan->terms = calloc(program->node_count + 1, sizeof *plan->terms);
   assert(plan->terms);
   return plan;
}

void float_plan_free(float_plan_t *plan) {
   for (uint32_t n = 0; n < plan->program->node_count; n++) {
      uint64_t outputs = plan->program->values[plan->program->nodes[n].output].elements;
      for (uint64_t i = 0; plan->terms[n] && i < outputs; i++) {
         free(plan->terms[n][i].left);
         free(plan->terms[n][i].right);
      }
      free(plan->terms[n]);
   }
   free(plan->terms);
   free(plan);
}

static void add_term(terms_t *t, uint64_t left, uint64_t right) {
   if (t->count == t->room) {
      t->room = t->room ? 2 * t->room : 16;
      t->left = realloc(t->left, t->room * sizeof *t->left);
      t->right = realloc(t->right, t->room * sizeof *t->right);
      assert(t->left && t->right);
   }
   t->left[t->count] = (uint32_t)left;
   t->right[t->count++] = (uint32_t)right;
}

/* at becomes the place after it, the last dim running fastest. */
static void next_place(const rkb_shape_t *shape, int64_t *at) {
   for (uint32_t d = shape->rank; d-- > 0;) {
      if (++at[d] < shape->size[d])
         return;
      at[d] = 0;
   }
}

static terms_t *find_terms(const rkb_program_t *program, const rkb_program_node_t *node) {
   const char *name = node->operation->name;
   bool input = IS("convolution_input"), weight = IS("convolution_weight");
   uint32_t vx = input ? node->output : node->inputs[0], vw = weight ? node->output : node->inputs[1];
   uint32_t vy = input ? node->inputs[0] : weight ? node->inputs[1] : node->output;
   const rkb_shape_t *x = rkb_program_shape(program, vx), *w = rkb_program_shape(program, vw),
                     *y = rkb_program_shape(program, vy);
   uint32_t spatial = (uint32_t)node->integers[0];
   int64_t groups = node->integers[1], at_y[RKB_MAX_RANK], at_w[RKB_MAX_RANK], at_x[RKB_MAX_RANK];
   uint64_t of_channel =
      program->values[vw].elements / (uint64_t)w->size[0]; /* weights that a channel of y sees */
   terms_t *terms = calloc(program->values[node->output].elements, sizeof *terms);
   assert(terms);
   for (uint64_t p = 0; p < program->values[vy].elements; p++) {
      rkb_shape_split(y, p, at_y);
      uint64_t first = (uint64_t)at_y[1] * of_channel;
      rkb_shape_split(w, first, at_w);
      for (uint64_t q = first; q < first + of_channel; q++, next_place(w, at_w)) {
         at_x[0] = at_y[0];
         at_x[1] = at_y[1] / (w->size[0] / groups) * w->size[1] + at_w[1];
         bool inside = true;
         for (uint32_t d = 0; d < spatial; d++) {
            const int64_t *of_dim = node->integers + 2 + 3 * d;
            at_x[2 + d] = at_y[2 + d] * of_dim[0] - of_dim[1] + at_w[2 + d] * of_dim[2];
            inside &= at_x[2 + d] >= 0 && at_x[2 + d] < x->size[2 + d];
         }
         if (!inside)
            continue;
         uint64_t r = rkb_shape_join(x, at_x), to = input ? r : weight ? q : p;
         add_term(&terms[to], input ? p : r, weight ? p : q);
      }
   }
   return terms;
}

void float_convolve(float_run_t *run, const rkb_program_node_t *node, double *out) {
   uint64_t outputs = run->program->values[node->output].elements, longest = 0;
   terms_t **terms = &run->plan->terms[node - run->program->nodes];
   if (!*terms)
      *terms = find_terms(run->program, node);
   const double *left = float_operand(run, node, 0), *right = float_operand(run, node, 1);
   for (uint64_t i = 0; i < outputs; i++)
      longest = (*terms)[i].count > longest ? (*terms)[i].count : longest;
   float_factors_t a = float_factors_new(longest), b = float_factors_new(longest);
   for (uint64_t i = 0; i < outputs; i++) {
      const terms_t *t = &(*terms)[i];
      for (uint64_t j = 0; j < t->count; j++) {
         float_set_factor(run, &a, j, left[t->left[j]]);
         float_set_factor(run, &b, j, right[t->right[j]]);
      }
      out[i] = float_flushed(run, float_dot(run, i, a, b, t->count));
   }
   free(a.high);
   free(b.high);
}

/* Pools: windows found by walking every (output, kernel place). */

void float_pool(float_run_t *run, const rkb_program_node_t *node, double *out) {
   const char *name = node->operation->name;
   bool backward = strstr(name, "gradient") != NULL, largest = strncmp(name, "max", 3) == 0;
   uint32_t vx = backward ? node->output : node->inputs[0], vy = backward ? node->inputs[0] : node->output;
   const double *xs = backward ? (largest ? float_operand(run, node, 1) : NULL) : float_operand(run, node, 0);
   const rkb_shape_t *x = rkb_program_shape(run->program, vx), *y = rkb_program_shape(run->program, vy);
   uint32_t spatial = (uint32_t)node->integers[0];
   uint64_t kernel = 1;
   for (uint32_t d = 0; d < spatial; d++)
      kernel *= (uint64_t)node->integers[3 + 4 * d];
   uint64_t *places = malloc(kernel * sizeof *places);
   assert(places);
   for (uint64_t i = 0; backward && i < run->program->values[vx].elements; i++)
      out[i] = 0;
   for (uint64_t p = 0; p < run->program->values[vy].elements; p++) {
      int64_t at[RKB_MAX_RANK], in[RKB_MAX_RANK];
      uint64_t found = 0, counted = 0;
      rkb_shape_split(y, p, at);
      in[0] = at[0], in[1] = at[1];
      for (uint64_t k = 0; k < kernel; k++) {
         uint64_t rest = k;
         bool inside = true, padded = true;
         for (uint32_t d = spatial; d-- > 0;) {
            const int64_t *of_dim = node->integers + 3 + 4 * d;
            in[2 + d] = at[2 + d] * of_dim[1] - of_dim[2] + (int64_t)(rest % (uint64_t)of_dim[0]) * of_dim[3];
            rest /= (uint64_t)of_dim[0];
            inside &= in[2 + d] >= 0 && in[2 + d] < x->size[2 + d];
            padded &= in[2 + d] < x->size[2 + d] + of_dim[2];
         }
         counted += padded;
         if (inside)
            places[found++] = rkb_shape_join(x, in);
      }
      float divisor = (float)(node->integers[2] ? counted : found), sum = 0;
      uint64_t best = 0;
      for (uint64_t k = 0; k < found; k++) {
         if (xs && (xs[places[k]] > xs[places[best]] || isnan(xs[places[k]])))
            best = k;
         sum += xs ? (float)xs[places[k]] : 0;
      }
      float grad = backward ? (float)float_operand(run, node, 0)[p] : 0;
      if (!backward)
         out[p] = largest ? xs[places[best]] : (double)(sum / divisor);
      else if (largest)
         out[places[best]] = (float)out[places[best]] + grad;
      else
         for (uint64_t k = 0; k < found; k++)
            out[places[k]] = (float)out[places[k]] + grad / divisor;
   }
   free(places);
}
