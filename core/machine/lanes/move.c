/* mov, with packing and unpacking, addresses and clocks (PTX ISA 9.0, 9.7.9.3). */
#include "machine/state/environment.h"
#include "machine/lanes/handlers.h"

UNARY_OP(mov_b16, uint32_t, uint32_t, (uint16_t)x)
UNARY_OP(mov_b32, uint32_t, uint32_t, x)
UNARY_OP(mov_b64, uint64_t, uint64_t, x)

OP(none) {
   (void)warp;
   (void)i;
   (void)mask;
}

static inline uint64_t read_part(const machine_warp_t *warp, const machine_slot_t *slot, int lane) {
   const uint8_t *at = warp->registers + slot->offset;
   return slot->bytes == 8 ? ((const uint64_t *)at)[lane] : ((const uint32_t *)at)[lane];
}

static inline void write_part(machine_warp_t *warp, const machine_slot_t *slot, int lane, uint64_t value) {
   uint8_t *at = warp->registers + slot->offset;
   if (slot->bytes == 8)
      ((uint64_t *)at)[lane] = value;
   else
      ((uint32_t *)at)[lane] = (uint32_t)value;
}

/* mov.b64 d, {a, b}: the first part is the lowest.  extras: d, then the parts; element_bytes of each part. */
OP(pack) {
   const machine_slot_t *slot = warp->program->extras + i->extra;
   const uint32_t bits = 8u * i->element_bytes;
   const uint64_t part_mask = bits >= 64 ? ~0ull : (1ull << bits) - 1;
   uint32_t defined = FULL_MASK;
   uint64_t taint = 0;
   for (uint32_t e = 0; e < i->elements; e++) {
      defined &= warp->defined[slot[1 + e].number];
      taint |= warp->taint ? warp->taint[slot[1 + e].number] : 0;
   }
   for (int l = 0; l < LANES; l++) {
      if (!(mask >> l & 1))
         continue;
      uint64_t value = 0;
      for (uint32_t e = 0; e < i->elements; e++)
         value |= (read_part(warp, &slot[1 + e], l) & part_mask) << bits * e;
      write_part(warp, &slot[0], l, value);
   }
   set_defined(warp, slot[0].number, defined, mask);
   set_taint(warp, slot[0].number, taint, mask);
   if (!warp->valid)
      return;
   warp->valid[slot[0].number] &= ~mask;
   /* A bfloat16 in the upper half, with zeros below, is a float; its shadow is moved too. */
   if (i->elements == 2 && i->element_bytes == 2 && slot[0].bytes == 4)
      for (int l = 0; l < LANES; l++)
         if ((mask & warp->valid[slot[2].number]) >> l & 1 && (read_part(warp, &slot[1], l) & 0xffff) == 0) {
            SHADOW_OF(slot[0].offset)[l] = SHADOW_OF(slot[2].offset)[l];
            warp->valid[slot[0].number] |= 1u << l;
         }
}

/* mov.b64 {a, b}, d. */
OP(unpack) {
   const machine_slot_t *slot = warp->program->extras + i->extra;
   const uint32_t bits = 8u * i->element_bytes;
   const uint64_t part_mask = bits >= 64 ? ~0ull : (1ull << bits) - 1;
   uint64_t whole[LANES];
   for (int l = 0; l < LANES; l++)
      whole[l] = read_part(warp, &slot[0], l);
   const uint32_t defined = warp->defined[slot[0].number];
   const uint64_t taint = warp->taint ? warp->taint[slot[0].number] : 0;
   for (uint32_t e = 0; e < i->elements; e++) {
      for (int l = 0; l < LANES; l++)
         if (mask >> l & 1)
            write_part(warp, &slot[1 + e], l, whole[l] >> bits * e & part_mask);
      set_defined(warp, slot[1 + e].number, defined, mask);
      set_taint(warp, slot[1 + e].number, taint, mask);
      if (warp->valid)
         warp->valid[slot[1 + e].number] &= ~mask;
   }
}

/* %clock and %globaltimer: what a kernel does with them depends on the machine it runs on, so reading one is a finding. */
OP(clock) {
   machine_find(warp, RKB_MACHINE_SUSPECT, "environment.clock", (uint32_t)__builtin_ctz(mask),
                "the kernel reads a clock");
   const machine_slot_t *slot = warp->program->extras + i->extra;
   for (int l = 0; l < LANES; l++)
      if (mask >> l & 1)
         write_part(warp, slot, l, warp->run->work.executed);
   set_defined(warp, slot->number, FULL_MASK, mask);
   set_taint(warp, slot->number, 1ull << TAINT_CLOCK, mask);
}

OP(cvta_shared) {
   const uint64_t *a = LANES_OF(uint64_t, i->a);
   uint64_t *d = LANES_OF(uint64_t, i->d);
   const uint64_t window = warp->run->window_base[i->operation];
   EACH_LANE d[l] = KEEP(window + (a[l] & 0xffffffffu), d[l]);
}

OP(cvta_to_shared) {
   const uint64_t *a = LANES_OF(uint64_t, i->a);
   uint64_t *d = LANES_OF(uint64_t, i->d);
   const uint64_t window = warp->run->window_base[i->operation];
   /* An address of another window is not changed; using it as an address of this window is a finding. */
   EACH_LANE d[l] = KEEP(a[l] - window < 1ull << 32 ? a[l] - window : a[l] | 0x80000000u, d[l]);
}

/* isspacep: operation is the window; 0 stands for global, which is no window. */
OP(isspacep) {
   const uint64_t *a = LANES_OF(uint64_t, i->a);
   uint32_t truth = 0;
   for (int l = 0; l < LANES; l++)
      truth |= (uint32_t)(machine_generic(warp->run, a[l]) >> WINDOW_SHIFT == i->operation) << l;
   set_predicate(warp, i->d, truth, mask);
}
