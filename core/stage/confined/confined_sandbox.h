/* What the server and the jobs' processes give up.  One thread. */
#ifndef RKB_STAGE_CONFINED_CONFINED_SANDBOX_H
#define RKB_STAGE_CONFINED_CONFINED_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>

/* Which layers hold. */
typedef struct confined_layers {
   bool capabilities, landlock, seccomp;
} confined_layers_t;

/* In the server: capabilities, files and network, core files. */
void confined_sandbox_enter(confined_layers_t *layers);
/* In a job's process, before it reads anything: every system call that computing does not need.  processor_s: of processor time, then the
 * kernel ends it. */
void confined_sandbox_close(uint64_t processor_s, confined_layers_t *layers);

#endif
