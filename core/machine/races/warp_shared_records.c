/* Records a warp's plain accesses to shared memory at once, where clocks keep the order (races.h).  After each barrier the lanes of a warp know
 * the same, so an access that is ordered for one of them is ordered for all.  The record is then the same as if one lane after the other had made
 * the access.  Where the lanes know different things, or an access is not ordered, this file leaves it to the slow path, which looks lane by lane
 * and reports.  It may have recorded a part already; recording an access twice changes nothing.  On the machine's thread. */
#include "machine/clocks/vector_clocks.h"
#include "machine/in_flight/operations.h"
#include "machine/races/races.h"

#define MOST_ASKED 4u /* a power of two */

/* The lanes of a warp whose accesses up to a clock the row knows.  The answer is kept, because granules that a warp accesses at once were mostly
 * accessed by the same warps at the same clocks. */
typedef struct asked {
   uint32_t warp, clock, lanes;
   bool is_set;
} asked_t;

typedef struct row {
   machine_warp_t *warp;
   const uint32_t *knows; /* by thread: up to which of its clocks the lanes know what it did */
   asked_t asked[MOST_ASKED]; /* by the warp's last bits */
} row_t;

bool machine_shared_rows(const machine_block_t *block) {
   return block->races == RACES_CLOCKS && !block->copies && !block->run->keeps_lines &&
          (!block->launch->program->asynchronous || block->cluster.blocks == 1);
}

/* Finds the row that the lanes share; false when they know different things. */
static bool find_row(machine_warp_t *warp, uint32_t mask, row_t *row) {
   const machine_vector_clocks_t *knowledge = warp->block->clocks->knowledge;
   const uint32_t *of = knowledge->of + warp->first_thread, number = of[__builtin_ctz(mask)];
   uint32_t different = 0;
   for (uint32_t l = 0; l < LANES; l++)
      different |= (of[l] ^ number) & (0 - (mask >> l & 1));
   *row = (row_t){.warp = warp, .knows = knowledge->rows + (size_t)number * knowledge->width};
   return !different;
}

/* Returns those of some lanes of a warp whose accesses up to a clock the row knows. */
static uint32_t known_lanes(const row_t *row, uint32_t warp, uint32_t lanes, uint32_t clock) {
   uint32_t known = 0;
   for (uint32_t left = lanes; left; left &= left - 1) {
      const uint32_t l = (uint32_t)__builtin_ctz(left);
      known |= (uint32_t)(row->knows[warp * LANES + l] >= clock) << l;
   }
   return known;
}

/* Whether the row knows the accesses of the lanes of a warp up to a clock.  own: a thread that is left out. */
static inline bool are_known(row_t *row, uint32_t warp, uint32_t lanes, uint32_t clock, uint32_t own) {
   const uint32_t others = own / LANES == warp ? lanes & ~(1u << own % LANES) : lanes;
   asked_t *asked = &row->asked[warp % MOST_ASKED];
   if (!others)
      return true;
   if (!asked->is_set || asked->warp != warp || asked->clock != clock) {
      const uint32_t threads = row->warp->block->clocks->knowledge->threads - warp * LANES;
      *asked = (asked_t){
         warp, clock, known_lanes(row, warp, threads < LANES ? (1u << threads) - 1 : FULL_MASK, clock), true};
   }
   return !(others & ~asked->lanes);
}

/* Whether all readers of the granule come before this thread. */
static bool readers_known(row_t *row, const machine_shared_record_t *record, uint32_t granule, uint32_t own) {
   const machine_lanes_t *readers = &record->readers;
   const machine_block_t *block = row->warp->block;
   if (!readers->warp)
      return true;
   if (!readers->several_warps)
      return are_known(row, readers->warp - 1u, readers->lanes, readers->clock, own);
   const machine_spread_t *spread = machine_shared_spread(row->warp->block, granule, false);
   for (uint32_t w = 0; spread && w < block->warp_count; w++)
      if (!are_known(row, w, spread[w].lanes, spread[w].clock, own))
         return false;
   return spread != NULL;
}

/* Adds the lanes to those of their warp that read before.  If all of these come before the first lane, the
 * new lanes replace them. */
