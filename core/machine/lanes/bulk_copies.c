/* cp.async.bulk, cp.reduce.async.bulk and their groups (PTX ISA 9.0, 9.7.9.25.4): each lane that executes one starts a copy of its own. */
#include "machine/async/bulk_copies.h"
#include "machine/in_flight/copy_sources.h"
#include "machine/in_flight/mbarriers.h"
#include "machine/in_flight/operations.h"
#include "machine/lanes/bulk_operands.h"
#include "machine/lanes/handlers.h"
#include "machine/races/races.h"

typedef struct bulk {
   uint64_t to, from, mbarrier; /* addresses */
   uint32_t bytes;
} bulk_t;

/* extras: the address in shared memory, the other one, each with an offset; the size; the mbarrier's, with its offset; the blocks. */
static bool operands(machine_warp_t *warp, const machine_instruction_t *i, uint32_t lane, bulk_t *out) {
   const machine_slot_t *slots = warp->program->extras + i->extra;
   const bool completes = i->operation == BULK_LOAD || i->operation == BULK_TO_PEER;
   if (!bulk_operands_defined(warp, i, lane, i->extra_count))
      return false;
   out->to = bulk_address(warp, &slots[completes ? 0 : 2], lane, completes);
   out->from = bulk_address(warp, &slots[completes ? 2 : 0], lane, i->operation != BULK_LOAD);
   out->bytes = (uint32_t)bulk_operand(warp, &slots[4], lane);
   out->mbarrier = completes ? bulk_address(warp, &slots[5], lane, true) : 0;
   if (out->bytes & 15) {
      machine_find(warp, RKB_MACHINE_REJECT, "memory.misaligned", lane,
                   "a bulk copy of %u bytes: sizes are multiples of 16", out->bytes);
      return false;
   }
   return true;
}

/* Finds the mbarrier that counts the bytes, and begins the operation that writes them to shared memory; NULL
 * after a finding. */
static machine_mbarrier_t *begin(machine_warp_t *warp, uint32_t lane, const bulk_t *bulk, bool reduces,
                                 uint32_t *to, uint32_t *operation) {
   uint32_t at;
   if (!machine_bulk_shared(warp, lane, bulk->to, bulk->bytes, 16, to) ||
       !machine_bulk_shared(warp, lane, bulk->mbarrier, 8, 8, &at) || !bulk_same_block(warp, lane, *to, at))
      return NULL;
   machine_mbarrier_t *mbarrier = machine_mbarrier_for_copy(warp, lane, at, "completes a bulk copy");
   if (!mbarrier)
      return NULL;
   *operation =
      reduces ? machine_reduction_start(warp, lane, mbarrier->actor, mbarrier->phase + 1, "a bulk reduction")
              : machine_operation_start(warp, lane, mbarrier->actor, mbarrier->phase + 1, "a bulk copy");
   return bulk->bytes && !machine_operation_writes(warp, lane, *operation, *to, bulk->bytes) ? NULL
                                                                                             : mbarrier;
}

static void load(machine_warp_t *warp, uint32_t lane, const bulk_t *bulk, bool counts) {
   machine_row_t row;
   uint32_t to, operation;
   if (!machine_bulk_global(warp, lane, bulk->from, bulk->bytes, false, &row))
      return;
   machine_mbarrier_t *mbarrier = begin(warp, lane, bulk, false, &to, &operation);
   row.shared = to;
   if (!mbarrier)
      return;
   if (counts)
      machine_bulk_count(warp, &row, false);
   machine_bulk_load(warp, lane, operation, &row);
   machine_mbarrier_copied(warp, lane, mbarrier, bulk->bytes);
}

/* Global memory is read once for all blocks. */
static void multicast(machine_warp_t *warp, const machine_instruction_t *i, uint32_t lane,
                      const bulk_t *bulk) {
   uint32_t blocks;
   if (!bulk_blocks(warp, i, lane, &blocks))
      return;
   for (uint32_t left = blocks; left && !warp->run->stop; left &= left - 1) {
      const uint32_t rank = (uint32_t)__builtin_ctz(left);
      bulk_t one = *bulk;
      one.to = bulk_in_block(warp, bulk->to, rank);
      one.mbarrier = bulk_in_block(warp, bulk->mbarrier, rank);
      load(warp, lane, &one, left == blocks);
   }
}

/* Adds bytes of one block's memory to those of another block, or combines them as the instruction says.
 * False after a finding. */
