/* Any bytes as a plan: refused, or one that writes itself back byte for byte. */
#include <stdlib.h>
#include <string.h>

#include "kernel/kernel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
   rkb_plan_t *plan;
   rkb_error_t err;
   void *bytes;
   size_t length;
   if (rkb_plan_read(data, size, &plan, &err) != RKB_OK)
      return 0;
   if (rkb_plan_write(plan, &bytes, &length, &err) != RKB_OK || length != size ||
       memcmp(bytes, data, size) != 0)
      abort();
   free(bytes);
   rkb_plan_free(plan);
   return 0;
}
