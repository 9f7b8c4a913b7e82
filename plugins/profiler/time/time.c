/* rkb.profiler.time - measures a candidate on the GPU: cold (second-level cache emptied by reading) and warm, over several
 * arenas, fresh allocations and, in full mode, fresh processes.  docs/timing.md is the protocol.  A time whose outputs
 * were not right afterwards is not reported.  Blocks on workers; holds the device while it runs. */
#include "measurements.h"
#include "incumbent_restore.h"

#include <rkb/items.h>
#include <stdlib.h>

enum { MOST_CASES = 64 };

static int time_create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   struct timer *me = malloc(sizeof *me);
   if (!me)
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate %zu bytes", sizeof *me);
   *me = (struct timer){host,
                        config,
                        host->get_extension(host, RKB_EXT_TASK),
                        host->get_extension(host, RKB_EXT_KERNEL),
                        host->get_extension(host, RKB_EXT_DEVICE),
                        host->get_extension(host, RKB_EXT_RANDOM),
                        host->get_extension(host, RKB_EXT_WORKERS),
                        NULL,
                        NULL};
   if (!RKB_HAS(me->task, staged_keep)) {
      free(me);
      return rkb_fail(err, RKB_ERR_UNAVAILABLE, "this program is too old: its %s keeps no expected values",
                      RKB_EXT_TASK);
   }
   me->holder = incumbent_holder_new();
   if (!me->holder) {
      free(me);
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   }
   me->store = me->task->store_open(host);
   *self = me;
   return RKB_OK;
}

static int time_one(const struct timer *me, rkb_job_t job, struct subject *subject, rkb_random_t *stream,
                    struct account *account, rkb_error_t *err) {
   struct timing timing = {0};
   char state[512] = "";
   int status = subject_draw(me, subject, stream, err);
   if (status == RKB_OK)
      status = timing_of_case(me, subject, stream, &timing, err);
   if (status == RKB_OK && !timing.right) {
      rkb_warn(me->host, "case %s: no time reported: %s", subject->the_case->name, timing.wrong);
   } else if (status == RKB_OK) {
      status = me->device->state(subject->session, state, sizeof state, err);
      if (status == RKB_OK)
         status = measure_case(me, job, subject->the_case->name, &timing, state, account);
   }
   subject_free(me, subject);
   return status;
}

/* Times every bench case; plans receives one for each. */
static int time_cases(const struct timer *me, rkb_job_t job, const rkb_item_t *in, const rkb_build_t *build,
                      const incumbent_t *rival, struct subject *subject, rkb_plan_t **plans,
                      struct account *account, rkb_error_t *err) {
   rkb_random_t stream = me->random->for_job(me->host, job, 0);
   int status = RKB_OK;
   while (status == RKB_OK && account->cases < MOST_CASES &&
          (subject->the_case = me->task->case_at(me->host, RKB_CASE_BENCH, account->cases)) != NULL) {
      uint32_t index = account->cases++;
      rkb_finding_t finding = {0};
      stopwatch_turn(subject->watch, PHASE_PLAN);
      status = me->kernel->plan(me->host, job, in, build, subject->the_case, &plans[index], &finding, err);
      subject->contenders[CANDIDATE].plan = plans[index];
      subject->contender_count = rival && index < rival->plan_count ? 2 : 1;
      if (subject->contender_count > 1)
         subject->contenders[INCUMBENT] =
            (struct contender){rival->cubin, rival->cubin_bytes, rival->plans[index], rival->transform};
      if (status == RKB_OK && plans[index])
         status = time_one(me, job, subject, &stream, account, err);
   }
   return status;
}

