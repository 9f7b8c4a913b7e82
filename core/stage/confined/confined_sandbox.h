/* What the server and the jobs' processes give up.  One thread. */
#ifndef RKB_STAGE_CONFINED_CONFINED_SANDBOX_H
#define RKB_STAGE_CONFINED_CONFINED_SANDBOX_H

#include <stdint.h>

/* In the server: capabilities, files and network, core files. */
void confined_sandbox_enter(void);
/* In a job's process, before it reads anything: every system call that computing does not need.  processor_s: of processor time, then the
 * kernel ends it. */
void confined_sandbox_close(uint64_t processor_s);

#endif
