/* cp.async.bulk.tensor and cp.reduce.async.bulk.tensor (PTX ISA 9.0, 9.7.9.25.5): a tile, or pixels, between shared memory and a tensor that
 * a map describes.  Elements outside of the tensor are filled, and not stored. */
#include "machine/in_flight/copy_sources.h"
#include "machine/in_flight/mbarriers.h"
#include "machine/in_flight/operations.h"
#include "machine/maps/tensor_maps.h"
#include "machine/lanes/bulk_operands.h"
#include "machine/lanes/handlers.h"

#define TILE_ALIGNMENT 128u
#define TILE_CHUNK                                                                                           \
   16u /* bytes of a row that one step moves; measured on an H200: tests/conformance/tile_forms.txt */

#define ROW_BURDEN 6u /* work for each dimension to find where a row lies, in thread-instructions */
/* so many bytes of rows that are copied whole count as one thread-instruction */
#define TILE_BYTES_OF_WORK 8u

typedef struct moving {
   machine_warp_t *warp;
   const machine_instruction_t *instruction;
   uint32_t lane, fill, operation;
   const machine_tile_t *tile;
   bool asked; /* only the elements that are asked for are made, and where they are taken */
   uint64_t map;                    /* its address */
   machine_instruction_t reduction; /* of the tensor's own type */
} moving_t;

#define OF(type) (1u << (type))

/* Returns the type in which an element is reduced; PTX_NO_TYPE where an H200 ends the launch
 * (tests/conformance/tile_forms.txt). */
static uint8_t value_type(uint32_t type, uint32_t operation) {
   static const uint8_t types[] = {
      [RKB_MAP_U32] = PTX_U32,  [RKB_MAP_I32] = PTX_S32,     [RKB_MAP_U64] = PTX_U64,
      [RKB_MAP_I64] = PTX_S64,  [RKB_MAP_F16] = PTX_F16,     [RKB_MAP_F32] = PTX_F32,
      [RKB_MAP_F64] = PTX_F64,  [RKB_MAP_BF16] = PTX_BF16,   [RKB_MAP_F32_FTZ] = PTX_F32,
      [RKB_MAP_TF32] = PTX_F32, [RKB_MAP_TF32_FTZ] = PTX_F32};
   const uint32_t words = OF(RKB_MAP_U32) | OF(RKB_MAP_I32) | OF(RKB_MAP_U64),
                  halves = OF(RKB_MAP_F16) | OF(RKB_MAP_BF16);
   const bool counts = operation == ATOMIC_INC || operation == ATOMIC_DEC,
              bits = operation == ATOMIC_AND || operation == ATOMIC_OR || operation == ATOMIC_XOR;
   const uint32_t has = counts ? OF(RKB_MAP_U32)
                        : bits ? words
                        : operation == ATOMIC_ADD
                           ? words | halves | OF(RKB_MAP_F32) | OF(RKB_MAP_F64) | OF(RKB_MAP_F32_FTZ) |
                                OF(RKB_MAP_TF32) | OF(RKB_MAP_TF32_FTZ)
                           : words | halves | OF(RKB_MAP_I64);
   return type < sizeof types && has & OF(type) ? types[type] : PTX_NO_TYPE;
}

/* Whether note_read() would do anything for a row.  Most tiles of inputs whose elements are asked for, in blocks that are not measured, need nothing. */
static bool are_noted(const moving_t *m) {
   const machine_region_t *region = m->tile->region;
   return (region->met && !m->asked) || m->warp->block->measured ||
          (m->warp->run->races && !region->read_only);
}

/* Whether machine_meet() would do nothing for a row that is read. */
static inline bool was_met(const machine_row_t *row) {
   const uint64_t piece = row->offset >> PIECE_SHIFT;
   return !row->region->wanted && (row->offset + row->bytes - 1) >> PIECE_SHIFT == piece &&
          machine_is_met(row->region, piece);
}

