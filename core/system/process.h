/* Runs other programs: <rkb/draft/process.h> without jobs.  Each child gets a session and process group of its own, only the listed
 * environment, the given bytes (or /dev/null) as standard input, capped output, no core file, and a deadline.  When the first
 * process ends or the deadline passes, the whole group is killed, so no leftover process keeps a pipe open.  Here a spec's
 * deadline_ns must not be 0, and a NULL directory means the current one. */
#ifndef RKB_SYSTEM_PROCESS_H
#define RKB_SYSTEM_PROCESS_H

#include <stdbool.h>
#include <rkb/draft/process.h>
#include "system/loop.h"

/* Runs the program to its end.  RKB_OK: it ran, whatever it returned; the caller owns *result.  RKB_ERR_UNAVAILABLE: it could not be
 * started, and the message says why.  cancelled, when not NULL, is called every 50 ms; returning true kills the group.  Blocks;
 * any thread except the loop's. */
int rkb_process_run(const rkb_process_spec_t *spec, bool (*cancelled)(void *arg), void *arg,
                    rkb_process_result_t **result, rkb_error_t *err);
void rkb_process_result_free(rkb_process_result_t *result); /* NULL is accepted */

typedef struct rkb_process rkb_process_t;

/* Starts the program and returns.  On RKB_OK, done is called exactly once, later, on the loop; the process is gone by then.  result is
 * valid until done returns, and is NULL when status is not RKB_OK.  On any other return value done is not called.  The spec is not
 * kept.  [loop] */
int rkb_process_start(rkb_loop_t *loop, const rkb_process_spec_t *spec,
                      void (*done)(void *arg, int status, const rkb_process_result_t *result), void *arg,
                      rkb_process_t **process, rkb_error_t *err);
void rkb_process_cancel(rkb_process_t *process); /* kills the group; done is called later [loop] */

#endif
