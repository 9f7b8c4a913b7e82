/* cp.async.bulk.tensor and cp.reduce.async.bulk.tensor, tiled (PTX ISA 9.0, 9.7.9.25.5): a tile between shared memory and a tensor that a
 * map describes.  Elements outside of the tensor are filled, and not stored. */
#include "machine/async/mbarriers.h"
#include "machine/async/operations.h"
#include "machine/async/tensor_maps.h"
#include "machine/lanes/bulk_operands.h"
#include "machine/lanes/handlers.h"

#define TILE_ALIGNMENT 128u

typedef struct moving {
   machine_warp_t *warp;
   const machine_instruction_t *instruction;
   uint32_t lane, fill;
   machine_instruction_t reduction; /* of the tensor's own type */
} moving_t;

/* What an element is reduced as. */
static uint8_t value_type(uint32_t type) {
   static const uint8_t types[] = {
      [RKB_MAP_U32] = PTX_U32, [RKB_MAP_I32] = PTX_S32, [RKB_MAP_U64] = PTX_U64, [RKB_MAP_I64] = PTX_S64,
      [RKB_MAP_F16] = PTX_F16, [RKB_MAP_F32] = PTX_F32, [RKB_MAP_F64] = PTX_F64, [RKB_MAP_BF16] = PTX_BF16};
   return type < sizeof types ? types[type] : PTX_NO_TYPE;
}

static void note_read(void *argument, const machine_row_t *row) {
   const moving_t *m = argument;
   if (row->region->met)
      machine_meet(m->warp->run, row->region, row->offset, row->bytes, false);
   if (m->warp->run->races && !row->region->read_only)
      machine_global_access(m->warp, m->lane, row->region, row->offset, row->bytes, NULL, false, false);
   machine_bulk_count(m->warp, row, false);
}

static void note_written(void *argument, const machine_row_t *row) {
   const moving_t *m = argument;
   if (row->region->met)
      machine_meet(m->warp->run, row->region, row->offset, row->bytes, true);
   if (m->warp->run->races && m->instruction->operation != BULK_REDUCE)
      machine_global_access(m->warp, m->lane, row->region, row->offset, row->bytes, NULL, true, false);
   machine_bulk_count(m->warp, row, true);
}

static void take(void *argument, const machine_row_t *row) {
   const moving_t *m = argument;
   if (row->region)
      machine_bulk_take(m->warp, row);
   else
      machine_bulk_fill(m->warp, row->shared, row->bytes, m->fill);
}

static void give(void *argument, const machine_row_t *row) {
   const moving_t *m = argument;
   if (row->region && m->instruction->operation == BULK_REDUCE)
      bulk_reduce(m->warp, &m->reduction, m->lane, row);
   else if (row->region)
      machine_bulk_give(m->warp, m->lane, row);
}

static void load(machine_warp_t *warp, moving_t *moving, machine_tile_t *tile, uint64_t mbarrier_address) {
   uint32_t at;
   if (!machine_bulk_shared(warp, moving->lane, mbarrier_address, 8, 8, &at))
      return;
   machine_mbarrier_t *mbarrier =
      machine_mbarrier_for_copy(warp, moving->lane, at, "completes a tensor copy");
   if (!mbarrier)
      return;
   const uint32_t operation =
      machine_operation_start(warp, moving->lane, mbarrier->actor, mbarrier->phase + 1, "a tensor copy");
   if (!machine_operation_writes(warp, moving->lane, operation, tile->shared, tile->bytes))
      return;
   moving->fill = machine_tile_fill(tile);
   machine_tile_rows(tile, note_read, moving);
   machine_tile_pieces(tile, take, moving);
   machine_mbarrier_copied(warp->block, mbarrier, tile->bytes);
}

static void store(machine_warp_t *warp, moving_t *moving, const machine_tile_t *tile) {
   uint32_t count;
   const uint32_t actor = machine_bulk_group(warp, moving->lane, &count),
                  operation = machine_operation_start(warp, moving->lane, actor, count, "a tensor copy");
   if (!machine_operation_reads(warp, moving->lane, operation, tile->shared, tile->bytes))
      return;
   if (tile->region->read_only) {
      machine_find(warp, RKB_MACHINE_REJECT, "memory.out_of_bounds", moving->lane,
                   "stores a tile to %s, which is an input", tile->region->name);
      return;
   }
   if (moving->instruction->operation == BULK_REDUCE) {
      moving->reduction = *moving->instruction;
      moving->reduction.type = value_type(tile->map->type);
      moving->reduction.element_bytes = (uint8_t)tile->element;
   }
   if (moving->instruction->operation == BULK_REDUCE && moving->reduction.type == PTX_NO_TYPE) {
      machine_find(warp, RKB_MACHINE_UNKNOWN, "unsupported.tensor_reduction", moving->lane,
                   "a reduction of elements of this type is not executed by the machine");
      warp->run->stop = true;
      return;
   }
   machine_tile_rows(tile, note_written, moving);
   machine_tile_pieces(tile, give, moving);
}

/* extras: the address in shared memory, that of the map, each with an offset; coordinates; the mbarrier's address with its offset. */
static void copy_lane(machine_warp_t *warp, const machine_instruction_t *i, uint32_t lane) {
   const machine_slot_t *slots = warp->program->extras + i->extra;
   moving_t moving = {.warp = warp, .instruction = i, .lane = lane};
   machine_tile_t tile = {.region = NULL};
   if (!bulk_operands_defined(warp, i, lane))
      return;
   tile.map = machine_tensor_map_at(warp, lane, bulk_address(warp, &slots[2], lane, false));
   if (!tile.map)
      return;
   if (tile.map->rank != i->elements) {
      machine_find(warp, RKB_MACHINE_REJECT, "plan.argument", lane,
                   "a tensor copy of %u dimensions with the map '%s' of %u", i->elements, tile.map->name,
                   tile.map->rank);
      return;
   }
   if (tile.map->interleave) {
      machine_find(warp, RKB_MACHINE_UNKNOWN, "unsupported.interleave", lane,
                   "the map '%s' has an interleaved layout, which the machine does not execute", tile.map->name);
      warp->run->stop = true;
      return;
   }
   for (uint32_t k = 0; k < tile.map->rank; k++)
      tile.at[k] = (int32_t)(uint32_t)bulk_operand(warp, &slots[4 + k], lane);
   machine_tile_measure(warp->run, &tile);
   if (!machine_bulk_shared(warp, lane, bulk_address(warp, &slots[0], lane, true), tile.bytes, TILE_ALIGNMENT,
                            &tile.shared))
      return;
   if (i->operation == BULK_LOAD)
      load(warp, &moving, &tile, bulk_address(warp, &slots[4 + tile.map->rank], lane, true));
   else
      store(warp, &moving, &tile);
}

OP(tensor_copy) {
   for (uint32_t l = 0; l < LANES && !warp->run->stop; l++)
      if (mask >> l & 1)
         copy_lane(warp, i, l);
}
