/* Running other programs: <rkb/draft/process.h> without jobs.  Each child gets a session and process group of its own, an
 * empty environment plus what is listed, standard input from given bytes (or /dev/null), capped output, no core file, and
 * a deadline.  When its first process ends, or the deadline passes, the whole group is killed, so nothing that it left
 * behind holds a pipe open.  A spec's deadline_ns must not be 0 and directory NULL means the current one here. */
#ifndef RKB_SYSTEM_PROCESS_H
#define RKB_SYSTEM_PROCESS_H

#include <stdbool.h>
#include <rkb/draft/process.h>
#include "system/loop.h"

/* Runs to the end.  RKB_OK: it ran, whatever it returned; *result is owned.  RKB_ERR_UNAVAILABLE: it could not be
 * started, and the message says why.  cancelled, when not NULL, is asked every 50 ms; true kills the group.  Blocks; any
 * thread but the loop's. */
int rkb_process_run(const rkb_process_spec_t *spec, bool (*cancelled)(void *arg), void *arg,
                    rkb_process_result_t **result, rkb_error_t *err);
void rkb_process_result_free(rkb_process_result_t *result); /* NULL is accepted */

typedef struct rkb_process rkb_process_t;

/* Starts and returns.  done is called exactly once, on the loop, later; result lives until it returns (NULL when status
 * is not RKB_OK) and the process is gone then.  On any other value than RKB_OK done is not called.  The spec is not kept.
 * [loop] */
int rkb_process_start(rkb_loop_t *loop, const rkb_process_spec_t *spec,
                      void (*done)(void *arg, int status, const rkb_process_result_t *result), void *arg,
                      rkb_process_t **process, rkb_error_t *err);
void rkb_process_cancel(rkb_process_t *process); /* kills the group; done follows [loop] */

#endif
