/* Stages over candidates whose text is a whole number: everything a run does, without kernels.  The number is proposed,
 * moved, judged by divisibility and measured by its distance from a target. */
#include <rkb/draft/asynchronous.h>
#include <rkb/ext/random.h>
#include <rkb/items.h>
#include <rkb/strategy.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct config {
   const char *const *values;
   int64_t children, low, high, modulus, target, done_after, wait_every, hold_us;
   const char *verdict, *reason;
   bool verbose;
} config_t;

typedef struct stage {
   const rkb_host_t *host;
   const config_t *config;
   const rkb_random_api_t *random;
} stage_t;

static int create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   stage_t *stage = calloc(1, sizeof *stage);
   if (!stage)
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   stage->host = host;
   stage->config = config;
   stage->random = host->get_extension(host, RKB_EXT_RANDOM);
   *self = stage;
   return RKB_OK;
}

static void destroy(void *self) {
   free(self);
}

/* Takes longer for some numbers than for others, so that answers come in another order than questions. */
static void hold(const stage_t *stage, uint64_t key) {
   if (!stage->config->hold_us)
      return;
   uint64_t microseconds = (uint64_t)stage->config->hold_us * ((key * 2654435761u >> 7) % 8);
   struct timespec time = {.tv_sec = (time_t)(microseconds / 1000000),
                           .tv_nsec = (long)(microseconds % 1000000) * 1000};
   nanosleep(&time, NULL);
}

static int64_t number_of(const stage_t *stage, const rkb_item_t *item) {
   return strtoll(stage->host->item_text(stage->host, item, "source"), NULL, 10);
}

static int emit_number(const stage_t *stage, rkb_job_t job, int64_t number, const rkb_item_t *parent) {
   char text[32];
   snprintf(text, sizeof text, "%lld", (long long)number);
   return rkb_emit_candidate(stage->host, job, text, NULL, "a number", &parent, parent ? 1 : 0);
}

static int start_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const stage_t *stage = self;
   (void)in;
   (void)err;
   for (const char *const *value = stage->config->values; value && *value; value++)
      emit_number(stage, job, strtoll(*value, NULL, 10), NULL);
   return RKB_OK;
}

static int step_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const stage_t *stage = self;
   const rkb_item_t *parent = stage->host->item_reference(stage->host, in, "parent", 0);
   int64_t request = 0;
   if (!parent)
      return rkb_fail(err, RKB_ERR_INVALID, "a step needs a parent");
   stage->host->item_int(stage->host, in, "number", &request);
   hold(stage, (uint64_t)request);
   for (int64_t child = 0; child < stage->config->children; child++) {
      rkb_random_t stream = stage->random->for_job(stage->host, job, (uint32_t)child);
      int64_t span = stage->config->high - stage->config->low + 1;
      int64_t move = stage->config->low + (int64_t)stage->random->below(&stream, (uint64_t)span);
      emit_number(stage, job, number_of(stage, parent) + move, parent);
   }
   return RKB_OK;
}

static int divide_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const stage_t *stage = self;
   int64_t number = number_of(stage, in);
   char message[80];
   (void)err;
   hold(stage, (uint64_t)number);
   if (stage->config->modulus && number % stage->config->modulus == 0) {
      snprintf(message, sizeof message, "%lld is divisible by %lld", (long long)number,
               (long long)stage->config->modulus);
      return rkb_emit_verdict_full(stage->host, job, stage->config->verdict, stage->config->reason, message,
                                   "{\"number\":1}", NULL);
   }
   return rkb_emit_verdict(stage->host, job, RKB_ACCEPT, "", "not divisible");
}

static int distance_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const stage_t *stage = self;
   (void)err;
   rkb_measurement_t distance = {
      .name = "distance", .unit = "1", .better = "lower", .method = "subtraction", .spread = -1};
   distance.value = fabs((double)(number_of(stage, in) - stage->config->target)) + 1;
   hold(stage, (uint64_t)number_of(stage, in));
   return rkb_emit_measurement(stage->host, job, &distance);
}

/* Answers from another callback of the loop, as a stage does that waits for something outside. */
typedef struct later {
   const stage_t *stage;
   rkb_job_t job;
} later_t;

static const rkb_asynchronous_api_t *asynchronous(const rkb_host_t *host) {
   return host->get_extension(host, RKB_DRAFT_ASYNCHRONOUS);
}

static void answer(void *argument) {
   later_t *later = argument;
   rkb_emit_verdict(later->stage->host, later->job, RKB_ACCEPT, "", "after a turn of the loop");
   asynchronous(later->stage->host)->job_complete(later->stage->host, later->job, RKB_OK, NULL);
   free(later);
}

static int later_submit(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const stage_t *stage = self;
   later_t *later = malloc(sizeof *later);
   (void)in;
   if (!later)
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   *later = (later_t){.stage = stage, .job = job};
   asynchronous(stage->host)->post(stage->host, answer, later);
   return RKB_OK;
}

