/* Records of who read and wrote shared memory, in the usual case: one 32-bit record for each granule, epoch << 22 | writer << 11 | reader.
 * writer and reader are thread + 1, 0 for nobody, or SEVERAL for more than one thread.  The epoch counts
 * barriers of the whole block; the records are cleared when it wraps.  Kernels with bar.warp.sync, barriers
 * of some of the threads, or volatile shared memory use clocks instead. */
#ifndef RKB_MACHINE_STATE_PACKED_RECORDS_H
#define RKB_MACHINE_STATE_PACKED_RECORDS_H

#include <stdint.h>

#define EPOCH_SHIFT 22
#define EPOCH_LIMIT 1024u
#define SEVERAL 0x7ffu
/* As a writer: only atomic operations wrote; the reader field names the thread or threads that made them. */
#define ATOMICS 0x7feu
/* As a writer: the granule lies between two variables.  Every access to it is a conflict, so that the slow
 * path reports it. */
#define NOBODYS 0x7fdu

/* Records of who read and wrote global memory: the name of an access, block + 1 << 32 | time << 12 | atomic << 11 | thread + 1.  In place of the
 * thread: */
#define BLOCKS_COPIES 0x7fdull /* copies of one block, whose ends machine_copy_sources_t follows */
#define MANY_BLOCKS 0x7feull   /* threads of several blocks; the record names the newest block */
#define MANY_THREADS 0x7ffull  /* several threads of one block */
#define NAME_ATOMIC (1ull << 11)
#define NAME_TIME_SHIFT 12
#define NAME_BLOCK_SHIFT 32
#define MOST_NAME_TIME 0xfffffu

static inline uint64_t machine_name_block(uint64_t name) {
   return name >> NAME_BLOCK_SHIFT;
}
static inline uint32_t machine_name_time(uint64_t name) {
   return (uint32_t)(name >> NAME_TIME_SHIFT) & MOST_NAME_TIME;
}
static inline uint32_t machine_name_thread(uint64_t name) {
   return (uint32_t)(name & MANY_THREADS);
}

#endif
