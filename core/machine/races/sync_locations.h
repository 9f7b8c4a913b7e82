/* The locations in memory through which blocks synchronise (synchronisation.c), found by their addresses.  Owned by the run; on the machine's thread. */
#ifndef RKB_MACHINE_RACES_SYNC_LOCATIONS_H
#define RKB_MACHINE_RACES_SYNC_LOCATIONS_H

#include "machine/state/execution.h"

/* What a location's releases pass on beside their own block's accesses: a thread that acquires this location
 * from the release at `position` on has also acquired `count` releases of another location. */
typedef struct machine_passed_on {
   uint32_t position, location, count;
} machine_passed_on_t;

typedef struct machine_sync_location {
   uint64_t address;
   uint32_t count; /* releases made through it */
   machine_passed_on_t *passed;
   uint32_t passed_count, passed_room;
} machine_sync_location_t;

typedef struct machine_sync_locations {
   machine_sync_location_t *all;
   uint32_t count, room;
   uint32_t *of_address, slots; /* numbers of locations by their addresses; PTX_NONE: none */
} machine_sync_locations_t;

/* The number of an address's location.  PTX_NONE: there is none and make is false, or memory ran out. */
uint32_t machine_sync_location(machine_sync_locations_t *locations, uint64_t address, bool make);
void machine_sync_locations_free(machine_sync_locations_t *locations);
/* Makes room for one element more, which has so many bytes; false when memory ran out. */
bool machine_sync_grow(void **array, uint32_t count, uint32_t *room, size_t size);

#endif