static int later_create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   static const rkb_asynchronous_stage_t served = {.size = sizeof served, .submit = later_submit};
   int status = asynchronous(host)->serve(host, &served, err);
   return status == RKB_OK ? create(host, config, self, err) : status;
}

/* For programs that do not offer the draft; the tests' own always do. */
static int later_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   (void)self, (void)job, (void)in;
   return rkb_fail(err, RKB_ERR_INTERNAL, "run was called in place of submit");
}

/* Climbs: the parent is one of the best four told so far, mostly the best. */
typedef struct climb {
   const config_t *config;
   rkb_random_t stream;
   const rkb_host_t *host;
   const rkb_random_api_t *random;
   int64_t best[4];
   double value[4];
   uint32_t count, operators;
   int64_t asked;
} climb_t;

static int climb_create(const rkb_host_t *host, const void *config, const rkb_setup_t *setup,
                        rkb_random_t stream, void **self, rkb_error_t *err) {
   climb_t *climb = calloc(1, sizeof *climb);
   if (!climb)
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   climb->config = config;
   climb->stream = stream;
   climb->host = host;
   climb->random = host->get_extension(host, RKB_EXT_RANDOM);
   climb->operators = setup->operator_count;
   *self = climb;
   return RKB_OK;
}

static int climb_ask(void *self, rkb_request_t *out, rkb_error_t *err) {
   climb_t *climb = self;
   (void)err;
   int64_t asked = climb->asked++;
   if (climb->config->done_after && asked >= climb->config->done_after)
      return RKB_ASK_DONE;
   if (!climb->count ||
       (climb->config->wait_every && asked % climb->config->wait_every == climb->config->wait_every - 1))
      return RKB_ASK_WAIT;
   uint64_t pick = climb->random->below(&climb->stream, 8);
   out->operator_index = (uint32_t)climb->random->below(&climb->stream, climb->operators);
   out->parent_count = 1;
   out->parents[0] = climb->best[pick < climb->count ? pick : 0];
   snprintf(out->hints, sizeof out->hints, "{\"pick\":%d}", (int)pick);
   return RKB_ASK_OK;
}

static int climb_tell(void *self, const rkb_result_t *result, rkb_error_t *err) {
   climb_t *climb = self;
   (void)err;
   for (uint32_t i = 0; i < result->candidate_count; i++) {
      const rkb_told_t *told = result->candidates[i];
      double value = told->has_objective ? told->objective : 1e9;
      uint32_t at = 0;
      if (strcmp(told->standing, RKB_REJECT) == 0 || told->duplicate_of)
         continue;
      while (at < climb->count && climb->value[at] <= value)
         at++;
      if (at == 4)
         continue;
      if (climb->count < 4)
         climb->count++;
      for (uint32_t j = climb->count - 1; j > at; j--) {
         climb->best[j] = climb->best[j - 1];
         climb->value[j] = climb->value[j - 1];
      }
      climb->best[at] = told->number;
      climb->value[at] = value;
   }
   return RKB_OK;
}

#define AT(member) offsetof(config_t, member)
static const rkb_option_t START_OPTIONS[] = {{.name = "values",
                                              .type = RKB_OPT_STRINGS,
                                              .flags = RKB_OPT_REQUIRED,
                                              .offset = AT(values),
                                              .help = "Numbers to begin with."}};
static const rkb_option_t STEP_OPTIONS[] = {
   {.name = "children",
    .type = RKB_OPT_INT,
    .offset = AT(children),
    .fallback = "1",
    .help = "Candidates a request.",
    .max = 64},
   {.name = "low", .type = RKB_OPT_INT, .offset = AT(low), .fallback = "-10", .help = "Least move."},
   {.name = "high", .type = RKB_OPT_INT, .offset = AT(high), .fallback = "10", .help = "Largest move."},
   {.name = "hold_us",
    .type = RKB_OPT_INT,
    .offset = AT(hold_us),
    .fallback = "0",
    .help = "Time it takes, at most 7 times this."}};
static const char *const VERDICTS[] = {RKB_ACCEPT, RKB_SUSPECT, RKB_UNKNOWN, RKB_REJECT, NULL};
static const rkb_option_t DIVIDE_OPTIONS[] = {{.name = "by",
                                               .type = RKB_OPT_INT,
                                               .offset = AT(modulus),
                                               .fallback = "0",
                                               .help = "What must not divide the number.",
                                               .max = 1e9},
                                              {.name = "verdict",
                                               .type = RKB_OPT_ENUM,
                                               .offset = AT(verdict),
                                               .fallback = "reject",
                                               .choices = VERDICTS,
                                               .help = "For one that it divides."},
                                              {.name = "reason",
                                               .type = RKB_OPT_STRING,
                                               .offset = AT(reason),
                                               .fallback = "numeric.mismatch",
                                               .help = "Code of that verdict."},
                                              {.name = "hold_us",
                                               .type = RKB_OPT_INT,
                                               .offset = AT(hold_us),
                                               .fallback = "0",
                                               .help = "Time it takes, at most 7 times this."}};
