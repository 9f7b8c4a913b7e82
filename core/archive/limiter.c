/* Reads the detail that a speed model gives with its numbers (plugins/profiler/model/README.md).  Any thread. */
#include "archive/limiter.h"

#include <stdio.h>
#include <string.h>
#include "base/json.h"

static void copy_text(char *out, size_t size, const json_t *value) {
   const char *text = json_string_value(value);
   snprintf(out, size, "%s", text ? text : "");
}

static void read_launch(const json_t *launch, rkb_limiter_t *limiter) {
   const json_t *advice = json_object_get(launch, "advice"), *moves = json_object_get(advice, "moves");
   copy_text(limiter->kernel, sizeof limiter->kernel, json_object_get(launch, "kernel"));
   copy_text(limiter->sentence, sizeof limiter->sentence, json_object_get(launch, "sentence"));
   copy_text(limiter->bottleneck, sizeof limiter->bottleneck, json_object_get(advice, "bottleneck"));
   limiter->share = json_number_value(json_object_get(advice, "share"));
   for (size_t i = 0; i < 2; i++)
      copy_text(limiter->moves[i], sizeof limiter->moves[i], json_array_get(moves, i));
}

bool rkb_limiter_of(const char *detail, rkb_limiter_t *limiter) {
   rkb_error_t err;
   double longest = -1;
   size_t index;
   const json_t *launch;
   json_t *value = detail ? rkb_json_parse(detail, strlen(detail), &err) : NULL;
   json_array_foreach(json_object_get(value, "launches"), index, launch) {
      double us = json_number_value(json_object_get(launch, "us"));
      if (!json_is_string(json_object_get(launch, "sentence")) || us <= longest)
         continue;
      longest = us;
      read_launch(launch, limiter);
   }
   const char *origin = json_string_value(json_object_get(value, "source"));
   limiter->counted = origin && strcmp(origin, "hardware counters") == 0;
   json_decref(value);
   return longest >= 0;
}

/* Whether the first of two limiters is better evidence.  A counted one is better than a predicted one, and one with a bottleneck is better than one
 * without. */
static bool says_more(const rkb_limiter_t *first, const rkb_limiter_t *second) {
   if (first->counted != second->counted)
      return first->counted;
   return first->bottleneck[0] && !second->bottleneck[0];
}

bool rkb_limiter_of_slowest(const rkb_measurement_record_t *measurements, uint32_t count, const char *name,
                            rkb_limiter_t *limiter) {
   double longest = -1;
   for (uint32_t i = 0; i < count; i++) {
      const rkb_measurement_record_t *measurement = &measurements[i];
      rkb_limiter_t here = {0};
      if (!measurement->case_name || (name && strcmp(measurement->name, name) != 0) || !rkb_limiter_of(measurement->detail, &here))
         continue;
      if (longest < 0 || says_more(&here, limiter) || (measurement->value > longest && !says_more(limiter, &here))) {
         longest = measurement->value;
         *limiter = here;
      }
   }
   return longest >= 0;
}
