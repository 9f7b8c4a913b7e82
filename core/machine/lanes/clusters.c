/* mapa, getctarank and barrier.cluster.arrive (PTX ISA 9.0, 9.7.9.24 and 9.7.13.3).  Where a cluster has several blocks, the high bits of an
 * address of shared memory name the block (CLUSTER_SHIFT). */
#include "machine/lanes/handlers.h"
#include "machine/in_flight/cluster_barrier.h"
#include "machine/in_flight/mbarriers.h"

#define WITHIN ((1u << CLUSTER_SHIFT) - 1)

static void check_rank(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask) {
   const uint32_t *rank = LANES_OF(uint32_t, i->b), blocks = warp->block->cluster.blocks;
   for (uint32_t left = mask & warp->alive & warp->defined[i->bi]; left; left &= left - 1) {
      const uint32_t lane = (uint32_t)__builtin_ctz(left);
      if (rank[lane] >= blocks)
         machine_find_alone(machine_find(warp, RKB_MACHINE_REJECT, "sync.cluster", lane,
                                         "names block %u of a cluster that has %u block%s", rank[lane],
                                         blocks, blocks > 1 ? "s" : ""),
                            "the rank alone is wrong");
   }
}

OP(map_address_u32) {
   const uint32_t *a = LANES_OF(uint32_t, i->a), *rank = LANES_OF(uint32_t, i->b);
   uint32_t *d = LANES_OF(uint32_t, i->d);
   check_rank(warp, i, mask);
   if (warp->block->cluster.blocks > 1)
      EACH_LANE d[l] = KEEP((a[l] & WITHIN) | (uint32_t)machine_rank_bits(rank[l], warp->rank), d[l]);
   else
      EACH_LANE d[l] = KEEP(a[l], d[l]);
}

OP(map_address_u64) {
   const uint64_t *a = LANES_OF(uint64_t, i->a), base = warp->run->window_base[WINDOW_SHARED];
   const uint32_t *rank = LANES_OF(uint32_t, i->b);
   uint64_t *d = LANES_OF(uint64_t, i->d);
   check_rank(warp, i, mask);
   if (warp->block->cluster.blocks > 1)
      EACH_LANE d[l] =
         KEEP(base + (((a[l] - base) & WITHIN) | machine_rank_bits(rank[l], warp->rank)), d[l]);
   else
      EACH_LANE d[l] = KEEP(a[l], d[l]);
}

OP(map_window_u64) {
   const uint64_t *a = LANES_OF(uint64_t, i->a);
   const uint32_t *rank = LANES_OF(uint32_t, i->b);
   uint64_t *d = LANES_OF(uint64_t, i->d);
   check_rank(warp, i, mask);
   if (warp->block->cluster.blocks > 1)
      EACH_LANE d[l] = KEEP((a[l] & WITHIN) | machine_rank_bits(rank[l], warp->rank), d[l]);
   else
      EACH_LANE d[l] = KEEP(a[l], d[l]);
}

OP(block_rank_u32) {
   const uint32_t *a = LANES_OF(uint32_t, i->a);
   uint32_t *d = LANES_OF(uint32_t, i->d);
   EACH_LANE d[l] = KEEP(machine_rank_meant(a[l], warp->rank), d[l]);
}

OP(block_rank_u64) {
   const uint64_t *a = LANES_OF(uint64_t, i->a), base = warp->run->window_base[WINDOW_SHARED];
   uint32_t *d = LANES_OF(uint32_t, i->d);
   EACH_LANE d[l] = KEEP(machine_rank_meant(a[l] - base, warp->rank), d[l]);
}

/* Of the thread's own block. */
OP(isspacep_own) {
   const uint64_t *a = LANES_OF(uint64_t, i->a);
   uint32_t truth = 0;
   for (uint32_t l = 0; l < LANES; l++) {
      const uint64_t address = machine_generic(warp->run, a[l]);
      truth |= (uint32_t)(address >> WINDOW_SHIFT == WINDOW_SHARED &&
                          machine_rank_meant(address, warp->rank) == warp->rank)
               << l;
   }
   set_predicate(warp, i->d, truth, mask);
}

OP(cluster_arrive) {
   if ((i->flags & FLAG_ALIGNED) && machine_mbarriers_hold_up(warp, warp->alive & ~mask))
      return;
   warp->run->counts.cluster_arrivals++;
   machine_cluster_arrive(warp, i, mask);
}
