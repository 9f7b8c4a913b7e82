/* Starting a child process and reading what it writes: what the blocking and the loop form of process.h share.  The
 * functions here do not block, and any thread may call them, one at a time for one child. */
#ifndef RKB_SYSTEM_SPAWN_H
#define RKB_SYSTEM_SPAWN_H

#include <sys/types.h>
#include "base/text.h"
#include <rkb/draft/process.h>

#define RKB_CHILD_OUTPUTS 2 /* standard output and standard error */

#define RKB_CHILD_AFTER_KILL_NS (5 * UINT64_C(1000000000)) /* most that a killed child may take to end */
#define RKB_CHILD_AFTER_END_NS                                                                               \
   (1 * UINT64_C(1000000000)) /* most that its pipes may stay open once its group is dead */

typedef struct rkb_child {
   pid_t pid;                    /* also its session and process group; 0 once it was reaped */
   int pidfd;                    /* readable when it has ended */
   int pipes[RKB_CHILD_OUTPUTS]; /* read ends, non-blocking; -1 once closed */
   rkb_text_t texts[RKB_CHILD_OUTPUTS];
   bool timed_out, cancelled, output_cut;
   int wait_status; /* of waitpid, once it was reaped */
} rkb_child_t;

/* RKB_ERR_UNAVAILABLE: it could not be started.  On RKB_OK release with rkb_child_close. */
int rkb_child_spawn(const rkb_process_spec_t *spec, rkb_child_t *child, rkb_error_t *err);

/* Reads what there is and keeps what the limit allows.  False at the end of the pipe: the caller stops watching it and
 * then closes it. */
bool rkb_child_read(rkb_child_t *child, int which);
void rkb_child_close_pipe(rkb_child_t *child, int which);

/* Kills the process group; safe until the child was reaped, because its number cannot be used again before. */
void rkb_child_kill(const rkb_child_t *child);

/* Once the pidfd is readable: kills what is left of the group and collects the child's status. */
void rkb_child_reap(rkb_child_t *child);

/* What it was, with the texts moved into it.  Owned: rkb_process_result_free. */
rkb_process_result_t *rkb_child_result(rkb_child_t *child);

void rkb_child_close(rkb_child_t *child);

#endif