static machine_spread_t join_readers(row_t *row, machine_spread_t those, const machine_spread_t *lanes) {
   const machine_warp_t *warp = row->warp;
   const uint32_t first = warp->first_thread + (uint32_t)__builtin_ctz(lanes->lanes);
   if (are_known(row, warp->number, those.lanes, those.clock, first))
      return *lanes;
   return (machine_spread_t){those.lanes | lanes->lanes,
                             those.clock > lanes->clock ? those.clock : lanes->clock};
}

static bool note_readers(row_t *row, machine_shared_record_t *record, uint32_t granule,
                         const machine_spread_t *lanes) {
   const uint32_t number = row->warp->number;
   machine_lanes_t *readers = &record->readers;
   machine_spread_t *spread = NULL, own = {readers->lanes, readers->clock};
   if (readers->several_warps && !(spread = machine_shared_spread(row->warp->block, granule, false)))
      return false;
   if (!readers->several_warps && readers->warp && readers->warp != number + 1) {
      if (!are_known(row, readers->warp - 1u, own.lanes, own.clock, PTX_NONE)) {
         spread = machine_shared_spread(row->warp->block, granule, false);
         if (!spread)
            return false;
         memset(spread, 0, row->warp->block->warp_count * sizeof *spread);
         spread[readers->warp - 1] = own;
         readers->several_warps = true;
      }
      own = (machine_spread_t){0};
   }
   own = join_readers(row, spread ? spread[number] : own, lanes);
   if (spread)
      spread[number] = own;
   else
      *readers = (machine_lanes_t){own.lanes, own.clock, (uint16_t)(number + 1), false};
   return true;
}

/* Whether the row knows the access of the granule's writer, or all lanes are the writer. */
static inline bool is_writer_known(const row_t *row, const machine_shared_record_t *record, uint32_t me,
                                   bool alone) {
   return !record->writer || row->knows[record->writer - 1] >= record->writer_clock ||
          (alone && record->writer - 1 == me);
}

/* Does the same as the function below for one lane's access, in the usual case: memory for several warps is there or not needed. */
static inline bool note_alone(row_t *row, machine_shared_record_t *record, uint32_t granule, uint32_t me,
                              uint32_t clock, bool store) {
   const uint32_t number = row->warp->number, lane = 1u << me % LANES;
   machine_block_t *block = row->warp->block;
   machine_lanes_t *readers = &record->readers;
   machine_spread_t *spread = NULL, own = {readers->lanes, readers->clock};
   if (record->atomics.warp || !is_writer_known(row, record, me, true))
      return false;
   const bool others = readers->warp && readers->warp != number + 1;
   if (readers->several_warps && !store && block->shared_spread) {
      spread = machine_shared_spread(block, granule, false);
      own = spread[number];
   } else if (readers->several_warps || (others && (store || !block->shared_spread))) {
      return false;
   } else if (others && are_known(row, readers->warp - 1u, own.lanes, own.clock, PTX_NONE)) {
      own = (machine_spread_t){0};
   } else if (others) { /* from now on readers are told apart by warp */
      spread = machine_shared_spread(block, granule, false);
      memset(spread, 0, block->warp_count * sizeof *spread);
      spread[readers->warp - 1] = own;
      readers->several_warps = true;
      own = (machine_spread_t){0};
   }
   const bool known = are_known(row, number, own.lanes, own.clock, me);
   if (store && !known)
      return false;
   own = known ? (machine_spread_t){lane, clock}
               : (machine_spread_t){own.lanes | lane, own.clock > clock ? own.clock : clock};
   if (store)
      *record = (machine_shared_record_t){.writer = me + 1, .writer_clock = clock, .epoch = record->epoch};
   else if (spread)
      spread[number] = own;
   else
      *readers = (machine_lanes_t){own.lanes, own.clock, (uint16_t)(number + 1), false};
   return true;
}

/* Records an access to one granule, by one lane or by several lanes that read it.  False when it is not
 * ordered. */
