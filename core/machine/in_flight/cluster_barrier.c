/* The barrier of a cluster (cluster_barrier.h).  On the machine's thread. */
#include "machine/in_flight/cluster_barrier.h"
#include "machine/in_flight/mbarriers.h"
#include "machine/clocks/vector_clocks.h"

static size_t bytes_of(uint32_t threads, uint32_t width) {
   return sizeof(machine_cluster_barrier_t) + (2 * (size_t)width + threads) * sizeof(uint32_t);
}

machine_cluster_barrier_t *machine_cluster_barrier_new(machine_run_t *run, uint32_t threads, uint32_t width) {
   machine_cluster_barrier_t *made = machine_alloc(run, bytes_of(threads, width));
   if (!made)
      return NULL;
   made->threads = threads;
   made->width = width;
   made->arriving = made->words;
   made->completed = made->words + width;
   made->arrived = made->words + 2 * (size_t)width;
   return made;
}

void machine_cluster_barrier_free(machine_run_t *run, machine_cluster_barrier_t *barrier) {
   if (barrier)
      machine_release(run, barrier, bytes_of(barrier->threads, barrier->width));
}

void machine_cluster_barrier_begin(machine_block_t *block) {
   machine_cluster_barrier_t *barrier = block->cluster_barrier;
   if (!barrier)
      return;
   barrier->phase = 0;
   barrier->expected = barrier->pending = block->cluster.blocks * block->cluster.threads;
   memset(barrier->words, 0, (2 * (size_t)barrier->width + barrier->threads) * sizeof(uint32_t));
}

static void advance(machine_block_t *block) {
   machine_cluster_barrier_t *barrier = block->cluster_barrier;
   uint32_t *row = barrier->completed;
   if (barrier->pending)
      return;
   barrier->phase++;
   barrier->pending = barrier->expected;
   barrier->completed = barrier->arriving;
   barrier->arriving = row;
   memset(row, 0, barrier->width * sizeof *row);
   machine_mbarriers_wake(block);
}

static bool whole_warp(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask) {
   if (!(i->flags & FLAG_ALIGNED) || mask == warp->alive)
      return true;
   machine_find(warp, RKB_MACHINE_REJECT, "sync.barrier", (uint32_t)__builtin_ctz(mask),
                "lane %d of this warp does not come to the aligned barrier of the cluster",
                __builtin_ctz(warp->alive & ~mask));
   return false;
}

void machine_cluster_arrive(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask) {
   machine_cluster_barrier_t *barrier = warp->block->cluster_barrier;
   if (!whole_warp(warp, i, mask))
      return;
   for (uint32_t left = mask; left; left &= left - 1) {
      const uint32_t lane = (uint32_t)__builtin_ctz(left);
      uint32_t *arrived = &barrier->arrived[warp->first_thread + lane];
      if (*arrived && !(*arrived & CLUSTER_WAITED)) {
         machine_find(warp, RKB_MACHINE_REJECT, "sync.barrier", lane,
                      "arrives at the barrier of the cluster again before it has waited there");
         return;
      }
      *arrived = barrier->phase + 1;
      barrier->pending--;
   }
   if (warp->block->operations && (i->flags & FLAG_RELAXED))
      machine_vector_clocks_release_fenced(warp, mask, barrier->arriving);
   else if (warp->block->operations)
      machine_vector_clocks_release(warp, mask, barrier->arriving);
   warp->run->changes++;
   advance(warp->block);
}

bool machine_cluster_wait(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask) {
   const machine_cluster_barrier_t *barrier = warp->block->cluster_barrier;
   if (!whole_warp(warp, i, mask))
      return true;
   for (uint32_t left = mask; left; left &= left - 1) {
      const uint32_t lane = (uint32_t)__builtin_ctz(left),
                     arrived = barrier->arrived[warp->first_thread + lane];
      if (!arrived || arrived & CLUSTER_WAITED) {
         machine_find(warp, RKB_MACHINE_REJECT, "sync.barrier", lane,
                      "waits at the barrier of the cluster, where it has not arrived");
         return true;
      }
      if (arrived > barrier->phase)
         return false;
   }
   for (uint32_t left = mask; left; left &= left - 1)
      barrier->arrived[warp->first_thread + (uint32_t)__builtin_ctz(left)] |= CLUSTER_WAITED;
   if (warp->block->operations)
      machine_vector_clocks_acquire(warp, mask, barrier->completed);
   return true;
}

void machine_cluster_exit(machine_warp_t *warp, uint32_t mask) {
   machine_cluster_barrier_t *barrier = warp->block->cluster_barrier;
   if (!barrier)
      return;
   for (uint32_t left = mask; left; left &= left - 1) {
      const uint32_t lane = (uint32_t)__builtin_ctz(left);
      barrier->expected--;
      barrier->pending -=
         (barrier->arrived[warp->first_thread + lane] & ~CLUSTER_WAITED) != barrier->phase + 1;
   }
   if (barrier->expected)
      advance(warp->block);
}

void machine_cluster_stuck(machine_warp_t *warp, uint32_t mask) {
   const machine_block_t *block = warp->block;
   const machine_cluster_barrier_t *barrier = block->cluster_barrier;
   rkb_machine_finding_t *finding =
      machine_find(warp, RKB_MACHINE_REJECT, "sync.deadlock", (uint32_t)__builtin_ctz(mask),
                   "waits at the barrier of the cluster for %u of %u threads that never arrive",
                   barrier->pending, barrier->expected);
   machine_find_within_block(finding);
   for (uint32_t t = 0; t < block->threads; t++) {
      const machine_warp_t *other = &block->warps[t / LANES];
      if (!(other->alive >> t % LANES & 1) || (barrier->arrived[t] & ~CLUSTER_WAITED) == barrier->phase + 1)
         continue;
      for (uint32_t n = 0; n < other->fragment_count; n++)
         if (other->fragments[n].mask >> t % LANES & 1)
            machine_find_other_at(finding, block, t, other->fragments[n].pc,
                                  "the other has not arrived, and waits elsewhere");
      break;
   }
   warp->run->stop = true;
}
