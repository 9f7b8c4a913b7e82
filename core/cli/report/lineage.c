/* Follows the parents from the best candidate back to its first ancestor.  Only the main thread. */
#include "cli/report/run_report.h"

#include <math.h>
#include <string.h>
#include "archive/limiter.h"

enum { MAX_STEPS = 1000 };

/* Reads the parents.  A step's gain is measured against the first parent; the second one is only a partner. */
static void read_parents(const rkb_candidate_record_t *candidate, int64_t *parent, int64_t *partner) {
   *parent = *partner = 0;
   for (uint32_t i = 0; i < candidate->parent_count; i++) {
      if (strcmp(candidate->parents[i].role, "parent") != 0)
         continue;
      if (*parent == 0)
         *parent = candidate->parents[i].number;
      else if (*partner == 0)
         *partner = candidate->parents[i].number;
   }
}

static json_t *step_of(const rkb_candidate_record_t *candidate, const char *objective, int64_t partner) {
   rkb_limiter_t limiter = {.sentence = ""};
   rkb_limiter_of_slowest(candidate->measurements, candidate->measurement_count, objective ? objective : "",
                          &limiter);
   return json_pack("{s:I, s:s, s:s, s:s, s:s, s:o, s:s, s:o}", "number", (json_int_t)candidate->number,
                    "operator", candidate->operator_id, "note", candidate->note ? candidate->note : "",
                    "tune", candidate->tune, "standing", candidate->standing, "value",
                    candidate->has_objective ? json_real(candidate->objective) : json_null(), "limiter",
                    limiter.sentence, "partner", partner ? json_integer(partner) : json_null());
}

/* Adds each step's gain.  It needs the parent's value, which is known once both are in the list. */
static void add_gains(json_t *steps) {
   for (size_t i = 1; i < json_array_size(steps); i++) {
      const json_t *before = json_object_get(json_array_get(steps, i - 1), "value");
      const json_t *after = json_object_get(json_array_get(steps, i), "value");
      if (json_is_number(before) && json_is_number(after))
         json_object_set_new(json_array_get(steps, i), "gain",
                             json_real(json_number_value(before) / json_number_value(after)));
   }
}

json_t *rkb_report_lineage(rkb_archive_t *archive, int64_t best, const char *objective, rkb_error_t *err) {
   json_t *steps = json_array();
   for (int64_t number = best; number > 0 && json_array_size(steps) < MAX_STEPS;) {
      rkb_candidate_record_t *candidate = NULL;
      int64_t parent, partner;
      if (rkb_archive_load_candidate(archive, number, &candidate, err) != RKB_OK) {
         json_decref(steps);
         return NULL;
      }
      read_parents(candidate, &parent, &partner);
      json_array_insert_new(steps, 0, step_of(candidate, objective, partner));
      rkb_candidate_record_free(candidate);
      number = parent;
   }
   add_gains(steps);
   return steps;
}
