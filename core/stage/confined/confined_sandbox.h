/* The rights that the server and the jobs' processes give up.  One thread. */
#ifndef RKB_STAGE_CONFINED_CONFINED_SANDBOX_H
#define RKB_STAGE_CONFINED_CONFINED_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>

/* Which layers are in force. */
typedef struct confined_layers {
   bool capabilities, landlock, seccomp;
} confined_layers_t;

/* In the server: gives up capabilities, files, network and core files. */
void confined_sandbox_enter(confined_layers_t *layers);
/* In a job's process, before it reads anything: gives up every system call that computing does not need, and limits processor
 * time to processor_s seconds, after which the kernel ends the process. */
void confined_sandbox_close(uint64_t processor_s, confined_layers_t *layers);

#endif
