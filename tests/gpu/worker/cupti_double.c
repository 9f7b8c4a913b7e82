/* A stand-in for CUPTI, loaded in its place (LD_PRELOAD, by its soname) to test the worker where there is no GPU.  Its numbers are made up:
 * metric number n of launch l is 10 n + l, but "gpu__time_duration.sum" is 1000 (l + 1).  RKB_DOUBLE_CUPTI says what it does: "counters";
 * "forbidden", no counters without permission; "nothing", no activity either.  One thread. */
#include <cupti.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { PASSES = 3, MOST = 128, LAUNCHES = 2 }; /* the test's plan has as many launches */

static struct {
   char names[MOST][96];
   unsigned count;
   bool spoiled; /* a name was refused: all others are, as CUPTI 13.0 does it */
} host;
static unsigned passes;
static CUpti_BuffersCallbackRequestFunc request;
static CUpti_BuffersCallbackCompleteFunc complete;

static bool mode(const char *name) {
   const char *set = getenv("RKB_DOUBLE_CUPTI");
   return set && strcmp(set, name) == 0;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char **text) {
   *text = result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES" : "an error of the double";
   return CUPTI_SUCCESS;
}
CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params *p) {
   p->pChipName = "DOUBLE";
   return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params *p) {
   (void)p;
   return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerGetCounterAvailability(CUpti_Profiler_GetCounterAvailability_Params *p) {
   p->counterAvailabilityImageSize = 16;
   return mode("counters") ? CUPTI_SUCCESS : CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
}
CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params *p) {
   p->pHostObject = (CUpti_Profiler_Host_Object *)&host;
   memset(&host, 0, sizeof host);
   return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params *p) {
   (void)p;
   return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params *p) {
   for (size_t i = 0; i < p->numMetrics; i++) {
      if (host.spoiled || host.count == MOST)
         return CUPTI_ERROR_UNKNOWN;
      if (strstr(p->ppMetricNames[i], "pipe_fp16")) {
         host.spoiled = true;
         return CUPTI_ERROR_INVALID_PARAMETER;
      }
      strncpy(host.names[host.count++], p->ppMetricNames[i], sizeof host.names[0] - 1);
   }
   return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params *p) {
   p->configImageSize = 16;
   return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params *p) {
   memset(p->pConfigImage, 0, p->configImageSize);
   return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params *p) {
   p->pRangeProfilerObject = (CUpti_RangeProfiler_Object *)&passes;
   passes = 0;
   return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params *p) {
   (void)p;
   return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params *p) {
   p->counterDataSize = 64;
   return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerCounterDataImageInitialize(CUpti_RangeProfiler_CounterDataImage_Initialize_Params *p) {
   memset(p->pCounterData, 0, p->counterDataSize);
   return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params *p) {
   return p->range == CUPTI_AutoRange && p->replayMode == CUPTI_UserReplay ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}
CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params *p) {
   (void)p;
   return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params *p) {
   p->isAllPassSubmitted = ++passes == PASSES;
   return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params *p) {
   p->numOfRangeDropped = 0;
   return CUPTI_SUCCESS;
}
static unsigned launches(void) {
   return getenv("RKB_DOUBLE_LAUNCHES") ? (unsigned)atoi(getenv("RKB_DOUBLE_LAUNCHES")) : LAUNCHES;
}
CUptiResult cuptiRangeProfilerGetCounterDataInfo(CUpti_RangeProfiler_GetCounterDataInfo_Params *p) {
   p->numTotalRanges = launches();
   return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params *p) {
   for (size_t i = 0; i < p->numMetrics; i++) {
      if (strcmp(p->ppMetricNames[i], host.names[i]) != 0)
         return CUPTI_ERROR_INVALID_METRIC_NAME;
      p->pMetricValues[i] = strcmp(host.names[i], "gpu__time_duration.sum") == 0 ? 1000.0 * (double)(p->rangeIndex + 1)
                                                                                 : 10.0 * (double)i + (double)p->rangeIndex;
   }
   return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc lend, CUpti_BuffersCallbackCompleteFunc take) {
   request = lend;
   complete = take;
   return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
   (void)kind;
   return mode("nothing") ? CUPTI_ERROR_NOT_INITIALIZED : CUPTI_SUCCESS;
}
CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
   (void)kind;
   return CUPTI_SUCCESS;
}
/* The records come in the order in which the kernels ended, which here is not the order in which they began. */
CUptiResult cuptiActivityFlushAll(uint32_t flag) {
   uint8_t *buffer;
   size_t bytes, most;
   (void)flag;
   request(&buffer, &bytes, &most);
   const unsigned count = launches();
   for (unsigned i = 0; i < count; i++) {
      const unsigned launch = count - 1 - i;
      CUpti_ActivityKernel10 kernel = {.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                       .start = 1000 * launch,
                                       .end = 1000 * launch + 500 + launch,
                                       .registersPerThread = (uint16_t)(32 + launch),
                                       .dynamicSharedMemory = 64};
      memcpy(buffer + i * sizeof kernel, &kernel, sizeof kernel);
   }
   complete(NULL, 0, buffer, bytes, count * sizeof(CUpti_ActivityKernel10));
   return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, CUpti_Activity **record) {
   uint8_t *next = *record ? (uint8_t *)*record + sizeof(CUpti_ActivityKernel10) : buffer;
   if (next + sizeof(CUpti_ActivityKernel10) > buffer + valid)
      return CUPTI_ERROR_MAX_LIMIT_REACHED;
   *record = (CUpti_Activity *)(void *)next;
   return CUPTI_SUCCESS;
}
