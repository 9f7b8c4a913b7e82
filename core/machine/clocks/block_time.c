/* The time of a block.  The clocks of its threads and the records of its accesses hold such times.  On the
 * machine's thread. */
#include "machine/clocks/clocks.h"
#include "machine/state/packed_records.h"

#define MOST_TIME MOST_NAME_TIME /* the largest time that a record has room for */

uint32_t machine_tick(machine_block_t *block) {
   if (block->time == MOST_TIME && block->run->races && !block->run->stop) {
      machine_find_launch(
         block->run, RKB_MACHINE_UNKNOWN, "limit.budget",
         "a block passes more than %u barriers and fences, which races are not told apart by", MOST_TIME);
      block->run->stop = true;
   }
   return block->time < MOST_TIME ? ++block->time : block->time;
}
