/* Collects kernel records of CUPTI's activity interface.  CUPTI passes records to callbacks that have no user
 * argument, so the list that they fill is this file's only variable.  It is in use only within
 * rkb_recorded_run. */
#include "gpu/worker/recorded_run.h"
#include <stdlib.h>
#include "base/memory.h"

enum { BUFFER_BYTES = 4 << 20, BUFFER_ALIGNMENT = 64 };

typedef struct record {
   uint64_t start;
   double values[RKB_ACTIVITY_VALUES];
} record_t;

typedef struct record_list {
   const rkb_cupti_t *cupti;
   record_t *records;
   uint32_t count, room;
} record_list_t;

static record_list_t *list;

static void CUPTIAPI lend_buffer(uint8_t **buffer, size_t *bytes, size_t *most_records) {
   *buffer = aligned_alloc(BUFFER_ALIGNMENT, BUFFER_BYTES);
   *bytes = *buffer ? BUFFER_BYTES : 0;
   *most_records = 0;
}

static void note_kernel(const CUpti_ActivityKernel10 *kernel) {
   if (!list || list->count++ >= list->room)
      return;
   record_t *record = &list->records[list->count - 1];
   record->start = kernel->start;
   record->values[RKB_ACTIVITY_NS] = (double)(kernel->end - kernel->start);
   record->values[RKB_ACTIVITY_REGISTERS] = kernel->registersPerThread;
   record->values[RKB_ACTIVITY_STATIC_SHARED] = kernel->staticSharedMemory;
   record->values[RKB_ACTIVITY_DYNAMIC_SHARED] = kernel->dynamicSharedMemory;
   record->values[RKB_ACTIVITY_LOCAL] = kernel->localMemoryPerThread;
}

static void CUPTIAPI take_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid) {
   CUpti_Activity *activity = NULL;
   (void)context, (void)stream, (void)bytes;
   while (list && list->cupti->cuptiActivityGetNextRecord(buffer, valid, &activity) == CUPTI_SUCCESS)
      if (activity->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
         note_kernel((const CUpti_ActivityKernel10 *)(const void *)activity);
   free(buffer);
}

static int by_start(const void *a, const void *b) {
   const uint64_t first = ((const record_t *)a)->start, second = ((const record_t *)b)->start;
   return first < second ? -1 : first > second;
}

static void hand_over(const rkb_observing_t *o, rkb_worker_observed_t *observed) {
   if (list->count != observed->launches) {
      observed->seen = RKB_SEEN_FAILED;
      snprintf(observed->message, sizeof observed->message, "the driver recorded %u launches in place of %u", list->count,
               observed->launches);
      return;
   }
   qsort(list->records, list->count, sizeof *list->records, by_start);
   for (uint32_t launch = 0; launch < list->count; launch++)
      for (uint32_t i = 0; i < RKB_ACTIVITY_VALUES; i++)
         o->values[(size_t)launch * RKB_ACTIVITY_VALUES + i] = list->records[launch].values[i];
}

CUresult rkb_recorded_run(const rkb_cupti_t *cupti, const rkb_observing_t *o, rkb_worker_observed_t *observed) {
   record_list_t taken = {.cupti = cupti, .room = observed->launches};
   /* Done before the recording, because flushes and copies are not launches of the plan. */
   CUresult status = rkb_observed_prepare(o);
   if (status != CUDA_SUCCESS)
      return status;
   taken.records = rkb_allocate(taken.room + 1, sizeof *taken.records);
   list = &taken;
   if (rkb_cupti_held(cupti, cupti->cuptiActivityRegisterCallbacks(lend_buffer, take_buffer), "recording activity", observed) &&
       rkb_cupti_held(cupti, cupti->cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), "recording kernels",
                      observed)) {
      status = rkb_observed_run(o);
      if (status == CUDA_SUCCESS &&
          rkb_cupti_held(cupti, cupti->cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "reading the records", observed))
         hand_over(o, observed);
      cupti->cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
   }
   observed->passes = 1;
   list = NULL;
   free(taken.records);
   return status;
}
