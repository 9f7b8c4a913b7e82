/* Objective values, which rank candidates: measurements combined over the cases that the objective names. */
#include <math.h>
#include <string.h>
#include "stage/candidate.h"
#include "stage/item.h"

typedef struct sum {
   double value;
   uint32_t count;
} sum_t;

static void add(sum_t *sum, uint32_t combine, double value) {
   switch (combine) {
   case RKB_COMBINE_GEOMEAN:
      sum->value += log(value);
      break;
   case RKB_COMBINE_MAX:
      sum->value = sum->count && sum->value > value ? sum->value : value;
      break;
   default:
      sum->value += value;
   }
   sum->count++;
}

static double combined(const sum_t *sum, uint32_t combine) {
   if (combine == RKB_COMBINE_GEOMEAN)
      return exp(sum->value / sum->count);
   return combine == RKB_COMBINE_MEAN ? sum->value / sum->count : sum->value;
}

static bool belongs(const char *case_name, const char *over) {
   size_t length = strlen(over);
   return strncmp(case_name, over, length) == 0 && case_name[length] == '/';
}

/* A measurement without a case covers all cases and is not combined. */
static bool measured(const rkb_pipeline_t *pipeline, const rkb_stage_result_t *result, const char *name,
                     double *value, bool *higher) {
   sum_t sum = {0};
   for (uint32_t i = 0; i < result->measurement_count; i++) {
      const rkb_item_t *item = result->measurements[i];
      const char *case_name = rkb_item_text(item, "case");
      double number;
      if (strcmp(rkb_item_text(item, "name"), name) != 0 || !rkb_item_real(item, "value", &number))
         continue;
      *higher = strcmp(rkb_item_text(item, "better"), "higher") == 0;
      if (!case_name) {
         *value = number;
         return true;
      }
      if (belongs(case_name, pipeline->objective_over ? pipeline->objective_over : "bench"))
         add(&sum, pipeline->objective_combine, number);
   }
   if (sum.count)
      *value = combined(&sum, pipeline->objective_combine);
   return sum.count && isfinite(*value); /* a geometric mean over a zero has no value to rank by */
}

bool rkb_candidate_measurement(const rkb_pipeline_t *pipeline, const rkb_candidate_t *candidate,
                               const char *name, double *value, bool *higher) {
   const char *dot = strchr(name, '.');
   for (uint32_t i = 0; dot && i < pipeline->entry_count; i++) {
      const char *id = pipeline->entries[i].node.id;
      if (strlen(id) == (size_t)(dot - name) && strncmp(id, name, (size_t)(dot - name)) == 0)
         return !candidate->results[i].shadow &&
                measured(pipeline, &candidate->results[i], dot + 1, value, higher);
   }
   return false;
}

bool rkb_candidate_objective(const rkb_pipeline_t *pipeline, const rkb_candidate_t *candidate,
                             double *value) {
   bool higher;
   return pipeline->objective &&
          rkb_candidate_measurement(pipeline, candidate, pipeline->objective, value, &higher);
}
