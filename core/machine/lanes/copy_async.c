/* cp.async: each lane copies 4, 8 or 16 bytes from global to shared memory; zeros may replace the last of them (PTX ISA 9.0, 9.7.9.25.3).  This
 * file moves the bytes; in_flight/copies.c keeps which copy they belong to until the lane waits. */
#include "machine/lanes/handlers.h"
#include "machine/access/memory_access.h"
#include "machine/in_flight/copies.h"
#include "machine/maps/tensor_maps.h"

/* Finds how many bytes each lane reads; false when that is undefined. */
static bool source_bytes(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask,
                         uint32_t out[LANES]) {
   const uint32_t bytes = i->operation;
   if (i->type == COPY_WHOLE) {
      EACH_LANE out[l] = bytes;
      return true;
   }
   if (warp->taint)
      warp->run->report.control_taint |= warp->taint[i->ci];
   if (machine_undefined_control(warp, mask & ~warp->defined[i->ci], "how much is copied"))
      return false;
   if (i->type == COPY_UNLESS) {
      const uint32_t ignored = PREDICATE(i->c) ^ (i->flags & FLAG_NEGATED_C ? FULL_MASK : 0);
      EACH_LANE out[l] = ignored >> l & 1 ? 0 : bytes;
      return true;
   }
   memcpy(out, LANES_OF(uint32_t, i->c), LANES * sizeof *out);
   for (uint32_t l = 0; l < LANES; l++)
      if ((mask >> l & 1) && out[l] > bytes) {
         machine_find(warp, RKB_MACHINE_REJECT, "memory.out_of_bounds", l,
                      "reads %u bytes for a copy of %u: the source may not be larger", out[l], bytes);
         return false;
      }
   return true;
}

/* Finds where each lane writes; false after a finding. */
static bool find_targets(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask,
                         uint32_t out[LANES]) {
   if (i->source_type == 8) {
      const uint64_t *b = LANES_OF(uint64_t, i->b);
      EACH_LANE out[l] = (uint32_t)b[l] + i->target;
   } else {
      const uint32_t *b = LANES_OF(uint32_t, i->b);
      EACH_LANE out[l] = b[l] + i->target;
   }
   if (warp->taint)
      warp->run->report.address_taint |= warp->taint[i->bi];
   const uint32_t undefined = mask & ~warp->defined[i->bi];
   if (undefined)
      machine_undefined_address(warp, undefined);
   return !undefined;
}

/* Copies the records about bytes with the bytes. */
static void carry(machine_warp_t *warp, const machine_place_t *to, const machine_place_t *from, uint32_t at,
                  uint32_t bytes) {
   const bool apart = from && from->defined && !warp->run->repeats;
   if (!apart && !warp->run->repeats && bytes == 16)
      memset(to->defined + at, 1, 16);
   else if (!apart && !warp->run->repeats)
      memset(to->defined + at, 1, bytes);
   for (uint32_t n = 0; n < bytes && apart; n++)
      to->defined[at + n] = from->defined[n] == 1 ? 1 : UNDEFINED_STORE;
   for (uint32_t n = 0; to->shadow && n + 4 <= bytes; n += 4)
      to->shadow[(at + n) / 4] = from && from->shadow ? from->shadow[n / 4] : machine_no_shadow();
   if (from && from->region && from->region->renewed) {
      const uint64_t kept = machine_kept_taint(warp->run, from->region, from->offset, bytes);
      warp->run->report.variables_unfinished |= from->region->unfinished;
      warp->block->shared_taint |= warp->taint ? kept : 0;
   }
   if (warp->taint && from)
      warp->block->shared_taint |= *taint_of_place(warp, from);
}

/* Reads in powers of two, so that a part of 16 bytes is checked as one access.  False after a finding. */
static bool read_part(machine_warp_t *warp, uint32_t lane, uint64_t address, uint32_t bytes,
                      const machine_place_t *to, machine_place_t *first) {
   for (uint32_t at = 0; at < bytes;) {
      const uint32_t piece = 1u << (31 - __builtin_clz(bytes - at));
      machine_place_t from;
      if (!place_of(warp, lane, address + at, PTX_GLOBAL, piece, false, &from))
         return false;
      if (piece == 16) /* as in nearly every copy */
         memcpy(to->data + at, from.data, 16);
      else
         memcpy(to->data + at, from.data, piece);
      carry(warp, to, &from, at, piece);
      if (at == 0)
         *first = from;
      at += piece;
   }
   return true;
}

/* Addresses of one piece that were found to be unasked.  The lanes of a copy mostly read few pieces. */
typedef struct unasked {
   uint64_t first, end;
} unasked_t;

/* In a run of which only some elements of inputs are asked for: whether what a lane reads may stay undefined, because no element of its piece is asked for and no
 * block has read the piece before.  An access that is a fault is left to the general way. */
