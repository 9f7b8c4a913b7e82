/* The memory of a plan, which its holders share, and the sizes of its buffers' elements.  Any thread. */
#include "kernel/plan.h"

typedef struct owned_plan {
   rkb_plan_t public;
   plan_choices_t choices;
   rkb_arena_t *arena;
   uint32_t more_holders; /* holders besides the first; atomic */
} owned_plan_t;

rkb_plan_t *plan_adopt(rkb_arena_t *arena, const rkb_plan_t *plan, plan_choices_t choices) {
   owned_plan_t *owned = rkb_arena_alloc(arena, sizeof *owned);
   owned->public = *plan;
   owned->choices = choices;
   owned->arena = arena;
   owned->more_holders = 0;
   return &owned->public;
}

const plan_choices_t *plan_choices(const rkb_plan_t *plan) {
   return &((const owned_plan_t *)plan)->choices;
}

size_t plan_bytes(const rkb_plan_t *plan) {
   return rkb_arena_used(((const owned_plan_t *)plan)->arena);
}

rkb_plan_t *rkb_plan_ref(rkb_plan_t *plan) {
   if (plan)
      __atomic_fetch_add(&((owned_plan_t *)plan)->more_holders, 1, __ATOMIC_RELAXED);
   return plan;
}

void rkb_plan_free(rkb_plan_t *plan) {
   if (plan && __atomic_fetch_sub(&((owned_plan_t *)plan)->more_holders, 1, __ATOMIC_ACQ_REL) == 0)
      rkb_arena_free(((owned_plan_t *)plan)->arena);
}

uint32_t planner_dtype_bytes(uint32_t dtype) {
   switch (dtype) {
   case RKB_F64:
   case RKB_I64:
      return 8;
   case RKB_F32:
   case RKB_I32:
      return 4;
   case RKB_F16:
   case RKB_BF16:
      return 2;
   case RKB_U8:
   case RKB_I8:
   case RKB_E4M3:
   case RKB_E5M2:
      return 1;
   default:
      return 0;
   }
}
