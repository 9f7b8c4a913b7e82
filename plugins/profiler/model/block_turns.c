/* Finds out how many pieces of work the counted block of a bounded grid took (block_turns.h).  Owns nothing; pure.
 *
 * The manifest says how many pieces there are: the number that min() left out.  Which of them the counted block took is known by what it stored: the
 * pieces together fill a buffer that the launch is given. */
#include "block_turns.h"
#include <math.h>

#define SECTOR_BYTES 32.0
#define ROUGHLY 0.25 /* of a piece: the pieces at the edges of a buffer are smaller than the others */

void block_turns_note(void *argument, const rkb_plan_decision_t *decision) {
   bounded_grids_t *grids = argument;
   const int64_t a = decision->left, b = decision->right;
   if (decision->divides || decision->is_value || a == b || a <= 0 || b <= 0 ||
       grids->count == sizeof grids->list / sizeof *grids->list)
      return;
   grids->list[grids->count++] = (struct bounded_grid){a < b ? a : b, a < b ? b : a};
}

/* How many of so many pieces the mean counted block took, if they fill the buffer; NAN: they do not, for no block takes such a number. */
static double turns_by_stores(const rkb_plan_buffer_t *buffer, const rkb_launch_counters_t *c,
                              double pieces) {
   const double stored = (double)c->distinct_store_sectors * SECTOR_BYTES / (double)c->executed,
                turns = stored / (double)buffer->bytes * pieces, blocks = (double)c->blocks;
   const double whole = c->executed == 1 ? round(turns) : turns;
   return turns >= floor(pieces / blocks) - ROUGHLY && turns <= ceil(pieces / blocks) + ROUGHLY && whole > 0
             ? whole
             : NAN;
}

static bool is_given(const rkb_plan_launch_t *launch, uint32_t buffer) {
   bool given = false;
   for (uint32_t a = 0; a < launch->argument_count; a++)
      given |= launch->arguments[a].buffer == buffer;
   return given;
}

block_turns_t block_turns_of(const rkb_device_t *device, const rkb_plan_t *plan,
                             const rkb_plan_launch_t *launch, const rkb_launch_counters_t *c,
                             const bounded_grids_t *grids) {
   const double blocks = (double)c->blocks;
   const bool fills = launch->grid[1] == 1 && launch->grid[2] == 1 &&
                      launch->grid[0] % (uint64_t)device->multiprocessors == 0;
   for (uint32_t g = 0; fills && c->executed && g < grids->count; g++) {
      const double pieces = (double)grids->list[g].pieces;
      if (grids->list[g].blocks != (int64_t)launch->grid[0])
         continue;
      for (uint32_t b = 0; b < plan->buffer_count; b++) {
         const double turns = plan->buffers[b].role != RKB_IN && plan->buffers[b].bytes && is_given(launch, b)
                                 ? turns_by_stores(&plan->buffers[b], c, pieces)
                                 : NAN;
         if (!isnan(turns))
            return (block_turns_t){pieces, pieces / blocks / turns, ceil(pieces / blocks) / turns};
      }
   }
   return (block_turns_t){0, 1, 1};
}
