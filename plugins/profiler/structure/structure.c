/* rkb.profiler.structure - the structure of a kernel's schedule, without its sizes, as numbers that a
 * strategy can compare.
 *
 * Reads the `schedule:` block of the text.  Owns nothing; runs on workers. */
#include <rkb/ext/schedule.h>
#include <rkb/items.h>

static int structure_create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   const rkb_schedule_api_t *schedule = host->get_extension(host, RKB_EXT_SCHEDULE);
   (void)config;
   if (!RKB_HAS(schedule, structure))
      return rkb_fail(err, RKB_ERR_CONTRACT,
                      "this program's schedules do not tell their structure; update rkb");
   *self = (void *)host; /* all that an instance needs to remember */
   return RKB_OK;
}

static int emit(const rkb_host_t *host, rkb_job_t job, const char *name, uint64_t value) {
   const rkb_measurement_t measurement = {.name = name,
                                          .unit = "1",
                                          .better = "",
                                          .method = "read from the schedule",
                                          .value = (double)value,
                                          .spread = -1};
   return rkb_emit_measurement(host, job, &measurement);
}

static int structure_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const rkb_host_t *host = self;
   const rkb_schedule_api_t *schedule = host->get_extension(host, RKB_EXT_SCHEDULE);
   const char *source = host->item_text(host, in, "source");
   rkb_schedule_structure_t structure;
   if (!source)
      return rkb_fail(err, RKB_ERR_CONTRACT, "the candidate has no source");
   schedule->structure(source, &structure);
   int status = emit(host, job, "plan", structure.plan);
   if (status == RKB_OK)
      status = emit(host, job, "mapping", structure.mapping);
   return status == RKB_OK ? emit(host, job, "staging", structure.staging) : status;
}

static void structure_destroy(void *self) {
   (void)self;
}

static const rkb_stage_t structure = {
   .size = sizeof(rkb_stage_t),
   .kind = RKB_PROFILER,
   .flags = RKB_STAGE_DETERMINISTIC,
   .id = "rkb.profiler.structure",
   .summary =
      "Numbers the structure of a kernel's schedule: what shares a launch, how it maps, how operands come.",
   .accepts = (const char *const[]){RKB_ITEM_CANDIDATE, NULL},
   .emits = (const char *const[]){RKB_ITEM_MEASUREMENT, NULL},
   .measures = (const char *const[]){"plan", "mapping", "staging", NULL},
   .create = structure_create,
   .run = structure_run,
   .destroy = structure_destroy,
   .needs = (const char *const[]){RKB_EXT_SCHEDULE, NULL},
};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {
   RKB_PLUGIN_HEAD,
   .name = "structure",
   .version = "0.1.0",
   .stages = (const rkb_stage_t *const[]){&structure, NULL},
};
