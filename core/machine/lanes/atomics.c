/* atom, red, membar and fence (PTX ISA 9.0, 9.7.14).  Lanes act in order of their numbers.  If a result depends on the order (floating-point
 * sums), the report says so; this is no reason to reject. */
#include "machine/state/environment.h"
#include "machine/lanes/handlers.h"
#include "machine/lanes/atomic_values.h"
#include "machine/access/memory_access.h"
#include "machine/clocks/shared_signals.h"
#include "machine/clocks/vector_clocks.h"
#include "machine/in_flight/mbarriers.h"

static uint64_t read_slot(const machine_warp_t *warp, const machine_slot_t *slot, uint32_t lane) {
   const uint8_t *at = warp->registers + slot->offset;
   return slot->bytes == 8 ? ((const uint64_t *)at)[lane] : ((const uint32_t *)at)[lane];
}

static void note_float_sum(machine_warp_t *warp, const machine_instruction_t *i,
                           const machine_place_t *place) {
   rkb_machine_report_t *report = &warp->run->report;
   if (report->float_atomics || !ptx_type_is_float(i->type) || i->operation != ATOMIC_ADD)
      return;
   report->float_atomics = true;
   snprintf(report->float_atomic_symbol, sizeof report->float_atomic_symbol, "%s",
            place->region ? place->region->name : "shared memory");
}

/* Lanes on one address take turns: counts the most lanes on any address. */
static void count_contention(machine_warp_t *warp, const uint64_t *address, uint32_t mask) {
   rkb_launch_counters_t *counters = &warp->run->counts.counters[warp->block->launch->number];
   uint32_t most = 0;
   for (uint32_t l = 0; l < LANES; l++) {
      uint32_t same = 0;
      for (uint32_t k = 0; k < LANES && (mask >> l & 1); k++)
         same += (mask >> k & 1) && address[k] == address[l];
      most = same > most ? same : most;
   }
   counters->atomic_requests++;
   counters->atomic_serial += most;
}

/* Whether a compare-and-swap that expects this value writes.  One that does not write passes nothing on. */
static bool swaps(const machine_place_t *place, uint32_t bytes, uint64_t expected) {
   return memcmp(place->data, &expected, bytes) == 0; /* the lowest bytes */
}

