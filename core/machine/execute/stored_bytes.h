/* What a block stored, access by access (partial_launches.c), and its order by place (stored_bytes.c). */
#ifndef RKB_MACHINE_EXECUTE_STORED_BYTES_H
#define RKB_MACHINE_EXECUTE_STORED_BYTES_H

#include "machine/execute/execution.h"

struct machine_stored_bytes {
   machine_region_t *region;
   uint64_t offset, bytes;
};

/* By buffer and offset.  rooms: two for as many entries as stores has, one of which holds what is returned; or stores itself. */
const struct machine_stored_bytes *machine_sort_stored(const struct machine_stored_bytes *stores,
                                                       uint32_t count,
                                                       struct machine_stored_bytes *const rooms[2]);

#endif
