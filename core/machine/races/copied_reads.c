/* Bytes that bulk and tensor copies of a block still read or write when one of its threads releases something to other blocks.  A record of an access
 * says when the copy began.  A release by a thread that does not know of the copy's end must not cover the copy, so such a release changes the
 * record: it then says that the copy reads or writes now.  On the machine's thread. */
#include "machine/in_flight/copy_sources.h"
#include "machine/races/races.h"

/* So many records are as much work as one thread-instruction. */
#define STEPS_OF_WORK 8u

static void read_on(void *argument, const machine_row_t *row) {
   const machine_warp_t *warp = argument;
   const uint32_t shift = warp->block->launch->global_shift;
   const uint64_t end = ((row->offset + row->bytes - 1) >> shift) + 1, copies = machine_copies_name(warp);
   warp->run->work.burden += 1 + (end - (row->offset >> shift)) / STEPS_OF_WORK;
   for (uint64_t granule = row->offset >> shift; row->region->readers && granule < end; granule++) {
      uint64_t *reader = &row->region->readers[granule];
      if (machine_name_block(*reader) != machine_name_block(copies) ||
          (*reader & MANY_THREADS) == MANY_BLOCKS)
         continue;
      *reader = (*reader & MANY_THREADS) == BLOCKS_COPIES ? copies : copies | MANY_THREADS;
   }
}

/* Of a reduction the record stays, because reductions of other blocks are in no order with it. */
static void write_on(void *argument, const machine_row_t *row) {
   const machine_warp_t *warp = argument;
   const uint32_t shift = warp->block->launch->global_shift;
   const uint64_t end = ((row->offset + row->bytes - 1) >> shift) + 1, copies = machine_copies_name(warp);
   warp->run->work.burden += 1 + (end - (row->offset >> shift)) / STEPS_OF_WORK;
   for (uint64_t granule = row->offset >> shift; row->region->writers && granule < end; granule++) {
      uint64_t *writer = &row->region->writers[granule];
      if (machine_name_block(*writer) == machine_name_block(copies) && !(*writer & NAME_ATOMIC))
         *writer = copies;
   }
}

void machine_global_copies_go_on(machine_warp_t *warp, uint32_t lane) {
   machine_copy_sources_unknown(warp, lane, read_on, write_on, warp);
}
