/* Which locations a thread has acquired by way of others: it acquired a release, whose block had acquired another location before, and so on
 * (reached_locations.c).  Owned by the run; on the machine's thread. */
#ifndef RKB_MACHINE_RACES_REACHED_LOCATIONS_H
#define RKB_MACHINE_RACES_REACHED_LOCATIONS_H

#include "machine/races/sync_locations.h"

/* The releases 0 .. count - 1 of a location. */
typedef struct machine_acquired_part {
   uint32_t location, count;
} machine_acquired_part_t;

typedef struct machine_reached_locations {
   machine_acquired_part_t *begin; /* what the thread acquired itself */
   uint32_t begin_count, begin_room;
   machine_acquired_part_t
      *parts; /* what follows from it; the same location may come again with a larger count */
   uint32_t part_count, part_room;
   uint32_t *part_of, part_of_room; /* by location: the number of its last part, plus one */
   uint32_t known_begin;            /* how many of begin the parts belong to; PTX_NONE: to none */
} machine_reached_locations_t;

/* Adds to what the thread that is asked about acquired itself.  n: how many it has so far, from 0 on.  False when memory ran out. */
bool machine_reached_begin(machine_reached_locations_t *reached, uint32_t n, machine_acquired_part_t part);
/* Follows the first n of these.  They are not followed again if they were asked about last.  *steps: how many steps it took.  False when memory
 * ran out. */
bool machine_reached_follow(machine_reached_locations_t *reached, const machine_sync_locations_t *locations,
                            uint32_t n, uint64_t *steps);
/* How many releases of a location were acquired, after machine_reached_follow. */
uint32_t machine_reached_count(const machine_reached_locations_t *reached, uint32_t location);
void machine_reached_free(machine_reached_locations_t *reached);

#endif