static bool is_unasked(machine_warp_t *warp, uint64_t address, uint32_t bytes, unasked_t *known) {
   if (bytes && address >= known->first && address < known->end && known->end - address >= bytes)
      return true;
   machine_region_t *region =
      warp->run->options.asked && address >> WINDOW_SHIFT == 0 ? machine_region_at(warp->run, address) : NULL;
   if (!region || !region->asked || !region->met || warp->shadow || !bytes)
      return false;
   const uint64_t offset = address - region->base, piece = offset >> PIECE_SHIFT;
   if (offset >= region->bytes || region->bytes - offset < bytes ||
       (offset + bytes - 1) >> PIECE_SHIFT != piece || machine_is_met(region, piece) ||
       machine_asks(region, piece << PIECE_SHIFT, UINT64_C(1) << PIECE_SHIFT))
      return false;
   warp->block->shared_taint |= warp->taint ? region->taint : 0;
   const uint64_t first = piece << PIECE_SHIFT, left = region->bytes - first;
   known->first = region->base + first;
   known->end = known->first + (left < 1u << PIECE_SHIFT ? left : 1u << PIECE_SHIFT);
   return true;
}

/* Sums of zeros take less time than sums of old bytes. */
static inline void leave_undefined(const machine_place_t *to, uint32_t bytes) {
   if (bytes == 16) {
      memset(to->data, 0, 16);
      memset(to->defined, UNDEFINED_STORE, 16);
   } else {
      memset(to->data, 0, bytes);
      memset(to->defined, UNDEFINED_STORE, bytes);
   }
}

static bool copy_lane(machine_warp_t *warp, const machine_instruction_t *i, uint32_t lane, uint32_t target,
                      uint64_t address, uint32_t count, uint32_t handle, unasked_t *known) {
   const uint32_t bytes = i->operation;
   machine_place_t to, from = {.region = NULL};
   if (!place_of(warp, lane, WINDOW_SHARED << WINDOW_SHIFT | target, PTX_SHARED, bytes, true, &to))
      return false;
   if (count && (address & (bytes - 1))) {
      machine_fault(warp, lane, address, PTX_GLOBAL, bytes, false);
      return false;
   }
   const bool unasked = is_unasked(warp, address, count, known);
   if (!unasked) {
      *known = (unasked_t){0}; /* a read makes pieces */
      if (!read_part(warp, lane, address, count, &to, &from))
         return false;
   }
   if (count < bytes) {
      memset(to.data + count, 0, bytes - count);
      const uint32_t whole = count & ~3u; /* a word in part zeros has no double of its own */
      carry(warp, &to, NULL, whole, bytes - whole);
      for (uint32_t n = whole; n < count && !warp->run->repeats; n++)
         to.defined[n] = !from.defined || from.defined[n] == 1 ? 1 : UNDEFINED_STORE;
   }
   if (unasked)
      leave_undefined(&to, count);
   machine_region_t *region = from.region && !from.region->read_only ? from.region : NULL;
   if (handle != UINT32_MAX)
      machine_copy_start(warp, handle, lane, (uint32_t)to.offset, bytes, region, from.offset, count);
   return true;
}

OP(copy_async) {
   uint64_t address[LANES];
   uint32_t count[LANES], target[LANES];
   if (!source_bytes(warp, i, mask, count) || !find_targets(warp, i, mask, target) ||
       lane_addresses(warp, i, mask, address) != mask)
      return;
   const bool follows = warp->block->copies && !warp->run->repeats;
   const uint32_t handle = follows ? machine_copies_open(warp) : UINT32_MAX;
   warp->run->changes++;
   uint32_t reading = 0;
   unasked_t known = {0};
   for (uint32_t l = 0; l < LANES && !warp->run->stop && !warp->run->out_of_memory; l++) {
      if (!(mask >> l & 1))
         continue;
      reading |= (uint32_t)(count[l] != 0) << l;
      if (!copy_lane(warp, i, l, target[l], address[l], count[l], handle, &known))
         return;
   }
   if (!warp->block->measured || warp->run->repeats)
      return;
   /* Only a wait for their group waits for these loads. */
   const uint64_t loads = warp->loads;
   const bool open = warp->loads_open;
   machine_count_request(warp, address, reading, i->operation, false);
   warp->loads = loads;
   warp->loads_open = open;
   warp->copies_open |= reading != 0;
   for (uint32_t l = 0; l < LANES; l++)
      address[l] = WINDOW_SHARED << WINDOW_SHIFT | target[l];
   machine_count_request(warp, address, mask, i->operation, true);
}

OP(copy_commit) {
   if (warp->block->copies)
      machine_copies_commit(warp, mask);
}

/* If a wait leaves n groups in flight, n + 1 are in flight before it.  So each wait counts as 1 / (n + 1) of one group's time. */
OP(copy_wait) {
   if (warp->copies_open) {
      warp->copy_waits += COPY_WAIT / ((i->operation ? 0 : (uint64_t)i->immediate) + 1);
      warp->copies_open = false;
   }
   if (warp->block->copies)
      machine_copies_wait(warp, mask, (uint32_t)i->immediate, i->operation);
}
