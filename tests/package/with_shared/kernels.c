/* A profiler outside the tree that reads CUDA text by tokens, as shipped plugins do: counts a candidate's kernels. */
#include <rkb/items.h>
#include <stdlib.h>
#include <string.h>
#include "source/source_functions.h"

typedef struct kernels {
   const rkb_host_t *host;
   const rkb_kernel_api_t *kernel;
} kernels_t;

static int kernels_create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   (void)config;
   kernels_t *me = malloc(sizeof *me);
   if (!me)
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   *me = (kernels_t){host, host->get_extension(host, RKB_EXT_KERNEL)};
   *self = me;
   return RKB_OK;
}

static int kernels_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const kernels_t *me = self;
   const char *text = me->host->item_text(me->host, in, "source");
   functions_t functions = {0};
   source_t source;
   double count = 0;
   if (!text)
      return rkb_fail(err, RKB_ERR_CONTRACT, "the candidate has no source");
   int status = source_open(&source, me->kernel, text, strlen(text), err);
   if (status != RKB_OK)
      return status;
   status = functions_find(&source, &functions, err);
   for (uint32_t i = 0; status == RKB_OK && i < functions.count; i++)
      count += functions.list[i].is_kernel;
   functions_free(&functions);
   source_close(&source);
   if (status != RKB_OK)
      return status;
   const rkb_measurement_t kernels = {
      .name = "count", .unit = "1", .better = "", .method = "counted", .value = count, .spread = -1};
   return rkb_emit_measurement(me->host, job, &kernels);
}

static void kernels_destroy(void *self) {
   free(self);
}

static const rkb_stage_t kernels = {
   .size = sizeof(rkb_stage_t),
   .kind = RKB_PROFILER,
   .flags = RKB_STAGE_DETERMINISTIC,
   .id = "outside.profiler.kernels",
   .summary = "Counts the kernels of a candidate's text.",
   .accepts = (const char *const[]){RKB_ITEM_CANDIDATE, NULL},
   .emits = (const char *const[]){RKB_ITEM_MEASUREMENT, NULL},
   .measures = (const char *const[]){"count", NULL},
   .create = kernels_create,
   .run = kernels_run,
   .destroy = kernels_destroy,
   .needs = (const char *const[]){RKB_EXT_KERNEL, NULL},
};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {
   RKB_PLUGIN_HEAD,
   .name = "kernels",
   .version = "1.0",
   .stages = (const rkb_stage_t *const[]){&kernels, NULL},
};
