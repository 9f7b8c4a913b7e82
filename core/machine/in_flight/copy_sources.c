/* Sources and destinations of copies in flight (copy_sources.h).  On the machine's thread. */
#include "machine/in_flight/copy_sources.h"
#include "machine/in_flight/operations.h"
#include "machine/clocks/vector_clocks.h"
#include "machine/clocks/clocks.h"

#include <stdio.h>
#include <stdlib.h>

#define MOST_SOURCES 4096u
/* Asking this many threads what they know of one copy is as much work as one thread-instruction. */
#define THREADS_OF_WORK 8u

typedef struct copy_source {
   uint32_t operation;
   uint32_t other; /* another one that ends no earlier than the reading; 0: none */
   machine_region_t *region;
   uint64_t first, end; /* bytes of the region, between which all rows of a tile lie */
   bool is_tile, written; /* written: it is a destination */
   machine_tile_t tile;
   rkb_plan_map_t map; /* the tile's own, which the kernel may change behind the copy */
} copy_source_t;

struct machine_copy_sources {
   copy_source_t *list;
   uint32_t count, room;
   uint32_t destinations; /* of the list */
};

machine_copy_sources_t *machine_copy_sources_new(machine_run_t *run) {
   return machine_alloc(run, sizeof(machine_copy_sources_t));
}

void machine_copy_sources_free(machine_run_t *run, machine_copy_sources_t *sources) {
   if (!sources)
      return;
   free(sources->list);
   machine_release(run, sources, sizeof *sources);
}

void machine_copy_sources_begin(machine_block_t *block) {
   if (block->copy_sources)
      block->copy_sources->count = block->copy_sources->destinations = 0;
}

bool machine_copy_sources_kept(const machine_block_t *block) {
   return block->copy_sources && block->copy_sources->count;
}

bool machine_copy_destinations_kept(const machine_block_t *block) {
   return block->copy_sources && block->copy_sources->destinations;
}

static bool is_known(const machine_block_t *block, uint32_t thread, uint32_t number) {
   const machine_operation_t *operation = machine_operation_at(block, number);
   return machine_known_count(block->clocks->knowledge, thread, operation->actor) >= operation->count;
}

/* Whether a thread knows of the copy's end. */
static bool end_is_known(const machine_block_t *block, uint32_t thread, const copy_source_t *source) {
   return is_known(block, thread, source->operation) ||
          (source->other && is_known(block, thread, source->other));
}

/* Whether all threads that are left do. */
static bool known_to_all(const machine_block_t *block, const copy_source_t *source) {
   for (uint32_t w = 0; w < block->warp_count; w++)
      for (uint32_t left = block->warps[w].alive; left; left &= left - 1)
         if (!end_is_known(block, w * LANES + (uint32_t)__builtin_ctz(left), source))
            return false;
   return true;
}

static void forget_ended(machine_block_t *block) {
   machine_copy_sources_t *sources = block->copy_sources;
   uint32_t kept = 0;
   block->run->work.burden += (uint64_t)sources->count * block->threads / THREADS_OF_WORK;
   sources->destinations = 0;
   for (uint32_t n = 0; n < sources->count; n++)
      if (!known_to_all(block, &sources->list[n])) {
         sources->destinations += sources->list[n].written;
         sources->list[kept++] = sources->list[n];
      }
   sources->count = kept;
}

/* Makes room for one more; NULL after a finding, or when memory ran out.  Most kernels wait for their stores with .read alone, so that nobody learns of
 * the end; beyond half of the list, destinations are not followed any more. */
