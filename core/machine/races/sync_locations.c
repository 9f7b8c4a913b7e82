/* Finds and makes locations by their addresses (sync_locations.h).  A kernel may have a flag for each row, so there may be many.  On the machine's thread. */
#include "machine/races/sync_locations.h"

#include <stdlib.h>
#include <string.h>

bool machine_sync_grow(void **array, uint32_t count, uint32_t *room, size_t size) {
   if (count < *room)
      return true;
   uint32_t larger_room = *room ? 2 * *room : 64;
   void *larger = realloc(*array, larger_room * size);
   if (!larger)
      return false;
   *array = larger;
   *room = larger_room;
   return true;
}

/* The slot of an address's location, or the free slot that it would have. */
static uint32_t slot_of(const machine_sync_locations_t *locations, uint64_t address) {
   uint32_t slot = (uint32_t)(machine_mixed(address) % locations->slots);
   while (locations->of_address[slot] != PTX_NONE &&
          locations->all[locations->of_address[slot]].address != address)
      slot = (slot + 1) % locations->slots;
   return slot;
}

/* Keeps at least half of the slots free. */
static bool room_for_address(machine_sync_locations_t *locations) {
   if (2 * (locations->count + 1) <= locations->slots)
      return true;
   const uint32_t slots = locations->slots ? 2 * locations->slots : 64;
   uint32_t *larger = realloc(locations->of_address, slots * sizeof *larger);
   if (!larger)
      return false;
   locations->of_address = larger;
   locations->slots = slots;
   memset(larger, 0xff, slots * sizeof *larger);
   for (uint32_t n = 0; n < locations->count; n++)
      larger[slot_of(locations, locations->all[n].address)] = n;
   return true;
}

uint32_t machine_sync_location(machine_sync_locations_t *locations, uint64_t address, bool make) {
   const uint32_t known = locations->slots ? locations->of_address[slot_of(locations, address)] : PTX_NONE;
   if (known != PTX_NONE || !make)
      return known;
   if (!room_for_address(locations) || !machine_sync_grow((void **)&locations->all, locations->count,
                                                          &locations->room, sizeof *locations->all))
      return PTX_NONE;
   locations->all[locations->count] = (machine_sync_location_t){.address = address};
   locations->of_address[slot_of(locations, address)] = locations->count;
   return locations->count++;
}

void machine_sync_locations_free(machine_sync_locations_t *locations) {
   for (uint32_t n = 0; n < locations->count; n++)
      free(locations->all[n].passed);
   free(locations->all);
   free(locations->of_address);
}
