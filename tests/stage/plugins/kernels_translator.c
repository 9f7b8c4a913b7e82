/* A stage that looks at the build and the plans the core made: does not judge, only insists that they are there. */
#include <rkb/ext/kernel.h>
#include <rkb/ext/task.h>
#include <rkb/items.h>
#include <stdlib.h>
#include <string.h>

typedef struct stage {
   const rkb_host_t *host;
   const rkb_kernel_api_t *kernel;
   const rkb_task_api_t *task;
} stage_t;

static int create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   stage_t *stage = calloc(1, sizeof *stage);
   (void)config;
   if (!stage)
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   stage->host = host;
   stage->kernel = host->get_extension(host, RKB_EXT_KERNEL);
   stage->task = host->get_extension(host, RKB_EXT_TASK);
   if (!stage->kernel || !stage->task) {
      free(stage);
      return rkb_fail(err, RKB_ERR_UNAVAILABLE, "rkb.kernel/1 and rkb.task/1 are needed");
   }
   *self = stage;
   return RKB_OK;
}

static void destroy(void *self) {
   free(self);
}

/* Every check case must have a plan with launches; the hash of the PTX is left for the next stage. */
static int built_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const stage_t *stage = self;
   rkb_build_t *build = NULL;
   rkb_finding_t finding = {0};
   uint32_t launches = 0;
   int status = stage->kernel->build(stage->host, job, in, 0, &build, &finding, err);
   if (status != RKB_OK || !build)
      return status != RKB_OK ? status : rkb_fail(err, RKB_ERR_INTERNAL, "no build: %s", finding.message);
   const rkb_case_t *the_case;
   for (uint32_t i = 0;
        status == RKB_OK && (the_case = stage->task->case_at(stage->host, RKB_CASE_CHECK, i)) != NULL; i++) {
      rkb_plan_t *plan = NULL;
      status = stage->kernel->plan(stage->host, job, in, build, the_case, &plan, &finding, err);
      if (status == RKB_OK && !plan)
         status = rkb_fail(err, RKB_ERR_INTERNAL, "no plan for %s: %s", the_case->name, finding.message);
      if (plan)
         launches += plan->launch_count;
      stage->kernel->plan_free(plan);
   }
   if (status == RKB_OK && !launches)
      status = rkb_fail(err, RKB_ERR_INTERNAL, "nothing is launched");
   if (status == RKB_OK)
      status = stage->kernel->note_set(stage->host, job, "test.ptx_hash", build->ptx_hash,
                                       strlen(build->ptx_hash) + 1);
   stage->kernel->build_free(build);
   return status == RKB_OK ? rkb_emit_verdict(stage->host, job, RKB_ACCEPT, "", "built and planned") : status;
}

static int noted_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const stage_t *stage = self;
   size_t bytes = 0;
   (void)in;
   const char *hash = stage->kernel->note_get(stage->host, job, "test.ptx_hash", &bytes);
   if (!hash || bytes != 65) /* 64 digits and their end */
      return rkb_fail(err, RKB_ERR_INTERNAL, "the note of the stage before is not there");
   rkb_measurement_t measurement = {
      .name = "length", .unit = "bytes", .better = "lower", .method = "strlen", .spread = -1};
   measurement.value = (double)strlen(stage->host->item_text(stage->host, in, "source"));
   return rkb_emit_measurement(stage->host, job, &measurement);
}

static const char *const CANDIDATE[] = {"candidate", NULL}, *const VERDICT[] = {"verdict", NULL};
static const char *const MEASUREMENT[] = {"measurement", NULL}, *const MEASURES[] = {"length", NULL};
static const rkb_stage_t BUILT = {.size = sizeof(rkb_stage_t),
                                  .kind = RKB_VERIFIER,
                                  .flags =
                                     RKB_STAGE_DETERMINISTIC | RKB_STAGE_NEEDS_BUILD | RKB_STAGE_EXECUTES,
                                  .id = "test.verifier.built",
                                  .summary = "Insists on a build.",
                                  .accepts = CANDIDATE,
                                  .emits = VERDICT,
                                  .create = create,
                                  .run = built_run,
                                  .destroy = destroy};
static const rkb_stage_t NOTED = {.size = sizeof(rkb_stage_t),
                                  .kind = RKB_PROFILER,
                                  .flags = RKB_STAGE_DETERMINISTIC | RKB_STAGE_NEEDS_BUILD,
                                  .id = "test.profiler.noted",
                                  .summary = "Insists on a note.",
                                  .accepts = CANDIDATE,
                                  .emits = MEASUREMENT,
                                  .measures = MEASURES,
                                  .create = create,
                                  .run = noted_run,
                                  .destroy = destroy};
static const rkb_stage_t *const STAGES[] = {&BUILT, &NOTED, NULL};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {RKB_PLUGIN_HEAD, .name = "kernels", .version = "1",
                                                  .stages = STAGES};
