/* Extension rkb.workers/1: executes parts of a job's work on free workers. */
#include "stage/confined/confined.h"
#include "stage/extensions.h"
#include "stage/instance.h"
#include "system/parallel_parts.h"

static void share(const rkb_host_t *host, uint32_t count, void (*part)(void *argument, uint32_t n),
                  void *argument) {
   const rkb_runtime_t *runtime = rkb_owner_of(host)->runtime;
   if (runtime->confined_job)
      rkb_confined_share(runtime->confined_job, count, part, argument);
   else
      rkb_workers_run_parts(runtime->workers, count, part, argument);
}

const rkb_workers_api_t RKB_WORKERS_API = {.size = sizeof RKB_WORKERS_API, .share = share};
