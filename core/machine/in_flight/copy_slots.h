/* Shared by the two files of asynchronous copies: copies.c holds the copies in flight and finds accesses that touch them;
 * copy_operations.c starts and ends copies.  On the machine's thread. */
#ifndef RKB_MACHINE_IN_FLIGHT_COPY_SLOTS_H
#define RKB_MACHINE_IN_FLIGHT_COPY_SLOTS_H

#include "machine/in_flight/copies.h"

#define MOST_SLOTS (1u << 20) /* instructions with copies in flight, each of at least 4 bytes */

typedef struct copy {
   uint32_t pc, warp, bytes;
   uint32_t lanes; /* lanes whose copies are in flight; 0: the slot is free */
   uint32_t group[LANES], to[LANES];
   machine_region_t *region; /* NULL: the source is only read */
   uint64_t from[LANES];
   uint32_t from_bytes[LANES];
} copy_t;

struct machine_copies {
   copy_t *slots;
   uint32_t count, room, first_free; /* all slots below first_free are taken */
   uint32_t live, sources;           /* slots with copies in flight, and those among them with a region */
   uint32_t words, threads; /* of the whole cluster */
   uint32_t *committed;     /* how many groups each thread has committed */
   uint32_t *owner;         /* by word of shared memory: slot * 32 + lane + 1, or 0 */
};

/* Sets the writer in the packed records of these words of shared memory. */
void machine_copies_mark(machine_block_t *block, uint32_t to, uint32_t bytes, uint32_t writer);

#endif
