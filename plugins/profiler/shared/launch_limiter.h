/* What a launch can be limited by, for every profiler: the resource with the largest share of its time.  Pure; any thread. */
#ifndef PROFILER_LAUNCH_LIMITER_H
#define PROFILER_LAUNCH_LIMITER_H

/* What a launch can be limited by; the order is that of limiter_name. */
enum limiter {
   LIMIT_MEMORY,     /* device memory */
   LIMIT_L2,         /* sectors through the second-level cache */
   LIMIT_SHARED,     /* shared-memory wavefronts */
   LIMIT_LOAD_STORE, /* lanes of loads and stores */
   LIMIT_ISSUE,      /* warp instructions started */
   LIMIT_F32,
   LIMIT_F64,
   LIMIT_F16,
   LIMIT_INTEGER,
   LIMIT_SPECIAL, /* approximate functions */
   LIMIT_CONVERT,
   LIMIT_ATOMIC,  /* atomics on one address, one after the other */
   LIMIT_LATENCY, /* too few warps to hide the time a load or a dependent instruction takes */
   LIMIT_TENSOR,  /* products of matrices */
   LIMIT_SPILLED, /* loads and stores of registers that did not fit */
   LIMIT_COUNT
};

const char *limiter_name(enum limiter limiter);

#endif
