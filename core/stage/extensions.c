/* Which extensions a run offers, and where.  Constant data; what is offered does not change while stages live.  Any thread. */
#include "stage/extensions.h"

#include <string.h>

typedef struct offer {
   const char *id;
   const void *api;
   bool (*offered)(const rkb_core_t *core); /* NULL: always */
} offer_t;

static bool has_archive(const rkb_core_t *core) {
   return core->archive != NULL;
}

static bool has_task(const rkb_core_t *core) {
   return core->pipeline->task != NULL;
}

static bool has_target(const rkb_core_t *core) {
   return core->pipeline->device != NULL;
}

static bool has_gpu(const rkb_core_t *core) {
   return core->devices != NULL;
}

static bool has_models(const rkb_core_t *core) {
   return core->llm != NULL;
}

static bool has_http(const rkb_core_t *core) {
   return core->http != NULL;
}

static const offer_t OFFERS[] = {
   {RKB_EXT_RANDOM, &RKB_RANDOM_API, NULL},
   {RKB_EXT_PROMPT, &RKB_PROMPT_API, NULL},
   {RKB_EXT_WORKERS, &RKB_WORKERS_API, NULL},
   {RKB_EXT_ARCHIVE, &RKB_ARCHIVE_API, has_archive},
   {RKB_EXT_TASK, &RKB_TASK_API, has_task},
   {RKB_EXT_KERNEL, &RKB_KERNEL_API, has_target},
   {RKB_EXT_DEVICE, &RKB_DEVICE_API, has_gpu},
   {RKB_EXT_LLM, &RKB_LLM_API, has_models},
   {RKB_DRAFT_ASYNCHRONOUS, &RKB_ASYNCHRONOUS_API, NULL},
   {RKB_DRAFT_PROCESS, &RKB_PROCESS_API, NULL},
   {RKB_DRAFT_HTTP, &RKB_HTTP_API, has_http},
};

static const offer_t *offer_of(const char *id) {
   for (size_t i = 0; i < sizeof OFFERS / sizeof OFFERS[0]; i++)
      if (strcmp(OFFERS[i].id, id) == 0)
         return &OFFERS[i];
   return NULL;
}

const void *rkb_extension_find(const rkb_core_t *core, const char *id) {
   const offer_t *offer = offer_of(id);
   return offer && (!offer->offered || offer->offered(core)) ? offer->api : NULL;
}