static void note_read(void *argument, const machine_row_t *row) {
   const moving_t *m = argument;
   if (row->region->met && !m->asked && !was_met(row))
      machine_meet(m->warp->run, row->region, row->offset, row->bytes, false);
   machine_bulk_count_granules(m->warp, row);
   if (m->warp->run->races && !row->region->read_only)
      machine_global_copied(m->warp, m->lane, row->region, row->offset, row->bytes,
                            machine_copy_source_followed(m->warp, m->operation, row->region));
   machine_bulk_count(m->warp, row, false);
}

static void note_written(void *argument, const machine_row_t *row) {
   const moving_t *m = argument;
   row->region->written = true;
   if (row->region->met)
      machine_meet(m->warp->run, row->region, row->offset, row->bytes, true);
   machine_bulk_count_granules(m->warp, row);
   if (m->warp->run->races && m->instruction->operation != BULK_REDUCE)
      machine_global_stored(m->warp, m->lane, row->region, row->offset, row->bytes, false);
   machine_bulk_count(m->warp, row, true);
}

static void take(void *argument, const machine_row_t *row) {
   const moving_t *m = argument;
   if (row->region) {
      machine_bulk_take(m->warp, row);
      for (uint32_t n = 0; machine_tile_converts(m->tile) && n < row->bytes; n += 4) {
         uint8_t *at = m->warp->block->shared + row->shared + n;
         uint32_t word;
         memcpy(&word, at, sizeof word);
         word = machine_tile_convert(word);
         memcpy(at, &word, sizeof word);
      }
   } else {
      machine_bulk_fill(m->warp, row->shared, row->bytes, m->fill);
      if (m->tile->map->swizzle) /* as if it were filled piece by piece */
         m->warp->run->work.burden += (row->bytes - 1) / TILE_CHUNK;
   }
}

static void give(void *argument, const machine_row_t *row) {
   const moving_t *m = argument;
   if (row->region && m->instruction->operation == BULK_REDUCE)
      bulk_reduce(m->warp, &m->reduction, m->lane, row);
   else if (row->region)
      machine_bulk_give(m->warp, m->lane, row);
}

/* Whether the tile lies whole in a region whose bytes all have values, as most tiles do in an input, and no doubles are kept. */
static bool is_plain(const machine_warp_t *warp, const machine_tile_t *tile) {
   return !tile->region->defined && !warp->block->shared_shadow && machine_tile_is_whole(tile);
}

/* The same for a tile of what kernels write, of which some bytes may hold no value. */
static bool is_partial(const machine_warp_t *warp, const machine_tile_t *tile) {
   const machine_region_t *region = tile->region;
   return region->defined && !region->places && !region->renewed && !warp->block->shared_shadow &&
          !machine_tile_converts(tile) && machine_tile_is_whole(tile);
}

static void take_partial(machine_warp_t *warp, const machine_tile_t *tile) {
   machine_block_t *block = warp->block;
   const uint32_t pieces = machine_tile_read_partial(tile, !machine_unasked(warp->run, tile->region->taint),
                                                     block->shared, block->shared_defined);
   warp->run->work.burden += pieces + tile->bytes / 4; /* as machine_bulk_take counts for each piece */
   warp->run->undefinings++;
   if (warp->taint)
      block->shared_taint |= tile->region->taint;
}

static void take_all(moving_t *moving) {
   const machine_tile_t *tile = moving->tile;
   machine_warp_t *warp = moving->warp;
   machine_block_t *block = warp->block;
   warp->run->undefinings +=
      warp->run->options.asked != NULL; /* even if the whole tile holds values: other bytes may hold none */
   if (!is_plain(warp, tile)) {
      if (is_partial(warp, tile))
         take_partial(warp, tile);
      else
         machine_tile_pieces(tile, take, moving);
      return;
   }
   warp->run->work.burden += tile->bytes / tile->row + tile->bytes / TILE_BYTES_OF_WORK;
   if (moving->asked) {
      machine_tile_read_asked(warp->run, tile, block->shared, block->shared_defined);
   } else {
      if (!machine_unasked(warp->run, tile->region->taint))
         machine_tile_read(tile, block->shared);
      memset(block->shared_defined + tile->shared, 1, tile->span);
   }
   if (warp->taint)
      block->shared_taint |= tile->region->taint;
}

