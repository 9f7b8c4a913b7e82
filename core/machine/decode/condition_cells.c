/* Memory as one thread of a kernel sees it (conditions.h), for sizes that a kernel stores and loads again.
 *
 * A size may go through a local array or through shared memory.  The text is followed as if it had no branches, so the cells hold what the thread
 * would have stored on that way.  Threads mostly store the same kind of thing in a variable of shared memory.  So a cell that this thread did not
 * write counts as the one that it wrote last in that variable.  Both only say where to look.  Owned by a list; its thread. */
#include "machine/decode/conditions.h"

#include <stdlib.h>
#include <string.h>

#define MOST_CELLS 256u /* later ones take the places of the first */
#define LISTS 64u       /* by addresses, and by variables: a load looks at few cells */

struct cell {
   uint64_t address, value;
   uint32_t bytes;
   bool known;
   uint32_t older_of_address, older_of_variable; /* the cell before in the same list */
};

/* Cells are numbered from 1 in the order of the stores. */
struct condition_cells {
   struct cell cells[MOST_CELLS];
   uint32_t last;                                            /* 0: none */
   uint32_t last_of_address[LISTS], last_of_variable[LISTS]; /* by a list's number */
};

struct condition_cells *machine_cells_new(void) {
   return calloc(1, sizeof(struct condition_cells));
}

void machine_cells_clear(struct condition_cells *c) {
   c->last = 0;
   memset(c->last_of_address, 0, sizeof c->last_of_address);
   memset(c->last_of_variable, 0, sizeof c->last_of_variable);
}

static uint32_t list_of(uint64_t number) {
   return (uint32_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 32) % LISTS;
}

/* NULL: there is no such cell, or later ones have taken its place and those of all before it. */
static const struct cell *kept_at(const struct condition_cells *c, uint32_t number) {
   return number && c->last - number < MOST_CELLS ? &c->cells[number % MOST_CELLS] : NULL;
}

void machine_cells_store(struct condition_cells *c, uint64_t address, uint32_t bytes, uint64_t value,
                         bool known) {
   uint32_t *of_address = &c->last_of_address[list_of(address)],
            *of_variable = &c->last_of_variable[list_of(address >> SPLIT_VARIABLE_BITS)];
   c->last++;
   c->cells[c->last % MOST_CELLS] = (struct cell){address, value, bytes, known, *of_address, *of_variable};
   *of_address = *of_variable = c->last;
}

bool machine_cells_load(const struct condition_cells *c, uint64_t address, uint32_t bytes, uint64_t *value) {
   const uint64_t variable = address >> SPLIT_VARIABLE_BITS;
   const struct cell *cell = kept_at(c, c->last_of_address[list_of(address)]);
   while (cell && (cell->address != address || cell->bytes != bytes))
      cell = kept_at(c, cell->older_of_address);
   if (!cell)
      cell = kept_at(c, c->last_of_variable[list_of(variable)]);
   while (cell && (cell->address >> SPLIT_VARIABLE_BITS != variable || cell->bytes != bytes))
      cell = kept_at(c, cell->older_of_variable);
   *value = cell ? cell->value : 0;
   return cell && cell->known;
}
