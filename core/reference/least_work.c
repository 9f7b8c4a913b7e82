/* Computes the least arithmetic that a case needs.  Behind a causal mask, half of the scores are thrown away and half of the shares
 * are exact zeros; those scores, and products with those zeros, need not be computed.  Two passes over the program find such
 * triangles in the last two dims: the forward pass finds values known without arithmetic, the backward pass finds elements that
 * are read.  Where a triangle is not recognised, everything counts.  So the number may be too large for a clever kernel, as it
 * is for Winograd's method.  One thread. */
#include "reference/least_work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/name_table.h"
#include "base/memory.h"
#include "reference/operation.h"

/* The value of the elements outside the triangle. */
enum outside { ANYTHING, ZERO, MINUS_INFINITY, SOME_CONSTANT };

/* The elements of the last two dims with column - row <= diagonal (upper: >=).  limited false: all elements. */
typedef struct triangle {
   bool limited, upper;
   int64_t diagonal;
} triangle_t;

typedef struct analysis {
   const rkb_program_t *program;
   triangle_t *known,
      *needed; /* by value: outside of `known` the value is what `outside` says; outside of `needed` nobody reads it */
   uint8_t *outside; /* enum outside */
   bool *read;
} analysis_t;

static bool same(triangle_t a, triangle_t b) {
   return a.limited == b.limited && (!a.limited || (a.upper == b.upper && a.diagonal == b.diagonal));
}

static triangle_t transposed(triangle_t t) {
   return (triangle_t){t.limited, !t.upper, -t.diagonal};
}

/* The share of a value's elements that lie in the triangle. */
static double share_of(const rkb_program_t *program, uint32_t value, triangle_t t) {
   const rkb_shape_t *shape = rkb_program_shape(program, value);
   if (!t.limited || shape->rank < 2)
      return 1;
   const int64_t rows = shape->size[shape->rank - 2], columns = shape->size[shape->rank - 1];
   double inside = 0;
   for (int64_t row = 0; row < rows; row++) {
      int64_t count = t.upper ? columns - (row + t.diagonal) : row + t.diagonal + 1;
      inside += (double)(count < 0 ? 0 : count > columns ? columns : count);
   }
   return inside / ((double)rows * (double)columns);
}

/* Whether two values have the same last two dims. */
static bool same_matrices(const rkb_program_t *program, uint32_t a, uint32_t b) {
   const rkb_shape_t *x = rkb_program_shape(program, a), *y = rkb_program_shape(program, b);
   return x->rank >= 2 && y->rank >= 2 && x->size[x->rank - 1] == y->size[y->rank - 1] &&
          x->size[x->rank - 2] == y->size[y->rank - 2];
}

/* Carries a triangle over a node that moves elements, in either direction; unlimited where the result is no triangle. */
static triangle_t moved(const rkb_program_t *program, const rkb_program_node_t *node, triangle_t t) {
   const rkb_shape_t *shape = rkb_program_shape(program, node->output);
   const char *name = node->operation->name;
   const uint32_t rank = shape->rank;
   if (rkb_same_name(name, "reshape") && same_matrices(program, node->inputs[0], node->output))
      return t;
   if (rkb_same_name(name, "permute") && rank >= 2) {
      const int64_t *from = node->integers;
      if (from[rank - 2] == rank - 2 && from[rank - 1] == rank - 1)
         return t;
      if (from[rank - 2] == rank - 1 && from[rank - 1] == rank - 2)
         return transposed(t);
   }
   return (triangle_t){0};
}

static bool is_one_of(const char *name, const char *const *names) {
   while (*names && !rkb_same_name(*names, name))
      names++;
   return *names != NULL;
}

