/* Records of who read and wrote shared memory, in the usual case: one 32-bit record for each granule, epoch << 22 | writer << 11 | reader.
 * writer and reader are thread + 1, 0 for nobody, or SEVERAL for more than one thread.  The epoch counts
 * barriers of the whole block; the records are cleared when it wraps.  Kernels with bar.warp.sync, barriers
 * of some of the threads, or volatile shared memory use clocks instead. */
#ifndef RKB_MACHINE_STATE_PACKED_RECORDS_H
#define RKB_MACHINE_STATE_PACKED_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#define EPOCH_SHIFT 22
#define EPOCH_LIMIT 1024u
#define SEVERAL 0x7ffu
/* As a writer: only atomic operations wrote; the reader field names the thread or threads that made them. */
#define ATOMICS 0x7feu
/* As a writer: the granule lies between two variables.  Every access to it is a conflict, so that the slow
 * path reports it. */
#define NOBODYS 0x7fdu

/* Records of who read and wrote global memory: the name of an access, block + 1 << 36 | time << 16 | atomic << 15 | thread + 1.  A cluster has up
 * to 16 * 1024 threads.  In place of the thread: */
#define BLOCKS_COPIES 0x7ffdull /* copies of one block, whose ends machine_copy_sources_t follows */
#define MANY_BLOCKS 0x7ffeull   /* threads of several blocks; the record names the newest block */
#define MANY_THREADS 0x7fffull  /* several threads of one block */
/* Added to a writer's thread + 1: it wrote through the async proxy.  The last few threads of the largest cluster have no such name (machine_has_proxied_name). */
#define BY_PROXY 0x4000u
#define NAME_ATOMIC (1ull << 15)
#define NAME_TIME_SHIFT 16
#define NAME_BLOCK_SHIFT 36
#define MOST_NAME_TIME 0xfffffu
#define MOST_NAME_BLOCK ((1ull << (64 - NAME_BLOCK_SHIFT)) - 1)

static inline uint64_t machine_name_block(uint64_t name) {
   return name >> NAME_BLOCK_SHIFT;
}
static inline uint32_t machine_name_time(uint64_t name) {
   return (uint32_t)(name >> NAME_TIME_SHIFT) & MOST_NAME_TIME;
}
static inline uint32_t machine_name_thread(uint64_t name) {
   const uint32_t thread = (uint32_t)(name & MANY_THREADS);
   return thread > BY_PROXY && thread < BLOCKS_COPIES ? thread - BY_PROXY : thread;
}
/* Of a writer: whether it wrote through the async proxy. */
static inline bool machine_name_proxied(uint64_t name) {
   return (name & MANY_THREADS) > BY_PROXY && (name & MANY_THREADS) <= BLOCKS_COPIES;
}
static inline bool machine_has_proxied_name(uint32_t thread) {
   return thread + 1 + BY_PROXY < BLOCKS_COPIES;
}

#endif
