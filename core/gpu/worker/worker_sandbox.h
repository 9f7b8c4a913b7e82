/* The worker's sandbox.  The worker enters it before it loads the driver, because it will run machine code from an untrusted source. */
#ifndef RKB_GPU_WORKER_WORKER_SANDBOX_H
#define RKB_GPU_WORKER_WORKER_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

/* Gives up capabilities, core files, new privileges, files other than the driver's (Landlock), and processes,
 * networks and unneeded kernel interfaces (seccomp).  Leaves out layers that the kernel lacks.  list receives
 * the layers in force, as "capabilities landlock seccomp".  Call it once, before any thread is started.
 * under_tool: a profiler or sanitizer is in the process and needs more rights (docs/security.md, "Tools"). */
void rkb_sandbox_enter(bool under_tool, char *list, size_t size);

#endif
