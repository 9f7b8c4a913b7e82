/* mapa, getctarank and barrier.cluster.arrive (PTX ISA 9.0, 9.7.9.24 and 9.7.13.3), in clusters of one block. */
#include "machine/lanes/handlers.h"
#include "machine/async/cluster_barrier.h"

static void check_rank(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask) {
   const uint32_t *rank = LANES_OF(uint32_t, i->b);
   for (uint32_t left = mask & warp->alive & warp->defined[i->bi]; left; left &= left - 1) {
      const uint32_t lane = (uint32_t)__builtin_ctz(left);
      if (rank[lane])
         machine_find(warp, RKB_MACHINE_REJECT, "sync.cluster", lane,
                      "names block %u of a cluster that has one block", rank[lane]);
   }
}

OP(map_address_u32) {
   const uint32_t *a = LANES_OF(uint32_t, i->a);
   uint32_t *d = LANES_OF(uint32_t, i->d);
   check_rank(warp, i, mask);
   EACH_LANE d[l] = KEEP(a[l], d[l]);
}

OP(map_address_u64) {
   const uint64_t *a = LANES_OF(uint64_t, i->a);
   uint64_t *d = LANES_OF(uint64_t, i->d);
   check_rank(warp, i, mask);
   EACH_LANE d[l] = KEEP(a[l], d[l]);
}

OP(block_rank) {
   uint32_t *d = LANES_OF(uint32_t, i->d);
   EACH_LANE d[l] = KEEP(0, d[l]);
}

OP(cluster_arrive) {
   machine_cluster_arrive(warp, i, mask);
}
