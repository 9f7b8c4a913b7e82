/* The resident memory of another process of this user.  Any thread. */
#ifndef RKB_SYSTEM_PROCESS_MEMORY_H
#define RKB_SYSTEM_PROCESS_MEMORY_H

#include <stdint.h>
#include <sys/types.h>

/* Bytes resident now, shared pages included; 0 when there is no such process. */
uint64_t rkb_process_resident(pid_t pid);

#endif