static copy_source_t *add(machine_warp_t *warp, bool written) {
   machine_copy_sources_t *sources = warp->block->copy_sources;
   if (2 * sources->count >= sources->room)
      forget_ended(warp->block);
   if (written && sources->count >= MOST_SOURCES / 2) {
      warp->run->report.copies_assumed = true;
      return NULL;
   }
   if (sources->count == MOST_SOURCES) {
      machine_find(warp, RKB_MACHINE_UNKNOWN, "limit.budget", PTX_NONE,
                   "more than %u copies of memory that may be written are on their way", MOST_SOURCES);
      warp->run->stop = true;
      return NULL;
   }
   if (2 * sources->count >= sources->room) {
      const uint32_t room = sources->room ? 2 * sources->room : 64;
      copy_source_t *larger = realloc(sources->list, room * sizeof *larger);
      if (!larger) {
         warp->run->out_of_memory = warp->run->stop = true;
         return NULL;
      }
      sources->list = larger;
      sources->room = room;
   }
   sources->destinations += written;
   return &sources->list[sources->count++];
}

bool machine_copy_source_followed(const machine_warp_t *warp, uint32_t operation,
                                  const machine_region_t *region) {
   return operation && warp->block->copy_sources && !region->read_only;
}

static void keep_row(machine_warp_t *warp, uint32_t operation, uint32_t other, const machine_row_t *row,
                     bool written) {
   copy_source_t *source =
      row->bytes && machine_copy_source_followed(warp, operation, row->region) ? add(warp, written) : NULL;
   if (source)
      *source = (copy_source_t){.operation = operation,
                                .other = other,
                                .region = row->region,
                                .first = row->offset,
                                .end = row->offset + row->bytes,
                                .written = written};
}

void machine_copy_source_row(machine_warp_t *warp, uint32_t operation, const machine_row_t *row) {
   keep_row(warp, operation, 0, row, false);
}

void machine_copy_source_map(machine_warp_t *warp, uint32_t operation, uint32_t group,
                             const machine_row_t *row) {
   keep_row(warp, operation, group, row, false);
}

void machine_copy_destination_row(machine_warp_t *warp, uint32_t operation, const machine_row_t *row) {
   warp->run->report.copies_assumed |= !operation && warp->block->copy_sources;
   keep_row(warp, operation, 0, row, true);
}

static void widen(void *argument, const machine_row_t *row) {
   copy_source_t *source = argument;
   source->first = row->offset < source->first ? row->offset : source->first;
   source->end = row->offset + row->bytes > source->end ? row->offset + row->bytes : source->end;
}

static void keep_tile(machine_warp_t *warp, uint32_t operation, const machine_tile_t *tile, bool written) {
   copy_source_t *source =
      machine_copy_source_followed(warp, operation, tile->region) ? add(warp, written) : NULL;
   if (!source)
      return;
   *source = (copy_source_t){.operation = operation,
                             .region = tile->region,
                             .first = UINT64_MAX,
                             .is_tile = true,
                             .written = written,
                             .tile = *tile,
                             .map = *tile->map};
   machine_tile_rows(tile, widen, source);
}

void machine_copy_source_tile(machine_warp_t *warp, uint32_t operation, const machine_tile_t *tile) {
   keep_tile(warp, operation, tile, false);
}

void machine_copy_destination_tile(machine_warp_t *warp, uint32_t operation, const machine_tile_t *tile) {
   warp->run->report.copies_assumed |= !operation && warp->block->copy_sources;
   keep_tile(warp, operation, tile, true);
}

static void visit_rows(const copy_source_t *source, machine_tile_visit_t *visit, void *argument) {
   machine_tile_t tile = source->tile;
   const machine_row_t row = {
      .region = source->region, .offset = source->first, .bytes = (uint32_t)(source->end - source->first)};
   tile.map = &source->map;
   if (source->is_tile)
      machine_tile_rows(&tile, visit, argument);
   else
      visit(argument, &row);
}

typedef struct overlap {
   uint64_t first, end;
   bool any;
} overlap_t;

static void compare(void *argument, const machine_row_t *row) {
   overlap_t *overlap = argument;
   overlap->any |= row->offset < overlap->end && overlap->first < row->offset + row->bytes;
}

static bool overlaps(const copy_source_t *source, const machine_region_t *region, uint64_t offset,
                     uint32_t bytes) {
   overlap_t overlap = {offset, offset + bytes, false};
   if (source->region != region || offset >= source->end || source->first >= offset + bytes)
      return false;
   if (!source->is_tile)
      return true;
   visit_rows(source, compare, &overlap);
   return overlap.any;
}

