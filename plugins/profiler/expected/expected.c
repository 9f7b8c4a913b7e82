/* rkb.profiler.expected - evaluates what rkb.verifier.gpu and rkb.profiler.time will compare a candidate's outputs with, for all
 * seeds of the pool, and leaves it where they look.  It runs nothing of the candidate and needs no device: what it measures is
 * the reference.  Blocks on workers. */
#include <rkb/ext/random.h>
#include <rkb/items.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "expected/expected_sample.h"

struct expected_config {
   sample_families_t families;
   int64_t pool;
   int64_t points;
   uint64_t budget; /* nanoseconds */
};

struct evaluator {
   const rkb_host_t *host;
   const struct expected_config *config;
   const rkb_task_api_t *task;
   const rkb_random_api_t *random;
   const rkb_workers_api_t *workers;
   store_t *store;
};

static int expected_create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   struct evaluator *me = calloc(1, sizeof *me);
   if (!me)
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate %zu bytes", sizeof *me);
   *me = (struct evaluator){host,
                            config,
                            host->get_extension(host, RKB_EXT_TASK),
                            host->get_extension(host, RKB_EXT_RANDOM),
                            host->get_extension(host, RKB_EXT_WORKERS),
                            NULL};
   me->store = store_open(host, me->task);
   if (!me->store) {
      free(me);
      return rkb_fail(err, RKB_ERR_UNAVAILABLE, "there is no folder to keep expected values in");
   }
   *self = me;
   return RKB_OK;
}

/* All seeds of one family, side by side; *outputs counts what is known afterwards. */
static int evaluate_family(const struct evaluator *me, const rkb_case_t *c, const rkb_family_t *family,
                           uint64_t *outputs, rkb_error_t *err) {
   const sampler_t sampler = {
      me->host, me->task, me->random, me->store, (uint64_t)me->config->points, me->config->budget};
   const uint32_t pool = (uint32_t)sample_pool(c, (uint64_t)me->config->pool);
   wanted_t *list = calloc(pool, sizeof *list);
   sample_t *samples = calloc((size_t)pool * c->tensor_count + 1, sizeof *samples);
   int status = list && samples ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   for (uint32_t i = 0; status == RKB_OK && i < pool; i++)
      list[i] = (wanted_t){c, family, store_seed(me->store, c->name, i), true,
                           samples + (size_t)i * c->tensor_count};
   if (status == RKB_OK)
      status = samples_evaluate(&sampler, me->workers, list, pool, err);
   for (uint32_t i = 0; samples && i < pool * c->tensor_count; i++) {
      *outputs += samples[i].count > 0;
      sample_close(&samples[i]);
   }
   free(samples);
   free(list);
   return status;
}

/* The costly cases first: they decide how long it takes. */
static int evaluate_all(const struct evaluator *me, rkb_job_t job, uint64_t *outputs, rkb_error_t *err) {
   static const uint32_t kinds[] = {RKB_CASE_BENCH, RKB_CASE_CHECK};
   const rkb_case_t *c;
   int status = RKB_OK;
   for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
      for (uint32_t i = 0; status == RKB_OK && (c = me->task->case_at(me->host, kinds[kind], i)) != NULL;
           i++) {
         const uint32_t families = sample_families(me->host, me->task, c, &me->config->families);
         for (uint32_t f = 0; f < families && status == RKB_OK; f++)
            status = me->host->job_cancelled(me->host, job)
                        ? rkb_fail(err, RKB_ERR_CANCELLED, "cancelled")
                        : evaluate_family(me, c, me->task->family_at(me->host, c, f), outputs, err);
      }
   return status;
}

static int expected_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const struct evaluator *me = self;
   struct timespec began, ended;
   uint64_t outputs = 0;
   (void)in;
   clock_gettime(CLOCK_MONOTONIC, &began);
   int status = evaluate_all(me, job, &outputs, err);
   clock_gettime(CLOCK_MONOTONIC, &ended);
   if (status != RKB_OK)
      return status;
   const rkb_measurement_t count = {.name = "outputs",
                                    .unit = "outputs",
                                    .better = "",
                                    .method = "counted: case, family, seed and tensor apart",
                                    .value = (double)outputs,
                                    .spread = -1};
   const rkb_measurement_t seconds = {.name = "seconds",
                                      .unit = "s",
                                      .better = "lower",
                                      .method = "measured: the clock, what was kept before found again",
                                      .value = (double)(ended.tv_sec - began.tv_sec) +
                                               1e-9 * (double)(ended.tv_nsec - began.tv_nsec),
                                      .spread = -1};
   status = rkb_emit_measurement(me->host, job, &count);
   return status == RKB_OK ? rkb_emit_measurement(me->host, job, &seconds) : status;
}

static void expected_destroy(void *self) {
   struct evaluator *me = self;
   store_close(me->store);
   free(me);
}

static const rkb_option_t options[] = {
   {.name = "families",
    .type = RKB_OPT_INT,
    .offset = offsetof(struct expected_config, families.check),
    .fallback = "4",
    .min = 1,
    .max = 64,
    .help = "Input families of each check case; use the GPU verifier's value."},
   {.name = "bench_families",
    .type = RKB_OPT_INT,
    .offset = offsetof(struct expected_config, families.bench),
    .fallback = "2",
    .min = 1,
    .max = 64,
    .help = "Input families of each bench case; use the GPU verifier's value."},
   {.name = "pool",
    .type = RKB_OPT_INT,
    .offset = offsetof(struct expected_config, pool),
    .fallback = "4",
    .min = 2,
    .max = 4096,
    .help = "Seeds of a listed case; use the GPU verifier's value."},
   {.name = "points",
    .type = RKB_OPT_INT,
    .offset = offsetof(struct expected_config, points),
    .fallback = "1024",
    .min = 64,
    .max = 65536,
    .help =
       "Output elements to evaluate at shapes too large to evaluate whole; use the GPU verifier's value."},
   {.name = "budget",
    .type = RKB_OPT_DURATION,
    .offset = offsetof(struct expected_config, budget),
    .fallback = "1s",
    .help =
       "Time to evaluate one output of a large shape; when it is over, the elements evaluated so far are used."},
};

static const rkb_stage_t expected = {
   .size = sizeof(rkb_stage_t),
   .kind = RKB_PROFILER,
   .id = "rkb.profiler.expected",
   .summary = "Evaluates and stores the expected values with which the GPU stages compare outputs.",
   .accepts = (const char *const[]){RKB_ITEM_CANDIDATE, NULL},
   .emits = (const char *const[]){RKB_ITEM_MEASUREMENT, NULL},
   .measures = (const char *const[]){"outputs", "seconds", NULL},
   RKB_OPTIONS(options),
   .config_size = sizeof(struct expected_config),
   .create = expected_create,
   .run = expected_run,
   .destroy = expected_destroy,
   .needs = (const char *const[]){RKB_EXT_TASK, RKB_EXT_RANDOM, RKB_EXT_WORKERS, NULL},
};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {
   RKB_PLUGIN_HEAD,
   .name = "expected",
   .version = "0.1.0",
   .stages = (const rkb_stage_t *const[]){&expected, NULL},
};
