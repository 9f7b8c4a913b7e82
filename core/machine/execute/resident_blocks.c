/* Blocks side by side.  If blocks of a launch may wait for each other (a barrier across the grid, a message),
 * the launch is executed as on a device: as many blocks at once as the target holds, each in turn.  A block's
 * turn ends when its warps wait or poll.  A block that has ended makes room for the next one.  The order is
 * the run's (execution_order.c), so two runs in one order are the same.
 *
 * decode/polling_loops.c finds which programs wait.  As in every launch, the memory that is polled orders the accesses of the blocks
 * (synchronisation.c).
 *
 * A block whose polled values have not changed gets its next turn when one of them has changed.  Otherwise blocks that wait for one another
 * in a row would cost as many turns as the square of their number.  When a round changes nothing, every block gets a turn.
 *
 * If no block changes anything during ROUNDS rounds in which each block on the target has a turn, the launch
 * does not end: one round then differs from the next only in counts in registers.  On the machine's
 * thread. */
#include "machine/execute/interruptions.h"

#include <stdlib.h>

#define ROUNDS 16u
#define TURNS 64u /* most turns of a block in a row, as long as they change something */
/* The cost of a turn apart from its instructions, in thread-instructions: for the block and for each of its warps. */
#define BLOCK_BURDEN 256u
#define WARP_BURDEN 64u

/* The state of one block, which the run holds while the block has its turn. */
typedef struct resident {
   machine_block_t block;
   uint8_t *pool;
   size_t pool_bytes, pool_room;
   machine_warp_t *warps;
   uint32_t pool_warps, pool_warps_room;
   uint8_t *local, *local_defined;
   double *local_shadow;
   bool live;
   bool polls; /* its last turn changed nothing, and block.polled has everything that it read */
} resident_t;

/* The eight bytes that contain what was polled, or fewer at the end of the region. */
static uint64_t polled_value(machine_run_t *run, uint64_t address) {
   const machine_region_t *region = machine_region_at(run, address);
   const uint64_t offset = region ? address - region->base : 0;
   uint64_t value = 0;
   if (region && !region->places && offset < region->bytes) /* a packed input never changes */
      memcpy(&value, region->data + offset, region->bytes - offset < 8 ? region->bytes - offset : 8);
   return value;
}

static bool still_waits(machine_run_t *run, const resident_t *r) {
   const machine_polled_t *polled = &r->block.polled;
   bool same = r->polls && !polled->more && polled->count;
   for (uint32_t n = 0; same && n < polled->count; n++)
      same = polled_value(run, polled->address[n]) == polled->value[n];
   return same;
}

static void keep_polled(machine_run_t *run) {
   machine_polled_t *polled = &run->block.polled;
   for (uint32_t n = 0; n < polled->count; n++)
      polled->value[n] = polled_value(run, polled->address[n]);
}

static void take_out(machine_run_t *run, resident_t *r) {
   r->block = run->block;
   r->pool = run->pool;
   r->pool_bytes = run->pool_bytes;
   r->pool_room = run->pool_room;
   r->warps = run->warps;
   r->pool_warps = run->pool_warps;
   r->pool_warps_room = run->pool_warps_room;
   r->local = run->local;
   r->local_defined = run->local_defined;
   r->local_shadow = run->local_shadow;
}

static void put_in(machine_run_t *run, const resident_t *r) {
   run->block = r->block;
   run->pool = r->pool;
   run->pool_bytes = r->pool_bytes;
   run->pool_room = r->pool_room;
   run->warps = r->warps;
   run->pool_warps = r->pool_warps;
   run->pool_warps_room = r->pool_warps_room;
   run->local = r->local;
   run->local_defined = r->local_defined;
   run->local_shadow = r->local_shadow;
}

/* A warp of the block that waits; its first warp where none is ready to run. */
static machine_warp_t *one_waiting(machine_block_t *block) {
   for (uint32_t w = 0; w < block->warp_count; w++)
      if (block->warps[w].state == WARP_READY)
         return &block->warps[w];
   return &block->warps[0];
}

/* Makes the finding about the first block that waits. */
static void stop_waiting(machine_launch_t *launch, resident_t *residents, uint64_t at_once, uint64_t total) {
   machine_run_t *run = launch->run;
   resident_t *r = residents;
   while (!r->live)
      r++;
   put_in(run, r);
   machine_warp_t *warp = one_waiting(&run->block);
   if (at_once < total)
      machine_find(
         warp, RKB_MACHINE_REJECT, "sync.deadlock", PTX_NONE,
         "of %llu blocks the target holds %llu at once, and these wait for others, which begin only when one ends",
         (unsigned long long)total, (unsigned long long)at_once);
   else
      machine_find(warp, RKB_MACHINE_REJECT, "sync.deadlock", PTX_NONE,
                   "all blocks that have not ended wait, and none of them changes what another waits for");
   run->stop = true;
   take_out(run, r);
}

