/* Estimates the cost of points before any is computed: follows random elements of the cone from the wanted elements back to the
 * inputs.  A cone over the limit of work is refused at once, instead of after the limit is spent.  Any thread. */
#include "reference/evaluate.h"

#include <stdlib.h>
#include <string.h>
#include "base/name_table.h"
#include "base/memory.h"
#include "reference/point_memory.h"

#define SAMPLES 1024u
#define MOST_VISITS 4096u
/* An estimate is inexact, so it must exceed the limit by this factor. */
#define MARGIN 1.5

typedef struct estimate {
   const rkb_program_t *program;
   const rkb_memory_t *memory;
   double *elements; /* by value: the largest number of its elements wanted so far */
   double *work;     /* by value: products and sums for those elements */
   double total, most;
   uint32_t visits;
} estimate_t;

static void visit(estimate_t *estimate, uint32_t value, double elements, const int64_t *samples);

static uint64_t random_number(uint64_t *state) { /* SplitMix64 */
   uint64_t x = *state += UINT64_C(0x9E3779B97F4A7C15);
   x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
   x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
   return x ^ x >> 31;
}

/* The share of the samples that memory does not hold yet. */
static double unknown_share(const estimate_t *estimate, uint32_t value, const int64_t *samples) {
   uint32_t known = 0;
   for (uint32_t i = 0; i < SAMPLES; i++)
      known += samples[i] < 0 || rkb_memory_find(estimate->memory, value, samples[i]) != NULL;
   return 1 - (double)known / SAMPLES;
}

static double work_of(const rkb_program_t *program, const rkb_program_node_t *node) {
   return node->operation->depth ? (double)node->operation->depth(program, node) : 1;
}

static void visit_operand(estimate_t *estimate, const rkb_program_node_t *node, uint32_t which,
                          double elements, const int64_t *samples) {
   const rkb_shape_t *shape = rkb_program_shape(estimate->program, node->output);
   const rkb_shape_t *own = rkb_program_shape(estimate->program, node->inputs[which]);
   if (node->operation->cone) {
      int64_t *of_operand = rkb_allocate(SAMPLES, sizeof *of_operand);
      double wanted =
         node->operation->cone(estimate->program, node, which, elements, SAMPLES, samples, of_operand);
      if (wanted > 0)
         visit(estimate, node->inputs[which], wanted, of_operand);
      free(of_operand);
   } else if ((node->operation->point && rkb_shape_equal(shape, own)) ||
              rkb_same_name(node->operation->name, "reshape")) {
      visit(estimate, node->inputs[which], elements, samples); /* one operand element per output element */
   }
}

/* Visits `elements` elements of a value, of which `samples` are a random sample (-1: no sample). */
static void visit(estimate_t *estimate, uint32_t value, double elements, const int64_t *samples) {
   const rkb_program_value_t *info = &estimate->program->values[value];
   elements = elements < (double)info->elements ? elements : (double)info->elements;
   if (info->node < 0 || estimate->visits++ >= MOST_VISITS || elements <= 1.01 * estimate->elements[value] ||
       estimate->total > estimate->most)
      return;
   const rkb_program_node_t *node = &estimate->program->nodes[info->node];
   estimate->elements[value] = elements;
   if (node->operation->costly) {
      elements *= unknown_share(estimate, value, samples);
      double work = elements * work_of(estimate->program, node);
      if (work > estimate->work[value]) {
         estimate->total += work - estimate->work[value];
         estimate->work[value] = work;
      }
   }
   for (uint32_t i = 0; i < node->input_count && elements > 0; i++)
      visit_operand(estimate, node, i, elements, samples);
}

/* The work for all elements of all values. */
static double most_possible(const rkb_program_t *program) {
   double sum = 0;
   for (uint32_t i = 0; i < program->node_count; i++)
      if (program->nodes[i].operation->costly)
         sum +=
            (double)program->values[program->nodes[i].output].elements * work_of(program, &program->nodes[i]);
   return sum;
}

bool rkb_points_pass_limit(const rkb_program_t *program, const rkb_memory_t *memory, double most_work,
                           uint32_t value, uint64_t count, const int64_t *index) {
   if (most_work <= 0 || count == 0 || most_possible(program) <= MARGIN * most_work)
      return false;
   estimate_t estimate = {.program = program, .memory = memory, .most = MARGIN * most_work};
   int64_t *samples = rkb_allocate(SAMPLES, sizeof *samples);
   estimate.elements = rkb_allocate(program->value_count + 1, sizeof *estimate.elements);
   estimate.work = rkb_allocate(program->value_count + 1, sizeof *estimate.work);
   uint64_t state = value;
   for (uint32_t i = 0; i < SAMPLES; i++)
      samples[i] = index[random_number(&state) % count];
   visit(&estimate, value, (double)count, samples);
   free(estimate.elements);
   free(estimate.work);
   free(samples);
   return estimate.total > estimate.most;
}

static int ascending(const void *a, const void *b) {
   uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
   return (left > right) - (left < right);
}

double rkb_estimate_distinct(uint64_t *list, uint64_t count, double most) {
   double pairs = 0;
   qsort(list, count, sizeof *list, ascending);
   for (uint64_t i = 0, run; i < count; i += run) {
      for (run = 1; i + run < count && list[i + run] == list[i];)
         run++;
      pairs += (double)run * (double)(run - 1) / 2;
   }
   double all = (double)count * (double)(count - 1) / 2;
   double distinct = all / (pairs > 1 ? pairs : 1);
   return distinct < most ? distinct : most;
}
