/* Follows what releases pass on (reached_locations.h).  A release passes on what its own block had acquired, and nothing else is kept: in a row of
 * blocks that wait for one another, each would otherwise keep as much as all blocks before it.  So the rest is found when an access asks for it.
 * What follows from an acquisition never changes: later releases have later positions.  On the machine's thread. */
#include "machine/races/reached_locations.h"

#include <stdlib.h>

bool machine_reached_begin(machine_reached_locations_t *reached, uint32_t n, machine_acquired_part_t part) {
   if (n < reached->begin_count && reached->begin[n].location == part.location &&
       reached->begin[n].count == part.count)
      return true;
   if (!machine_sync_grow((void **)&reached->begin, n, &reached->begin_room, sizeof *reached->begin))
      return false;
   reached->begin[n] = part;
   reached->begin_count = n + 1;
   reached->known_begin = PTX_NONE;
   return true;
}

uint32_t machine_reached_count(const machine_reached_locations_t *reached, uint32_t location) {
   const uint32_t part = location < reached->part_of_room ? reached->part_of[location] : 0;
   return part ? reached->parts[part - 1].count : 0;
}

/* Adds a part, unless the location was reached with as many releases. */
static bool reach(machine_reached_locations_t *reached, machine_acquired_part_t part) {
   if (machine_reached_count(reached, part.location) >= part.count)
      return true;
   if (!machine_sync_grow((void **)&reached->parts, reached->part_count, &reached->part_room,
                          sizeof *reached->parts))
      return false;
   reached->parts[reached->part_count++] = part;
   reached->part_of[part.location] = reached->part_count;
   return true;
}

static bool room_for(machine_reached_locations_t *reached, uint32_t locations) {
   if (locations <= reached->part_of_room)
      return true;
   uint32_t *larger = realloc(reached->part_of, 2 * (size_t)locations * sizeof *larger);
   if (!larger)
      return false;
   memset(larger + reached->part_of_room, 0,
          (2 * (size_t)locations - reached->part_of_room) * sizeof *larger);
   reached->part_of = larger;
   reached->part_of_room = 2 * locations;
   return true;
}

bool machine_reached_follow(machine_reached_locations_t *reached, const machine_sync_locations_t *locations,
                            uint32_t n, uint64_t *steps) {
   *steps = n;
   if (reached->known_begin == n)
      return true;
   for (uint32_t p = 0; p < reached->part_count; p++)
      reached->part_of[reached->parts[p].location] = 0;
   reached->part_count = 0;
   reached->known_begin = PTX_NONE;
   bool room = room_for(reached, locations->count);
   for (uint32_t k = 0; k < n && room; k++)
      room = reach(reached, reached->begin[k]);
   for (uint32_t p = 0; p < reached->part_count && room; p++) {
      const machine_acquired_part_t part = reached->parts[p];
      const machine_sync_location_t *from = &locations->all[part.location];
      for (uint32_t k = 0; k < from->passed_count && from->passed[k].position < part.count && room;
           k++, ++*steps)
         room = reach(reached, (machine_acquired_part_t){from->passed[k].location, from->passed[k].count});
   }
   reached->known_begin = room ? n : PTX_NONE;
   return room;
}

void machine_reached_free(machine_reached_locations_t *reached) {
   free(reached->begin);
   free(reached->parts);
   free(reached->part_of);
}
