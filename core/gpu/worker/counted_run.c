/* Counts hardware events of each launch.  Each launch is a range of its own (CUPTI_AutoRange), and this file
 * repeats the whole run until every counter was read (CUPTI_UserReplay).  CUPTI's own replay would save and
 * restore all memory that a kernel may write.  Source: CUPTI 13 documentation, "CUPTI Range Profiling API".
 * Owns the profiler's objects during one call; one thread. */
#include "gpu/worker/counted_run.h"
#include <math.h>
#include <stdlib.h>
#include "base/memory.h"

enum { MOST_PASSES = 256 };

typedef struct counting {
   const rkb_cupti_t *cupti;
   const rkb_observing_t *observing;
   rkb_worker_observed_t *observed;
   CUpti_Profiler_Host_Object *host;
   CUpti_RangeProfiler_Object *profiler;
   uint8_t *availability, *config, *data; /* owned */
   size_t config_bytes, data_bytes;
   const char *names[RKB_WORKER_MAX_METRICS]; /* names of the metrics that the device has */
   uint32_t places[RKB_WORKER_MAX_METRICS];   /* their places in the request */
   uint32_t count;
} counting_t;

static bool held(const counting_t *c, CUptiResult result, const char *what) {
   return rkb_cupti_held(c->cupti, result, what, c->observed);
}

static bool add_metrics(const counting_t *c, const char **names, uint32_t count) {
   CUpti_Profiler_Host_ConfigAddMetrics_Params add = {.structSize = CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE};
   add.pHostObject = c->host;
   add.ppMetricNames = names;
   add.numMetrics = count;
   return c->cupti->cuptiProfilerHostConfigAddMetrics(&add) == CUPTI_SUCCESS;
}

/* Finds the metrics that this chip has and whose counters this process may read. */
static bool choose_metrics(counting_t *c) {
   const rkb_cupti_t *cupti = c->cupti;
   CUpti_Profiler_Initialize_Params start = {.structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE};
   CUpti_Device_GetChipName_Params chip = {.structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE};
   CUpti_Profiler_GetCounterAvailability_Params may = {.structSize = CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE};
   CUpti_Profiler_Host_Initialize_Params host = {.structSize = CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE};
   may.ctx = c->observing->driver->context;
   chip.deviceIndex = (size_t)c->observing->driver->device;
   if (!held(c, cupti->cuptiProfilerInitialize(&start), "starting the profiler") ||
       !held(c, cupti->cuptiDeviceGetChipName(&chip), "the chip's name") ||
       !held(c, cupti->cuptiProfilerGetCounterAvailability(&may), "which counters may be read"))
      return false;
   c->availability = rkb_allocate(may.counterAvailabilityImageSize, 1);
   may.pCounterAvailabilityImage = c->availability;
   host.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
   host.pChipName = chip.pChipName;
   host.pCounterAvailabilityImage = c->availability;
   if (!held(c, cupti->cuptiProfilerGetCounterAvailability(&may), "which counters may be read") ||
       !held(c, cupti->cuptiProfilerHostInitialize(&host), "the metrics of this chip"))
      return false;
   c->host = host.pHostObject;
   for (uint32_t i = 0; i < c->observing->request->metrics; i++) {
      c->names[c->count] = c->observing->names[i];
      if (add_metrics(c, &c->names[c->count], 1)) {
         c->places[c->count++] = i;
         continue;
      }
      /* After a metric that the chip does not have, the object refuses every other one (CUPTI 13.0).  So a new object is made with
       * the metrics that exist. */
      CUpti_Profiler_Host_Deinitialize_Params end = {.structSize = CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE};
      end.pHostObject = c->host;
      cupti->cuptiProfilerHostDeinitialize(&end);
      c->host = host.pHostObject = NULL;
      if (!held(c, cupti->cuptiProfilerHostInitialize(&host), "the metrics of this chip"))
         return false;
      c->host = host.pHostObject;
      if (c->count && !add_metrics(c, c->names, c->count))
         return held(c, CUPTI_ERROR_UNKNOWN, "adding metrics again");
   }
   if (c->count == 0) {
      c->observed->seen = RKB_SEEN_MISSING;
      snprintf(c->observed->message, sizeof c->observed->message, "%.40s has none of the %u metrics", chip.pChipName,
               c->observing->request->metrics);
   }
   return c->count > 0;
}

