/* Checks the reads of a matrix product (wgmma) that reads a tile of shared memory in pieces of 16 bytes (operations.h, machine_operation_reads_pieces).
 * Two facts save work.  The same operation wrote most neighbouring pieces, so a piece is mostly checked by comparing it with the piece before.  And the
 * four warps of a warpgroup read the same pieces, so the checks of the first warp mostly hold for the others.  On the machine's thread. */
#include "machine/in_flight/operation_units.h"
#include "machine/clocks/vector_clocks.h"
#include "machine/clocks/clocks.h"

#define UNITS_BURDEN 4u /* the work that a unit counts as, in thread-instructions, if it is checked by itself */

/* The generic writes that the lane of an operation knows: writes of all threads up to the clock `all`, and writes of `thread` up to `clock`. */
typedef struct generic_knowledge {
   uint32_t all, thread, clock; /* thread + 1; 0: none */
   bool found; /* all was: most tiles are written by operations alone, and nobody asks for it */
} generic_knowledge_t;

#define SIDE_BY_SIDE 4u
typedef uint32_t clocks_t __attribute__((vector_size(4 * SIDE_BY_SIDE), aligned(4), may_alias));

/* Returns the least of these clocks and of `least`. */
static uint32_t least_clock(const uint32_t *clocks, uint32_t count, uint32_t least) {
   clocks_t all = {least, least, least, least};
   uint32_t n = 0;
   for (; n + SIDE_BY_SIDE <= count; n += SIDE_BY_SIDE) {
      const clocks_t next = *(const clocks_t *)(clocks + n), less = (clocks_t)(next < all);
      all = (next & less) | (all & ~less);
   }
   for (uint32_t k = 0; k < SIDE_BY_SIDE; k++)
      least = all[k] < least ? all[k] : least;
   for (; n < count; n++)
      least = clocks[n] < least ? clocks[n] : least;
   return least;
}

/* Returns the clock up to which every thread's writes were fenced for the lane, and so are ordered before the lane's access. */
static uint32_t fenced_by_all(const machine_warp_t *warp, uint32_t lane) {
   const machine_vector_clocks_t *knowledge = warp->block->clocks->knowledge;
   const uint32_t me = warp->first_thread + lane,
                  *row = machine_vector_clocks_row(knowledge, me) + knowledge->threads;
   const uint32_t own = row[me] > knowledge->own_fenced[me] ? row[me] : knowledge->own_fenced[me];
   return least_clock(row + me + 1, knowledge->threads - me - 1, least_clock(row, me, own));
}

static uint32_t all_of(const machine_warp_t *warp, uint32_t lane, generic_knowledge_t *known) {
   if (!known->found)
      known->all = fenced_by_all(warp, lane);
   known->found = true;
   return known->all;
}

/* Whether the lane knows the last write of each word of a unit, with a fence behind the write.  If so, check_generic would find nothing when an operation of
 * the async proxy reads the unit: earlier writes are ordered before the last write, or they were findings.  *newest grows to the largest clock of a write
 * that known->all covers; UINT32_MAX: only known->thread and known->clock cover some write. */
static bool writes_known(const machine_operations_t *operations, uint32_t unit,
                         const generic_knowledge_t *known, uint32_t *newest) {
   const uint32_t parts = operations->unit_shift - operations->shift;
   bool all = operations->shift >= 2 && !operations->units[unit].atomic;
   for (uint32_t w = unit << parts; all && w < (unit + 1) << parts; w++) {
      const generic_write_t *write = &operations->written[w];
      const uint32_t clock = !write->thread ? 0 : write->clock <= known->all ? write->clock : UINT32_MAX;
      all = clock != UINT32_MAX || (write->thread == known->thread && write->clock <= known->clock);
      *newest = clock > *newest ? clock : *newest;
   }
   return all;
}

static read_tile_t *tile_at(machine_operations_t *operations, uint64_t name, uint32_t actor, uint32_t pc) {
   const uint64_t mixed = (name ^ (uint64_t)actor << 40 ^ (uint64_t)pc << 20) * 0x9e3779b97f4a7c15ull;
   return &operations->tiles[mixed >> 32 & (KEPT_TILES - 1)];
}

/* Whether the tile needs no check.  Three conditions: an operation of the same group read the same pieces; no thread or operation wrote to them since; and
 * this lane knows all writes that the other operation's lane had to know. */
