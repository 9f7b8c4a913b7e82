/* rkb.profiler.counts - executes a few blocks of each launch at the bench shapes for the speed model's counts, and judges nothing.
 * It takes a small part of what rkb.verifier.machine takes, so a pipeline can predict a candidate's time before it spends a whole
 * check on it.  It hands on the same note as that stage, which replaces it if it runs later.  rkb.profiler.early_counts does the same before the
 * build step, with the build of what the bench cases launch.  Blocks on workers. */
#include "counting_stage.h"

#include "judged_candidate.h"
#include "stage_options.h"

#include <stdlib.h>

struct counting_config {
   int64_t bench_blocks;
   int64_t budget;
   uint64_t memory;
};

struct counting {
   struct verifier verifier;      /* first: judged_candidate.c opens it */
   struct verifier_config config; /* without what judges: no points, no shapes */
};

static int create(const rkb_host_t *host, const void *config, bool early, void **self, rkb_error_t *err) {
   const struct counting_config *given = config;
   struct counting *me = malloc(sizeof *me);
   if (!me)
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for the stage");
   me->config = (struct verifier_config){
      .bench_blocks = given->bench_blocks, .budget = given->budget, .memory = given->memory, .trials = 1};
   me->verifier = verifier_of(host, &me->config);
   me->verifier.early = early;
   *self = me;
   return RKB_OK;
}

static int counting_create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   return create(host, config, false, self, err);
}

static int early_create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   return create(host, config, true, self, err);
}

static int emit_work(const struct counting *me, rkb_job_t job, double work, rkb_error_t *err) {
   const rkb_measurement_t measurement = {.name = "work",
                                          .unit = "1",
                                          .better = "lower",
                                          .method = "thread-instructions of full warps",
                                          .value = work,
                                          .spread = -1};
   return rkb_emit_measurement(me->verifier.host, job, &measurement) == RKB_OK
             ? RKB_OK
             : rkb_fail(err, RKB_ERR_NOMEM, "no memory for a measurement");
}

static int counting_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   struct counting *me = self;
   struct candidate candidate;
   struct outcome outcome;
   outcome_init(&outcome, false);
   int status = judged_candidate_open(&me->verifier, job, in, &candidate, err);
   if (status == RKB_OK && candidate.build)
      status = bench_cases_judge(&me->verifier, &candidate, &outcome, err);
   if (status == RKB_OK && candidate.build)
      status = emit_work(me, job, (double)(candidate.given - candidate.budget), err);
   judged_candidate_close(&me->verifier, &candidate);
   outcome_free(&outcome);
   return status;
}

static void counting_destroy(void *self) {
   free(self);
}

#define AT(member) offsetof(struct counting_config, member)
static const rkb_option_t options[] = {
   {.name = "bench_blocks",
    .type = RKB_OPT_INT,
    .offset = AT(bench_blocks),
    .fallback = "6",
    .min = 1,
    .max = 1024,
    .help = "How many blocks of each launch to execute at each bench shape."},
   OPTION_BUDGET(AT(budget)),
   OPTION_MEMORY(AT(memory)),
};

const rkb_stage_t COUNTING_STAGE = {
   .size = sizeof(rkb_stage_t),
   .kind = RKB_PROFILER,
   .flags = RKB_STAGE_NEEDS_BUILD | RKB_STAGE_DETERMINISTIC,
   .id = "rkb.profiler.counts",
   .summary = "Executes a few blocks at the bench shapes for the speed model's counts, and judges nothing.",
   .accepts = (const char *const[]){RKB_ITEM_CANDIDATE, NULL},
   .emits = (const char *const[]){RKB_ITEM_MEASUREMENT, NULL},
   .measures = (const char *const[]){"work", NULL},
   RKB_OPTIONS(options),
   .config_size = sizeof(struct counting_config),
   .create = counting_create,
   .run = counting_run,
   .destroy = counting_destroy,
   .needs = (const char *const[]){RKB_EXT_TASK, RKB_EXT_KERNEL, RKB_EXT_RANDOM, RKB_EXT_CONFINED,
                                  RKB_EXT_INTERMEDIATES, NULL},
};

const rkb_stage_t EARLY_COUNTING_STAGE = {
   .size = sizeof(rkb_stage_t),
   .kind = RKB_PROFILER,
   .flags = RKB_STAGE_DETERMINISTIC,
   .id = "rkb.profiler.early_counts",
   .summary =
      "As rkb.profiler.counts, before the build: compiles to PTX what the bench cases launch, and no more.",
   .accepts = (const char *const[]){RKB_ITEM_CANDIDATE, NULL},
   .emits = (const char *const[]){RKB_ITEM_MEASUREMENT, NULL},
   .measures = (const char *const[]){"work", NULL},
   RKB_OPTIONS(options),
   .config_size = sizeof(struct counting_config),
   .create = early_create,
   .run = counting_run,
   .destroy = counting_destroy,
   .needs = (const char *const[]){RKB_EXT_TASK, RKB_EXT_KERNEL, RKB_EXT_RANDOM, RKB_EXT_CONFINED,
                                  RKB_EXT_INTERMEDIATES, NULL},
};
