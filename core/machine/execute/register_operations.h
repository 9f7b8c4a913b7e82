/* How the dispatcher executes an operation that works lane by lane on registers: it carries definedness, taint and shadows.  On the machine's
 * thread. */
#ifndef RKB_MACHINE_EXECUTE_REGISTER_OPERATIONS_H
#define RKB_MACHINE_EXECUTE_REGISTER_OPERATIONS_H

#include "machine/state/execution.h"

/* The arrays in which a warp keeps what it knows of its registers.  They stay in place while the warp runs, which the compiler cannot know. */
typedef struct known {
   uint32_t *defined, *valid;
   uint64_t *taint;
   const machine_slot_t *extras;
} known_t;

static inline __attribute__((always_inline)) known_t known_of(const machine_warp_t *warp) {
   return (known_t){warp->defined, warp->valid, warp->taint, warp->program->extras};
}

/* taints, shadows: the run keeps them. */
static inline __attribute__((always_inline)) void run_value(machine_warp_t *warp, const known_t *known,
                                                            const machine_instruction_t *i, uint32_t mask,
                                                            bool taints, bool shadows) {
   const bool one_more = i->extra_count && !(i->flags & FLAG_SECOND);
   uint32_t defined = known->defined[i->ai] & known->defined[i->bi] & known->defined[i->ci];
   uint64_t taint = 0;
   if (taints)
      taint = known->taint[i->ai] | known->taint[i->bi] | known->taint[i->ci];
   if (one_more) {
      const uint16_t number = known->extras[i->extra].number;
      defined &= known->defined[number];
      if (taints)
         taint |= known->taint[number];
   }
   if (shadows && i->shadow)
      machine_shadow_fill_read(warp, i);
   i->run(warp, i, mask);
   if (mask == FULL_MASK) {
      known->defined[i->di] = defined;
      if (taints)
         known->taint[i->di] = taint;
   } else {
      known->defined[i->di] = (known->defined[i->di] & ~mask) | (defined & mask);
      if (taints)
         known->taint[i->di] |= taint;
   }
   if (shadows && i->shadow) {
      i->shadow(warp, i, mask);
      known->valid[i->di] |= mask;
   } else if (shadows) {
      known->valid[i->di] &= ~mask;
   }
}

/* The same for most instructions: those that are plain, in all lanes. */
static inline __attribute__((always_inline)) void run_plain_value(machine_warp_t *warp, const known_t *known,
                                                                  const machine_instruction_t *i, bool taints,
                                                                  bool shadows) {
   const uint32_t defined = known->defined[i->ai] & known->defined[i->bi] & known->defined[i->ci];
   uint64_t taint = 0;
   if (taints)
      taint = known->taint[i->ai] | known->taint[i->bi] | known->taint[i->ci];
   if (shadows && i->shadow)
      machine_shadow_fill_read(warp, i);
   i->run(warp, i, FULL_MASK);
   known->defined[i->di] = defined;
   if (taints)
      known->taint[i->di] = taint;
   if (shadows && i->shadow)
      i->shadow(warp, i, FULL_MASK);
   if (shadows)
      known->valid[i->di] = i->shadow ? FULL_MASK : 0;
}

#endif
