/* Extension rkb.confined/1: what a stage may ask of the pipeline when each of its jobs runs in a process of its own. */
#include "stage/extensions.h"
#include "stage/instance.h"

static uint64_t processor_ns(const rkb_host_t *host) {
   return rkb_owner_of(host)->runtime->pipeline->limit_execute_ns;
}

const rkb_confined_api_t RKB_CONFINED_API = {.size = sizeof RKB_CONFINED_API, .processor_ns = processor_ns};