/* A map in global memory, which kernels may change, is read until the copy's end, or that of the bulk group that the thread commits next. */
static void keep_map(const moving_t *m, uint32_t operation, uint32_t group) {
   machine_region_t *region = m->map >> WINDOW_SHIFT ? NULL : machine_region_at(m->warp->run, m->map);
   if (region)
      machine_copy_source_map(
         m->warp, operation, group,
         &(machine_row_t){.region = region, .offset = m->map - region->base, .bytes = RKB_MAP_BYTES});
}

static void keep_loading_map(const moving_t *m, uint32_t operation) {
   uint32_t count, actor;
   if (m->map >> WINDOW_SHIFT || !operation)
      return;
   actor = machine_bulk_group(m->warp, m->lane, &count);
   const uint32_t group = machine_operation_start(m->warp, m->lane, actor, count, "a tensor copy");
   if (group)
      keep_map(m, operation, group);
}

/* Loads into the block that the tile's address names. */
static void load(machine_warp_t *warp, moving_t *moving, machine_tile_t *tile, uint64_t address,
                 uint64_t mbarrier_address, bool reads) {
   uint32_t at;
   if (!machine_bulk_shared(warp, moving->lane, address, tile->span, TILE_ALIGNMENT, &tile->shared) ||
       !machine_bulk_shared(warp, moving->lane, mbarrier_address, 8, 8, &at) ||
       !bulk_same_block(warp, moving->lane, tile->shared, at))
      return;
   machine_mbarrier_t *mbarrier =
      machine_mbarrier_for_copy(warp, moving->lane, at, "completes a tensor copy");
   if (!mbarrier)
      return;
   const uint32_t operation =
      machine_operation_start(warp, moving->lane, mbarrier->actor, mbarrier->phase + 1, "a tensor copy");
   if (!machine_operation_writes(warp, moving->lane, operation, tile->shared, tile->span))
      return;
   moving->fill = machine_tile_fill(tile);
   moving->operation = operation;
   moving->asked = tile->region->asked && is_plain(warp, tile);
   if (reads && are_noted(moving))
      machine_tile_rows(tile, note_read, moving);
   machine_copy_source_tile(warp, operation, tile);
   if (!(moving->instruction->flags & FLAG_MULTICAST))
      keep_loading_map(moving, operation);
   take_all(moving);
   machine_mbarrier_copied(warp, moving->lane, mbarrier, tile->bytes);
}

static void multicast(machine_warp_t *warp, moving_t *moving, machine_tile_t *tile, uint64_t address,
                      uint64_t mbarrier) {
   uint32_t blocks;
   if (!bulk_blocks(warp, moving->instruction, moving->lane, &blocks))
      return;
   for (uint32_t left = blocks; left && !warp->run->stop; left &= left - 1) {
      const uint32_t rank = (uint32_t)__builtin_ctz(left);
      load(warp, moving, tile, bulk_in_block(warp, address, rank), bulk_in_block(warp, mbarrier, rank),
           left == blocks);
   }
}

/* The first pixel must be in the box of pixels, in any image.  Otherwise an H200 ends the launch
 * (tests/conformance/im2col_forms.txt).  False after a finding. */
