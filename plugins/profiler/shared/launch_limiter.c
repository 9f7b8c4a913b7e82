/* The resources' names.  Owns nothing. */
#include "launch_limiter.h"

const char *limiter_name(enum limiter limiter) {
   static const char *const names[LIMIT_COUNT] = {
      "global memory",     "L2 cache",
      "shared memory",     "load/store units",
      "instruction issue", "fp32 units",
      "fp64 units",        "half units",
      "integer units",     "special function units",
      "conversion units",  "atomics on one address",
      "latency",           "tensor cores",
      "spilled registers",
   };
   return names[limiter];
}
