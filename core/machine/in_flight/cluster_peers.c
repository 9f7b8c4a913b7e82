/* Shared memory of the other blocks of a cluster (cluster_peers.h).  On the machine's thread. */
#include "machine/in_flight/cluster_peers.h"
#include "machine/in_flight/cluster_barrier.h"
#include "machine/clocks/vector_clocks.h"
#include "machine/clocks/clocks.h"

typedef struct last_use {
   uint32_t clock, pc; /* 0: none */
} last_use_t;

struct machine_peers {
   uint32_t threads, blocks;
   last_use_t last[]; /* [thread][rank] */
};

static size_t bytes_of(uint32_t threads, uint32_t blocks) {
   return sizeof(machine_peers_t) + (size_t)threads * blocks * sizeof(last_use_t);
}

machine_peers_t *machine_peers_new(machine_run_t *run, uint32_t threads, uint32_t blocks) {
   machine_peers_t *peers = machine_alloc(run, bytes_of(threads, blocks));
   if (!peers)
      return NULL;
   peers->threads = threads;
   peers->blocks = blocks;
   return peers;
}

void machine_peers_free(machine_run_t *run, machine_peers_t *peers) {
   if (peers)
      machine_release(run, peers, bytes_of(peers->threads, peers->blocks));
}

void machine_peers_begin(machine_block_t *block) {
   machine_peers_t *peers = block->peers;
   if (peers)
      memset(peers->last, 0, (size_t)peers->threads * peers->blocks * sizeof(last_use_t));
}

static uint32_t threads_each(const machine_block_t *block) {
   return block->cluster.warps * LANES;
}

/* Whether a thread knows that some thread of that block has begun. */
static bool knows_begun(const machine_warp_t *warp, uint32_t lane, uint32_t rank) {
   const machine_block_t *block = warp->block;
   const uint32_t each = threads_each(block),
                  *row = machine_vector_clocks_row(block->clocks->knowledge, warp->first_thread + lane);
   for (uint32_t t = rank * each; t < (rank + 1) * each; t++)
      if (row[t])
         return true;
   return machine_cluster_waits(warp, lane) != 0;
}

bool machine_peer_written(machine_warp_t *warp, uint32_t lane, uint32_t rank) {
   if (!warp->block->peers || knows_begun(warp, lane, rank))
      return true;
   rkb_machine_finding_t *finding =
      machine_find(warp, RKB_MACHINE_REJECT, "sync.cluster", lane,
                   "uses shared memory of block %u of the cluster, which may not have begun: no "
                   "barrier.cluster lies before",
                   rank);
   machine_find_other_at(finding, warp->block, rank * threads_each(warp->block), 0,
                         "the other's block may begin after this; nothing orders its begin before");
   return false;
}

bool machine_peer_touched(machine_warp_t *warp, uint32_t lane, uint32_t rank) {
   machine_peers_t *peers = warp->block->peers;
   const machine_instruction_t *i = &warp->program->code[warp->pc];
   if (i->space == PTX_SHARED && !(i->flags & FLAG_CLUSTER)) {
      machine_find_alone(
         machine_find(
            warp, RKB_MACHINE_REJECT, "sync.cluster", lane,
            "uses shared memory of block %u of the cluster in the space shared::cta, which is that of its own block %u",
            rank, warp->rank),
         "the space alone is wrong");
      return false;
   }
   if (!peers || !machine_peer_written(warp, lane, rank))
      return !peers;
   peers->last[(size_t)(warp->first_thread + lane) * peers->blocks + rank] =
      (last_use_t){machine_lane_clock(warp, lane), warp->pc};
   return true;
}

/* Whether some thread of that block knew at its end what the thread had done.  If so, the block had not ended before that. */
static bool outlived(const machine_block_t *block, uint32_t rank, uint32_t thread, uint32_t clock) {
   const uint32_t each = threads_each(block), first = rank * each;
   for (uint32_t t = first; t < first + block->cluster.threads; t++)
      if (machine_knows(block->clocks->knowledge, t, thread, clock))
         return true;
   return false;
}

void machine_peers_end(machine_block_t *block) {
   const machine_peers_t *peers = block->peers;
   for (uint32_t t = 0; peers && t < peers->threads && !block->run->stop; t++)
      for (uint32_t rank = 0; rank < peers->blocks && !block->run->stop; rank++) {
         const last_use_t *last = &peers->last[(size_t)t * peers->blocks + rank];
         if (!last->clock || outlived(block, rank, t, last->clock))
            continue;
         machine_warp_t *warp = &block->warps[t / LANES];
         warp->pc = last->pc;
         const uint32_t other = rank * threads_each(block);
         machine_find_other_at(
            machine_find(
               warp, RKB_MACHINE_REJECT, "sync.cluster", t % LANES,
               "uses shared memory of block %u of the cluster, which may have ended: none of its threads "
               "waits until this is done",
               rank),
            block, other, machine_end_of_thread(block, other),
            "the other's block may end before this; nothing orders its end after");
      }
}
