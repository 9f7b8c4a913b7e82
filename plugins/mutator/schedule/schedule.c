/* rkb.mutator.schedule - a kernel whose schedule differs from its parent's in one decision or a few, or mixes
 * the schedules of two parents.
 *
 * If a model measured the parent's limiting resource, the resource weighs the decisions.  A parent without a
 * schedule (a seed, an edited kernel) gives no child here.  Owns nothing between jobs; runs on workers. */
#include <rkb/ext/archive.h>
#include <rkb/ext/random.h>
#include <rkb/ext/schedule.h>
#include <rkb/items.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "shared/known_candidate.h"

enum { MOST_DROPPED = 4 };

typedef struct schedule_config {
   const char *limiter, *time, *guess;
   double crossover, forecast, steps;
} schedule_config_t;

typedef struct mutator {
   const rkb_host_t *host;
   const schedule_config_t *config;
   const rkb_schedule_api_t *schedule;
   const rkb_random_api_t *random;
   const rkb_archive_api_t *archive; /* or NULL */
} mutator_t;

static int schedule_create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   mutator_t *me = malloc(sizeof *me);
   if (!me)
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate %zu bytes", sizeof *me);
   *me = (mutator_t){host, config, host->get_extension(host, RKB_EXT_SCHEDULE),
                     host->get_extension(host, RKB_EXT_RANDOM), host->get_extension(host, RKB_EXT_ARCHIVE)};
   *self = me;
   return RKB_OK;
}

/* The first of the measurements named by an option that the candidate has.  A profiler measures only promoted candidates. */
static bool first_measured(const mutator_t *me, rkb_job_t job, const char *names, int64_t number,
                           double *value) {
   char name[96];
   for (const char *at = names; *(at += strspn(at, ", ")); at += strcspn(at, ", ")) {
      snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ", "), at);
      if (me->archive->measurement(me->host, job, number, name, value, NULL, 0))
         return true;
   }
   return false;
}

/* The numbers are those of rkb.profiler.model's measurement `limiter` (plugins/profiler/shared/launch_limiter.h). */
static uint32_t limit_of(const mutator_t *me, rkb_job_t job, const rkb_item_t *parent) {
   enum { MEMORY, L2, SHARED, LOAD_STORE, ISSUE, ATOMIC = 11, LATENCY, SPILLED = 14 };
   double value = -1;
   int64_t number = 0;
   if (!me->archive || !me->host->item_int(me->host, parent, "number", &number) ||
       !first_measured(me, job, me->config->limiter, number, &value) || value < 0)
      return RKB_LIMIT_UNKNOWN;
   switch ((int)value) {
   case MEMORY:
   case L2:
      return RKB_LIMIT_BYTES;
   case SHARED:
      return RKB_LIMIT_SHARED;
   case ATOMIC:
      return RKB_LIMIT_UNKNOWN;
   case LATENCY:
   case SPILLED: /* what a block holds is too much for it */
      return RKB_LIMIT_WARPS;
   default:
      return RKB_LIMIT_INSTRUCTIONS;
   }
}

typedef struct asking {
   const mutator_t *me;
   rkb_job_t job;
} asking_t;

static bool is_known(void *context, const char *text) {
   const asking_t *asking = context;
   return candidate_is_known(asking->me->host, asking->me->archive, asking->job, text, NULL);
}

/* Requests that are in flight at the same time do not see each other's results, so they get different slots. */
static uint32_t slot_of(const mutator_t *me, rkb_job_t job, rkb_random_t *stream, int64_t *window) {
   const int64_t seen = me->archive->horizon(me->host, job, window);
   return (uint32_t)(seen >= 0 ? (seen + *window) % *window : (int64_t)(me->random->real(stream) * (double)*window));
}

/* Reads all candidates that the job may see; the caller frees them with rows_free. */
static int query_all(const mutator_t *me, rkb_job_t job, rkb_archive_rows_t **rows, rkb_error_t *err) {
   const rkb_archive_query_t query = {.size = sizeof query, .limit = 4096};
   return me->archive->query(me->host, job, &query, rows, err);
}

/* Takes a neighbouring schedule that no candidate has. */
static int take_step(const mutator_t *me, rkb_job_t job, rkb_random_t *stream, const rkb_item_t *parent, const char *source, char **child,
                     char *note, size_t note_size, rkb_error_t *err) {
   int64_t window = 16;
   const uint32_t slot = slot_of(me, job, stream, &window);
   asking_t asking = {me, job};
   return me->schedule->step(me->host, source, limit_of(me, job, parent), slot, (uint32_t)window, is_known, &asking, child, note, note_size, err);
}

/* A candidate's time for the model; infinite where the candidate is of no use.  One that was left unchecked has the time that it was
 * left unchecked for. */