static bool begins_in_box(machine_warp_t *warp, const moving_t *moving, const machine_tile_t *tile) {
   const rkb_plan_map_t *map = tile->map;
   const uint32_t first = machine_map_first_of_pixels(map);
   for (uint32_t k = first; map->im2col && k < first + map->rank - 2; k++) {
      const int32_t lower = map->lower[k - first];
      const int64_t last = (int64_t)map->dims[k] - 1 + map->upper[k - first];
      if (tile->at[k] >= lower && tile->at[k] <= last)
         continue;
      machine_find(
         warp, RKB_MACHINE_REJECT, "memory.out_of_bounds", moving->lane,
         "begins at coordinate %d of dimension %u of '%s', whose box of pixels goes from %d to %lld there",
         tile->at[k], k, map->name, lower, (long long)last);
      return false;
   }
   return true;
}

/* Takes the bits that a device uses of an offset: 16, 8 or 5, by how many offsets there are.  For 3
 * dimensions of pixels none above these was recorded. */
static bool take_offset(machine_warp_t *warp, const moving_t *moving, machine_tile_t *tile, uint32_t k,
                        uint64_t value) {
   static const uint32_t most[] = {[3] = 0xffff, [4] = 0xff, [5] = 0x1f};
   const uint32_t rank = tile->map->rank, offset = (uint16_t)value;
   tile->offsets[k] = (int32_t)(offset & most[rank]);
   if (rank < 5 || offset <= most[rank])
      return true;
   machine_find(warp, RKB_MACHINE_REJECT, "plan.argument", moving->lane,
                "an offset of %u pixels in dimension %u of '%s': with %u dimensions it is 0 to %u", offset, k,
                tile->map->name, rank, most[rank]);
   return false;
}

/* Checks what a store or a reduction may not do; false after a finding. */
static bool may_store(machine_warp_t *warp, moving_t *moving, const machine_tile_t *tile) {
   const uint32_t overrun = machine_tile_overrun(tile);
   const char *name = tile->region->name;
   for (uint32_t k = 0; k < tile->map->rank; k++)
      if (tile->at[k] < 0) {
         machine_find(
            warp, RKB_MACHINE_REJECT, "memory.out_of_bounds", moving->lane,
            "stores a tile at coordinate %d of dimension %u of '%s': a store may reach past a tensor's end, not "
            "before its beginning",
            tile->at[k], k, tile->map->name);
         return false;
      }
   for (uint32_t k = 0; tile->map->im2col && k + 2 < tile->map->rank; k++)
      if (tile->map->lower[k] < 0) {
         machine_find(
            warp, RKB_MACHINE_REJECT, "memory.out_of_bounds", moving->lane,
            "stores pixels through '%s', whose box of pixels begins at %d in dimension %u: a store may not reach "
            "before a tensor's beginning",
            tile->map->name, tile->map->lower[k], k + machine_map_first_of_pixels(tile->map));
         return false;
      }
   if (tile->region->read_only || overrun) {
      if (tile->region->read_only)
         machine_find(warp, RKB_MACHINE_REJECT, "memory.out_of_bounds", moving->lane,
                      "stores a tile to %s, which is an input", name);
      else
         machine_find(
            warp, RKB_MACHINE_REJECT, "memory.out_of_bounds", moving->lane,
            "stores a tile whose last row ends within 16 bytes: the device stores them whole, %u bytes past the end "
            "of %s",
            overrun, name);
      return false;
   }
   if (moving->instruction->operation != BULK_REDUCE)
      return true;
   moving->reduction = *moving->instruction;
   moving->reduction.type = value_type(tile->map->type, moving->instruction->rounding);
   moving->reduction.element_bytes = (uint8_t)tile->element;
   if (moving->reduction.type != PTX_NO_TYPE)
      return true;
   machine_find(
      warp, RKB_MACHINE_REJECT, "plan.argument", moving->lane,
      "a tensor reduction that elements of the type of '%s' do not have: the device ends the launch",
      tile->map->name);
   return false;
}

