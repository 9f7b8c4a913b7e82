/* A profiler with options, in C: counts a byte in a candidate's source. */
#include <stdlib.h>
#include <string.h>
#include <rkb/items.h>

typedef struct counted_config {
   const char *byte;
   double scale;
} counted_config_t;

typedef struct counted {
   const rkb_host_t *host;
   const counted_config_t *config;
} counted_t;

static const rkb_option_t options[] = {
   {.name = "byte", .type = RKB_OPT_STRING, .offset = offsetof(counted_config_t, byte), .fallback = ";",
    .help = "The byte to count."},
   {.name = "scale", .type = RKB_OPT_REAL, .offset = offsetof(counted_config_t, scale), .fallback = "1", .min = 0, .max = 100,
    .help = "What a byte counts for."},
};

static int counted_create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   const counted_config_t *given = config;
   counted_t *counted = NULL;
   if (strlen(given->byte) != 1)
      return rkb_fail_option(err, "byte", "one byte is wanted, not '%s'", given->byte);
   counted = malloc(sizeof *counted);
   if (!counted)
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   *counted = (counted_t){host, given};
   *self = counted;
   return RKB_OK;
}

static int counted_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const counted_t *counted = self;
   const char *source = counted->host->item_text(counted->host, in, "source");
   double count = 0;
   if (!source)
      return rkb_fail(err, RKB_ERR_CONTRACT, "the candidate has no source");
   for (; *source; source++)
      count += *source == counted->config->byte[0];
   const rkb_measurement_t measurement = {.name = "count", .unit = "1", .better = "lower", .method = "counted",
                                          .value = count * counted->config->scale, .spread = -1};
   return rkb_emit_measurement(counted->host, job, &measurement);
}

static void counted_destroy(void *self) {
   free(self);
}

static const rkb_stage_t counted = {
   .size = sizeof(rkb_stage_t), .kind = RKB_PROFILER, .flags = RKB_STAGE_DETERMINISTIC,
   .id = "outside.profiler.counted", .summary = "Counts a byte in a candidate's source.",
   .accepts = (const char *const[]){RKB_ITEM_CANDIDATE, NULL},
   .emits = (const char *const[]){RKB_ITEM_MEASUREMENT, NULL},
   .measures = (const char *const[]){"count", NULL},
   RKB_OPTIONS(options), .config_size = sizeof(counted_config_t),
   .create = counted_create, .run = counted_run, .destroy = counted_destroy,
};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {
   RKB_PLUGIN_HEAD, .name = "counted", .version = "1.2", .stages = (const rkb_stage_t *const[]){&counted, NULL},
};