static bool reduce_there(machine_warp_t *warp, const machine_instruction_t *i, uint32_t lane, uint32_t to,
                         uint32_t from, uint32_t bytes) {
   machine_block_t *block = warp->block;
   machine_instruction_t how = *i;
   how.operation = i->rounding; /* the decoder puts it there */
   how.space = PTX_SHARED;
   for (uint32_t n = 0; n < bytes; n++)
      if (block->shared_defined[to + n] != 1 || block->shared_defined[from + n] != 1) {
         machine_find(warp, RKB_MACHINE_REJECT, "memory.uninitialised", lane,
                      "a bulk reduction %s bytes of shared memory that were never written",
                      block->shared_defined[to + n] != 1 ? "changes" : "adds");
         return false;
      }
   for (uint32_t n = 0; n < bytes; n += i->element_bytes) {
      uint64_t old = 0, value = 0;
      memcpy(&old, block->shared + to + n, i->element_bytes);
      memcpy(&value, block->shared + from + n, i->element_bytes);
      const uint64_t result = apply(&how, old, value, 0);
      memcpy(block->shared + to + n, &result, i->element_bytes);
   }
   for (uint32_t n = 0; block->shared_shadow && n < bytes; n += 4)
      block->shared_shadow[(to + n) / 4] = machine_no_shadow();
   return true;
}

/* From the lane's own block to one of the cluster. */
static void to_peer(machine_warp_t *warp, const machine_instruction_t *i, uint32_t lane, const bulk_t *bulk) {
   const bool reduces = i->element_bytes != 0;
   machine_block_t *block = warp->block;
   uint32_t to, from, operation;
   if (!machine_bulk_shared(warp, lane, bulk->from, bulk->bytes, 16, &from))
      return;
   machine_mbarrier_t *mbarrier = begin(warp, lane, bulk, reduces, &to, &operation);
   if (!mbarrier || (bulk->bytes && !machine_operation_reads(warp, lane, operation, from, bulk->bytes)))
      return;
   if (reduces) {
      if (reduce_there(warp, i, lane, to, from, bulk->bytes))
         machine_mbarrier_copied(warp, lane, mbarrier, bulk->bytes);
      return;
   }
   memmove(block->shared + to, block->shared + from, bulk->bytes);
   warp->run->undefinings++;
   for (uint32_t n = 0; n < bulk->bytes; n++)
      block->shared_defined[to + n] = block->shared_defined[from + n] == 1 ? 1 : UNDEFINED_STORE;
   if (block->shared_shadow)
      memmove(block->shared_shadow + to / 4, block->shared_shadow + from / 4,
              bulk->bytes / 4 * sizeof(double));
   machine_mbarrier_copied(warp, lane, mbarrier, bulk->bytes);
}

static void store(machine_warp_t *warp, const machine_instruction_t *i, uint32_t lane, const bulk_t *bulk) {
   machine_row_t row;
   uint32_t from, count;
   if (!machine_bulk_shared(warp, lane, bulk->from, bulk->bytes, 16, &from) ||
       !machine_bulk_global(warp, lane, bulk->to, bulk->bytes, true, &row))
      return;
   const uint32_t actor = machine_bulk_group(warp, lane, &count),
                  operation = machine_operation_start(warp, lane, actor, count, "a bulk copy");
   row.shared = from;
   if (bulk->bytes && !machine_operation_reads(warp, lane, operation, from, bulk->bytes))
      return;
   if (i->operation != BULK_REDUCE && machine_copy_rewrites_row(warp, lane, &row))
      return;
   machine_bulk_count(warp, &row, true);
   if (i->operation == BULK_REDUCE)
      bulk_reduce(warp, i, lane, &row);
   else
      machine_bulk_store(warp, lane, &row);
   machine_copy_destination_row(warp, bulk_writing(warp, i, lane, count, "a bulk copy"), &row);
}

OP(bulk_copy) {
   for (uint32_t l = 0; l < LANES && !warp->run->stop; l++) {
      bulk_t bulk;
      if (!(mask >> l & 1) || !operands(warp, i, l, &bulk))
         continue;
      if (i->operation == BULK_LOAD && (i->flags & FLAG_MULTICAST))
         multicast(warp, i, l, &bulk);
      else if (i->operation == BULK_LOAD)
         load(warp, l, &bulk, true);
      else if (i->operation == BULK_TO_PEER)
         to_peer(warp, i, l, &bulk);
      else
         store(warp, i, l, &bulk);
   }
}

OP(bulk_commit) {
   (void)i;
   machine_bulk_commit(warp, mask);
}

OP(bulk_wait) {
   machine_bulk_wait(warp, mask, (uint32_t)i->immediate, !(i->flags & FLAG_READS));
}
