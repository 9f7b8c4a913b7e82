/* rkb.verifier.gpu - runs the candidates that the checking machine did not reject on a real device, and checks them again there: all bench
 * cases and shapes drawn anew, several input families, buffers between unmapped pages, the plan repeated on the same scratch, inputs
 * compared afterwards.  The candidate's machine code runs in an rkb-worker process; the values, the answers and this verdict are made here.
 * Blocks on workers. */
#include "gpu.h"
#include <rkb/items.h>
#include <stdlib.h>
#include <string.h>

static int gpu_create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   struct gpu *me = malloc(sizeof *me);
   if (!me)
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate %zu bytes", sizeof *me);
   *me = (struct gpu){host,
                      config,
                      host->get_extension(host, RKB_EXT_TASK),
                      host->get_extension(host, RKB_EXT_KERNEL),
                      host->get_extension(host, RKB_EXT_DEVICE),
                      host->get_extension(host, RKB_EXT_RANDOM),
                      host->get_extension(host, RKB_EXT_WORKERS),
                      NULL};
   if (!RKB_HAS(me->task, staged_keep)) {
      free(me);
      return rkb_fail(err, RKB_ERR_UNAVAILABLE, "this program is too old: its %s keeps no expected values",
                      RKB_EXT_TASK);
   }
   me->store = me->task->store_open(host);
   *self = me;
   return RKB_OK;
}

/* The peer that the outputs were compared with, and how much of them. */
static void describe_peer(const peer_t *peer, json_t *evidence, char *message, size_t size) {
   const size_t length = strlen(message);
   json_object_set_new(evidence, "peer", peer->name[0] ? json_string(peer->name) : json_null());
   json_object_set_new(evidence, "peer_compared", json_integer((json_int_t)peer->compared));
   json_object_set_new(evidence, "peer_judged", json_integer((json_int_t)peer->judged));
   json_object_set_new(evidence, "peer_undecided", json_integer(peer->undecided));
   if (peer->none[0])
      json_object_set_new(evidence, "peer_none", json_string(peer->none));
   if (peer->compared)
      snprintf(message + length, size - length,
               "; %llu elements of large shapes compared with those of %s, and the %llu that differ most judged",
               (unsigned long long)peer->compared, peer->name, (unsigned long long)peer->judged);
}

static int emit(const struct gpu *me, struct candidate *candidate, const struct found *found,
                const struct tally *tally, const char *device) {
   /* Nothing wrong was seen, and nothing was compared: that is no acceptance. */
   const bool blind = !found->reason[0] && tally->judged == 0 && tally->not_judged + tally->refused;
   const bool unsupported = strncmp(found->reason, "unsupported.", strlen("unsupported.")) == 0;
   const char *standing = blind || unsupported ? RKB_UNKNOWN
                          : !found->reason[0] ? RKB_ACCEPT
                          : found->suspect    ? RKB_SUSPECT
                                              : RKB_REJECT;
   char message[448];
   json_t *evidence = found->evidence ? json_incref(found->evidence) : json_object();
   json_object_set_new(evidence, "worker", json_string(device));
   json_object_set_new(evidence, "runs", json_integer(tally->runs));
   json_object_set_new(evidence, "compared", json_integer((json_int_t)tally->judged));
   json_object_set_new(evidence, "ambiguous", json_integer((json_int_t)tally->ambiguous));
   json_object_set_new(evidence, "dont_care", json_integer((json_int_t)tally->dont_care));
   json_object_set_new(evidence, "outputs_not_compared", json_integer(tally->not_judged));
   json_object_set_new(evidence, "outputs_refused", json_integer(tally->refused));
   if (tally->refused)
      json_object_set_new(evidence, "refusal", json_string(tally->refusal));
   json_object_set_new(evidence, "bit_repeatable", json_boolean(tally->repeatable));
   json_object_set_new(evidence, "ms", stopwatch_json(&candidate->watch));
   snprintf(message, sizeof message, "%u runs, %llu elements compared; worst %.2g of the hard bound%s%s%s%s",
            tally->runs, (unsigned long long)tally->judged, tally->worst_hard,
            tally->repeatable ? ", repeatable bit for bit" : ", not repeatable bit for bit",
            tally->not_judged
               ? "; some outputs are too costly to evaluate at their shape and were not compared"
               : "",
            tally->refused ? "; not decided: " : "", tally->refusal);
   describe_peer(&candidate->peer, evidence, message, sizeof message);
   char *text = json_dumps(evidence, JSON_COMPACT | JSON_SORT_KEYS);
   int status =
      rkb_emit_verdict_full(me->host, candidate->job, standing, blind ? "limit.budget" : found->reason,
                            found->reason[0] ? found->message : message, text, NULL);
   free(text);
   json_decref(evidence);
   return status;
}

