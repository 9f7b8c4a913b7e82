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
 * does not end: one round then differs from the next only in counts in registers.
 *
 * The blocks of a sample run in this way too, if the caller asks for it (options.beside).  They begin in the order of the sample.  Blocks begin in any
 * order on a device, so what they do in this order is something that a device may do.  If all of them wait and no other block of the grid can begin,
 * the launch does not end.  On the machine's thread. */
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
   uint64_t place; /* of the block in the queue */
   bool live;
   bool polls; /* its last turn changed nothing, and block.polled has everything that it read */
} resident_t;

/* The blocks that may begin. */
typedef struct queue {
   const rkb_machine_blocks_t *sample; /* NULL: all blocks of the grid, in the order of the run */
   uint64_t count, total;              /* total: of the grid */
   uint64_t at_once;
   uint64_t next; /* how many have begun */
} queue_t;

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
static void stop_waiting(machine_launch_t *launch, resident_t *residents, const queue_t *queue) {
   machine_run_t *run = launch->run;
   resident_t *r = residents;
   while (!r->live)
      r++;
   put_in(run, r);
   machine_warp_t *warp = one_waiting(&run->block);
   if (queue->at_once < queue->total)
      machine_find(
         warp, RKB_MACHINE_REJECT, "sync.deadlock", PTX_NONE,
         "of %llu blocks the target holds %llu at once, and these wait for others, which begin only when one ends",
         (unsigned long long)queue->total, (unsigned long long)queue->at_once);
   else
      machine_find(warp, RKB_MACHINE_REJECT, "sync.deadlock", PTX_NONE,
                   "all blocks that have not ended wait, and none of them changes what another waits for");
   run->stop = true;
   take_out(run, r);
}

/* Gives turns to the block that the run holds until its warps poll or wait; true when the block ended.  *in_vain: in the last turn it polled, and changed
 * nothing. */
static bool give_turns(machine_run_t *run, bool *in_vain) {
   *in_vain = false;
   const uint32_t most = run->interrupted && run->idle == 0 ? 1 : TURNS;
   for (uint32_t n = 0; n < most && !run->stop; n++) {
      const uint64_t before = run->changes;
      run->work.burden += BLOCK_BURDEN + (uint64_t)run->block.warp_count * WARP_BURDEN;
      run->block.polled.count = 0;
      run->block.polled.more = false;
      if (machine_block_turn(&run->block))
         return true;
      *in_vain = run->changes == before && run->block.polled.count;
      if (run->changes == before)
         break;
   }
   return false;
}

/* Begins the next block. */
static void begin(machine_launch_t *launch, queue_t *queue, resident_t *r) {
   const uint64_t n = queue->next++;
   machine_block_start(launch, queue->sample ? queue->sample->numbers[n]
                                             : machine_in_order(launch->run, n, queue->total));
   launch->run->counts.measured_blocks += launch->run->block.measured;
   r->live = true;
   r->place = n;
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

static uint64_t blocks_at_once(const machine_launch_t *launch, const queue_t *queue) {
   if (!launch->program->waits)
      return machine_blocks_beside(launch->run, queue->total);
   const uint32_t *resident = launch->run->options.resident;
   const uint64_t most = resident ? resident[launch->number] : queue->count;
   return most < 1 ? 1 : most < queue->count ? most : queue->count;
}

/* Whether blocks that are not in the queue would begin now. */
static bool lacks_blocks(const machine_run_t *run, const queue_t *queue, uint64_t left) {
   const uint32_t *resident = run->options.resident;
   return queue->count < queue->total && queue->next == queue->count &&
          (!resident || left < resident[run->launch->number]);
}

static void run_rounds(machine_launch_t *launch, resident_t *residents, uint64_t count, queue_t *queue) {
   machine_run_t *run = launch->run;
   uint64_t left = count;
   run->idle = 0;
   while (left && !run->stop && !run->out_of_memory) {
      const uint64_t before = run->changes;
      for (uint64_t n = 0; n < count && !run->stop && !run->out_of_memory; n++) {
         resident_t *r = &residents[n];
         if (!r->live || (run->idle == 0 && (still_waits(run, r) || (run->interrupted && !run->side_by_side &&
                                                                     machine_gives_way(run)))))
            continue;
         const uint64_t turn = run->changes;
         bool in_vain;
         run->block_store_count = 0; /* nobody asks which of these blocks stored what */
         put_in(run, r);
         while (give_turns(run, &in_vain) && !run->stop) {
            machine_block_end(&run->block);
            r->live = queue->next < queue->count;
            if (!r->live)
               break;
            begin(launch, queue, r);
         }
         left -= !r->live;
         r->polls = run->changes == turn;
         if (in_vain && r->live && queue->sample)
            machine_partial_waits(launch, r->place);
         keep_polled(run);
         take_out(run, r);
      }
      run->idle = run->changes == before ? run->idle + 1 : 0;
      if (lacks_blocks(run, queue, left))
         run->stop = true; /* nothing is known of what follows */
      else if (left && run->idle == ROUNDS && run->side_by_side && !run->stop)
         stop_waiting(launch, residents, queue);
   }
   run->idle = 0;
}

static void run_queue(machine_launch_t *launch, queue_t *queue) {
   machine_run_t *run = launch->run;
   queue->at_once = blocks_at_once(launch, queue);
   resident_t *residents = calloc(queue->at_once, sizeof *residents);
   uint64_t count = 0;
   if (!residents) {
      run->out_of_memory = true;
      return;
   }
   run->side_by_side = launch->program->waits;
   run->report.waits |= launch->program->waits;
   for (; count < queue->at_once && (count == 0 || prepare(launch)); count++) {
      begin(launch, queue, &residents[count]);
      take_out(run, &residents[count]);
   }
   if (count == queue->at_once)
      run_rounds(launch, residents, count, queue);
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

void machine_residents_run(machine_launch_t *launch) {
   const uint32_t *grid = launch->plan->grid;
   const uint64_t total = (uint64_t)grid[0] * grid[1] * grid[2];
   run_queue(launch, &(queue_t){.count = total, .total = total});
}

uint64_t machine_residents_run_sample(machine_launch_t *launch, const rkb_machine_blocks_t *sample) {
   machine_run_t *run = launch->run;
   const uint32_t *grid = launch->plan->grid;
   queue_t queue = {.sample = sample, .count = sample->count, .total = (uint64_t)grid[0] * grid[1] * grid[2]};
   machine_partial_begin(launch, sample->count, false);
   run->unfinished = false; /* memory is what the blocks leave there in this order */
   if (!run->stop)
      run_queue(launch, &queue);
   return queue.next;
}