static double time_of(const mutator_t *me, rkb_job_t job, const rkb_archive_row_t *row) {
   double guess;
   if (row->has_objective && row->objective > 0 && strcmp(row->standing, RKB_ACCEPT) == 0)
      return row->objective;
   if (row->reason && strcmp(row->reason, "search.slower") == 0 &&
       first_measured(me, job, me->config->guess, row->number, &guess) && guess > 0)
      return guess;
   return INFINITY;
}

/* Lists the known candidates for the model.  The caller frees the list, which must not outlive rows.  NULL:
 * memory is out. */
static rkb_schedule_tried_t *list_tried(const mutator_t *me, rkb_job_t job, const rkb_archive_rows_t *rows, uint32_t count) {
   rkb_schedule_tried_t *tried = calloc(count + 1, sizeof *tried);
   for (uint32_t i = 0; tried && i < count; i++) {
      const rkb_archive_row_t *row = me->archive->rows_at(rows, i);
      tried[i] = (rkb_schedule_tried_t){row->number, row->source, time_of(me, job, row)};
   }
   return tried;
}

/* Chooses the most promising schedule by the candidates so far.  *base: the candidate that it is near; 0: the
 * parent. */
static int acquire(const mutator_t *me, rkb_job_t job, rkb_random_t *stream, const rkb_item_t *parent, const char *source, char **child,
                   int64_t *base, char *note, size_t note_size, rkb_error_t *err) {
   rkb_archive_rows_t *rows = NULL;
   const uint32_t slot = slot_of(me, job, stream, &(int64_t){16});
   int status = query_all(me, job, &rows, err);
   const uint32_t count = status == RKB_OK ? me->archive->rows_count(rows) : 0;
   rkb_schedule_tried_t *tried = status == RKB_OK ? list_tried(me, job, rows, count) : NULL;
   if (tried)
      status = me->schedule->acquire(me->host, stream, source, limit_of(me, job, parent), slot, tried, count, child, base, note, note_size, err);
   else if (status == RKB_OK)
      status = rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate a list of %u kernels", count);
   free(tried);
   me->archive->rows_free(rows);
   return status;
}

/* The time in microseconds of the best candidate that the job may see; infinite when there is none. */
static int best_time(const mutator_t *me, rkb_job_t job, double *best, rkb_error_t *err) {
   const rkb_archive_query_t query = {.size = sizeof query, .limit = 1, .order = RKB_ARCHIVE_BY_OBJECTIVE, .standing = RKB_ACCEPT};
   rkb_archive_rows_t *rows = NULL;
   *best = INFINITY;
   if (!me->archive || !me->config->time[0] || !RKB_HAS(me->schedule, least))
      return RKB_OK;
   int status = me->archive->query(me->host, job, &query, &rows, err);
   if (status != RKB_OK)
      return status;
   if (me->archive->rows_count(rows) > 0 &&
       !me->archive->measurement(me->host, job, me->archive->rows_at(rows, 0)->number, me->config->time, best, NULL, 0))
      *best = INFINITY;
   me->archive->rows_free(rows);
   return RKB_OK;
}

/* Drops a child whose schedule alone needs as long as the best candidate, because it cannot be faster.  Also
 * drops one that the job knows. */
static int drop_useless(const mutator_t *me, rkb_job_t job, double best, char **child, rkb_error_t *err) {
   double least = 0;
   int status = *child && isfinite(best) ? me->schedule->least(me->host, *child, &least, err) : RKB_OK;
   if (status == RKB_OK && *child && (least * 1e6 >= best || is_known(&(asking_t){me, job}, *child))) {
      me->schedule->free_text(*child);
      *child = NULL;
   }
   return status;
}

static int change_often(const mutator_t *me, rkb_job_t job, rkb_random_t *stream, const rkb_item_t *parent, const char *source, double best,
                        char **child, char *note, size_t note_size, rkb_error_t *err) {
   int status = RKB_OK;
   for (int n = 0; status == RKB_OK && !*child && n < MOST_DROPPED; n++) {
      status = me->schedule->change(me->host, stream, source, limit_of(me, job, parent), child, note, note_size, err);
      if (status == RKB_OK && !*child)
         break; /* no legal schedule was found */
      if (status == RKB_OK)
         status = drop_useless(me, job, best, child, err);
   }
   return status;
}