/* If each operation moves many bytes, a shape of few operations is costly too: every element is drawn, sent and evaluated. */
static int draw_shape(const struct gpu *me, rkb_random_t *stream, rkb_case_t **drawn, rkb_error_t *err) {
   enum { ATTEMPTS = 12 };
   double work = me->config->drawn_work;
   int status = me->task->case_draw(me->host, stream, work, drawn, err);
   for (int i = 1; status == RKB_OK && i < ATTEMPTS && (*drawn)->bytes > (double)me->config->drawn_bytes;
        i++) {
      rkb_case_t *smaller = NULL;
      rkb_error_t none;
      if (me->task->case_draw(me->host, stream, work /= 2, &smaller, &none) != RKB_OK)
         break; /* the task has no shape so small: the last one drawn stays */
      me->task->case_free(*drawn);
      *drawn = smaller;
   }
   return status;
}

/* A listed case is a trial of its own. */
static int verify_listed(const struct gpu *me, struct candidate *candidate, uint32_t kind,
                         rkb_random_t *stream, struct found *found, struct tally *tally, rkb_error_t *err) {
   const rkb_case_t *c;
   int status = RKB_OK;
   for (uint32_t i = 0;
        status == RKB_OK && !found->reason[0] && (c = me->task->case_at(me->host, kind, i)) != NULL; i++) {
      struct trial trial;
      status = trial_open(me, c, NULL, stream, &trial, err);
      if (status != RKB_OK)
         return status;
      status = verify_trial(me, candidate, &trial, 1, 0, found, tally, err);
      trial_close(me, &trial);
   }
   return status;
}

/* Nothing is known of a drawn shape's values, so what they should give is evaluated side by side, for as many shapes at once as
 * memory is meant for. */
static int verify_drawn(const struct gpu *me, struct candidate *candidate, rkb_random_t *stream,
                        struct found *found, struct tally *tally, rkb_error_t *err) {
   enum { MOST_TOGETHER = 16 };
   const double most_bytes = 64e6;
   struct trial trials[MOST_TOGETHER];
   int status = RKB_OK;
   for (int64_t done = 0; done < me->config->drawn && status == RKB_OK && !found->reason[0];) {
      uint32_t count = 0;
      double bytes = 0;
      while (count < MOST_TOGETHER && done < me->config->drawn && bytes < most_bytes && status == RKB_OK) {
         rkb_case_t *drawn = NULL;
         status = draw_shape(me, stream, &drawn, err);
         if (status == RKB_OK)
            status = trial_open(me, drawn, drawn, stream, &trials[count], err);
         if (status == RKB_OK)
            bytes += 2 * trials[count].families * drawn->bytes;
         count += status == RKB_OK;
         done++;
      }
      for (uint32_t n = 0; n < count && status == RKB_OK && !found->reason[0]; n++)
         status = verify_trial(me, candidate, trials, count, n, found, tally, err);
      while (count > 0)
         trial_close(me, &trials[--count]);
   }
   return status;
}

/* Check cases first: they are small, and most mistakes show there. */
static int verify_all(const struct gpu *me, struct candidate *candidate, struct found *found,
                      struct tally *tally, rkb_error_t *err) {
   rkb_random_t stream = me->random->for_job(me->host, candidate->job, 0);
   int status = verify_listed(me, candidate, RKB_CASE_CHECK, &stream, found, tally, err);
   if (status == RKB_OK && !found->reason[0])
      status = verify_drawn(me, candidate, &stream, found, tally, err);
   if (status == RKB_OK && !found->reason[0])
      status = verify_listed(me, candidate, RKB_CASE_BENCH, &stream, found, tally, err);
   return status;
}

static int gpu_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   struct gpu *me = self;
   rkb_build_t *build = NULL;
   rkb_manifest_t *manifest = NULL;
   rkb_finding_t finding = {0};
   struct candidate candidate = {.job = job, .item = in};
   struct found found = {.reason = ""};
   struct tally tally = {.repeatable = true};
   char device[1024] = "";
   stopwatch_start(&candidate.watch);
   int status = me->kernel->build(me->host, job, in, 0, &build, &finding, err);
   if (status != RKB_OK)
      return status;
   if (!build)
      return rkb_fail(err, RKB_ERR_INTERNAL, "the candidate has no build: %s", finding.message);
   candidate.build = build;
   status =
      me->kernel->manifest(me->host, me->host->item_text(me->host, in, "source"), &manifest, &finding, err);
   if (status == RKB_OK && manifest)
      candidate.transform = manifest->transform;
   peer_place_t place = whole_place(me, &candidate);
   if (status == RKB_OK)
      status = peer_open(&place, in, &candidate.peer, err);
   stopwatch_turn(&candidate.watch, PHASE_DEVICE);
   if (status == RKB_OK)
      status = me->device->begin(me->host, job, &candidate.session, err);
   stopwatch_turn(&candidate.watch, PHASE_PLAN);
   if (status == RKB_OK) {
      snprintf(device, sizeof device, "%s", me->device->describe(candidate.session));
      status = verify_all(me, &candidate, &found, &tally, err);
      stopwatch_turn(&candidate.watch, PHASE_CLOSE);
      me->device->end(candidate.session);
   }
   stopwatch_turn(&candidate.watch, PHASE_OTHER);
   if (status == RKB_OK)
      status = emit(me, &candidate, &found, &tally, device);
   json_decref(found.evidence);
   peer_close(&place, &candidate.peer);
   if (manifest)
      me->kernel->manifest_free(manifest);
   me->kernel->build_free(build);
   return status;
}

