/* rkb/draft/process.h - run another program.  Draft extension "rkb.draft.process/0".
 *
 * A draft may change or go (docs/decisions/drafts.md): no shipped plugin uses it yet.
 *
 * The child gets its own process group, an empty environment plus what is listed, /dev/null where no
 * input is given, capped output, and a deadline at which the whole group is killed.
 */
#ifndef RKB_DRAFT_PROCESS_H
#define RKB_DRAFT_PROCESS_H

#include <rkb/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RKB_DRAFT_PROCESS "rkb.draft.process/0"

typedef struct rkb_process_spec {
   uint32_t size;
   uint32_t reserved;
   /* NULL-terminated; arguments[0] is looked up on PATH unless it has a slash */
   const char *const *arguments;
   const char *const *environment; /* "NAME=value", NULL-terminated, or NULL for none */
   const char *directory;          /* working directory, or NULL for the run directory */
   const void *input;              /* standard input, or NULL */
   size_t input_bytes;
   size_t output_limit;   /* bytes kept of each of stdout and stderr; 0: 1 MiB */
   uint64_t deadline_ns;  /* from now; 0: the job's own deadline */
   uint64_t memory_limit; /* RLIMIT_DATA in bytes; 0: none */
} rkb_process_spec_t;

typedef struct rkb_process_result {
   int exit_code;      /* valid when signal is 0 */
   int signal;         /* that ended it, or 0 */
   bool timed_out;     /* its group was killed at the deadline */
   bool cancelled;     /* its group was killed because the job was cancelled */
   bool output_cut;    /* more output than output_limit */
   const char *output; /* stdout, NUL-terminated after output_bytes */
   size_t output_bytes;
   const char *errors; /* stderr, likewise */
   size_t errors_bytes;
} rkb_process_result_t;

typedef struct rkb_process_api {
   uint32_t size;
   uint32_t reserved;

   /* Runs to the end.  RKB_OK means the program ran, whatever it returned; release *result with free.
    * RKB_ERR_UNAVAILABLE: it could not be started.  [worker] */
   int (*run)(const rkb_host_t *host, rkb_job_t job, const rkb_process_spec_t *spec,
              rkb_process_result_t **result, rkb_error_t *err);
   void (*free)(rkb_process_result_t *result);

   /* Starts and returns; done is called once, on the loop, with a result that lives until it returns.
    * On any other value than RKB_OK done is not called.  [loop] */
   int (*submit)(const rkb_host_t *host, rkb_job_t job, const rkb_process_spec_t *spec,
                 void (*done)(void *arg, int status, const rkb_process_result_t *result), void *arg,
                 rkb_error_t *err);
} rkb_process_api_t;

#ifdef __cplusplus
}
#endif
#endif
