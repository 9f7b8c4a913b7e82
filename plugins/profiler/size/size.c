/* rkb.profiler.size - the smallest useful plugin: how many bytes a candidate's source text has. */
#include <string.h>
#include <rkb/items.h>

static int size_create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   (void)config, (void)err;
   *self = (void *)host; /* all that an instance needs to remember */
   return RKB_OK;
}

static int size_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const rkb_host_t *host = self;
   const char *source = host->item_text(host, in, "source");
   if (!source)
      return rkb_fail(err, RKB_ERR_CONTRACT, "the candidate has no source");
   const rkb_measurement_t size = {.name = "bytes", .unit = "bytes", .better = "", .method = "counted",
                                   .value = (double)strlen(source), .spread = -1};
   return rkb_emit_measurement(host, job, &size);
}

static void size_destroy(void *self) {
   (void)self;
}

static const rkb_stage_t size = {
   .size = sizeof(rkb_stage_t), .kind = RKB_PROFILER, .flags = RKB_STAGE_DETERMINISTIC,
   .id = "rkb.profiler.size", .summary = "Counts the bytes of a candidate's source text.",
   .accepts = (const char *const[]){RKB_ITEM_CANDIDATE, NULL},
   .emits = (const char *const[]){RKB_ITEM_MEASUREMENT, NULL},
   .measures = (const char *const[]){"bytes", NULL},
   .create = size_create, .run = size_run, .destroy = size_destroy,
};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {
   RKB_PLUGIN_HEAD, .name = "size", .version = "0.1.0", .stages = (const rkb_stage_t *const[]){&size, NULL},
};
