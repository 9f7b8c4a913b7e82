/* The screen's result for one candidate, as text and as JSON: rkb check and rkb replay. */
#ifndef RKB_CLI_SHARED_CHECK_RESULT_H
#define RKB_CLI_SHARED_CHECK_RESULT_H

#include "cli/shared/run_archive.h"
#include "run/check_candidate.h"

/* The candidate that was checked; borrowed texts. */
typedef struct rkb_checked {
   const char *name; /* name of its file, or "candidate 17" */
   const char *source;
   const char *task, *direction;
   const char *objective; /* the measurement that the pipeline minimises, or "" */
   const char *target;    /* device profile, or "" */
   const char *replay;    /* the command line that repeats this check, or NULL */
} rkb_checked_t;

/* Prints to standard output. */
void rkb_print_check(const rkb_checked_t *checked, const rkb_check_result_t *result);
/* NULL when memory is out */
json_t *rkb_check_json(const rkb_checked_t *checked, const rkb_check_result_t *result);
/* The record borrows the verdict's texts. */
rkb_verdict_record_t rkb_check_verdict_record(const rkb_check_verdict_t *verdict);
rkb_measurement_record_t rkb_check_measurement_record(const rkb_check_measurement_t *measurement);
/* Frees the result.  If a job hangs in a thread, exits the process with code instead. */
void rkb_check_result_done(rkb_check_result_t *result, int code);

#endif
