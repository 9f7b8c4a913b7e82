/* What the worker gives up before it touches a driver: it will load machine code that a stranger wrote. */
#ifndef RKB_GPU_WORKER_WORKER_SANDBOX_H
#define RKB_GPU_WORKER_WORKER_SANDBOX_H

#include <stddef.h>

/* Gives up capabilities, core files, new privileges, files beyond the driver's (Landlock), and processes, networks and
 * kernel interfaces it has no use for (seccomp).  Layers the kernel lacks are left out; list receives those that hold, as
 * "capabilities landlock seccomp".  Call once, before any thread is started. */
void rkb_sandbox_enter(char *list, size_t size);

#endif