static int time_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   struct timer *me = self;
   rkb_build_t *build = NULL;
   rkb_manifest_t *manifest = NULL;
   rkb_finding_t finding = {0};
   stopwatch_t watch;
   peer_t peer = {.name = ""};
   struct subject subject = {.job = job, .watch = &watch, .peer = &peer};
   struct account account = {.every_case_holds = true};
   stopwatch_start(&watch);
   int status = me->kernel->build(me->host, job, in, 0, &build, &finding, err);
   if (status != RKB_OK)
      return status;
   if (!build)
      return rkb_fail(err, RKB_ERR_INTERNAL, "the candidate has no build: %s", finding.message);
   rkb_plan_t **plans = calloc(MOST_CASES, sizeof *plans);
   status = incumbent_restore(me, job, err);
   incumbent_t *rival = incumbent_hold(me->holder);
   if (status == RKB_OK)
      status = plans ? me->kernel->manifest(me->host, me->host->item_text(me->host, in, "source"), &manifest,
                                            &finding, err)
                     : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   bool transform = manifest && manifest->transform;
   subject.contenders[CANDIDATE] =
      (struct contender){.cubin = build->cubin, .cubin_bytes = build->cubin_bytes, .transform = transform};
   peer_place_t place = sitting_peer_place(me, &subject);
   if (status == RKB_OK)
      status = peer_open(&place, in, &peer, err);
   stopwatch_turn(&watch, PHASE_DEVICE);
   if (status == RKB_OK)
      status = me->device->begin(me->host, job, &subject.session, err);
   if (status == RKB_OK) {
      status = time_cases(me, job, in, build, rival, &subject, plans, &account, err);
      stopwatch_turn(&watch, PHASE_CLOSE);
      me->device->end(subject.session);
   }
   stopwatch_turn(&watch, PHASE_OTHER);
   if (status == RKB_OK) {
      status = measure_whole(me, job, build, &subject, rival, plans, &account);
   } else {
      for (uint32_t i = 0; plans && i < account.cases; i++)
         me->kernel->plan_free(plans[i]);
      free(plans);
   }
   incumbent_release(me->holder, rival);
   peer_close(&place, &peer);
   if (manifest)
      me->kernel->manifest_free(manifest);
   me->kernel->build_free(build);
   return status;
}

static void time_destroy(void *self) {
   struct timer *me = self;
   incumbent_holder_free(me->holder);
   me->task->store_close(me->store);
   free(me);
}

static const char *const modes[] = {"quick", "full", NULL};

static const rkb_option_t options[] = {
   {.name = "mode",
    .type = RKB_OPT_ENUM,
    .offset = offsetof(struct time_config, mode),
    .fallback = "quick",
    .choices = modes,
    .help =
       "quick: one sitting, for use inside a search; full: six sittings in two processes, for published figures."},
   {.name = "arenas",
    .type = RKB_OPT_INT,
    .offset = offsetof(struct time_config, arenas),
    .fallback = "8",
    .min = 2,
    .max = 32,
    .help = "Copies of the plan, each with its own buffers."},
   {.name = "rounds",
    .type = RKB_OPT_INT,
    .offset = offsetof(struct time_config, rounds),
    .fallback = "6",
    .min = 2,
    .max = 1000,
    .help = "Timed runs of each arena in a sitting; the first one does not count."},
   {.name = "points",
    .type = RKB_OPT_INT,
    .offset = offsetof(struct time_config, points),
    .fallback = RKB_EXPECTED_TEXT(RKB_EXPECTED_POINTS),
    .min = 1,
    .max = 65536,
    .help =
       "Output elements of each arena to check after the timed runs; the GPU verifier's value costs nothing more."},
   {.name = "budget",
    .type = RKB_OPT_DURATION,
    .offset = offsetof(struct time_config, budget),
    .fallback = RKB_EXPECTED_BUDGET,
    .help = "Time to evaluate the reference for one output; when it is over, fewer elements are checked."},
   {.name = "deadline",
    .type = RKB_OPT_DURATION,
    .offset = offsetof(struct time_config, deadline),
    .fallback = "5s",
    .help = "How long one run may take before it counts as hanging."},
};

static const rkb_stage_t time_stage = {
   .size = sizeof(rkb_stage_t),
   .kind = RKB_PROFILER,
   .flags = RKB_STAGE_NEEDS_BUILD | RKB_STAGE_EXCLUSIVE_GPU,
   .id = "rkb.profiler.time",
   .summary = "Times the candidate on the GPU, cold and warm, with an interval.",
   .accepts = (const char *const[]){RKB_ITEM_CANDIDATE, NULL},
   .emits = (const char *const[]){RKB_ITEM_MEASUREMENT, NULL},
   .measures = (const char *const[]){"us", "warm_us", "to_incumbent", NULL},
   RKB_OPTIONS(options),
   .config_size = sizeof(struct time_config),
   .create = time_create,
   .run = time_run,
   .destroy = time_destroy,
   .needs = (const char *const[]){RKB_EXT_TASK, RKB_EXT_KERNEL, RKB_EXT_DEVICE, RKB_EXT_RANDOM,
                                  RKB_EXT_WORKERS, NULL},
};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {
   RKB_PLUGIN_HEAD,
   .name = "time",
   .version = "0.1.0",
   .stages = (const rkb_stage_t *const[]){&time_stage, NULL},
};