static void gpu_destroy(void *self) {
   struct gpu *me = self;
   me->task->store_close(me->store);
   free(me);
}

static const rkb_option_t options[] = {
   {.name = "families",
    .type = RKB_OPT_INT,
    .offset = offsetof(struct gpu_config, families),
    .fallback = RKB_EXPECTED_TEXT(RKB_EXPECTED_FAMILIES),
    .min = 1,
    .max = 64,
    .help = "How many input families to run on each check case, the most telling first."},
   {.name = "bench_families",
    .type = RKB_OPT_INT,
    .offset = offsetof(struct gpu_config, bench_families),
    .fallback = RKB_EXPECTED_TEXT(RKB_EXPECTED_BENCH_FAMILIES),
    .min = 1,
    .max = 64,
    .help =
       "How many input families to run on each bench case and drawn shape; one if it moves more than a gigabyte."},
   {.name = "pool",
    .type = RKB_OPT_INT,
    .offset = offsetof(struct gpu_config, pool),
    .fallback = RKB_EXPECTED_TEXT(RKB_EXPECTED_POOL),
    .min = 2,
    .max = 4096,
    .help =
       "Seeds to draw a listed case's values from; no candidate knows them, and expected values are stored for each."},
   {.name = "budget",
    .type = RKB_OPT_DURATION,
    .offset = offsetof(struct gpu_config, budget),
    .fallback = RKB_EXPECTED_BUDGET,
    .help =
       "Time to evaluate the reference for one output of a large shape; when it is over, fewer elements are compared."},
   {.name = "drawn",
    .type = RKB_OPT_INT,
    .offset = offsetof(struct gpu_config, drawn),
    .fallback = "4",
    .min = 0,
    .max = 256,
    .help = "How many shapes to draw from the task's domain for each candidate."},
   {.name = "drawn_work",
    .type = RKB_OPT_REAL,
    .offset = offsetof(struct gpu_config, drawn_work),
    .fallback = "5e6",
    .min = 1,
    .max = 1e12,
    .help = "Most operations of a drawn shape."},
   {.name = "drawn_bytes",
    .type = RKB_OPT_INT,
    .offset = offsetof(struct gpu_config, drawn_bytes),
    .fallback = "1048576",
    .min = 4096,
    .max = (double)INT64_MAX,
    .help =
       "Most bytes of all tensors of a drawn shape; a larger shape is drawn again with half the operations."},
   {.name = "points",
    .type = RKB_OPT_INT,
    .offset = offsetof(struct gpu_config, points),
    .fallback = RKB_EXPECTED_TEXT(RKB_EXPECTED_POINTS),
    .min = 64,
    .max = 1048576,
    .help = "Output elements to compare at shapes too large to evaluate whole."},
   {.name = "deadline",
    .type = RKB_OPT_DURATION,
    .offset = offsetof(struct gpu_config, deadline),
    .fallback = "5s",
    .help = "How long one run of the plan may take before it counts as hanging."},
};

static const rkb_stage_t gpu = {
   .size = sizeof(rkb_stage_t),
   .kind = RKB_VERIFIER,
   .flags = RKB_STAGE_NEEDS_BUILD | RKB_STAGE_EXECUTES | RKB_STAGE_EXCLUSIVE_GPU,
   .id = "rkb.verifier.gpu",
   .summary = "Runs the candidate on a GPU, with its buffers between unmapped pages, and checks its outputs.",
   .accepts = (const char *const[]){RKB_ITEM_CANDIDATE, NULL},
   .emits = (const char *const[]){RKB_ITEM_VERDICT, NULL},
   RKB_OPTIONS(options),
   .config_size = sizeof(struct gpu_config),
   .create = gpu_create,
   .run = gpu_run,
   .destroy = gpu_destroy,
   .needs = (const char *const[]){RKB_EXT_TASK, RKB_EXT_KERNEL, RKB_EXT_DEVICE, RKB_EXT_RANDOM,
                                  RKB_EXT_WORKERS, NULL},
};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {
   RKB_PLUGIN_HEAD,
   .name = "gpu",
   .version = "0.1.0",
   .stages = (const rkb_stage_t *const[]){&gpu, NULL},
};
