/* Records of who read and wrote shared memory, in the usual case: one 32-bit record for each granule, epoch << 22 | writer << 11 | reader.
 * writer and reader are thread + 1, 0 for nobody, or SEVERAL for more than one thread.  The epoch counts
 * barriers of the whole block; the records are cleared when it wraps.  Kernels with bar.warp.sync, barriers
 * of some of the threads, or volatile shared memory use clocks instead. */
#ifndef RKB_MACHINE_STATE_PACKED_RECORDS_H
#define RKB_MACHINE_STATE_PACKED_RECORDS_H

#define EPOCH_SHIFT 22
#define EPOCH_LIMIT 1024u
#define SEVERAL 0x7ffu
/* As a writer: only atomic operations wrote; the reader field names the thread or threads that made them. */
#define ATOMICS 0x7feu
/* As a writer: the granule lies between two variables.  Every access to it is a conflict, so that the slow
 * path reports it. */
#define NOBODYS 0x7fdu

#endif
