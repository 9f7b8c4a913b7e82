/* The stores of a block, access by access (partial_blocks.c), and their order by place (stored_bytes.c).  On the machine's thread. */
#ifndef RKB_MACHINE_MEMORY_STORED_BYTES_H
#define RKB_MACHINE_MEMORY_STORED_BYTES_H

#include "machine/state/execution.h"

struct machine_stored_bytes {
   machine_region_t *region;
   uint64_t offset, bytes;
};

/* Sorts by buffer and offset.  rooms: two arrays, each for as many entries as stores has.  One of them holds
 * the result, unless the result is stores itself. */
const struct machine_stored_bytes *machine_sort_stored(const struct machine_stored_bytes *stores,
                                                       uint32_t count,
                                                       struct machine_stored_bytes *const rooms[2]);

#endif
