/* Helpers for making all parts of a plan: findings against the candidate, values of expressions, buffers by
 * name.  One thread per plan. */
#include "kernel/plan.h"
#include "kernel/candidate_finding.h"

#include <string.h>
#include "base/name_table.h"

void planner_find(planner_t *planner, const char *reason, rkb_place_t place, const char *fmt, ...) {
   char text[448];
   va_list ap;
   va_start(ap, fmt);
   vsnprintf(text, sizeof text, fmt, ap);
   va_end(ap);
   rkb_finding_set(planner->finding, reason, place.line, place.column, "%s", text);
}

/* A property of the target by its name (rkb_device_property). */
static bool device_property(const rkb_device_t *device, const char *name, rkb_value_t *value) {
   int64_t found = 0;
   uint32_t number = 0;
   const char *property = rkb_device_property(device, number, &found);
   while (property && strcmp(property, name) != 0)
      property = rkb_device_property(device, ++number, &found);
   *value = (rkb_value_t){.integer = found};
   return property != NULL;
}

bool planner_name(void *argument, const char *name, rkb_value_t *value) {
   const planner_t *planner = argument;
   for (uint32_t i = 0; i < planner->lets_known; i++) {
      if (rkb_same_name(planner->manifest->lets[i].name, name)) {
         *value = planner->lets[i];
         return true;
      }
   }
   for (uint32_t i = 0; i < planner->manifest->public.tune_count; i++) {
      if (rkb_same_name(planner->manifest->public.tune[i].name, name)) {
         *value = (rkb_value_t){.integer = planner->tune[i]};
         return true;
      }
   }
   return planner->lookup(planner->argument, name, value) || device_property(planner->named, name, value);
}

bool planner_value(planner_t *planner, const rkb_expression_t *expression, rkb_value_t *value) {
   char message[256];
   enum rkb_fault fault = rkb_expression_decide(expression, planner_name, planner, planner->decided,
                                                planner->decided_argument, value, message, sizeof message);
   if (fault != RKB_FAULT_NONE)
      planner_find(planner, "plan.expression", rkb_expression_place(expression), "%s", message);
   return fault == RKB_FAULT_NONE;
}

bool planner_integer(planner_t *planner, const rkb_expression_t *expression, int64_t *value) {
   char message[256];
   rkb_value_t told;
   if (planner->decided) /* evaluates it once more to report its decisions; a fault is found below */
      (void)rkb_expression_decide(expression, planner_name, planner, planner->decided,
                                  planner->decided_argument, &told, message, sizeof message);
   enum rkb_fault fault =
      rkb_expression_integer(expression, planner_name, planner, value, message, sizeof message);
   if (fault != RKB_FAULT_NONE)
      planner_find(planner, "plan.expression", rkb_expression_place(expression), "%s", message);
   return fault == RKB_FAULT_NONE;
}

uint32_t planner_buffer(const planner_t *planner, const char *name) {
   return rkb_name_table_find(&planner->buffer_names, name);
}
