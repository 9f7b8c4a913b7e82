/* The order of a block's accesses: clocks of lanes and of warps, for kernels that synchronise less than the whole block at a time.
 * synchronisation.c does the same between blocks.  On the machine's thread. */
#include "machine/clocks/vector_clocks.h"
#include "machine/clocks/clocks.h"

#define BARRIERS 16u /* of each block */

machine_clocks_t *machine_clocks_new(machine_run_t *run, const machine_cluster_t *cluster,
                                     const machine_program_t *program) {
   const uint32_t warps = cluster->blocks * cluster->warps, barriers = cluster->blocks * BARRIERS;
   const size_t rows = (size_t)barriers * warps;
   const size_t threads = (size_t)warps * LANES, words = threads + (size_t)warps * warps + 3 * rows;
   machine_clocks_t *clocks = machine_alloc(run, sizeof *clocks + words * sizeof(uint32_t));
   if (!clocks)
      return NULL;
   clocks->bytes = sizeof *clocks + words * sizeof(uint32_t);
   clocks->warps = warps;
   clocks->barriers = barriers;
   clocks->own = (uint32_t *)(void *)(clocks + 1);
   clocks->warp = clocks->own + threads;
   clocks->barrier = clocks->warp + (size_t)warps * warps;
   clocks->arrived = clocks->barrier + rows;
   clocks->before = clocks->arrived + rows;
   clocks->knowledge = machine_vector_clocks_new(run, warps * LANES, barriers, machine_proxy_fences(program),
                                                 machine_generic_fences(program));
   if (!clocks->knowledge) {
      machine_clocks_free(run, clocks);
      return NULL;
   }
   return clocks;
}

void machine_clocks_free(machine_run_t *run, machine_clocks_t *clocks) {
   if (!clocks)
      return;
   machine_vector_clocks_free(run, clocks->knowledge);
   machine_release(run, clocks, clocks->bytes);
}

/* After a barrier of the whole block, earlier accesses race with nothing. */
void machine_clocks_reset(machine_clocks_t *clocks, uint32_t time) {
   memset(clocks->warp, 0, (size_t)clocks->warps * clocks->warps * sizeof(uint32_t));
   memset(clocks->barrier, 0, 3 * (size_t)clocks->warps * clocks->barriers * sizeof(uint32_t));
   for (uint32_t w = 0; w < clocks->warps; w++) {
      clocks->warp[w * clocks->warps + w] = time;
      for (uint32_t l = 0; l < LANES; l++)
         clocks->own[w * LANES + l] = time;
   }
}

void machine_clocks_warp_sync(machine_warp_t *warp, uint32_t lanes) {
   machine_vector_clocks_warp_sync(warp, lanes, machine_tick(warp->block));
}

/* A whole warp arrives at a barrier, so its lanes are also ordered among each other.  The warp's clock is the
 * block's time, which records of global accesses hold, so the clock also decides which of those accesses came
 * before. */
void machine_clocks_arrive(machine_block_t *block, uint32_t warp, uint32_t barrier) {
   machine_clocks_t *clocks = block->clocks;
   uint32_t *joined = clocks->barrier + (size_t)barrier * clocks->warps,
            *own = clocks->warp + (size_t)warp * clocks->warps;
   own[warp] = clocks->arrived[(size_t)barrier * clocks->warps + warp] = block->time;
   for (uint32_t w = 0; w < clocks->warps; w++)
      joined[w] = own[w] > joined[w] ? own[w] : joined[w];
   own[warp] = machine_tick(block);
   machine_clocks_warp_sync(&block->warps[warp], block->warps[warp].alive);
   machine_vector_clocks_arrive(block, warp, barrier);
}

static void leave(machine_block_t *block, uint32_t warp, uint32_t barrier) {
   machine_clocks_t *clocks = block->clocks;
   const uint32_t *joined = clocks->barrier + (size_t)barrier * clocks->warps;
   uint32_t *own = clocks->warp + (size_t)warp * clocks->warps;
   for (uint32_t w = 0; w < clocks->warps; w++)
      if (w != warp)
         own[w] = joined[w] > own[w] ? joined[w] : own[w];
}

void machine_clocks_leave(machine_block_t *block, uint32_t first, uint32_t warps, uint32_t barrier) {
   for (uint32_t left = warps; left; left &= left - 1)
      leave(block, first + (uint32_t)__builtin_ctz(left), barrier);
   if (warps)
      machine_vector_clocks_leave(block, first, warps, barrier);
}

void machine_clocks_complete(machine_block_t *block, uint32_t barrier) {
   machine_clocks_t *clocks = block->clocks;
   const size_t row = (size_t)barrier * clocks->warps, bytes = clocks->warps * sizeof(uint32_t);
   memcpy(clocks->before + row, clocks->arrived + row, bytes);
   memset(clocks->arrived + row, 0, bytes);
   memset(clocks->barrier + row, 0, bytes);
   machine_vector_clocks_complete(block, barrier);
}

/* Whether a warp knows, through mbarriers too, of another warp's arrival at that time. */
static bool knows_arrival(const machine_block_t *block, uint32_t warp, uint32_t other, uint32_t time) {
   const machine_warp_t *who = &block->warps[warp];
   const uint32_t lane = who->alive ? (uint32_t)__builtin_ctz(who->alive) : 0;
   return machine_knows(block->clocks->knowledge, who->first_thread + lane, other * LANES, time);
}

uint32_t machine_clocks_missing(const machine_block_t *block, uint32_t warp, uint32_t barrier) {
   const machine_clocks_t *clocks = block->clocks;
   const uint32_t *own = clocks->warp + (size_t)warp * clocks->warps,
                  *before = clocks->before + (size_t)barrier * clocks->warps;
   for (uint32_t w = 0; w < clocks->warps; w++)
      if (own[w] < before[w] && !knows_arrival(block, warp, w, before[w]))
         return w;
   return PTX_NONE;
}

/* Whether a thread knows what all other threads did up to a time. */
static bool knows_all(const machine_vector_clocks_t *knowledge, uint32_t me, uint32_t time) {
   for (uint32_t t = 0; t < knowledge->threads; t++)
      if (!machine_knows(knowledge, me, t, time))
         return false;
   return true;
}

bool machine_clocks_ordered_time(const machine_warp_t *warp, uint32_t lane, uint32_t thread, uint32_t time) {
   const machine_vector_clocks_t *knowledge = warp->block->clocks->knowledge;
   return thread == PTX_NONE ? knows_all(knowledge, warp->first_thread + lane, time)
                             : machine_knows(knowledge, warp->first_thread + lane, thread, time);
}

bool machine_clocks_ordered(const machine_warp_t *warp, uint32_t lane, uint32_t thread, uint32_t lane_clock) {
   return machine_knows(warp->block->clocks->knowledge, warp->first_thread + lane, thread, lane_clock);
}