/* Gives turns to the block that the run holds until its warps poll or wait; true when the block ended. */
static bool give_turns(machine_run_t *run) {
   const uint32_t most = run->interrupted && run->idle == 0 ? 1 : TURNS;
   for (uint32_t n = 0; n < most && !run->stop; n++) {
      const uint64_t before = run->changes;
      run->work.burden += BLOCK_BURDEN + (uint64_t)run->block.warp_count * WARP_BURDEN;
      run->block.polled.count = 0;
      run->block.polled.more = false;
      if (machine_block_turn(&run->block))
         return true;
      if (run->changes == before)
         break;
   }
   return false;
}

/* Begins the n-th block of the launch. */
static void begin(machine_launch_t *launch, uint64_t n, resident_t *r) {
   const uint32_t *grid = launch->plan->grid;
   const uint64_t total = (uint64_t)grid[0] * grid[1] * grid[2];
   machine_block_start(launch, machine_in_order(launch->run, n, total));
   launch->run->counts.measured_blocks += launch->run->block.measured;
   r->live = true;
}

/* Makes the memory for one more block at once.  The first block uses the memory that the launch prepared. */
static bool prepare(machine_launch_t *launch) {
   machine_run_t *run = launch->run;
   put_in(run, &(resident_t){.live = false});
   if (!machine_pool_prepare(run, launch->program, &launch->cluster))
      return false;
   machine_launch_begin(launch);
   return true;
}

static uint64_t blocks_at_once(const machine_launch_t *launch, uint64_t total) {
   if (!launch->program->waits)
      return machine_blocks_beside(launch->run, total);
   const uint32_t *resident = launch->run->options.resident;
   const uint64_t most = resident ? resident[launch->number] : total;
   return most < 1 ? 1 : most < total ? most : total;
}

static void run_rounds(machine_launch_t *launch, resident_t *residents, uint64_t count, uint64_t at_once,
                       uint64_t total) {
   machine_run_t *run = launch->run;
   uint64_t next = count, left = count;
   run->idle = 0;
   while (left && !run->stop && !run->out_of_memory) {
      const uint64_t before = run->changes;
      for (uint64_t n = 0; n < count && !run->stop && !run->out_of_memory; n++) {
         resident_t *r = &residents[n];
         if (!r->live || (run->idle == 0 && (still_waits(run, r) || (run->interrupted && !run->side_by_side &&
                                                                     machine_gives_way(run)))))
            continue;
         const uint64_t turn = run->changes;
         put_in(run, r);
         while (give_turns(run) && !run->stop) {
            machine_block_end(&run->block);
            r->live = next < total;
            if (!r->live)
               break;
            begin(launch, next++, r);
         }
         left -= !r->live;
         r->polls = run->changes == turn;
         keep_polled(run);
         take_out(run, r);
      }
      run->idle = run->changes == before ? run->idle + 1 : 0;
      if (left && run->idle == ROUNDS && run->side_by_side && !run->stop)
         stop_waiting(launch, residents, at_once, total);
   }
   run->idle = 0;
}

void machine_residents_run(machine_launch_t *launch) {
   machine_run_t *run = launch->run;
   const uint32_t *grid = launch->plan->grid;
   const uint64_t total = (uint64_t)grid[0] * grid[1] * grid[2], at_once = blocks_at_once(launch, total);
   resident_t *residents = calloc(at_once, sizeof *residents);
   uint64_t count = 0;
   if (!residents) {
      run->out_of_memory = true;
      return;
   }
   run->side_by_side = launch->program->waits;
   run->report.waits |= launch->program->waits;
   for (; count < at_once && (count == 0 || prepare(launch)); count++) {
      begin(launch, count, &residents[count]);
      take_out(run, &residents[count]);
   }
   if (count == at_once)
      run_rounds(launch, residents, count, at_once, total);
   else
      machine_pool_free(run);           /* of the block for which there was no room */
   for (uint64_t n = count; n-- > 0;) { /* the first block's memory stays for the next launch */
      put_in(run, &residents[n]);
      if (n)
         machine_pool_free(run);
   }
   run->side_by_side = false;
   free(residents);
}
