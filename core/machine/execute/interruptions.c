/* Interrupts warps, blocks and lanes in shuffled orders.  If a program reads memory and writes it in two operations (decode/pieces.c), other threads may
 * come between them on a device.  In front of each such operation the order's number decides whether the warp lets other warps and other
 * blocks run first, and whether some of its lanes wait there while the others go on alone.
 *
 * Interrupted turns are too short for a lane that polls memory to let the other lanes of its warp go on.  So a launch with a loop that polls is interrupted
 * at its beginning only, and never while no block changes anything: then lanes that were left behind or have stopped go on too.
 *
 * Lanes that went on alone stop at the first place where lanes of a warp take part together (a shuffle, a barrier, a wait).  Lanes that were left behind
 * go on when the others have stopped, ended, or waited for long.  When all have stopped, they go on as diverged lanes always do.  CUDA promises no more
 * since Volta (CUDA C++ Programming Guide, 'Independent Thread Scheduling').  On the machine's thread. */
#include "machine/execute/interruptions.h"

#define MOST_OFTEN 4096u /* interruptions of a launch, after which they become rare */
#define RARELY 64u
#define MOST_OF_POLLS 1024u /* numbers that are drawn for a launch with a loop that polls */
#define LANES_PART 4u /* of so many chances, lanes part once */
#define MOST_BESIDE 4u
#define MOST_IMPATIENT 256u

bool machine_interrupts(const machine_launch_t *launch) {
   return launch->run->order > RKB_MACHINE_DESCENDING && launch->program->pieces;
}

static uint64_t draw(machine_run_t *run) {
   run->interrupted &= ++run->interruptions < MOST_OF_POLLS || !run->launch->program->spins;
   return machine_order_number(run, run->launch->number, run->interruptions) >> 8;
}

uint64_t machine_blocks_beside(machine_run_t *run, uint64_t total) {
   const uint64_t most = 2 + draw(run) % (MOST_BESIDE - 1);
   return most < total ? most : total;
}

bool machine_gives_way(machine_run_t *run) {
   return draw(run) % (run->interruptions < MOST_OFTEN ? 2 : RARELY) == 0;
}

/* Lets lanes go on that were left behind; if there are none, those that have stopped. */
static void rejoin(machine_warp_t *warp) {
   bool left = false;
   warp->impatient = 0;
   for (uint32_t n = 0; n < warp->fragment_count; n++)
      left |= warp->fragments[n].left_behind;
   for (uint32_t n = 0; n < warp->fragment_count; n++) {
      warp->fragments[n].left_behind = false;
      warp->fragments[n].stopped &= left;
   }
   warp->apart = left;
   machine_fragments_merge(warp);
}

void machine_lanes_join(machine_warp_t *warp) {
   while (warp->apart && (warp->run->idle || !warp->run->interrupted))
      rejoin(warp);
}

void machine_lanes_lose_patience(machine_warp_t *warp) {
   bool left = false;
   for (uint32_t n = 0; n < warp->fragment_count; n++)
      left |= warp->fragments[n].left_behind;
   /* Lanes that have stopped before a shuffle may need the ones that run.  So these only wait for a stopped lane if they run very long. */
   if (left || ++warp->impatient > MOST_IMPATIENT)
      rejoin(warp);
}

uint32_t machine_fragment_next(machine_warp_t *warp) {
   uint32_t next = machine_fragment_pick(warp, PTX_NONE);
   while (next == PTX_NONE && warp->apart) {
      rejoin(warp);
      next = machine_fragment_pick(warp, PTX_NONE);
   }
   return next;
}

static const machine_block_info_t *block_of(const machine_warp_t *warp, uint32_t fragment) {
   return &warp->program->blocks[warp->program->code[warp->fragments[fragment].pc].block];
}

/* Leaves about half of the fragment's lanes behind, or all of them, if the warp has others. */
static void part(machine_warp_t *warp, uint32_t fragment) {
   machine_fragment_t *f = &warp->fragments[fragment];
   const uint64_t drawn = draw(warp->run);
   const uint32_t behind = f->mask & (uint32_t)drawn;
   if (warp->fragment_count > 1 && drawn >> 32 & 1) {
      f->left_behind = warp->apart = true;
      return;
   }
   if (!behind || behind == f->mask)
      return;
   /* Masks are disjoint, so there is room. */
   machine_fragment_t *other = &warp->fragments[warp->fragment_count++];
   *other = *f;
   other->mask = behind;
   other->left_behind = true;
   f->mask &= ~behind;
   warp->apart = true;
}

/* Stops fragments where lanes take part together, and returns the one that runs instead. */
static uint32_t stop_together(machine_warp_t *warp, uint32_t current) {
   while (current != PTX_NONE && warp->apart && block_of(warp, current)->together) {
      warp->fragments[current].stopped = true;
      current = machine_fragment_next(warp);
   }
   return current;
}

uint32_t machine_lanes_part(machine_warp_t *warp, uint32_t current) {
   current = stop_together(warp, current);
   if (current != PTX_NONE && !warp->apart && block_of(warp, current)->interrupts &&
       !block_of(warp, current)->together && warp->run->interruptions < MOST_OFTEN && warp->run->idle == 0 &&
       draw(warp->run) % LANES_PART == 0) {
      part(warp, current);
      if (warp->fragments[current].left_behind)
         current = stop_together(warp, machine_fragment_next(warp));
   }
   return current;
}