/* Completes a finding about bytes of global memory that the operation may still use. */
static void report_in_flight(const machine_warp_t *warp, rkb_machine_finding_t *finding,
                             const machine_operation_t *operation, const machine_region_t *region,
                             uint64_t offset, uint32_t bytes) {
   if (!finding)
      return;
   finding->offset = (int64_t)offset;
   finding->bytes = bytes;
   finding->buffer = region->buffer;
   snprintf(finding->symbol, sizeof finding->symbol, "%s", region->name);
   snprintf(finding->space, sizeof finding->space, "global");
   machine_find_other_at(finding, warp->block, operation->thread, operation->pc,
                         "the other's operation began first; no wait orders its end before this");
}

bool machine_copy_source_in_use(machine_warp_t *warp, uint32_t lane, const machine_region_t *region,
                                uint64_t offset, uint32_t bytes, bool store, enum machine_copy_access how) {
   const machine_copy_sources_t *sources = warp->block->copy_sources;
   warp->run->work.burden += sources ? sources->count : 0; /* each costs about as much as an instruction */
   for (uint32_t n = 0; sources && n < sources->count; n++) {
      const machine_operation_t *operation = machine_operation_at(warp->block, sources->list[n].operation);
      const bool written = sources->list[n].written,
                 together = how == BY_COPY || (how == BY_REDUCTION && operation->reduces);
      if ((written ? together : !store) || !overlaps(&sources->list[n], region, offset, bytes) ||
          end_is_known(warp->block, warp->first_thread + lane, &sources->list[n]))
         continue;
      rkb_machine_finding_t *finding = machine_find(
         warp, RKB_MACHINE_REJECT, "race.async", lane,
         "%s %u bytes at byte %llu of %s that %s started by %s in line %u may still be %s: no wait of this thread, or of "
         "one that it is ordered after, has seen its end%s",
         store ? "writes" : "reads", bytes, (unsigned long long)offset, region->name, operation->what,
         operation->thread == warp->first_thread + lane ? "the same thread" : "another thread",
         machine_source_line(warp->program, operation->pc), written ? "writing" : "reading",
         written ? " (a wait with .read does not)" : "");
      report_in_flight(warp, finding, operation, region, offset, bytes);
      return true;
   }
   return false;
}

void machine_copy_sources_unknown(machine_warp_t *warp, uint32_t lane, machine_tile_visit_t *read,
                                  machine_tile_visit_t *written, void *argument) {
   const machine_copy_sources_t *sources = warp->block->copy_sources;
   warp->run->work.burden += sources ? sources->count : 0;
   for (uint32_t n = 0; sources && n < sources->count; n++) {
      const copy_source_t *source = &sources->list[n];
      machine_tile_visit_t *const visit = source->written ? written : read;
      if (!end_is_known(warp->block, warp->first_thread + lane, source))
         visit_rows(source, visit, argument);
   }
}

/* Stores over stores ------------------------------------------------------------------------------------------------------- */

typedef struct rewriting {
   machine_warp_t *warp;
   const machine_tile_t *tile; /* that is about to be written; NULL: a row */
   machine_row_t at;           /* the piece that is compared */
   const copy_source_t *other;
   bool reduces; /* the other does */
   bool clashes;
} rewriting_t;

/* A row of the other copy: memory holds what it wrote. */
static void compare_values(void *argument, const machine_row_t *old) {
   rewriting_t *r = argument;
   const machine_row_t *row = &r->at;
   const uint64_t first = row->offset > old->offset ? row->offset : old->offset,
                  ours = row->offset + row->bytes, theirs = old->offset + old->bytes,
                  end = ours < theirs ? ours : theirs;
   r->warp->run->work.burden++;
   if (first < end)
      r->warp->run->report.copies_assumed = true;
   if (first < end)
      r->clashes |=
         r->reduces || memcmp(row->region->data + first,
                              r->warp->block->shared + row->shared + (first - row->offset), end - first) != 0;
}

