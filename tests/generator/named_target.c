/* The target of a device profile (named_target.h).  Apart from write_schedule.c: kernel.h and evaluate.h both name a type rkb_source_t. */
#include "named_target.h"

#include "kernel/kernel.h"

bool named_target(const char *name, const char *precision, rkb_target_t *target) {
   rkb_problems_t problems;
   rkb_problems_init(&problems);
   rkb_device_t *device = rkb_device_load(name, &problems);
   rkb_problems_free(&problems);
   if (!device)
      return false;
   *target = rkb_target_of(device, precision);
   rkb_device_free(device);
   return true;
}
