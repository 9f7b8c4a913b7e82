/* Stages that do nothing, for measuring what the engine itself costs. */
#include <rkb/items.h>
#include <rkb/strategy.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct config {
   int64_t bytes;
} config_t;

typedef struct stage {
   const rkb_host_t *host;
   const config_t *config;
} stage_t;

static int create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   stage_t *stage = calloc(1, sizeof *stage);
   if (!stage)
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   stage->host = host;
   stage->config = config;
   *self = stage;
   return RKB_OK;
}

static void destroy(void *self) {
   free(self);
}

/* A text of the configured length that no other request has. */
static int write_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const stage_t *stage = self;
   int64_t number = 0;
   char *text = malloc((size_t)stage->config->bytes + 1);
   if (!text)
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   stage->host->item_int(stage->host, in, "number", &number);
   memset(text, 'x', (size_t)stage->config->bytes);
   text[stage->config->bytes] = '\0';
   int length =
      snprintf(text, (size_t)stage->config->bytes, "%lld %s ", (long long)number,
               strcmp(stage->host->item_text(stage->host, in, "section"), "search") == 0 ? "s" : "p");
   text[length] = 'x';
   int status = rkb_emit_candidate(stage->host, job, text, NULL, NULL, NULL, 0);
   free(text);
   return status;
}

static int pass_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const stage_t *stage = self;
   (void)in;
   (void)err;
   return rkb_emit_verdict(stage->host, job, RKB_ACCEPT, "", "nothing was looked at");
}

static const char *const SIX[] = {"one", "two", "three", "four", "five", "six", NULL};

static int measure_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const stage_t *stage = self;
   (void)in;
   (void)err;
   for (int i = 0; SIX[i]; i++) {
      rkb_measurement_t one = {
         .name = SIX[i], .unit = "1", .better = "lower", .method = "none", .value = i, .spread = -1};
      int status = rkb_emit_measurement(stage->host, job, &one);
      if (status != RKB_OK)
         return status;
   }
   return RKB_OK;
}

static int always_create(const rkb_host_t *host, const void *config, const rkb_setup_t *setup,
                         rkb_random_t stream, void **self, rkb_error_t *err) {
   (void)setup;
   (void)stream;
   return create(host, config, self, err);
}

static int always_ask(void *self, rkb_request_t *out, rkb_error_t *err) {
   (void)self;
   (void)out; /* operator 0, no parents */
   (void)err;
   return RKB_ASK_OK;
}

static int always_tell(void *self, const rkb_result_t *result, rkb_error_t *err) {
   (void)self;
   (void)result;
   (void)err;
   return RKB_OK;
}

static const rkb_option_t OPTIONS[] = {{.name = "bytes",
                                        .type = RKB_OPT_INT,
                                        .offset = offsetof(config_t, bytes),
                                        .fallback = "32",
                                        .help = "Length of the text.",
                                        .min = 32,
                                        .max = 65536}};
static const char *const REQUEST[] = {"request", NULL}, *const CANDIDATE[] = {"candidate", NULL};
static const char *const VERDICT[] = {"verdict", NULL}, *const MEASUREMENT[] = {"measurement", NULL};

#define COMMON                                                                                               \
   .size = sizeof(rkb_stage_t), .flags = RKB_STAGE_DETERMINISTIC, .config_size = sizeof(config_t),           \
   .create = create, .destroy = destroy
static const rkb_stage_t START = {COMMON,
                                  .kind = RKB_TRANSLATOR,
                                  .id = "test.translator.nothing",
                                  .summary = "Writes a text.",
                                  .accepts = REQUEST,
                                  .emits = CANDIDATE,
                                  RKB_OPTIONS(OPTIONS),
                                  .run = write_run};
static const rkb_stage_t WRITE = {COMMON,
                                  .kind = RKB_MUTATOR,
                                  .id = "test.mutator.nothing",
                                  .summary = "Writes a text.",
                                  .accepts = REQUEST,
                                  .emits = CANDIDATE,
                                  RKB_OPTIONS(OPTIONS),
                                  .run = write_run};
static const rkb_stage_t PASS = {COMMON,
                                 .kind = RKB_VERIFIER,
                                 .id = "test.verifier.nothing",
                                 .summary = "Accepts.",
                                 .accepts = CANDIDATE,
                                 .emits = VERDICT,
                                 .run = pass_run};
static const rkb_stage_t MEASURE = {COMMON,
                                    .kind = RKB_PROFILER,
                                    .id = "test.profiler.six",
                                    .summary = "Six numbers.",
                                    .accepts = CANDIDATE,
                                    .emits = MEASUREMENT,
                                    .measures = SIX,
                                    .run = measure_run};
static const rkb_strategy_t ALWAYS = {.size = sizeof(rkb_strategy_t),
                                      .id = "test.strategy.always",
                                      .summary = "Asks on and on.",
                                      .config_size = sizeof(config_t),
                                      .create = always_create,
                                      .ask = always_ask,
                                      .tell = always_tell,
                                      .destroy = destroy};
static const rkb_stage_t *const STAGES[] = {&START, &WRITE, &PASS, &MEASURE, NULL};
static const rkb_strategy_t *const STRATEGIES[] = {&ALWAYS, NULL};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {RKB_PLUGIN_HEAD, .name = "nothing", .version = "1",
                                                  .stages = STAGES, .strategies = STRATEGIES};