static void compare_piece(void *argument, const machine_row_t *row) {
   rewriting_t *r = argument;
   if (!row->region || r->clashes || row->offset >= r->other->end ||
       row->offset + row->bytes <= r->other->first)
      return;
   r->at = *row;
   visit_rows(r->other, compare_values, r);
}

/* Whether no two elements of a tensor lie at one place. */
static bool is_apart(const rkb_plan_map_t *map, uint32_t element) {
   uint64_t extent = map->dims[0] * element;
   bool apart = !map->im2col && !map->interleave;
   for (uint32_t k = 1; k < map->rank && apart; k++) {
      apart = map->strides[k - 1] >= extent;
      extent = map->dims[k] * map->strides[k - 1];
   }
   return apart;
}

/* Whether two boxes of one map have no element in common, as the tiles of most kernels do. */
static bool are_apart(const machine_tile_t *tile, const copy_source_t *other) {
   const rkb_plan_map_t *map = tile->map;
   bool apart = false;
   if (!other->is_tile || !is_apart(map, tile->element) || map->offset != other->map.offset ||
       map->rank != other->map.rank || memcmp(map->dims, other->map.dims, sizeof map->dims) != 0 ||
       memcmp(map->strides, other->map.strides, sizeof map->strides) != 0)
      return false;
   for (uint32_t k = 0; k < map->rank && !apart; k++) {
      const int64_t at = tile->at[k], old = other->tile.at[k];
      apart = at + (int64_t)map->box[k] <= old || old + (int64_t)other->map.box[k] <= at;
   }
   return apart;
}

/* About the first piece that clashes. */
static void report_rewriting(const rewriting_t *r, uint32_t lane, const machine_operation_t *operation) {
   machine_warp_t *warp = r->warp;
   report_in_flight(
      warp,
      machine_find(
         warp, RKB_MACHINE_REJECT, "race.async", lane,
         "writes %u bytes at byte %llu of %s where %s started by %s in line %u may still %s: no wait of this "
         "thread, or of one that it is ordered after, has seen its end (a wait with .read does not)",
         r->at.bytes, (unsigned long long)r->at.offset, r->at.region->name, operation->what,
         operation->thread == warp->first_thread + lane ? "the same thread" : "another thread",
         machine_source_line(warp->program, operation->pc),
         r->reduces ? "add to them" : "write other values"),
      operation, r->at.region, r->at.offset, r->at.bytes);
}

/* row: what is written where it is no tile. */
static bool rewrites(rewriting_t *r, uint32_t lane, const machine_region_t *region,
                     const machine_row_t *row) {
   machine_warp_t *warp = r->warp;
   const machine_copy_sources_t *sources = warp->block->copy_sources;
   const uint32_t count = sources && sources->destinations ? sources->count : 0;
   warp->run->work.burden += count;
   for (uint32_t n = 0; n < count && !r->clashes; n++) {
      const copy_source_t *other = &sources->list[n];
      const machine_operation_t *operation = machine_operation_at(warp->block, other->operation);
      if (!other->written || other->region != region ||
          machine_actor_known(warp, lane, operation->actor, operation->count) ||
          (r->tile && are_apart(r->tile, other)))
         continue;
      r->other = other;
      r->reduces = operation->reduces;
      if (r->tile)
         machine_tile_pieces(r->tile, compare_piece, r);
      else
         compare_piece(r, row);
      if (r->clashes)
         report_rewriting(r, lane, operation);
   }
   return r->clashes;
}

bool machine_copy_rewrites_row(machine_warp_t *warp, uint32_t lane, const machine_row_t *row) {
   return row->bytes && rewrites(&(rewriting_t){.warp = warp}, lane, row->region, row);
}

bool machine_copy_rewrites_tile(machine_warp_t *warp, uint32_t lane, const machine_tile_t *tile) {
   return rewrites(&(rewriting_t){.warp = warp, .tile = tile}, lane, tile->region, NULL);
}