static const rkb_option_t DISTANCE_OPTIONS[] = {{.name = "target",
                                                 .type = RKB_OPT_INT,
                                                 .offset = AT(target),
                                                 .fallback = "1000",
                                                 .help = "Where the number should be."},
                                                {.name = "hold_us",
                                                 .type = RKB_OPT_INT,
                                                 .offset = AT(hold_us),
                                                 .fallback = "0",
                                                 .help = "Time it takes, at most 7 times this."}};
static const rkb_option_t CLIMB_OPTIONS[] = {{.name = "done_after",
                                              .type = RKB_OPT_INT,
                                              .offset = AT(done_after),
                                              .fallback = "0",
                                              .help = "Asks before it is done; 0: never."},
                                             {.name = "wait_every",
                                              .type = RKB_OPT_INT,
                                              .offset = AT(wait_every),
                                              .fallback = "0",
                                              .help = "Every so manieth answer is wait; 0: none."}};

static const char *const REQUEST[] = {"request", NULL}, *const CANDIDATE[] = {"candidate", NULL};
static const char *const VERDICT[] = {"verdict", NULL}, *const MEASUREMENT[] = {"measurement", NULL};
static const char *const MEASURES[] = {"distance", NULL};

#define STAGE(kind_, id_, summary_, accepts_, emits_, options_, run_, flags_)                                \
   {                                                                                                         \
      .size = sizeof(rkb_stage_t), .kind = kind_, .flags = flags_, .id = id_, .summary = summary_,           \
      .accepts = accepts_, .emits = emits_, RKB_OPTIONS(options_), .config_size = sizeof(config_t),          \
      .create = create, .run = run_, .destroy = destroy                                                      \
   }

static const rkb_stage_t START = STAGE(RKB_TRANSLATOR, "test.translator.start", "Numbers from a list.",
                                       REQUEST, CANDIDATE, START_OPTIONS, start_run, RKB_STAGE_DETERMINISTIC);
static const rkb_stage_t STEP = STAGE(RKB_MUTATOR, "test.mutator.step", "Moves a number.", REQUEST, CANDIDATE,
                                      STEP_OPTIONS, step_run, RKB_STAGE_DETERMINISTIC);
/* The same without the promise, so that its candidates are kept as soon as they are made. */
static const rkb_stage_t LEAP = STAGE(RKB_MUTATOR, "test.mutator.leap", "Moves a number, promising nothing.",
                                      REQUEST, CANDIDATE, STEP_OPTIONS, step_run, 0);
static const rkb_stage_t DIVIDE =
   STAGE(RKB_VERIFIER, "test.verifier.divide", "Judges by divisibility.", CANDIDATE, VERDICT, DIVIDE_OPTIONS,
         divide_run, RKB_STAGE_DETERMINISTIC);
static const rkb_stage_t EXECUTE =
   STAGE(RKB_VERIFIER, "test.verifier.execute", "The same, and calls it execution.", CANDIDATE, VERDICT,
         DIVIDE_OPTIONS, divide_run, RKB_STAGE_DETERMINISTIC | RKB_STAGE_EXECUTES);
static const rkb_stage_t LATER = {.size = sizeof(rkb_stage_t),
                                  .kind = RKB_VERIFIER,
                                  .flags = RKB_STAGE_DETERMINISTIC,
                                  .id = "test.verifier.later",
                                  .summary = "Accepts after a turn of the loop.",
                                  .accepts = CANDIDATE,
                                  .emits = VERDICT,
                                  .config_size = sizeof(config_t),
                                  .create = later_create,
                                  .run = later_run,
                                  .destroy = destroy};
static const rkb_stage_t DISTANCE = {.size = sizeof(rkb_stage_t),
                                     .kind = RKB_PROFILER,
                                     .flags = RKB_STAGE_DETERMINISTIC,
                                     .id = "test.profiler.distance",
                                     .summary = "How far the number is from a target.",
                                     .accepts = CANDIDATE,
                                     .emits = MEASUREMENT,
                                     .measures = MEASURES,
                                     RKB_OPTIONS(DISTANCE_OPTIONS),
                                     .config_size = sizeof(config_t),
                                     .create = create,
                                     .run = distance_run,
                                     .destroy = destroy};
static const rkb_strategy_t CLIMB = {.size = sizeof(rkb_strategy_t),
                                     .id = "test.strategy.climb",
                                     .summary = "Goes on from the best.",
                                     RKB_OPTIONS(CLIMB_OPTIONS),
                                     .config_size = sizeof(config_t),
                                     .create = climb_create,
                                     .ask = climb_ask,
                                     .tell = climb_tell,
                                     .destroy = destroy};

static const rkb_stage_t *const STAGES[] = {&START, &STEP, &LEAP, &DIVIDE, &EXECUTE, &LATER, &DISTANCE, NULL};
static const rkb_strategy_t *const STRATEGIES[] = {&CLIMB, NULL};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {RKB_PLUGIN_HEAD, .name = "arithmetic", .version = "1",
                                                  .stages = STAGES, .strategies = STRATEGIES};