/* Finds what is known of an elementwise node's output: zeros stay zero where the operation keeps them. */
static void know_elementwise(analysis_t *a, const rkb_program_node_t *node) {
   static const char *const keep_zero[] = {"mul_scalar", "div_scalar", "neg", "relu",
                                           "abs",        "allowance",  NULL};
   const uint32_t x = node->inputs[0], out = node->output;
   const char *name = node->operation->name;
   const bool factor = rkb_same_name(name, "mul"), quotient = rkb_same_name(name, "div");
   for (uint32_t j = 0; j < node->input_count && (factor || (quotient && j == 0)); j++) {
      const uint32_t operand = node->inputs[j];
      if (a->outside[operand] == ZERO && same_matrices(a->program, operand, out)) {
         a->known[out] = a->known[operand];
         a->outside[out] = ZERO;
         return;
      }
   }
   if (!a->known[x].limited || !same_matrices(a->program, x, out))
      return;
   const bool both = (rkb_same_name(name, "add") || rkb_same_name(name, "sub")) && a->outside[x] == ZERO &&
                     a->outside[node->inputs[1]] == ZERO && same(a->known[x], a->known[node->inputs[1]]);
   if (both || node->input_count == 1 || rkb_same_name(name, "allowance")) {
      a->known[out] = a->known[x];
      a->outside[out] = both || (a->outside[x] == ZERO && is_one_of(name, keep_zero)) ? ZERO : SOME_CONSTANT;
   }
}

static void know(analysis_t *a, const rkb_program_node_t *node) {
   const uint32_t out = node->output, x = node->inputs[0];
   const char *name = node->operation->name;
   if (rkb_same_name(name, "triangle")) {
      a->known[out] = (triangle_t){true, node->integers[1] != 0, node->integers[0]};
      a->outside[out] = node->reals[0] == 0           ? ZERO
                        : node->reals[0] == -INFINITY ? MINUS_INFINITY
                                                      : SOME_CONSTANT;
   } else if (node->operation->point) {
      know_elementwise(a, node);
   } else if (node->input_count == 1 && a->known[x].limited) {
      const bool along_rows =
         node->integer_count && rkb_program_shape(a->program, out)->rank == (uint32_t)node->integers[0] + 1;
      if (rkb_same_name(name, "softmax") && along_rows && a->outside[x] == MINUS_INFINITY) {
         a->known[out] = a->known[x];
         a->outside[out] = ZERO;
      } else if ((a->known[out] = moved(a->program, node, a->known[x])).limited) {
         a->outside[out] = a->outside[x];
      }
   }
}

/* The part of a value that has to be computed. */
static triangle_t live(const analysis_t *a, uint32_t value) {
   return a->known[value].limited ? a->known[value] : a->needed[value];
}

static void need(analysis_t *a, const rkb_program_node_t *node) {
   const triangle_t output = live(a, node->output);
   const bool alike = node->operation->point || rkb_same_name(node->operation->name, "triangle");
   for (uint32_t j = 0; j < node->input_count; j++) {
      const uint32_t x = node->inputs[j];
      triangle_t wanted = alike && same_matrices(a->program, x, node->output) ? output
                          : output.limited && node->input_count == 1 ? moved(a->program, node, output)
                                                                     : (triangle_t){0};
      if (a->read[x] && !same(a->needed[x], wanted))
         wanted = (triangle_t){0};
      a->needed[x] = wanted;
      a->read[x] = true;
   }
}

/* For a product, terms with a known zero drop out; for other operations, elements that nobody reads. */
static double work_of(const analysis_t *a, const rkb_program_node_t *node) {
   double share = share_of(a->program, node->output, live(a, node->output));
   for (uint32_t j = 0; node->operation->depth && j < 2 && share == 1; j++)
      if (a->outside[node->inputs[j]] == ZERO)
         share = share_of(a->program, node->inputs[j], a->known[node->inputs[j]]);
   if (rkb_same_name(node->operation->name, "sum") && a->outside[node->inputs[0]] == ZERO)
      share = share_of(a->program, node->inputs[0], a->known[node->inputs[0]]);
   return share * node->operation->work(a->program, node);
}

void rkb_least_operations(const rkb_program_t *program, double *operations) {
   const uint32_t count = program->value_count + 1;
   analysis_t a = {program, rkb_allocate(count, sizeof *a.known), rkb_allocate(count, sizeof *a.needed),
                   rkb_allocate(count, sizeof *a.outside), rkb_allocate(count, sizeof *a.read)};
   *operations = 0;
   for (uint32_t i = 0; i < program->tensor_count; i++)
      if (program->outputs[i] != RKB_NO_VALUE)
         a.read[program->outputs[i]] = true;
   for (uint32_t i = 0; i < program->node_count; i++)
      know(&a, &program->nodes[i]);
   for (uint32_t i = program->node_count; i-- > 0;)
      need(&a, &program->nodes[i]);
   for (uint32_t i = 0; i < program->node_count; i++)
      *operations += work_of(&a, &program->nodes[i]);
   free(a.known);
   free(a.needed);
   free(a.outside);
   free(a.read);
}
