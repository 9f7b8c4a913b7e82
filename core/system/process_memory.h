/* How much memory another process of this user has.  Any thread. */
#ifndef RKB_SYSTEM_PROCESS_MEMORY_H
#define RKB_SYSTEM_PROCESS_MEMORY_H

#include <stdint.h>
#include <sys/types.h>

/* Bytes resident now, what it shares with others included; 0 when there is no such process. */
uint64_t rkb_process_resident(pid_t pid);

#endif
