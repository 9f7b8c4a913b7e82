/* Counts of a launch by kinds of its blocks (kind_counts.h). */
#include "machine/counts/kind_counts.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#define LEAST_KNOWN 0.9 /* of the grid's blocks: how many are of kinds that were executed */

/* Counters that add up over blocks. */
#define FIELD(name)                                                                                          \
   { offsetof(rkb_launch_counters_t, name), sizeof((rkb_launch_counters_t){0}.name) / sizeof(uint64_t) }
static const struct {
   size_t at, count;
} fields[] = {FIELD(thread_instructions),
              FIELD(warp_instructions),
              FIELD(load_requests),
              FIELD(load_sectors),
              FIELD(load_least),
              FIELD(store_requests),
              FIELD(store_sectors),
              FIELD(store_least),
              FIELD(distinct_load_sectors),
              FIELD(distinct_store_sectors),
              FIELD(shared_requests),
              FIELD(shared_wavefronts),
              FIELD(atomic_requests),
              FIELD(atomic_serial),
              FIELD(barriers),
              FIELD(tensor_products),
              FIELD(warpgroup_products),
              FIELD(bulk_sectors),
              FIELD(bulk_phases),
              FIELD(bulk_barriers),
              FIELD(reused_sectors),
              FIELD(cluster_waits),
              FIELD(remote_accesses)};
#define FIELDS (sizeof fields / sizeof *fields)

struct machine_kind_counts {
   rkb_launch_counters_t before; /* until the last block that was added */
   struct {
      rkb_launch_counters_t counts;
      uint64_t executed;
   } of[];
};

static uint64_t *value(rkb_launch_counters_t *c, size_t field, size_t n) {
   return (uint64_t *)(void *)((unsigned char *)c + fields[field].at) + n;
}

static uint64_t known_value(const rkb_launch_counters_t *c, size_t field, size_t n) {
   return ((const uint64_t *)(const void *)((const unsigned char *)c + fields[field].at))[n];
}

machine_kind_counts_t *machine_kinds_open(const rkb_machine_blocks_t *sample) {
   machine_kind_counts_t *kinds = NULL;
   if (sample && sample->kind_count > 1)
      kinds = calloc(1, sizeof *kinds + sample->kind_count * sizeof *kinds->of);
   return kinds;
}

void machine_kinds_free(machine_kind_counts_t *kinds) {
   free(kinds);
}

void machine_kinds_add(machine_kind_counts_t *kinds, const rkb_machine_blocks_t *sample,
                       const rkb_launch_counters_t *so_far, uint64_t place) {
   const uint32_t kind = sample->kinds[place];
   for (size_t f = 0; f < FIELDS; f++)
      for (size_t n = 0; n < fields[f].count; n++)
         *value(&kinds->of[kind].counts, f, n) +=
            known_value(so_far, f, n) - known_value(&kinds->before, f, n);
   kinds->of[kind].executed += so_far->executed - kinds->before.executed;
   kinds->before = *so_far;
}

void machine_kinds_weigh(const machine_kind_counts_t *kinds, const rkb_machine_blocks_t *sample,
                         rkb_launch_counters_t *counters) {
   double all = 0, known = 0;
   for (uint32_t k = 0; k < sample->kind_count; k++) {
      all += (double)sample->kind_blocks[k];
      known += kinds->of[k].executed ? (double)sample->kind_blocks[k] : 0;
   }
   if (known <= 0 || known < LEAST_KNOWN * all)
      return;
   for (size_t f = 0; f < FIELDS; f++)
      for (size_t n = 0; n < fields[f].count; n++) {
         double sum = 0;
         for (uint32_t k = 0; k < sample->kind_count; k++)
            if (kinds->of[k].executed)
               sum += (double)known_value(&kinds->of[k].counts, f, n) * (double)sample->kind_blocks[k] /
                      (double)kinds->of[k].executed;
         *value(counters, f, n) = (uint64_t)llround(sum * (double)counters->executed / known);
      }
}
