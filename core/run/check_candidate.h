/* One candidate through a pipeline's screen: what `rkb check` does.  rkb_check turns the calling thread into the loop until it
 * returns.  Nothing is archived. */
#ifndef RKB_RUN_CHECK_CANDIDATE_H
#define RKB_RUN_CHECK_CANDIDATE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/log.h"
#include "base/secret.h"
#include "pipeline/pipeline.h"

typedef struct rkb_check_options {
   const char *name;   /* of the source, for messages */
   const char *source; /* the .cu text */
   const char *tune;   /* JSON object, or NULL for the defaults */
   uint32_t jobs;
   const rkb_secret_t *secret; /* NULL: drawn */
   rkb_log_t *log;
   bool catch_signals;
   struct rkb_devices *devices; /* of gpu/devices.h, to use and leave open; NULL: opens its own */
   /* Its place in a run.  section 0: none. */
   uint32_t section; /* enum rkb_request_section of archive/archive.h */
   int64_t request;  /* number within the section */
   uint32_t child;
} rkb_check_options_t;

typedef struct rkb_check_verdict {
   const char *stage, *standing, *reason, *message;
   const char *evidence, *certificate; /* JSON or NULL */
   bool shadow, executes;
   double seconds;
} rkb_check_verdict_t;

typedef struct rkb_check_measurement {
   const char *name, *unit, *better, *method, *case_name, *detail; /* case_name and detail may be NULL */
   double value, spread;                                           /* spread negative: none */
} rkb_check_measurement_t;

typedef struct rkb_check_result {
   const char *standing, *reason; /* of the candidate; "none" when no verdict was given */
   /* the whole assignment, canonical JSON; as given when the manifest does not parse */
   const char *tune;
   uint32_t verdict_count, measurement_count;
   const rkb_check_verdict_t *verdicts; /* in graph order */
   const rkb_check_measurement_t *measurements;
   bool verified_by_execution; /* a verifier outside shadow executed it and gave a verdict */
   rkb_secret_t secret;        /* what was sampled by */
   bool must_exit_hard;        /* a job hangs in a thread: leave with _exit, not exit */
} rkb_check_result_t;

/* Runs the pipeline's screen on this one candidate, without a propose section.  Nothing is archived. */
int rkb_check(rkb_pipeline_t *pipeline, const rkb_check_options_t *options, rkb_check_result_t **result,
              rkb_error_t *err);
void rkb_check_result_free(rkb_check_result_t *result);

#endif
