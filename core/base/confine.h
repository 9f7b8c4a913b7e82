/* Lets a process give up rights before it touches data that it does not trust: capabilities, and files that are not named (Landlock,
 * landlock(7)).  Uses system calls alone.  Linked into rkb-worker too, which links libc and nothing else.  One thread. */
#ifndef RKB_BASE_CONFINE_H
#define RKB_BASE_CONFINE_H

#include <stdbool.h>
#include <stdint.h>

bool rkb_drop_capabilities(void);

#define RKB_MAY_READ 1u
#define RKB_MAY_EXECUTE 2u
#define RKB_MAY_WRITE 4u   /* existing files; includes truncating them */
#define RKB_MAY_CONTROL 8u /* ioctl on devices */
#define RKB_MAY_MAKE 16u   /* regular files in a directory */

/* Begins a list of rules.  Landlock will refuse all that this kernel's version can refuse, network and signals included, except the paths that are allowed
 * next.  Returns -1 if the kernel has no Landlock. */
int rkb_landlock_begin(uint64_t *held);
/* Allows the paths that match a pattern of glob(3); if none matches, allows nothing. */
void rkb_landlock_allow(int rules, uint64_t held, const char *pattern, unsigned what);
bool rkb_landlock_enter(int rules); /* puts the rules into force for the rest of the process; closes rules */

/* seccomp: from here on this process cannot start a program, make, look into or signal another process, open a socket, or leave a queue, a semaphore or a
 * key in the kernel.  It can still make threads. */
bool rkb_refuse_processes_and_network(void);
/* seccomp: from here on this process can open files only to read them, and can make, delete, rename or shorten none.  It can still
 * write to files that are open.  For kernels without Landlock, and for terminals, into which it cannot type. */
bool rkb_refuse_changes_of_files(void);

#endif