static int schedule_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const mutator_t *me = self;
   const rkb_item_t *parents[] = {me->host->item_reference(me->host, in, "parent", 0),
                                  me->host->item_reference(me->host, in, "parent", 1)};
   char *child = NULL, note[400] = "";
   uint32_t used = 1;
   double best = INFINITY;
   int status = RKB_OK;
   if (!parents[0])
      return rkb_fail(err, RKB_ERR_INVALID, "a change of a schedule needs a parent");
   rkb_random_t stream = me->random->for_job(me->host, job, 0);
   const char *source = me->host->item_text(me->host, parents[0], "source");
   status = best_time(me, job, &best, err);
   if (status == RKB_OK && parents[1] && me->random->real(&stream) < me->config->crossover) {
      status =
         me->schedule->cross(me->host, &stream, source, me->host->item_text(me->host, parents[1], "source"),
                             &child, note, sizeof note, err);
      if (status == RKB_OK)
         status = drop_useless(me, job, best, &child, err);
      used = child ? 2 : 1;
   }
   if (status == RKB_OK && !child && me->archive && RKB_HAS(me->schedule, acquire) && me->random->real(&stream) < me->config->forecast) {
      int64_t base = 0;
      char change[320] = "";
      status = acquire(me, job, &stream, parents[0], source, &child, &base, change, sizeof change, err);
      if (child && base) {
         snprintf(note, sizeof note, "near candidate %lld: %s", (long long)base, change);
         used = 0; /* the request's parent has no part in the child */
      } else if (child)
         snprintf(note, sizeof note, "%s", change);
   }
   if (status == RKB_OK && !child && me->archive && me->random->real(&stream) < me->config->steps)
      status = take_step(me, job, &stream, parents[0], source, &child, note, sizeof note, err);
   if (status == RKB_OK)
      status = drop_useless(me, job, best, &child, err);
   if (status == RKB_OK && !child) {
      note[0] = '\0';
      status = change_often(me, job, &stream, parents[0], source, best, &child, note, sizeof note, err);
      if (status == RKB_OK && !child && note[0])
         RKB_LOG(me->host, RKB_LOG_DEBUG, "no child: %s", note);
   }
   if (status != RKB_OK || !child)
      return status;
   status = rkb_emit_candidate(me->host, job, child, NULL, note, parents, used);
   me->schedule->free_text(child);
   return status == RKB_OK ? RKB_OK : rkb_fail(err, status, "cannot emit the candidate");
}

static void schedule_destroy(void *self) {
   free(self);
}

static const rkb_option_t options[] = {
   {.name = "limiter",
    .type = RKB_OPT_STRING,
    .offset = offsetof(schedule_config_t, limiter),
    .fallback = "cupti.limiter, ncu.limiter, model.limiter",
    .help = "The measurements that say what limits a parent; the first that it has counts."},
   {.name = "time",
    .type = RKB_OPT_STRING,
    .offset = offsetof(schedule_config_t, time),
    .fallback = "model.predicted_us",
    .help =
       "The measurement, in microseconds, of the best candidate: a child whose schedule alone needs as long is not made; \"\": all are."},
   {.name = "guess",
    .type = RKB_OPT_STRING,
    .offset = offsetof(schedule_config_t, guess),
    .fallback = "guess.predicted_us, early.predicted_us",
    .help =
       "The measurements, in the objective's unit, of candidates that rkb.verifier.slower left unchecked; the first that one has counts; \"\": the model learns that they are of no use."},
   {.name = "crossover",
    .type = RKB_OPT_REAL,
    .offset = offsetof(schedule_config_t, crossover),
    .fallback = "0.2",
    .min = 0,
    .max = 1,
    .help = "The share of children that get launches of two parents, where there are two."},
   {.name = "forecast",
    .type = RKB_OPT_REAL,
    .offset = offsetof(schedule_config_t, forecast),
    .fallback = "0.7",
    .min = 0,
    .max = 1,
    .help =
       "The share of the other children that are chosen of some hundred by a model of what was tried so far."},
   {.name = "steps",
    .type = RKB_OPT_REAL,
    .offset = offsetof(schedule_config_t, steps),
    .fallback = "0.7",
    .min = 0,
    .max = 1,
    .help =
       "The share of the other children that take the best step that no one tried; the rest change by chance, launches too."},
};

static const rkb_stage_t schedule = {
   .size = sizeof(rkb_stage_t),
   .kind = RKB_MUTATOR,
   .flags = RKB_STAGE_DETERMINISTIC,
   .id = "rkb.mutator.schedule",
   .summary = "Changes the schedule of a kernel that was written from the graph.",
   .accepts = (const char *const[]){RKB_ITEM_REQUEST, NULL},
   .emits = (const char *const[]){RKB_ITEM_CANDIDATE, NULL},
   RKB_OPTIONS(options),
   .config_size = sizeof(schedule_config_t),
   .create = schedule_create,
   .run = schedule_run,
   .destroy = schedule_destroy,
   .needs = (const char *const[]){RKB_EXT_SCHEDULE, RKB_EXT_RANDOM, NULL},
};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {
   RKB_PLUGIN_HEAD,
   .name = "schedule",
   .version = "0.1.0",
   .stages = (const rkb_stage_t *const[]){&schedule, NULL},
};
