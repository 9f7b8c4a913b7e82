/* Lets a process give up rights before it touches data that it does not trust: capabilities, and files that are not named (Landlock,
 * landlock(7)).  Uses system calls alone.  Linked into rkb-worker too, which links libc and nothing else.  One thread. */
#ifndef RKB_BASE_CONFINE_H
#define RKB_BASE_CONFINE_H

#include <stdbool.h>
#include <stdint.h>

bool rkb_drop_capabilities(void);

#define RKB_MAY_READ 1u
#define RKB_MAY_EXECUTE 2u
#define RKB_MAY_WRITE 4u   /* files that are there; truncating them too */
#define RKB_MAY_CONTROL 8u /* ioctl on devices */
#define RKB_MAY_MAKE 16u   /* regular files in a directory */

/* Everything that the kernel's version of Landlock can hold back is held back, network and signals included; then paths are allowed
 * again.  -1 where the kernel has no Landlock. */
int rkb_landlock_begin(uint64_t *held);
/* pattern: of glob(3); a pattern that matches nothing allows nothing. */
void rkb_landlock_allow(int rules, uint64_t held, const char *pattern, unsigned what);
bool rkb_landlock_enter(int rules); /* for good; closes rules */

/* seccomp: from here on no program is started, no process made or looked into, no socket opened; threads may be made. */
bool rkb_refuse_processes_and_network(void);

#endif
