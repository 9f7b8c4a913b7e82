/* The shapes of global memory requests: what made a source line waste sectors. */
#ifndef RKB_MACHINE_COUNTS_ACCESS_SHAPE_H
#define RKB_MACHINE_COUNTS_ACCESS_SHAPE_H

#include <rkb/ext/counters.h>
#include <stdbool.h>
#include <stdint.h>

#define MACHINE_ACCESS_CAUSES 4

/* What one line's wasteful requests looked like, the commonest few. */
typedef struct machine_access_causes {
   rkb_line_access_t access[MACHINE_ACCESS_CAUSES];
   uint64_t wasted[MACHINE_ACCESS_CAUSES]; /* sectors; 0: unused */
} machine_access_causes_t;

/* The shape of one request of bytes a lane by the lanes in mask (not 0), which touched more sectors than it needed. */
rkb_line_access_t machine_access_shape(const uint64_t *address, uint32_t mask, uint32_t bytes);

void machine_access_count(machine_access_causes_t *causes, const rkb_line_access_t *access, uint64_t wasted);

/* The shape behind at least half of what was wasted, or RKB_ACCESS_MIXED. */
rkb_line_access_t machine_access_cause(const machine_access_causes_t *causes);

#endif
