/* The shapes of requests to global memory: why a source line wastes sectors. */
#ifndef RKB_MACHINE_COUNTS_ACCESS_SHAPE_H
#define RKB_MACHINE_COUNTS_ACCESS_SHAPE_H

#include <rkb/ext/counters.h>
#include <stdbool.h>
#include <stdint.h>

#define MACHINE_ACCESS_CAUSES 4

/* The shapes of one line's wasteful requests, as far as there is room for them. */
typedef struct machine_access_causes {
   rkb_line_access_t access[MACHINE_ACCESS_CAUSES];
   uint64_t wasted[MACHINE_ACCESS_CAUSES]; /* sectors; 0: unused */
} machine_access_causes_t;

/* Returns the shape of a request of so many bytes a lane, by the lanes in mask (not 0), which touched more
 * sectors than it needed. */
rkb_line_access_t machine_access_shape(const uint64_t *address, uint32_t mask, uint32_t bytes);

void machine_access_count(machine_access_causes_t *causes, const rkb_line_access_t *access, uint64_t wasted);

/* Returns the shape that caused at least half of the waste, or RKB_ACCESS_MIXED. */
rkb_line_access_t machine_access_cause(const machine_access_causes_t *causes);

#endif
