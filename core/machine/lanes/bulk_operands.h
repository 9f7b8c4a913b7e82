/* Operands of bulk and tensor copies and of their reductions.  They have more addresses than an instruction
 * has places for, so each address is two extras: a register and an offset. */
#ifndef RKB_MACHINE_LANES_BULK_OPERANDS_H
#define RKB_MACHINE_LANES_BULK_OPERANDS_H

#include "machine/async/bulk_copies.h"
#include "machine/in_flight/operations.h"
#include "machine/lanes/atomic_values.h"
#include "machine/races/races.h"

static inline uint64_t bulk_operand(const machine_warp_t *warp, const machine_slot_t *slot, uint32_t lane) {
   const uint8_t *at = warp->registers + slot->offset;
   return slot->bytes == 8 ? ((const uint64_t *)(const void *)at)[lane]
                           : ((const uint32_t *)(const void *)at)[lane];
}

/* shared: the address is in the window of shared memory; the high bits of a generic address say this already. */
static inline uint64_t bulk_address(const machine_warp_t *warp, const machine_slot_t *slots, uint32_t lane,
                                    bool shared) {
   const uint64_t sum = bulk_operand(warp, &slots[0], lane) + bulk_operand(warp, &slots[1], lane);
   return shared ? WINDOW_SHARED << WINDOW_SHIFT | (sum & 0xffffffffu) : machine_generic(warp->run, sum);
}

/* Returns the blocks to which a copy goes, a bit for each rank; false after a finding. */
static inline bool bulk_blocks(machine_warp_t *warp, const machine_instruction_t *i, uint32_t lane,
                               uint32_t *blocks) {
   const machine_slot_t *last = warp->program->extras + i->extra + i->extra_count - 1;
   *blocks = (uint32_t)bulk_operand(warp, last, lane) & 0xffff;
   if (!(*blocks >> warp->block->cluster.blocks))
      return true;
   machine_find_alone(machine_find(warp, RKB_MACHINE_REJECT, "sync.cluster", lane,
                                   "copies to the blocks of mask 0x%x, and the cluster has %u", *blocks,
                                   warp->block->cluster.blocks),
                      "the mask alone is wrong");
   return false;
}

/* The same byte of another block of the cluster. */
static inline uint64_t bulk_in_block(const machine_warp_t *warp, uint64_t address, uint32_t rank) {
   const uint64_t within = (1u << CLUSTER_SHIFT) - 1;
   if (warp->block->cluster.blocks == 1)
      return address;
   return (address & ~0xffffffffull) | machine_rank_bits(rank, warp->rank) | (address & within);
}

/* Whether the bytes and the mbarrier that counts them are in one block; else makes a finding. */
static inline bool bulk_same_block(machine_warp_t *warp, uint32_t lane, uint32_t to, uint32_t mbarrier) {
   const uint32_t span = warp->block->cluster.shared_span;
   if (to / span == mbarrier / span)
      return true;
   machine_find_alone(
      machine_find(
         warp, RKB_MACHINE_REJECT, "sync.cluster", lane,
         "writes to block %u of the cluster and completes an mbarrier of block %u: both must be of one block",
         to / span, mbarrier / span),
      "the addresses alone are wrong");
   return false;
}

/* Whether the lane's first count operands have values; else makes a finding. */
static inline bool bulk_operands_defined(machine_warp_t *warp, const machine_instruction_t *i, uint32_t lane,
                                         uint32_t count) {
   const machine_slot_t *slots = warp->program->extras + i->extra;
   for (uint32_t e = 0; e < count; e++) {
      if (warp->taint)
         warp->run->report.address_taint |= warp->taint[slots[e].number];
      if (warp->defined[slots[e].number] >> lane & 1)
         continue;
      machine_undefined_address(warp, 1u << lane);
      return false;
   }
   return true;
}

/* The operation that writes what a copy of the lane's open group brings to global memory; 0: not followed. */
static inline uint32_t bulk_writing(machine_warp_t *warp, const machine_instruction_t *i, uint32_t lane,
                                    uint32_t count, const char *what) {
   const uint32_t actor = machine_bulk_written_group(warp, lane);
   return i->operation == BULK_REDUCE ? machine_reduction_start(warp, lane, actor, count, what)
                                      : machine_operation_start(warp, lane, actor, count, what);
}

/* Adds a row of shared memory to one of global memory, or combines them as the instruction says. */
static inline void bulk_reduce(machine_warp_t *warp, const machine_instruction_t *i, uint32_t lane,
                               const machine_row_t *row) {
   const uint32_t bytes = i->element_bytes;
   machine_instruction_t how = *i;
   how.operation = i->rounding; /* the decoder puts it there */
   how.space = PTX_GLOBAL;
   if (warp->run->races)
      machine_global_stored(warp, lane, row->region, row->offset, row->bytes, true);
   for (uint32_t n = 0; n < row->bytes; n += bytes) {
      uint64_t old = 0, value = 0;
      memcpy(&old, row->region->data + row->offset + n, bytes);
      memcpy(&value, warp->block->shared + row->shared + n, bytes);
      const uint64_t result = apply(&how, old, value, 0);
      memcpy(row->region->data + row->offset + n, &result, bytes);
      for (uint32_t k = 0; row->region->defined && k < bytes; k++) {
         uint8_t *defined = &row->region->defined[row->offset + n + k];
         if (*defined != 1 && *defined != ATOMIC_UNFINISHED)
            machine_uninitialised_atomic(warp, lane, &row->offset, row->region, bytes);
         else if (warp->run->unfinished)
            *defined = ATOMIC_UNFINISHED;
      }
      for (uint32_t k = 0; k < bytes; k++)
         if (warp->block->shared_defined[row->shared + n + k] != 1) {
            machine_find(warp, RKB_MACHINE_REJECT, "memory.uninitialised", lane,
                         "a bulk reduction adds bytes of shared memory that were never written");
            return;
         }
      if (row->region->shadow && bytes == 4)
         row->region->shadow[(row->offset + n) / 4] = machine_no_shadow();
   }
   if (warp->taint)
      row->region->taint |= warp->block->shared_taint;
   warp->run->changes++;
}

#endif
