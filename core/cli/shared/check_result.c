/* Prints the result of a check as text, and makes it as JSON.  Only the main thread. */
#include "cli/shared/check_result.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rkb/items.h>
#include "base/memory.h"

rkb_verdict_record_t rkb_check_verdict_record(const rkb_check_verdict_t *verdict) {
   return (rkb_verdict_record_t){.stage = verdict->stage,
                                 .standing = verdict->standing,
                                 .reason = verdict->reason,
                                 .message = verdict->message,
                                 .evidence = verdict->evidence,
                                 .certificate = verdict->certificate,
                                 .shadow = verdict->shadow,
                                 .executes = verdict->executes,
                                 .attempts = 1,
                                 .seconds = verdict->seconds};
}

rkb_measurement_record_t rkb_check_measurement_record(const rkb_check_measurement_t *measurement) {
   return (rkb_measurement_record_t){.name = measurement->name,
                                     .value = measurement->value,
                                     .spread = measurement->spread,
                                     .unit = measurement->unit,
                                     .better = measurement->better,
                                     .method = measurement->method,
                                     .case_name = measurement->case_name,
                                     .detail = measurement->detail};
}

json_t *rkb_check_json(const rkb_checked_t *checked, const rkb_check_result_t *result) {
   json_t *verdicts = json_array(), *measurements = json_array();
   char secret[RKB_HASH_TEXT];
   rkb_secret_write(&result->secret, secret);
   for (uint32_t i = 0; i < result->verdict_count; i++) {
      rkb_verdict_record_t record = rkb_check_verdict_record(&result->verdicts[i]);
      json_array_append_new(verdicts, rkb_verdict_json(&record));
   }
   for (uint32_t i = 0; i < result->measurement_count; i++) {
      rkb_measurement_record_t record = rkb_check_measurement_record(&result->measurements[i]);
      json_array_append_new(measurements, rkb_measurement_json(&record));
   }
   return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s?, s:s, s:o, s:b, s:o, s:o}", "file", checked->name, "task",
                    checked->task, "direction", checked->direction, "standing", result->standing, "reason",
                    result->reason, "replay", checked->replay, "secret", secret, "tune",
                    rkb_embedded_json(result->tune), "verified_by_execution", result->verified_by_execution,
                    "verdicts", verdicts, "measurements", measurements);
}

/* Prints the objective, the number that most readers look for first. */
static void print_objective(const rkb_checked_t *checked, const rkb_check_result_t *result) {
   for (uint32_t i = 0; i < result->measurement_count; i++) {
      const rkb_check_measurement_t *measurement = &result->measurements[i];
      if (!measurement->case_name && strcmp(measurement->name, checked->objective) == 0)
         printf(", %s = %.6g %s on %s", measurement->name, measurement->value,
                strcmp(measurement->unit, "1") ? measurement->unit : "", checked->target);
   }
}

void rkb_print_check(const rkb_checked_t *checked, const rkb_check_result_t *result) {
   const rkb_evidence_source_t source = {checked->name, checked->source};
   rkb_measurement_record_t *measurements = rkb_allocate(result->measurement_count + 1, sizeof *measurements);
   char *tune = rkb_spell_tune(result->tune);
   bool rejected = strcmp(result->standing, RKB_REJECT) == 0;
   printf("%s: %s%s%s", checked->name, result->standing, result->reason[0] ? ", " : "", result->reason);
   if (!rejected)
      print_objective(checked, result);
   printf("\n");
   if (tune && tune[0])
      printf("  tune %s\n", tune);
   for (uint32_t i = 0; i < result->verdict_count; i++) {
      rkb_verdict_record_t record = rkb_check_verdict_record(&result->verdicts[i]);
      rkb_print_verdict(&record, &source);
   }
   for (uint32_t i = 0; measurements && i < result->measurement_count; i++)
      measurements[i] = rkb_check_measurement_record(&result->measurements[i]);
   if (result->reason[0] && checked->replay)
      printf("    replay   %s\n", checked->replay);
   /* Omit the speed of a wrong kernel: it means nothing. */
   if (measurements && !rejected)
      rkb_print_measurements(measurements, result->measurement_count);
   if (!rejected && !result->verified_by_execution)
      printf("  not verified by execution\n");
   free(measurements);
   free(tune);
}

void rkb_check_result_done(rkb_check_result_t *result, int code) {
   if (result->must_exit_hard) {
      fflush(NULL);
      _exit(code);
   }
   rkb_check_result_free(result);
}