static bool read_before(const machine_warp_t *warp, uint32_t lane, uint32_t number, const read_tile_t *tile,
                        uint64_t name, generic_knowledge_t *generic) {
   const machine_operations_t *operations = warp->block->operations;
   const machine_operation_t *operation = &operations->all[number];
   bool same = tile->name == name && tile->actor == operation->actor && tile->group == operation->count &&
               tile->pc == operation->pc && (!tile->generic || tile->generic <= all_of(warp, lane, generic));
   for (uint32_t page = tile->first; same && page <= tile->last; page++)
      same = operations->stamps[page] <= tile->stamp;
   for (uint32_t n = 0; same && n < TILE_WRITERS && tile->writer[n]; n++)
      same = machine_operation_known(warp, lane, &operations->all[tile->writer[n]]);
   return same;
}

/* Notes an operation that wrote to the tile.  False: the tile has more writers than it has room for, so it cannot be kept. */
static bool note_writer(read_tile_t *tile, uint32_t writer) {
   for (uint32_t n = 0; writer && n < TILE_WRITERS; n++) {
      if (tile->writer[n] && tile->writer[n] != writer)
         continue;
      tile->writer[n] = writer;
      return true;
   }
   return !writer;
}

static void note_pages(read_tile_t *tile, const uint32_t *offsets, uint32_t count) {
   tile->first = UINT32_MAX;
   tile->last = 0;
   for (uint32_t n = 0; n < count; n++) {
      const uint32_t page = offsets[n] >> PAGE_SHIFT;
      tile->first = page < tile->first ? page : tile->first;
      tile->last = page > tile->last ? page : tile->last;
   }
}

/* Checks each unit.  Mostly the same operation wrote the unit and the unit before, and the same actor is at the same place of both lists of readers.  tile
 * gets the writers that were met.  If it has no room for all of them, its name becomes 0. */
static bool read_each(machine_warp_t *warp, uint32_t lane, uint32_t number, const uint32_t *offsets,
                      uint32_t count, generic_knowledge_t generic, read_tile_t *tile) {
   machine_operations_t *operations = warp->block->operations;
   const machine_operation_t *all = operations->all;
   const uint32_t actor = all[number].actor, shift = operations->unit_shift;
   uint32_t writer = 0, reader = UINT32_MAX, slot = 0;
   warp->run->work.burden += (UNITS_BURDEN * 16 * (uint64_t)count) >> shift;
   for (uint32_t n = 0; n < count; n++)
      for (uint32_t u = offsets[n] >> shift; u <= (offsets[n] + 15) >> shift; u++) {
         async_unit_t *unit = &operations->units[u];
         if (unit->generic)
            (void)all_of(warp, lane, &generic);
         if (unit->writer != writer ||
             (unit->generic && !writes_known(operations, u, &generic, &tile->generic))) {
            if (!machine_operation_check(warp, lane, number, u, false))
               return false;
            writer = unit->writer;
            if (!note_writer(tile, writer) ||
                (unit->generic && !writes_known(operations, u, &generic, &tile->generic)))
               tile->name = 0;
            if (unit->generic && operations->shift >= 2 && !unit->atomic) {
               const generic_write_t *write = &operations->written[u << (shift - operations->shift)];
               generic.thread = write->thread;
               generic.clock = write->clock;
            }
         }
         if (unit->reader[slot] != reader) {
            for (slot = 0;
                 slot + 1 < MOST_READERS && unit->reader[slot] && all[unit->reader[slot]].actor != actor;
                 slot++)
               ;
            reader = unit->reader[slot];
            const bool first = !reader && !slot; /* nobody has read it since it was written */
            if (!first && (!reader || all[reader].actor != actor)) {
               reader = UINT32_MAX;
               slot = 0;
               if (!machine_operation_add_reader(warp, lane, unit, number))
                  return false;
               continue;
            }
         }
         unit->reader[slot] = number;
      }
   return true;
}

bool machine_operation_reads_pieces(machine_warp_t *warp, uint32_t lane, uint32_t number, uint64_t name,
                                    const uint32_t *offsets, uint32_t count) {
   machine_operations_t *operations = warp->block->operations;
   if (!number || !operations)
      return true;
   const machine_operation_t *operation = &operations->all[number];
   read_tile_t *tile = tile_at(operations, name, operation->actor, operation->pc),
               met = {
                  .name = name, .actor = operation->actor, .group = operation->count, .pc = operation->pc};
   warp->run->work.burden += warp->block->clocks->knowledge->threads / 16;
   generic_knowledge_t generic = {0};
   if (name && read_before(warp, lane, number, tile, name, &generic))
      return true;
   met.stamp = operations->stamp;
   if (!read_each(warp, lane, number, offsets, count, generic, &met))
      return false;
   if (met.name && met.generic != UINT32_MAX) {
      note_pages(&met, offsets, count);
      *tile = met;
   }
   return true;
}
