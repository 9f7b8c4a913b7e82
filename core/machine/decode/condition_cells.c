/* Memory as one thread of a kernel sees it (conditions.h), for sizes that a kernel stores and loads again.
 *
 * A size may go through a local array or through shared memory.  The text is followed as if it had no branches, so the cells hold what the thread
 * would have stored on that way.  Threads mostly store the same kind of thing in a variable of shared memory.  So a cell that this thread did not
 * write counts as the one that it wrote last in that variable.  Both only say where to look.  Owned by a list; its thread. */
#include "machine/decode/conditions.h"

#include <stdlib.h>

#define MOST_CELLS 256u /* later ones take the places of the first */

struct cell {
   uint64_t address, value;
   uint32_t bytes;
   bool known;
};

struct condition_cells {
   struct cell cells[MOST_CELLS];
   uint32_t count, next;
};

struct condition_cells *machine_cells_new(void) {
   return calloc(1, sizeof(struct condition_cells));
}

void machine_cells_clear(struct condition_cells *c) {
   c->count = c->next = 0;
}

void machine_cells_store(struct condition_cells *c, uint64_t address, uint32_t bytes, uint64_t value,
                         bool known) {
   /* the newest cell of an address counts, so that the last one of a variable is the one that was written last */
   const uint32_t at = c->next++ % MOST_CELLS;
   c->cells[at] = (struct cell){address, value, bytes, known};
   c->count = c->count < MOST_CELLS ? c->count + 1 : MOST_CELLS;
}

bool machine_cells_load(const struct condition_cells *c, uint64_t address, uint32_t bytes, uint64_t *value) {
   const struct cell *last = NULL;
   for (uint32_t n = 1; n <= c->count; n++) {
      const struct cell *cell = &c->cells[(c->next - n) % MOST_CELLS];
      if (cell->bytes != bytes || cell->address >> SPLIT_VARIABLE_BITS != address >> SPLIT_VARIABLE_BITS)
         continue;
      if (cell->address == address) {
         *value = cell->value;
         return cell->known;
      }
      last = last ? last : cell;
   }
   *value = last ? last->value : 0;
   return last && last->known;
}