static void store(machine_warp_t *warp, moving_t *moving, const machine_tile_t *tile) {
   uint32_t count;
   const uint32_t actor = machine_bulk_group(warp, moving->lane, &count),
                  operation = machine_operation_start(warp, moving->lane, actor, count, "a tensor copy");
   if (!machine_operation_reads(warp, moving->lane, operation, tile->shared, tile->span) ||
       !may_store(warp, moving, tile) ||
       (moving->instruction->operation != BULK_REDUCE &&
        machine_copy_rewrites_tile(warp, moving->lane, tile)))
      return;
   keep_map(moving, operation, 0);
   machine_tile_rows(tile, note_written, moving);
   machine_tile_pieces(tile, give, moving);
   machine_copy_destination_tile(
      warp, bulk_writing(warp, moving->instruction, moving->lane, count, "a tensor copy"), tile);
}

/* extras: the address in shared memory, that of the map, each with an offset; coordinates; the mbarrier's address with its offset; offsets
 * of pixels. */
static void copy_lane(machine_warp_t *warp, const machine_instruction_t *i, uint32_t lane) {
   const machine_slot_t *slots = warp->program->extras + i->extra;
   machine_tile_t tile = {.stored = i->operation != BULK_LOAD};
   rkb_plan_map_t changed;
   moving_t moving = {.warp = warp, .instruction = i, .lane = lane, .tile = &tile};
   if (!bulk_operands_defined(warp, i, lane, i->extra_count))
      return;
   moving.map = bulk_address(warp, &slots[2], lane, false);
   tile.map = machine_tensor_map_at(warp, lane, moving.map, &changed);
   if (!tile.map)
      return;
   if (tile.map->rank != i->elements) {
      machine_find(warp, RKB_MACHINE_REJECT, "plan.argument", lane,
                   "a tensor copy of %u dimensions with the map '%s' of %u", i->elements, tile.map->name,
                   tile.map->rank);
      return;
   }
   if (tile.map->im2col != (uint32_t)i->immediate) {
      machine_find(warp, RKB_MACHINE_REJECT, "plan.argument", lane,
                   i->immediate ? "a tensor copy of pixels (im2col) with the map '%s', which has a box"
                                : "a tensor copy of a box with the map '%s', which is of pixels (im2col)",
                   tile.map->name);
      return;
   }
   for (uint32_t k = 0; k < tile.map->rank; k++)
      tile.at[k] = (int32_t)(uint32_t)bulk_operand(warp, &slots[4 + k], lane);
   for (uint32_t k = 1; i->immediate && i->operation == BULK_LOAD && k + 1 < tile.map->rank; k++)
      if (!take_offset(warp, &moving, &tile, k, bulk_operand(warp, &slots[5 + tile.map->rank + k], lane)))
         return;
   if (!begins_in_box(warp, &moving, &tile))
      return;
   machine_tile_measure(warp->run, &tile);
   warp->run->work.burden += tile.row ? ROW_BURDEN * (uint64_t)tile.map->rank * (tile.bytes / tile.row) : 0;
   if (!tile.slice && (((int64_t)tile.at[0] * tile.element) & (TILE_CHUNK - 1))) {
      machine_find(
         warp, RKB_MACHINE_REJECT, "memory.misaligned", lane,
         "the first coordinate of a tile of '%s' is %d, elements of %u bytes: it must be a whole number of %u bytes",
         tile.map->name, tile.at[0], tile.element, TILE_CHUNK);
      return;
   }
   const uint64_t address = bulk_address(warp, &slots[0], lane, true);
   if (i->operation != BULK_LOAD) {
      if (machine_bulk_shared(warp, lane, address, tile.span, TILE_ALIGNMENT, &tile.shared))
         store(warp, &moving, &tile);
      return;
   }
   const uint64_t mbarrier = bulk_address(warp, &slots[4 + tile.map->rank], lane, true);
   if (i->flags & FLAG_MULTICAST)
      multicast(warp, &moving, &tile, address, mbarrier);
   else
      load(warp, &moving, &tile, address, mbarrier, true);
}

OP(tensor_copy) {
   for (uint32_t l = 0; l < LANES && !warp->run->stop; l++)
      if (mask >> l & 1)
         copy_lane(warp, i, l);
}