/* extras: destinations (elements of them, the sink for red), values, and for cas the value to swap in. */
OP(atomic) {
   const machine_slot_t *destination = warp->program->extras + i->extra;
   const machine_slot_t *operand = destination + i->elements, *swap = operand + i->elements;
   const uint32_t bytes = i->element_bytes, total = bytes * i->elements;
   const bool compares = i->operation == ATOMIC_CAS;
   uint64_t address[LANES];
   mask = lane_addresses(warp, i, mask, address);
   if (!mask)
      return;
   count_contention(warp, address, mask);
   warp->strong++;
   if (warp->run->side_by_side)
      machine_note_polled(warp, address, mask, total);
   uint32_t defined = 0;
   uint64_t taint = warp->taint ? warp->taint[i->ai] : 0;
   const uint32_t turned = machine_lanes_turned(warp->run);
   for (uint32_t n = 0; n < LANES; n++) {
      const uint32_t l = n ^ turned;
      if (!(mask >> l & 1))
         continue;
      machine_place_t place;
      if (!place_of(warp, l, address[l], i->space, total, true, &place))
         continue;
      if (warp->run->races && place.window == WINDOW_SHARED) {
         machine_shared_access(warp, l, (uint32_t)place.offset, total, NULL, true, true);
         machine_signal_seen(warp, l, (uint32_t)place.offset, i->flags & FLAG_ACQUIRE);
         if (!compares || swaps(&place, bytes, read_slot(warp, operand, l)))
            machine_signal_given(warp, l, (uint32_t)place.offset, i, true);
      }
      if (warp->run->races && place.window != WINDOW_SHARED && place.region)
         machine_global_access(warp, l, place.region, place.offset, total, NULL, true, true);
      if (warp->run->races && !(i->flags & FLAG_BLOCK)) {
         machine_sync_acquire(warp, l, address[l]);
         if (!compares || swaps(&place, bytes, read_slot(warp, operand, l)))
            machine_sync_release(warp, l, address[l], i->flags & FLAG_RELEASE);
      }
      note_float_sum(warp, i, &place);
      for (uint32_t e = 0; e < i->elements; e++) {
         uint64_t old = 0;
         memcpy(&old, place.data + e * bytes, bytes);
         uint64_t value = read_slot(warp, &operand[e], l), other = compares ? read_slot(warp, swap, l) : 0;
         bool known = (warp->defined[operand[e].number] >> l & 1) &&
                      (!compares || (warp->defined[swap->number] >> l & 1));
         if (!known)
            machine_find(warp, RKB_MACHINE_REJECT, "memory.uninitialised", l,
                         "an atomic operation's operand was never given a value");
         bool stood = true;
         for (uint32_t n = 0; place.defined && n < bytes; n++)
            stood &= place.defined[e * bytes + n] == 1 || place.defined[e * bytes + n] == ATOMIC_UNFINISHED;
         if (!stood && place.region && place.region->wanted)
            machine_partial_read(place.region, place.offset + e * bytes, bytes);
         if (!stood && i->operation != ATOMIC_EXCH && !warp->run->moving)
            machine_uninitialised_atomic(warp, l, &place.offset, place.region, bytes);
         const uint8_t after = !warp->run->unfinished || !place.region ? 1
                               : stood || i->operation == ATOMIC_EXCH  ? ATOMIC_UNFINISHED
                                                                       : 0;
         uint64_t result =
            apply(i, old, bytes == 4 ? value & FULL_MASK : value, bytes == 4 ? other & FULL_MASK : other);
         if (warp->run->unfinished && place.region)
            machine_tickets_note(warp->run, place.region, place.offset + e * bytes,
                                 &(struct machine_drawing){.old = old,
                                                           .value = bytes == 4 ? value & FULL_MASK : value,
                                                           .left = result,
                                                           .operation = i->operation,
                                                           .type = i->type,
                                                           .bytes = bytes,
                                                           .used = destination[e].number != NOWHERE_REGISTER,
                                                           .known = stood});
         warp->run->changes += memcmp(&result, &old, bytes) != 0;
         memcpy(place.data + e * bytes, &result, bytes);
         if (place.defined)
            memset(place.defined + e * bytes, after, bytes);
         if (warp->shadow && place.shadow && bytes == 4) {
            double *kept = &place.shadow[e];
            if (i->type == PTX_F32 && i->operation == ATOMIC_ADD) {
               double before = machine_has_shadow(*kept) ? *kept : (double)bits_to_float((uint32_t)old);
               bool has = warp->valid && (warp->valid[operand[e].number] >> l & 1);
               *kept =
                  before + (has ? SHADOW_OF(operand[e].offset)[l] : (double)bits_to_float((uint32_t)value));
            } else {
               *kept = machine_no_shadow();
            }
         }
         if (destination[e].bytes == 8)
            LANES_OF(uint64_t, destination[e].offset)[l] = old;
         else
            LANES_OF(uint32_t, destination[e].offset)[l] = (uint32_t)old;
         defined |= (uint32_t)stood << l;
         if (place.region && place.region->renewed) {
            warp->run->report.variable_atomics |= result != old;
            warp->run->report.variables_unfinished |= place.region->unfinished;
            place.region->added_to |= warp->run->unfinished;
            if (!warp->run->options.past || warp->run->options.atomics_past)
               taint |= machine_kept_taint(warp->run, place.region, place.offset + e * bytes, bytes);
            machine_kept_write(place.region, place.offset + e * bytes, bytes, i->operation == ATOMIC_EXCH);
         }
         if (warp->taint) {
            uint64_t *kept = taint_of_place(warp, &place);
            taint |= *kept;
            *kept |= warp->taint[operand[e].number] | (compares ? warp->taint[swap->number] : 0);
         }
      }
   }
   for (uint32_t e = 0; e < i->elements; e++) {
      set_defined(warp, destination[e].number, defined, mask);
      set_taint(warp, destination[e].number, taint, mask);
      if (warp->valid)
         warp->valid[destination[e].number] &= ~mask;
   }
}

OP(fence) {
   if (warp->run->races && !(i->flags & FLAG_BLOCK))
      machine_sync_fence(warp, mask);
   if (warp->block->operations) {
      machine_mbarriers_acquire(warp, mask);
      machine_vector_clocks_fence_generic(warp, mask);
   } else if (warp->block->signals) {
      machine_vector_clocks_fence_generic(warp, mask);
   }
   machine_signals_fence(warp, mask);
}
