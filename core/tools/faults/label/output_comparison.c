/* See output_comparison.h. */
#include "tools/faults/label/output_comparison.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/expression.h"
#include "base/memory.h"

/* Draws LEAST_DRAWN to MOST_DRAWN shapes, until SHAPES of them satisfy the condition.  Leaves out bench cases of more than MOST_BYTES, because their
 * inputs take seconds. */
enum { LEAST_DRAWN = 400, MOST_DRAWN = 4000, SHAPES = 3, MOST_BYTES = 48 << 20 };
#define DRAWN_WORK 1e8
/* A fault leaves out or moves whole elements.  Rounding alone changes far less than this share of the mean
 * magnitude. */
#define DIFFERENT 0.02

static bool holds(const rkb_task_t *task, const rkb_case_t *c, const rkb_expression_t *where) {
   case_names_t names = {task, c};
   char message[256];
   int64_t value = 0;
   return rkb_expression_integer(where, case_names_find, &names, &value, message, sizeof message) == RKB_FAULT_NONE && value != 0;
}

static bool small(const rkb_case_t *c) {
   uint64_t bytes = 0;
   for (uint32_t t = 0; t < c->tensor_count; t++)
      bytes += c->tensors[t].bytes;
   return c->tensor_count <= MOST_TENSORS && bytes <= MOST_BYTES;
}

/* Draws up to SHAPES shapes that satisfy the condition, those with the least work first; the caller owns them. */
static uint32_t draw(const rkb_task_t *task, const rkb_expression_t *where, rkb_case_t **found) {
   rkb_random_t stream = rkb_random_stream(1, "shapes of faults", 0, 0);
   uint32_t count = 0;
   for (uint32_t i = 0; where && i < (count == SHAPES ? LEAST_DRAWN : MOST_DRAWN); i++) {
      rkb_error_t err;
      rkb_case_t *one = NULL;
      if (rkb_task_case_draw(task, &stream, DRAWN_WORK, &one, &err) != RKB_OK)
         break;
      uint32_t place = count;
      if (!holds(task, one, where) || !small(one)) {
         rkb_task_case_free(one);
         continue;
      }
      while (place > 0 && found[place - 1]->operations > one->operations)
         place--;
      if (place == SHAPES) {
         rkb_task_case_free(one);
         continue;
      }
      if (count == SHAPES)
         rkb_task_case_free(found[--count]);
      memmove(found + place + 1, found + place, (count - place) * sizeof *found);
      found[place] = one;
      count++;
   }
   return count;
}

/* Whether an element differs by more than rounding. */
static bool differ(const rkb_tensor_t *tensor, const char *a, const char *b) {
   double sum = 0;
   for (uint64_t i = 0; i < tensor->elements; i++) {
      double value = fabs(rkb_task_element(tensor, b, i));
      sum += isfinite(value) ? value : 0;
   }
   const double allowed = DIFFERENT * sum / (double)tensor->elements;
   for (uint64_t i = 0; i < tensor->elements; i++) {
      double left = rkb_task_element(tensor, a, i), right = rkb_task_element(tensor, b, i);
      if (isnan(left) != isnan(right) || (!isnan(left) && left != right && !(fabs(left - right) <= allowed + DIFFERENT * fabs(right))))
         return true;
   }
   return false;
}

static int fill(const rkb_task_t *task, const rkb_case_t *c, trial_t *trial, rkb_error_t *err) {
   *trial = (trial_t){.family = rkb_task_family(task, c, 0), .seed = 1000};
   int status = rkb_task_inputs_open(task, c, trial->family, trial->seed, &trial->inputs, err);
   for (uint32_t t = 0; t < c->tensor_count && status == RKB_OK; t++) {
      const rkb_tensor_t *tensor = &c->tensors[t];
      if (tensor->role == RKB_OUT)
         continue;
      trial->tensors[t] = rkb_try_uncleared(tensor->bytes + 1, 1, err);
      status = trial->tensors[t] ? rkb_task_inputs_fill(trial->inputs, t, 0, tensor->elements, trial->tensors[t], err) : RKB_ERR_NOMEM;
   }
   return status;
}

static void empty(trial_t *trial) {
   for (uint32_t t = 0; t < MOST_TENSORS; t++)
      free(trial->tensors[t]);
   rkb_task_inputs_free(trial->inputs);
   *trial = (trial_t){0};
}

static int compare_at(device_runner_t *runner, const attempt_t *fault, const attempt_t *original, const rkb_case_t *c, comparison_t *at,
                      witness_t *witness, rkb_error_t *err) {
   char *mine[MOST_TENSORS] = {0}, *right[MOST_TENSORS] = {0};
   witness_t of_original = {0};
   at->shape = (subject_case_t){.of = c};
   int status = fill(fault->subject->task, c, &at->trial, err);
   if (status == RKB_OK)
      status = device_runner_outputs(runner, original, &at->shape, &at->trial, right, &of_original, err);
   if (status == RKB_OK && !of_original.found)
      status = device_runner_outputs(runner, fault, &at->shape, &at->trial, mine, witness, err);
   for (uint32_t t = 0; t < c->tensor_count && status == RKB_OK && !of_original.found && !witness->found; t++)
      if (mine[t] && right[t] && differ(&c->tensors[t], mine[t], right[t])) {
         *witness = (witness_t){.found = true, .the_case = &at->shape, .trial = &at->trial};
         snprintf(witness->what, sizeof witness->what, "other than the kernel's");
      }
   for (uint32_t t = 0; t < MOST_TENSORS; t++) {
      free(mine[t]);
      free(right[t]);
   }
   return status;
}

static void name_shape(const rkb_case_t *c, char *out, size_t size) {
   size_t used = 0;
   out[0] = '\0';
   for (uint32_t d = 0; d < c->dim_count && used < size; d++)
      used += (size_t)snprintf(out + used, size - used, "%s%s=%" PRId64, d ? "," : "", c->dims[d].name, c->dims[d].value);
}

int comparison_try(device_runner_t *runner, const attempt_t *fault, const attempt_t *original, const char *where, comparison_t *at,
                   witness_t *witness, rkb_error_t *err) {
   const rkb_task_t *task = fault->subject->task;
   rkb_case_t *drawn[SHAPES] = {0};
   const rkb_case_t *bench;
   rkb_problems_t problems;
   rkb_arena_t *arena = rkb_arena_new(0);
   int status = RKB_OK;
   rkb_problems_init(&problems);
   const rkb_expression_t *condition =
      where ? rkb_expression_parse(arena, where, strlen(where), (rkb_place_t){.file = "where"}, &problems) : NULL;
   uint32_t count = draw(task, condition, drawn);
   for (uint32_t i = 0; i < count && status == RKB_OK && !witness->found; i++) {
      empty(&at->trial);
      status = compare_at(runner, fault, original, drawn[i], at, witness, err);
      name_shape(drawn[i], at->name, sizeof at->name);
   }
   for (uint32_t i = 0; status == RKB_OK && !witness->found && (bench = rkb_task_case(task, RKB_CASE_BENCH, i)) != NULL; i++)
      if (small(bench) && (!condition || holds(task, bench, condition))) {
         empty(&at->trial);
         status = compare_at(runner, fault, original, bench, at, witness, err);
         snprintf(at->name, sizeof at->name, "%s", bench->name);
      }
   for (uint32_t i = 0; i < count; i++)
      rkb_task_case_free(drawn[i]);
   rkb_problems_free(&problems);
   rkb_arena_free(arena);
   return status;
}

void comparison_close(comparison_t *at) {
   empty(&at->trial);
}
