/* CUPTI, found at run time: NVIDIA's library that reads counters and records activity.  If the machine has no
 * CUPTI, or the worker was built without its headers, the observation says so.  One thread. */
#ifndef RKB_GPU_WORKER_CUPTI_LIBRARY_H
#define RKB_GPU_WORKER_CUPTI_LIBRARY_H

#include <cuda.h>
#include <cupti.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <stdbool.h>
#include <stddef.h>
#include "gpu/protocol.h"

#define RKB_CUPTI_FUNCTIONS(X)                                                                               \
   X(cuptiGetResultString)                                                                                   \
   X(cuptiActivityRegisterCallbacks)                                                                         \
   X(cuptiActivityEnable)                                                                                    \
   X(cuptiActivityDisable)                                                                                   \
   X(cuptiActivityFlushAll)                                                                                  \
   X(cuptiActivityGetNextRecord)                                                                             \
   X(cuptiDeviceGetChipName)                                                                                 \
   X(cuptiProfilerInitialize)                                                                                \
   X(cuptiProfilerGetCounterAvailability)                                                                    \
   X(cuptiProfilerHostInitialize)                                                                            \
   X(cuptiProfilerHostDeinitialize)                                                                          \
   X(cuptiProfilerHostConfigAddMetrics)                                                                      \
   X(cuptiProfilerHostGetConfigImageSize)                                                                    \
   X(cuptiProfilerHostGetConfigImage)                                                                        \
   X(cuptiProfilerHostEvaluateToGpuValues)                                                                   \
   X(cuptiRangeProfilerEnable)                                                                               \
   X(cuptiRangeProfilerDisable)                                                                              \
   X(cuptiRangeProfilerGetCounterDataSize)                                                                   \
   X(cuptiRangeProfilerCounterDataImageInitialize)                                                           \
   X(cuptiRangeProfilerSetConfig)                                                                            \
   X(cuptiRangeProfilerStart)                                                                                \
   X(cuptiRangeProfilerStop)                                                                                 \
   X(cuptiRangeProfilerDecodeData)                                                                           \
   X(cuptiRangeProfilerGetCounterDataInfo)

typedef struct rkb_cupti {
#define X(name) __typeof__(&name) name;
   RKB_CUPTI_FUNCTIONS(X)
#undef X
} rkb_cupti_t;

/* Loads CUPTI.  On false, observed says that it is missing, and why. */
bool rkb_cupti_open(rkb_cupti_t *cupti, rkb_worker_observed_t *observed);
/* Whether a call of CUPTI succeeded.  If not, observed says what failed, and whether a missing permission was
 * the cause. */
bool rkb_cupti_held(const rkb_cupti_t *cupti, CUptiResult result, const char *what, rkb_worker_observed_t *observed);

#endif
