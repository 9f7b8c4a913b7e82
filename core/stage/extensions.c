/* Which extensions a run offers, and their tables.  Constant data; the set does not change while instances exist.  Any thread. */
#include "stage/extensions.h"

#include <stdlib.h>
#include <string.h>
#include "lift/parser_call.h"

typedef struct offer {
   const char *id;
   const void *api;
   bool (*offered)(const rkb_runtime_t *runtime); /* NULL: always */
   const char *absent;                      /* why it is not offered, and what to do */
} offer_t;

static bool has_archive(const rkb_runtime_t *runtime) {
   return runtime->archive != NULL;
}

static bool has_task(const rkb_runtime_t *runtime) {
   return runtime->pipeline->task != NULL;
}

static bool has_target(const rkb_runtime_t *runtime) {
   return runtime->pipeline->device != NULL;
}

static bool has_gpu(const rkb_runtime_t *runtime) {
   return runtime->devices != NULL;
}

static bool has_models(const rkb_runtime_t *runtime) {
   return runtime->llm != NULL;
}

static bool has_library(const rkb_runtime_t *runtime) {
   return runtime->library != NULL;
}

static bool has_http(const rkb_runtime_t *runtime) {
   return runtime->http != NULL;
}

static bool has_parser(const rkb_runtime_t *runtime) {
   char *path = lift_parser_path();
   (void)runtime;
   free(path);
   return path != NULL;
}

static const offer_t OFFERS[] = {
   {RKB_EXT_RANDOM, &RKB_RANDOM_API, NULL, NULL},
   {RKB_EXT_PROMPT, &RKB_PROMPT_API, NULL, NULL},
   {RKB_EXT_WORKERS, &RKB_WORKERS_API, NULL, NULL},
   {RKB_EXT_CONFINED, &RKB_CONFINED_API, NULL, NULL},
   {RKB_EXT_CONVERSATION, &RKB_CONVERSATION_API, NULL, NULL},
   {RKB_EXT_ARCHIVE, &RKB_ARCHIVE_API, has_archive, "nothing is archived here; use this stage in rkb-run"},
   {RKB_EXT_TASK, &RKB_TASK_API, has_task, "the pipeline has no task; write task: or give --task"},
   {RKB_EXT_INTERMEDIATES, &RKB_INTERMEDIATES_API, has_task,
    "the pipeline has no task; write task: or give --task"},
   {RKB_EXT_SCHEDULE, &RKB_SCHEDULE_API, has_target, "the pipeline has no task; write task: or give --task"},
   {RKB_EXT_LIFT, &RKB_LIFT_API, has_parser,
    "rkb-parser was not built, for want of libclang; apt-get install libclang-dev and build rkb again, or leave this stage out"},
   {RKB_EXT_KERNEL, &RKB_KERNEL_API, has_target, "the pipeline has no task; write task: or give --task"},
   {RKB_EXT_SURVEY, &RKB_SURVEY_API, has_target, "the pipeline has no task; write task: or give --task"},
   {RKB_EXT_DEVICE, &RKB_DEVICE_API, has_gpu,
    "no usable GPU on this machine (rkb doctor says why); leave this stage out"},
   {RKB_EXT_LLM, &RKB_LLM_API, has_models, "the pipeline lists no language models; list them under models:"},
   {RKB_EXT_LIBRARY, &RKB_LIBRARY_API, has_library,
    "the run was given no library; give rkb-run --library DIR"},
   {RKB_DRAFT_ASYNCHRONOUS, &RKB_ASYNCHRONOUS_API, NULL, NULL},
   {RKB_DRAFT_PROCESS, &RKB_PROCESS_API, NULL, NULL},
   {RKB_DRAFT_HTTP, &RKB_HTTP_API, has_http, "this program was built without HTTP (RKB_HTTP=OFF)"},
};

static const offer_t *offer_of(const char *id) {
   for (size_t i = 0; i < sizeof OFFERS / sizeof OFFERS[0]; i++)
      if (strcmp(OFFERS[i].id, id) == 0)
         return &OFFERS[i];
   return NULL;
}

const void *rkb_extension_find(const rkb_runtime_t *runtime, const char *id) {
   const offer_t *offer = offer_of(id);
   return offer && (!offer->offered || offer->offered(runtime)) ? offer->api : NULL;
}

/* The message for a name that this program does not know. */
static const char *unknown(const char *id) {
   return strncmp(id, "rkb.draft.", 10) == 0
             ? "this program has no such draft; a draft's number rises when it changes, so compile the plugin with "
               "this program's headers"
             : "this program has no such extension; look at the name, or update the program";
}

int rkb_extensions_check(const rkb_runtime_t *runtime, const char *use, const char *const *needs,
                         rkb_error_t *err) {
   for (; needs && *needs; needs++) {
      const offer_t *offer = offer_of(*needs);
      if (!offer || !rkb_extension_find(runtime, *needs))
         return rkb_fail(err, RKB_ERR_UNAVAILABLE, "%.100s needs the extension %.100s: %s", use, *needs,
                         offer ? offer->absent : unknown(*needs));
   }
   return RKB_OK;
}
