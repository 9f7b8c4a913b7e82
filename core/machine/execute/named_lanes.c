/* Lets lanes wait for lanes that they name.  A shuffle, vote, match, reduction or bar.warp.sync has a mask of lanes, and makes the thread wait until all
 * of these that have not exited have executed the same instruction with the same mask (PTX ISA 9.0, 9.7.9.6, 9.7.13).  A matrix instruction names all
 * lanes of the warp (9.7.15).  The order in which diverged lanes run lets most of them meet without a wait (state/warp_fragments.c).  They would not if a
 * lane polls memory or computes for so long that other lanes get a turn.
 *
 * Lanes that wait here go on when the named ones have come.  They also go on when these have exited and when no other lane of the warp can run.  Then the
 * instruction makes its finding: the CUDA C++ Programming Guide says that all non-exited lanes of the mask have to execute it, and a lane that exits while
 * others wait for it was one of these.  On the machine's thread. */
#include "machine/execute/named_lanes.h"

/* The register with the mask.  False: the instruction names no lanes. */
static bool mask_register(const machine_warp_t *warp, const machine_instruction_t *i, machine_slot_t *mask) {
   const bool has_value = i->class == RKB_CLASS_SHUFFLE && i->element_bytes;
   if (has_value) /* the last of its registers */
      *mask = warp->program->extras[i->extra + i->extra_count - 1];
   else /* bar.warp.sync */
      *mask = (machine_slot_t){.offset = i->a, .number = i->ai};
   return has_value || (i->class == RKB_CLASS_SHUFFLE && i->ai);
}

/* The lanes that execute the instruction; those whose guard has no value are left out. */
static uint32_t executing(const machine_warp_t *warp, const machine_instruction_t *i, uint32_t lanes) {
   const uint32_t holds =
      i->guard ? *(const uint32_t *)(warp->registers + warp->program->registers[i->guard].offset) : FULL_MASK;
   return lanes & (i->guard ? warp->defined[i->guard] : FULL_MASK) & (i->guard_negated ? ~holds : holds);
}

bool machine_waits_for_named(machine_warp_t *warp, machine_fragment_t *f, const machine_instruction_t *i) {
   machine_slot_t mask;
   uint32_t lanes, named = 0;
   if (i->class == RKB_CLASS_TENSOR)
      named = executing(warp, i, f->mask) ? FULL_MASK : 0;
   else if (mask_register(warp, i, &mask))
      for (lanes = executing(warp, i, f->mask) & warp->defined[mask.number]; lanes; lanes &= lanes - 1)
         named |= LANES_OF(uint32_t, mask.offset)[__builtin_ctz(lanes)];
   f->named = named & warp->alive & ~f->mask;
   f->lost = f->named ? warp->lost : 0;
   return f->named != 0;
}
