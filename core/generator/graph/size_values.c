/* Values of sizes' expressions in cases of the task: the largest, the corners of the domain, the bench cases.  One thread a graph. */
#include "generator/graph/size_expression.h"
#include "generator/graph/graph_sizes.h"

#include <math.h>

#define MEMORY_BYTES 1.5e11 /* no device at hand has more: larger cases never run */

double rkb_sizes_most(const rkb_sizes_t *sizes, const char *text) {
   const rkb_expression_t *expression = rkb_size_expression(sizes->arena, text);
   double most = sizes->largest_count ? 0 : HUGE_VAL;
   for (uint32_t p = 0; expression && p < sizes->largest_count; p++) {
      rkb_value_t value;
      if (!rkb_size_evaluate(sizes->largest[p], expression, &value))
         return HUGE_VAL;
      const double real = value.is_real ? value.real : (double)value.integer;
      most = real > most ? real : most;
   }
   return most;
}

static double number_at(rkb_bound_t *bound, const rkb_expression_t *expression) {
   rkb_value_t value;
   return !expression || !rkb_size_evaluate(bound, expression, &value) ? 0
          : value.is_real                                     ? value.real
                                                              : (double)value.integer;
}

/* Binds the corners of the domain; called when they are first needed. */
static void draw_corners(rkb_sizes_t *sizes) {
   rkb_error_t ended;
   rkb_case_t *corner = NULL;
   sizes->has_corners = true;
   for (uint32_t n = 0;
        sizes->corner_count < RKB_CORNERS && rkb_task_case_corner(sizes->task, n, &corner, &ended) == RKB_OK;
        n++)
      if (corner)
         sizes->corners[sizes->corner_count++] = (rkb_bound_t *)(uintptr_t)rkb_bound_of(corner);
}

bool rkb_sizes_pass(rkb_sizes_t *sizes, const char *text, const char *when, const char *bytes, double limit) {
   const rkb_expression_t *expression = rkb_size_expression(sizes->arena, text), *condition, *besides;
   bool possible = false, found = false;
   for (uint32_t p = 0; p < sizes->largest_count && !possible; p++)
      possible = number_at(sizes->largest[p], expression) > limit;
   if (!possible)
      return false;
   condition = when ? rkb_size_expression(sizes->arena, when) : NULL;
   besides = bytes ? rkb_size_expression(sizes->arena, bytes) : NULL;
   if (!sizes->has_corners)
      draw_corners(sizes);
   for (uint32_t c = 0; (condition || !when) && (besides || !bytes) && c < sizes->corner_count && !found;
        c++) {
      rkb_bound_t *corner = sizes->corners[c];
      found = number_at(corner, expression) > limit && (!condition || number_at(corner, condition) != 0) &&
              (double)corner->view.bytes + number_at(corner, besides) <= MEMORY_BYTES;
   }
   return found;
}

double rkb_sizes_least(rkb_sizes_t *sizes, const char *text, const char *when) {
   const rkb_expression_t *expression = rkb_size_expression(sizes->arena, text),
                          *condition = rkb_size_expression(sizes->arena, when);
   double least = HUGE_VAL;
   if (!sizes->has_corners)
      draw_corners(sizes);
   for (uint32_t c = 0; expression && condition && c < sizes->corner_count; c++)
      if (number_at(sizes->corners[c], condition) != 0)
         least = fmin(least, number_at(sizes->corners[c], expression));
   return least;
}

double rkb_sizes_bench(const rkb_sizes_t *sizes, const char *text) {
   const rkb_expression_t *expression = rkb_size_expression(sizes->arena, text);
   double sum = 0;
   uint32_t count = 0;
   const rkb_case_t *bench;
   while (expression && (bench = rkb_task_case(sizes->task, RKB_CASE_BENCH, count)) != NULL) {
      rkb_value_t value;
      if (rkb_size_evaluate((rkb_bound_t *)(uintptr_t)rkb_bound_of(bench), expression, &value))
         sum += log(fmax(value.is_real ? value.real : (double)value.integer, 1));
      count++;
   }
   return count ? sum / count : 0;
}

double rkb_sizes_bench_at(const rkb_sizes_t *sizes, const char *text, uint32_t index) {
   const rkb_expression_t *expression = rkb_size_expression(sizes->arena, text);
   const rkb_case_t *bench = rkb_task_case(sizes->task, RKB_CASE_BENCH, index);
   rkb_value_t value;
   if (!expression || !bench || !rkb_size_evaluate((rkb_bound_t *)(uintptr_t)rkb_bound_of(bench), expression, &value))
      return 1;
   return fmax(value.is_real ? value.real : (double)value.integer, 1);
}

double rkb_sizes_bench_most(const rkb_sizes_t *sizes, const char *text) {
   const rkb_expression_t *expression = rkb_size_expression(sizes->arena, text);
   double most = 1;
   uint32_t count = 0;
   const rkb_case_t *bench;
   while (expression && (bench = rkb_task_case(sizes->task, RKB_CASE_BENCH, count++)) != NULL) {
      rkb_value_t value;
      if (rkb_size_evaluate((rkb_bound_t *)(uintptr_t)rkb_bound_of(bench), expression, &value))
         most = fmax(most, value.is_real ? value.real : (double)value.integer);
   }
   return most;
}
