/* Records of the async proxy's accesses to shared memory (operations.h), for the files that use them: operations.c, tile_reads.c and
 * warp_accesses.c.
 * Owned by the block; on the machine's thread. */
#ifndef RKB_MACHINE_IN_FLIGHT_OPERATION_UNITS_H
#define RKB_MACHINE_IN_FLIGHT_OPERATION_UNITS_H

#include "machine/in_flight/operations.h"

#define MOST_READERS 6u

typedef struct async_unit {
   uint32_t writer, reader[MOST_READERS]; /* operations, 0: none */
   bool generic;                          /* threads have accessed it since writer began */
   bool atomic;                           /* by atomic operations; written names only the last one */
} async_unit_t;

typedef struct generic_write {
   uint32_t thread, clock, pc; /* thread + 1; 0: none */
} generic_write_t;

/* The warps of a warpgroup read the same tile one after the other.  The first warp checks every piece of it, and the result is
 * kept.  As long as nothing is written there, the other warps only compare their knowledge with the first one's. */
#define KEPT_TILES 64u
#define TILE_WRITERS 4u
#define PAGE_SHIFT 10u /* log2 of bytes that are written "at once" */

typedef struct read_tile {
   uint64_t name; /* 0: none */
   uint32_t actor, group, pc;
   uint32_t first, last;          /* pages */
   uint32_t stamp;                /* of the newest write when it was read */
   uint32_t writer[TILE_WRITERS]; /* operations that wrote it; 0: none */
   uint32_t generic;              /* the newest clock of the threads' writes in it */
} read_tile_t;

struct machine_operations {
   machine_operation_t *all; /* from 1 on */
   uint32_t count, room;
   async_unit_t *units;
   generic_write_t *written;                         /* by granule */
   uint32_t unit_count, granules, shift, unit_shift; /* log2 of bytes */
   uint32_t written_first, written_end;              /* granules that may have been written in this block */
   read_tile_t tiles[KEPT_TILES];
   uint32_t *stamps; /* by page: its newest write, of any kind */
   uint32_t stamp, pages;
};

/* Somebody writes there. */
static inline void operations_stamp(machine_operations_t *operations, uint32_t offset, uint32_t bytes) {
   operations->stamp++;
   for (uint32_t page = offset >> PAGE_SHIFT; page <= (offset + bytes - 1) >> PAGE_SHIFT; page++)
      operations->stamps[page] = operations->stamp;
}

/* Whether the lane knows that an operation is done. */
bool machine_operation_known(const machine_warp_t *warp, uint32_t lane, const machine_operation_t *operation);
/* Whether the lane's operation may access a unit; false after a finding. */
bool machine_operation_check(machine_warp_t *warp, uint32_t lane, uint32_t number, uint32_t unit, bool store);
/* The operation is one of those that read the unit from now on; false after a finding. */
bool machine_operation_add_reader(machine_warp_t *warp, uint32_t lane, async_unit_t *unit, uint32_t number);

#endif
