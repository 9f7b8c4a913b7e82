/* Which bytes each block of a sample stored, for callers that ask which block wrote an element.  met_by says this too, but only for 1024 bytes at
 * once, and a row of a block's tile may be shorter.  On the machine's thread. */
#include "machine/memory/stored_runs.h"

#include <stdlib.h>

#define MOST_RUNS 65536u /* of a block; of one with more it is not known which bytes it stored */

struct run_of_bytes {
   uint32_t buffer;
   uint64_t first, end;
};

/* Of a place. */
struct stores {
   struct run_of_bytes *list; /* by buffer and place */
   uint32_t count;
   bool unknown;
};

struct machine_stored_runs {
   uint32_t launches;
   struct {
      struct stores *places;
      uint32_t count;
   } of[];
};

static void free_launch(struct machine_stored_runs *all, uint32_t launch) {
   for (uint32_t n = 0; n < all->of[launch].count; n++)
      free(all->of[launch].places[n].list);
   free(all->of[launch].places);
   all->of[launch].places = NULL;
   all->of[launch].count = 0;
}

void machine_stored_runs_free(machine_run_t *run) {
   for (uint32_t n = 0; run->stored_runs && n < run->stored_runs->launches; n++)
      free_launch(run->stored_runs, n);
   free(run->stored_runs);
   run->stored_runs = NULL;
}

bool machine_stored_runs_begin(machine_run_t *run, uint32_t launch, uint32_t places) {
   const uint32_t launches = run->plan->launch_count;
   if (!run->stored_runs) {
      run->stored_runs = calloc(1, sizeof *run->stored_runs + launches * sizeof run->stored_runs->of[0]);
      if (!run->stored_runs)
         return false;
      run->stored_runs->launches = launches;
   }
   free_launch(run->stored_runs, launch);
   run->stored_runs->of[launch].places = calloc((size_t)places + 1, sizeof(struct stores));
   if (!run->stored_runs->of[launch].places)
      return false;
   run->stored_runs->of[launch].count = places;
   return true;
}

static bool touches(const struct run_of_bytes *run, const struct machine_stored_bytes *stored) {
   return run->buffer == stored->region->buffer && run->end >= stored->offset;
}

bool machine_stored_runs_keep(machine_run_t *run, const struct machine_stored_bytes *sorted, uint32_t count) {
   const uint32_t launch = run->place >> PLACE_BITS, place = run->place & MOST_PLACES;
   struct machine_stored_runs *all = run->stored_runs;
   if (!all || place >= all->of[launch].count)
      return true;
   struct stores *own = &all->of[launch].places[place];
   uint32_t runs = 0;
   for (uint32_t n = 0; n < count; n++)
      runs += n == 0 || sorted[n].region != sorted[n - 1].region ||
              sorted[n].offset > sorted[n - 1].offset + sorted[n - 1].bytes;
   free(own->list);
   *own = (struct stores){.unknown = runs > MOST_RUNS};
   if (own->unknown)
      return true;
   own->list = malloc((runs + 1) * sizeof *own->list);
   for (uint32_t n = 0; own->list && n < count; n++) {
      struct run_of_bytes *last = own->count ? &own->list[own->count - 1] : NULL;
      const uint64_t end = sorted[n].offset + sorted[n].bytes;
      if (last && touches(last, &sorted[n]))
         last->end = end > last->end ? end : last->end;
      else
         own->list[own->count++] = (struct run_of_bytes){sorted[n].region->buffer, sorted[n].offset, end};
   }
   return own->list != NULL;
}

bool rkb_machine_may_have_stored(const rkb_machine_t *machine, uint32_t launch, uint32_t place,
                                 uint32_t buffer, uint64_t byte) {
   const struct machine_stored_runs *all = machine->run.stored_runs;
   if (!all || launch >= all->launches || place >= all->of[launch].count ||
       all->of[launch].places[place].unknown)
      return true;
   const struct stores *own = &all->of[launch].places[place];
   uint32_t low = 0, high = own->count;
   while (low < high) { /* the first run that ends behind the byte */
      const uint32_t middle = low + (high - low) / 2;
      const struct run_of_bytes *at = &own->list[middle];
      if (at->buffer > buffer || (at->buffer == buffer && at->end > byte))
         high = middle;
      else
         low = middle + 1;
   }
   return low < own->count && own->list[low].buffer == buffer && own->list[low].first <= byte;
}

bool rkb_machine_forget_stores(rkb_machine_t *machine, uint32_t launch, uint32_t place) {
   const struct machine_stored_runs *all = machine->run.stored_runs;
   bool known = all && launch < all->launches;
   for (uint32_t p = place; known && p < all->of[launch].count; p++)
      known = !all->of[launch].places[p].unknown;
   for (uint32_t p = place; known && p < all->of[launch].count; p++)
      for (uint32_t n = 0; n < all->of[launch].places[p].count; n++) {
         const struct run_of_bytes *stored = &all->of[launch].places[p].list[n];
         const machine_region_t *region = &machine->run.regions[stored->buffer];
         if (region->defined)
            memset(region->defined + stored->first, 0, stored->end - stored->first);
      }
   return known;
}
