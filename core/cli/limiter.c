/* Reads the detail that a speed model gives with its numbers (plugins/profiler/model/README.md).  The main thread alone. */
#include "cli/limiter.h"

#include <stdio.h>
#include <string.h>
#include "base/json.h"

bool rkb_limiter_of(const char *detail, char *kernel, size_t kernel_size, char *sentence,
                    size_t sentence_size) {
   rkb_error_t err;
   double longest = -1;
   size_t index;
   const json_t *launch;
   json_t *value = detail ? rkb_json_parse(detail, strlen(detail), &err) : NULL;
   json_array_foreach(json_object_get(value, "launches"), index, launch) {
      const char *said = json_string_value(json_object_get(launch, "sentence"));
      const char *name = json_string_value(json_object_get(launch, "kernel"));
      double us = json_number_value(json_object_get(launch, "us"));
      if (!said || us <= longest)
         continue;
      longest = us;
      snprintf(kernel, kernel_size, "%s", name ? name : "");
      snprintf(sentence, sentence_size, "%s", said);
   }
   json_decref(value);
   return longest >= 0;
}

bool rkb_limiter_of_candidate(const rkb_candidate_record_t *candidate, const char *name, char *sentence,
                              size_t size) {
   const rkb_measurement_record_t *longest = NULL;
   char kernel[8];
   for (uint32_t i = 0; i < candidate->measurement_count; i++) {
      const rkb_measurement_record_t *measurement = &candidate->measurements[i];
      if (measurement->case_name && measurement->detail && strcmp(measurement->name, name) == 0 &&
          (!longest || measurement->value > longest->value))
         longest = measurement;
   }
   return longest && rkb_limiter_of(longest->detail, kernel, sizeof kernel, sentence, size);
}
