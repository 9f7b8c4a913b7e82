/* Functions for commands that read a run's archive. */
#ifndef RKB_CLI_SHARED_RUN_ARCHIVE_H
#define RKB_CLI_SHARED_RUN_ARCHIVE_H

#include <jansson.h>
#include "cli/shared/arguments.h"
#include "cli/shared/verdict_evidence.h"
#include "archive/archive.h"

/* Opens the run named on the command line; prints the reason and returns NULL when that fails. */
rkb_archive_t *rkb_open_run(const char *directory);
/* Prints an error to standard error; returns the exit code that fits its status. */
int rkb_say_error(const rkb_error_t *err);
/* The accepted candidate with the lowest objective; 0 when there is none. */
int rkb_best_candidate(rkb_archive_t *archive, int64_t *number, rkb_error_t *err);
/* Whether a verifier executed the candidate, shadow stages excluded. */
bool rkb_was_executed(const rkb_candidate_record_t *candidate);
/* The unit of the run's objective, from the candidate's own measurement; "" when it has none. */
const char *rkb_objective_unit(const rkb_candidate_record_t *candidate, const char *objective);
/* Everything about a candidate as a JSON object; NULL when memory is out. */
json_t *rkb_candidate_json(const rkb_candidate_record_t *candidate, bool with_source);
json_t *rkb_verdict_json(const rkb_verdict_record_t *verdict);
json_t *rkb_measurement_json(const rkb_measurement_record_t *measurement);
/* Parses a text as JSON.  Returns a string when it does not parse, and null for NULL. */
json_t *rkb_embedded_json(const char *text);
/* Print text for people on standard output.  The first prints a verdict with its evidence (without, for accept); the second prints measurements, those
 * over all cases first. */
void rkb_print_verdict(const rkb_verdict_record_t *verdict, const rkb_evidence_source_t *source);
void rkb_print_measurements(const rkb_measurement_record_t *measurements, uint32_t count);
/* Prints a JSON value on one line of standard output and releases it. */
int rkb_print_json(json_t *value);
/* A JSON object of tune values as "BLOCK=128 VEC=4"; malloc'd. */
char *rkb_spell_tune(const char *tune_json);

#endif