static bool configure(counting_t *c) {
   const rkb_cupti_t *cupti = c->cupti;
   const uint32_t launches = c->observed->launches;
   CUpti_Profiler_Host_GetConfigImageSize_Params size = {.structSize = CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE};
   CUpti_Profiler_Host_GetConfigImage_Params image = {.structSize = CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE};
   CUpti_RangeProfiler_Enable_Params enable = {.structSize = CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE};
   CUpti_RangeProfiler_GetCounterDataSize_Params room = {.structSize = CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE};
   CUpti_RangeProfiler_CounterDataImage_Initialize_Params clear = {
      .structSize = CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE};
   CUpti_RangeProfiler_SetConfig_Params set = {.structSize = CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE};
   size.pHostObject = image.pHostObject = c->host;
   if (!held(c, cupti->cuptiProfilerHostGetConfigImageSize(&size), "the size of the counters' configuration"))
      return false;
   c->config_bytes = image.configImageSize = size.configImageSize;
   c->config = image.pConfigImage = rkb_allocate(c->config_bytes, 1);
   enable.ctx = c->observing->driver->context;
   if (!held(c, cupti->cuptiProfilerHostGetConfigImage(&image), "the counters' configuration") ||
       !held(c, cupti->cuptiRangeProfilerEnable(&enable), "taking the counters"))
      return false;
   c->profiler = room.pRangeProfilerObject = clear.pRangeProfilerObject = set.pRangeProfilerObject =
      enable.pRangeProfilerObject;
   room.pMetricNames = c->names;
   room.numMetrics = c->count;
   room.maxNumOfRanges = room.maxNumRangeTreeNodes = launches;
   if (!held(c, cupti->cuptiRangeProfilerGetCounterDataSize(&room), "the size of the counters' data"))
      return false;
   c->data_bytes = clear.counterDataSize = set.counterDataImageSize = room.counterDataSize;
   c->data = clear.pCounterData = set.pCounterDataImage = rkb_allocate(c->data_bytes, 1);
   set.configSize = c->config_bytes;
   set.pConfig = c->config;
   set.range = CUPTI_AutoRange;
   set.replayMode = CUPTI_UserReplay;
   set.maxRangesPerPass = launches;
   set.numNestingLevels = set.minNestingLevel = 1;
   return held(c, cupti->cuptiRangeProfilerCounterDataImageInitialize(&clear), "clearing the counters' data") &&
          held(c, cupti->cuptiRangeProfilerSetConfig(&set), "configuring the counters");
}

/* Repeats the run until every counter was read.  Returns an error of the driver, because it means that the
 * context is lost. */
static CUresult run_passes(counting_t *c) {
   CUresult status = CUDA_SUCCESS;
   for (bool all = false; !all && status == CUDA_SUCCESS;) {
      CUpti_RangeProfiler_Start_Params start = {.structSize = CUpti_RangeProfiler_Start_Params_STRUCT_SIZE};
      CUpti_RangeProfiler_Stop_Params stop = {.structSize = CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE};
      start.pRangeProfilerObject = stop.pRangeProfilerObject = c->profiler;
      status = rkb_observed_prepare(c->observing);
      if (status != CUDA_SUCCESS ||
          !held(c, c->cupti->cuptiRangeProfilerStart(&start), "starting to count"))
         return status;
      status = rkb_observed_run(c->observing);
      if (!held(c, c->cupti->cuptiRangeProfilerStop(&stop), "ending to count"))
         return status;
      all = stop.isAllPassSubmitted;
      if (++c->observed->passes == MOST_PASSES && !all) {
         c->observed->seen = RKB_SEEN_FAILED;
         snprintf(c->observed->message, sizeof c->observed->message, "the counters need more than %d runs", MOST_PASSES);
         return status;
      }
   }
   return status;
}

/* Computes the values of each launch, in the order of the request's names; NaN for a metric that the device
 * does not have. */
static void evaluate(counting_t *c) {
   const uint32_t metrics = c->observed->metrics, launches = c->observed->launches;
   CUpti_RangeProfiler_DecodeData_Params decode = {.structSize = CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE};
   CUpti_RangeProfiler_GetCounterDataInfo_Params info = {.structSize = CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE};
   double values[RKB_WORKER_MAX_METRICS];
   decode.pRangeProfilerObject = c->profiler;
   info.pCounterDataImage = c->data;
   info.counterDataImageSize = c->data_bytes;
   if (!held(c, c->cupti->cuptiRangeProfilerDecodeData(&decode), "decoding the counters") ||
       !held(c, c->cupti->cuptiRangeProfilerGetCounterDataInfo(&info), "how many launches were counted"))
      return;
   if (info.numTotalRanges != launches || decode.numOfRangeDropped) {
      c->observed->seen = RKB_SEEN_FAILED;
      snprintf(c->observed->message, sizeof c->observed->message, "the profiler counted %zu launches in place of %u",
               info.numTotalRanges, launches);
      return;
   }
   for (uint32_t launch = 0; launch < launches; launch++) {
      CUpti_Profiler_Host_EvaluateToGpuValues_Params ask = {.structSize = CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE};
      ask.pHostObject = c->host;
      ask.pCounterDataImage = c->data;
      ask.counterDataImageSize = c->data_bytes;
      ask.rangeIndex = launch;
      ask.ppMetricNames = c->names;
      ask.numMetrics = c->count;
      ask.pMetricValues = values;
      if (!held(c, c->cupti->cuptiProfilerHostEvaluateToGpuValues(&ask), "evaluating the metrics"))
         return;
      double *out = c->observing->values + (size_t)launch * metrics;
      for (uint32_t i = 0; i < metrics; i++)
         out[i] = NAN;
      for (uint32_t i = 0; i < c->count; i++)
         out[c->places[i]] = values[i];
   }
}

CUresult rkb_counted_run(const rkb_cupti_t *cupti, const rkb_observing_t *observing, rkb_worker_observed_t *observed) {
   counting_t c = {.cupti = cupti, .observing = observing, .observed = observed};
   CUresult status = CUDA_SUCCESS;
   if (choose_metrics(&c) && configure(&c)) {
      status = run_passes(&c);
      if (status == CUDA_SUCCESS && observed->seen == RKB_SEEN)
         evaluate(&c);
   }
   if (c.profiler) {
      CUpti_RangeProfiler_Disable_Params disable = {.structSize = CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE};
      disable.pRangeProfilerObject = c.profiler;
      cupti->cuptiRangeProfilerDisable(&disable);
   }
   if (c.host) {
      CUpti_Profiler_Host_Deinitialize_Params end = {.structSize = CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE};
      end.pHostObject = c.host;
      cupti->cuptiProfilerHostDeinitialize(&end);
   }
   free(c.availability);
   free(c.config);
   free(c.data);
   return status;
}
