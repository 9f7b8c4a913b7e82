/* Finds the bytes that lanes access.  Loads, stores and atomics share it. */
#ifndef RKB_MACHINE_ACCESS_MEMORY_ACCESS_H
#define RKB_MACHINE_ACCESS_MEMORY_ACCESS_H

#include "machine/in_flight/cluster_peers.h"
#include "machine/access/values.h"
#include "machine/races/races.h"

typedef struct machine_place { /* where one lane's access lands */
   uint8_t *data, *defined;    /* defined NULL: all bytes are defined */
   double *shadow;             /* of the 4-byte word, or NULL */
   machine_region_t *region;   /* NULL in the windows */
   uint32_t window;            /* WINDOW_*, or 0: global */
   uint64_t offset;
} machine_place_t;

/* Addresses of the lanes of mask; lanes whose address is undefined are reported and left out of the mask returned. */
static inline uint32_t lane_addresses(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask,
                                      uint64_t *address) {
   const uint64_t add = (uint64_t)i->immediate;
   if (i->address_bytes == 8) {
      const uint64_t *a = LANES_OF(uint64_t, i->a);
      EACH_LANE address[l] = a[l] + add;
   } else {
      const uint32_t *a = LANES_OF(uint32_t, i->a);
      EACH_LANE address[l] = a[l] + add;
   }
   if (i->space == PTX_SHARED || i->space == PTX_LOCAL || i->space == PTX_PARAM) {
      const uint64_t window = (i->space == PTX_SHARED  ? WINDOW_SHARED
                               : i->space == PTX_LOCAL ? WINDOW_LOCAL
                                                       : WINDOW_PARAM)
                              << WINDOW_SHIFT;
      EACH_LANE address[l] = window | (address[l] & 0xffffffffu);
   } else if (i->space == PTX_GENERIC) {
      for (int l = 0; l < LANES; l++)
         address[l] = machine_generic(warp->run, address[l]);
   }
   uint32_t undefined = mask & ~warp->defined[i->ai];
   if (undefined)
      machine_undefined_address(warp, undefined);
   if (warp->taint)
      warp->run->report.address_taint |= warp->taint[i->ai];
   return mask & ~undefined;
}

/* One lane's bytes, checked; false after a finding. */
static inline bool place_of(machine_warp_t *warp, uint32_t lane, uint64_t address, uint32_t space,
                            uint32_t bytes, bool store, machine_place_t *place) {
   machine_run_t *run = warp->run;
   machine_block_t *block = warp->block;
   uint64_t window = address >> WINDOW_SHIFT, offset = address & ((1ull << WINDOW_SHIFT) - 1);
   bool aligned = (address & (bytes - 1)) == 0;
   uint32_t rank;
   place->region = NULL;
   place->window = (uint32_t)window;
   place->offset = offset;
   place->shadow = NULL;
   if (window == 0) {
      machine_region_t *region = machine_region_at(run, address);
      if (region) {
         offset = address - region->base;
         place->offset = offset;
         place->region = region;
         if (aligned && offset <= region->bytes && region->bytes - offset >= bytes &&
             !(store && region->read_only)) {
            region->written |= store;
            if (region->met)
               machine_meet(run, region, offset, bytes, store);
            place->data = region->data + machine_lies_at(region, offset);
            place->defined = region->defined ? region->defined + offset : NULL;
            place->shadow = region->shadow ? region->shadow + (offset >> 2) : NULL;
            return true;
         }
      }
   } else if (window == WINDOW_SHARED && aligned && (space == PTX_SHARED || space == PTX_GENERIC) &&
              machine_shared_place(warp, &offset, bytes, &rank)) {
      if (rank != warp->rank && !machine_peer_touched(warp, lane, rank))
         return false;
      run->undefinings += store;
      place->offset = offset;
      place->data = block->shared + offset;
      place->defined = block->shared_defined + offset;
      place->shadow = block->shared_shadow ? block->shared_shadow + (offset >> 2) : NULL;
      return true;
   } else if (window == WINDOW_LOCAL && aligned && offset <= warp->program->frame_bytes &&
              warp->program->frame_bytes - offset >= bytes) {
      uint64_t at = (uint64_t)(warp->first_thread + lane) * warp->program->frame_bytes + offset;
      place->data = run->local + at;
      place->defined = run->local_defined + at;
      place->shadow = run->local_shadow ? run->local_shadow + (at >> 2) : NULL;
      return true;
   } else if (window == WINDOW_PARAM && aligned && !store && offset <= warp->program->parameter_bytes &&
              warp->program->parameter_bytes - offset >= bytes) {
      place->data = block->launch->parameters + offset;
      place->defined = block->launch->parameter_defined + offset;
      return true;
   }
   machine_fault(warp, lane, address, space, bytes, store);
   return false;
}

/* Whether threads may signal each other by a volatile access.  A volatile access is as strong as a relaxed access, and two volatile accesses do
 * not race; but they order nothing.  A floating-point number counts as data, and accesses to data need an order. */
static inline bool volatile_signal(const machine_instruction_t *i) {
   return (i->flags & FLAG_VOLATILE) && !ptx_type_is_float(i->type);
}

/* Returns one, two, four or eight bytes.  Each size is read into a register of its own: if the parts were put together in memory, reading the
 * whole would wait for them. */
static inline uint64_t read_element(const uint8_t *from, uint32_t bytes) {
   uint64_t value;
   uint32_t word;
   uint16_t half;
   switch (bytes) {
   case 1:
      return *from;
   case 2:
      memcpy(&half, from, sizeof half);
      return half;
   case 4:
      memcpy(&word, from, sizeof word);
      return word;
   default:
      memcpy(&value, from, sizeof value);
      return value;
   }
}

static inline void write_element(uint8_t *to, uint64_t value, uint32_t bytes) {
   const uint32_t word = (uint32_t)value;
   const uint16_t half = (uint16_t)value;
   switch (bytes) {
   case 1:
      *to = (uint8_t)value;
      break;
   case 2:
      memcpy(to, &half, sizeof half);
      break;
   case 4:
      memcpy(to, &word, sizeof word);
      break;
   default:
      memcpy(to, &value, sizeof value);
   }
}

#define EACH_BYTE UINT64_C(0x0101010101010101)

static inline uint64_t *taint_of_place(machine_warp_t *warp, const machine_place_t *place) {
   return place->region                    ? &place->region->taint
          : place->window == WINDOW_SHARED ? &warp->block->shared_taint
                                           : &warp->run->local_taint;
}

#endif