static bool note_granule(row_t *row, uint32_t granule, const machine_spread_t *lanes, bool store) {
   machine_block_t *block = row->warp->block;
   machine_shared_record_t *record = &block->shared_records[granule];
   const uint32_t me = row->warp->first_thread + (uint32_t)__builtin_ctz(lanes->lanes);
   if (record->epoch != block->shared_epoch)
      *record = (machine_shared_record_t){.epoch = block->shared_epoch};
   if (record->atomics.warp || !is_writer_known(row, record, me, !(lanes->lanes & (lanes->lanes - 1))))
      return false;
   if (!store)
      return note_readers(row, record, granule, lanes);
   if (!readers_known(row, record, granule, me))
      return false;
   *record =
      (machine_shared_record_t){.writer = me + 1, .writer_clock = lanes->clock, .epoch = block->shared_epoch};
   return true;
}

static bool note_bytes(row_t *row, uint32_t offset, uint32_t bytes, const machine_spread_t *lanes,
                       bool store) {
   const uint32_t shift = row->warp->block->shared_shift, last = (offset + bytes - 1) >> shift;
   for (uint32_t granule = offset >> shift; granule <= last; granule++)
      if (!note_granule(row, granule, lanes, store))
         return false;
   return true;
}

/* Each lane's access, one after the other. */
static inline __attribute__((always_inline)) bool note_lanes(row_t *row, const uint32_t *offset,
                                                             uint32_t mask, uint32_t bytes, bool store) {
   const machine_warp_t *warp = row->warp;
   const machine_block_t *block = warp->block;
   const uint32_t epoch = block->shared_epoch, shift = block->shared_shift,
                  *own = block->clocks->own + warp->first_thread;
   for (uint32_t left = mask; left; left &= left - 1) {
      const uint32_t l = (uint32_t)__builtin_ctz(left), me = warp->first_thread + l, clock = own[l],
                     last = (offset[l] + bytes - 1) >> shift;
      for (uint32_t granule = offset[l] >> shift; granule <= last; granule++) {
         machine_shared_record_t *record = &block->shared_records[granule];
         if (record->epoch != epoch) /* nothing is known of it: mostly */
            *record =
               store ? (machine_shared_record_t){.writer = me + 1, .writer_clock = clock, .epoch = epoch}
                     : (machine_shared_record_t){
                          .readers = {1u << l, clock, (uint16_t)(warp->number + 1), false}, .epoch = epoch};
         else if (!note_alone(row, record, granule, me, clock, store) &&
                  !note_granule(row, granule, &(machine_spread_t){1u << l, clock}, store))
            return false;
      }
   }
   return true;
}

static bool note_row(row_t *row, const uint32_t *offset, uint32_t mask, uint32_t bytes, bool one,
                     bool store) {
   machine_spread_t all = {.lanes = mask};
   if (!one || store)
      return store ? note_lanes(row, offset, mask, bytes, true) : note_lanes(row, offset, mask, bytes, false);
   machine_warp_t *warp = row->warp;
   const uint32_t *own = warp->block->clocks->own + warp->first_thread,
                  *knows = row->knows + warp->first_thread;
   uint32_t covered = 0;
   for (uint32_t l = 0; l < LANES; l++) {
      const uint32_t one_of_them = 0 - (mask >> l & 1), clock = own[l] & one_of_them;
      covered |= (uint32_t)(knows[l] >= own[l]) & one_of_them;
      all.clock = clock > all.clock ? clock : all.clock;
   }
   return !covered && /* else one of the lanes would replace another */
          note_bytes(row, offset[__builtin_ctz(mask)], bytes, &all, false);
}

bool machine_shared_record_row(machine_warp_t *warp, const uint32_t *offset, uint32_t mask, uint32_t bytes,
                               bool one, bool store) {
   const bool asynchronous = warp->block->launch->program->asynchronous;
   row_t row;
   if (!find_row(warp, mask, &row) ||
       (asynchronous && !machine_warp_apart(warp, offset, mask, bytes, store)) ||
       !note_row(&row, offset, mask, bytes, one, store))
      return false;
   if (asynchronous)
      machine_warp_accessed(warp, offset, mask, bytes, store);
   return true;
}
