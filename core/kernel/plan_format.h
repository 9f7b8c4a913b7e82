/* Numbers of the plan format (docs/plan-format.md) that its writer and its reader share. */
#ifndef RKB_KERNEL_PLAN_FORMAT_H
#define RKB_KERNEL_PLAN_FORMAT_H

#define PLAN_MAGIC 0x6e6c70626b72ull /* "rkbpln" */
enum {
   PLAN_VERSION = 1,
   PLAN_VERSION_MAPS = 2,   /* a plan with tensor maps */
   PLAN_VERSION_PIXELS = 3, /* a plan with a map that takes pixels */
   PLAN_COOPERATIVE = 1,    /* bits of a launch's word */
   PLAN_DEPENDENT = 2,
   PLAN_MAX_BYTES = 16 << 20
};

#endif
