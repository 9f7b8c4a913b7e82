/* cp.async.bulk, cp.reduce.async.bulk and their groups (PTX ISA 9.0, 9.7.9.25.4): each lane that executes one starts a copy of its own. */
#include "machine/async/bulk_copies.h"
#include "machine/async/mbarriers.h"
#include "machine/async/operations.h"
#include "machine/lanes/bulk_operands.h"
#include "machine/lanes/handlers.h"
#include "machine/races/races.h"

typedef struct bulk {
   uint64_t shared, global, mbarrier;
   uint32_t bytes;
} bulk_t;

/* extras: the address in shared memory, that in global memory, each with an offset; the size; the mbarrier's, with its offset. */
static bool operands(machine_warp_t *warp, const machine_instruction_t *i, uint32_t lane, bulk_t *out) {
   const machine_slot_t *slots = warp->program->extras + i->extra;
   if (!bulk_operands_defined(warp, i, lane))
      return false;
   out->shared = bulk_address(warp, &slots[0], lane, true);
   out->global = bulk_address(warp, &slots[2], lane, false);
   out->bytes = (uint32_t)bulk_operand(warp, &slots[4], lane);
   out->mbarrier = i->operation == BULK_LOAD ? bulk_address(warp, &slots[5], lane, true) : 0;
   if (out->bytes & 15) {
      machine_find(warp, RKB_MACHINE_REJECT, "memory.misaligned", lane,
                   "a bulk copy of %u bytes: sizes are multiples of 16", out->bytes);
      return false;
   }
   return true;
}

static void load(machine_warp_t *warp, uint32_t lane, const bulk_t *bulk) {
   machine_row_t row;
   uint32_t to, at;
   if (!machine_bulk_shared(warp, lane, bulk->shared, bulk->bytes, 16, &to) ||
       !machine_bulk_shared(warp, lane, bulk->mbarrier, 8, 8, &at) ||
       !machine_bulk_global(warp, lane, bulk->global, bulk->bytes, false, &row))
      return;
   machine_mbarrier_t *mbarrier = machine_mbarrier_for_copy(warp, lane, at, "completes a bulk copy");
   row.shared = to;
   if (!mbarrier)
      return;
   const uint32_t operation =
      machine_operation_start(warp, lane, mbarrier->actor, mbarrier->phase + 1, "a bulk copy");
   if (bulk->bytes && !machine_operation_writes(warp, lane, operation, to, bulk->bytes))
      return;
   machine_bulk_count(warp, &row, false);
   machine_bulk_load(warp, lane, &row);
   machine_mbarrier_copied(warp->block, mbarrier, bulk->bytes);
}

static void store(machine_warp_t *warp, const machine_instruction_t *i, uint32_t lane, const bulk_t *bulk) {
   machine_row_t row;
   uint32_t from, count;
   if (!machine_bulk_shared(warp, lane, bulk->shared, bulk->bytes, 16, &from) ||
       !machine_bulk_global(warp, lane, bulk->global, bulk->bytes, true, &row))
      return;
   const uint32_t actor = machine_bulk_group(warp, lane, &count),
                  operation = machine_operation_start(warp, lane, actor, count, "a bulk copy");
   row.shared = from;
   if (bulk->bytes && !machine_operation_reads(warp, lane, operation, from, bulk->bytes))
      return;
   machine_bulk_count(warp, &row, true);
   if (i->operation == BULK_REDUCE)
      bulk_reduce(warp, i, lane, &row);
   else
      machine_bulk_store(warp, lane, &row);
}

OP(bulk_copy) {
   for (uint32_t l = 0; l < LANES && !warp->run->stop; l++) {
      bulk_t bulk;
      if (!(mask >> l & 1) || !operands(warp, i, l, &bulk))
         continue;
      if (i->operation == BULK_LOAD)
         load(warp, l, &bulk);
      else
         store(warp, i, l, &bulk);
   }
}

OP(bulk_commit) {
   (void)i;
   machine_bulk_commit(warp, mask);
}

OP(bulk_wait) {
   machine_bulk_wait(warp, mask, (uint32_t)i->immediate);
}
