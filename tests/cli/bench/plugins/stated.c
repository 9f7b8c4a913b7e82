/* A profiler that reads a kernel's time from its text: "quick 7 full 8.5" are microseconds by mode.  And a
 * verifier that rejects kernels that call themselves wrong and suspects those that call themselves doubtful.
 * They test what `rkb bench` does with times; nothing is executed or measured. */
#include <rkb/items.h>
#include <stdlib.h>
#include <string.h>

typedef struct config {
   const char *mode;
} config_t;

typedef struct stage {
   const rkb_host_t *host;
   const config_t *config;
} stage_t;

static int create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   stage_t *stage = malloc(sizeof *stage);
   if (!stage)
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   *stage = (stage_t){host, config};
   *self = stage;
   return RKB_OK;
}

static int judge(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const stage_t *stage = self;
   (void)err;
   const char *source = stage->host->item_text(stage->host, in, "source");
   if (strstr(source, "wrong"))
      return rkb_emit_verdict(stage->host, job, RKB_REJECT, "test.wrong", "it says so itself");
   if (strstr(source, "doubtful"))
      return rkb_emit_verdict(stage->host, job, RKB_SUSPECT, "test.doubtful", "it says so itself");
   return rkb_emit_verdict(stage->host, job, RKB_ACCEPT, "", "");
}

static int measure(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const stage_t *stage = self;
   const char *stated = strstr(stage->host->item_text(stage->host, in, "source"), stage->config->mode);
   if (!stated)
      return rkb_fail(err, RKB_ERR_INVALID, "no time is stated for %s", stage->config->mode);
   return rkb_emit_measurement(
      stage->host, job,
      &(rkb_measurement_t){.name = "us",
                           .value = strtod(stated + strlen(stage->config->mode), NULL),
                           .unit = "us",
                           .better = "lower",
                           .method = "stated",
                           .spread = -1});
}

static const char *const MODES[] = {"quick", "full", NULL};
static const rkb_option_t OPTIONS[] = {{.name = "mode",
                                        .type = RKB_OPT_ENUM,
                                        .offset = offsetof(config_t, mode),
                                        .fallback = "quick",
                                        .choices = MODES,
                                        .help = "Which of the times."}};
static const char *const CANDIDATE[] = {"candidate", NULL}, *const VERDICT[] = {"verdict", NULL};
static const char *const MEASUREMENT[] = {"measurement", NULL}, *const MEASURES[] = {"us", NULL};
static const rkb_stage_t JUDGE = {.size = sizeof(rkb_stage_t),
                                  .kind = RKB_VERIFIER,
                                  .flags = RKB_STAGE_DETERMINISTIC | RKB_STAGE_EXECUTES,
                                  .id = "test.verifier.stated",
                                  .summary = "Believes the text.",
                                  .accepts = CANDIDATE,
                                  .emits = VERDICT,
                                  .create = create,
                                  .run = judge,
                                  .destroy = free};
static const rkb_stage_t MEASURE = {.size = sizeof(rkb_stage_t),
                                    .kind = RKB_PROFILER,
                                    .flags = RKB_STAGE_DETERMINISTIC,
                                    .id = "test.profiler.stated",
                                    .summary = "Repeats the text.",
                                    .accepts = CANDIDATE,
                                    .emits = MEASUREMENT,
                                    .measures = MEASURES,
                                    RKB_OPTIONS(OPTIONS),
                                    .config_size = sizeof(config_t),
                                    .create = create,
                                    .run = measure,
                                    .destroy = free};
static const rkb_stage_t *const STAGES[] = {&JUDGE, &MEASURE, NULL};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {RKB_PLUGIN_HEAD, .name = "stated", .version = "1",
                                                  .stages = STAGES};
