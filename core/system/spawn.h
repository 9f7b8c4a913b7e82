/* Starts a child process and reads its output; the blocking and the loop form of process.h share this.  No function here blocks.
 * Any thread may call them, one at a time for one child. */
#ifndef RKB_SYSTEM_SPAWN_H
#define RKB_SYSTEM_SPAWN_H

#include <sys/types.h>
#include "base/text.h"
#include <rkb/draft/process.h>

#define RKB_CHILD_OUTPUTS 2 /* standard output and standard error */

#define RKB_CHILD_AFTER_KILL_NS (5 * UINT64_C(1000000000)) /* longest time a killed child may take to end */
#define RKB_CHILD_AFTER_END_NS                                                                               \
   (1 * UINT64_C(1000000000)) /* longest time that its pipes may stay open after its group was killed */

typedef struct rkb_child {
   pid_t pid;                    /* also its session and process group; 0 once it was reaped */
   int pidfd;                    /* becomes readable when the child ends */
   int pipes[RKB_CHILD_OUTPUTS]; /* read ends, non-blocking; -1 once closed */
   rkb_text_t texts[RKB_CHILD_OUTPUTS];
   bool timed_out, cancelled, output_cut;
   int wait_status; /* from waitpid, once the child was reaped */
} rkb_child_t;

/* RKB_OK: release the child with rkb_child_close.  RKB_ERR_UNAVAILABLE: it could not be started. */
int rkb_child_spawn(const rkb_process_spec_t *spec, rkb_child_t *child, rkb_error_t *err);

/* Reads what is available and keeps as much as the limit allows.  Returns false at the end of the pipe: the caller stops watching
 * the pipe and then closes it. */
bool rkb_child_read(rkb_child_t *child, int which);
void rkb_child_close_pipe(rkb_child_t *child, int which);

/* Kills the process group.  Safe until the child was reaped, because its process id is not used again before. */
void rkb_child_kill(const rkb_child_t *child);

/* Call it once the pidfd is readable: kills the rest of the group and collects the child's status. */
void rkb_child_reap(rkb_child_t *child);

/* The result of the child, with its texts moved into it.  The caller frees it with rkb_process_result_free. */
rkb_process_result_t *rkb_child_result(rkb_child_t *child);

void rkb_child_close(rkb_child_t *child);

#endif
