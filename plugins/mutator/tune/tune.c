/* rkb.mutator.tune - moves in the tune space of a parent; the parent's text stays the same, but for choices that mode `wide` adds.
 *
 * Owns nothing between jobs; runs on workers. */
#include <rkb/ext/archive.h>
#include <rkb/ext/kernel.h>
#include <rkb/ext/random.h>
#include <rkb/items.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "same_text_family.h"
#include "additive_model.h"
#include "moves.h"
#include "off_choice_moves.h"

enum { ARCHIVE_ROWS = 4096 };

typedef struct tune_config {
   const char *mode;
   int64_t steps;
} tune_config_t;

typedef struct tune {
   const rkb_host_t *host;
   const tune_config_t *config;
   const rkb_kernel_api_t *kernel;
   const rkb_random_api_t *random;
   const rkb_archive_api_t *archive; /* NULL: no results are known, and a guided move goes to a neighbour */
} tune_t;

static int tune_create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   tune_t *me = malloc(sizeof *me);
   if (!me)
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate %zu bytes", sizeof *me);
   *me = (tune_t){host, config, host->get_extension(host, RKB_EXT_KERNEL),
                  host->get_extension(host, RKB_EXT_RANDOM), host->get_extension(host, RKB_EXT_ARCHIVE)};
   *self = me;
   return RKB_OK;
}

static bool is_measured(const rkb_archive_row_t *row) {
   return row->has_objective && row->standing &&
          (strcmp(row->standing, RKB_ACCEPT) == 0 || strcmp(row->standing, RKB_SUSPECT) == 0);
}

/* Makes a point of a candidate.  False: the candidate says nothing of this source. */
typedef bool (*read_point_t)(const rkb_manifest_t *manifest, const char *source, const rkb_archive_row_t *row,
                             void *point);

/* The result of an assignment of the same source. */
static bool read_guide_point(const rkb_manifest_t *manifest, const char *source, const rkb_archive_row_t *row,
                             void *point) {
   guide_point_t *to = point;
   rkb_error_t ignored;
   to->has_objective = is_measured(row);
   to->objective = row->objective;
   return strcmp(row->source, source) == 0 &&
          assignment_read(manifest, row->tune, &to->at, &ignored) == RKB_OK;
}

/* The result of any text that has no other parameters than the source's. */
static bool read_wide_point(const rkb_manifest_t *manifest, const char *source, const rkb_archive_row_t *row,
                            void *point) {
   wide_point_t *to = point;
   to->own = family_has(manifest, source, row->source);
   to->length = (double)strlen(row->source);
   to->objective = is_measured(row) ? row->objective : NAN;
   return row->standing && family_values(manifest, row->tune, to->value);
}

/* Reads points of so many bytes from the candidates that this job may see: none without an archive.  *points is malloc'd. */
static int known_points(const tune_t *me, rkb_job_t job, const rkb_manifest_t *manifest, const char *source,
                        read_point_t read, size_t bytes, void **points, uint32_t *count, rkb_error_t *err) {
   rkb_archive_query_t query = {.size = sizeof query, .order = RKB_ARCHIVE_BY_NUMBER, .limit = ARCHIVE_ROWS};
   rkb_archive_rows_t *rows = NULL;
   int status = me->archive ? me->archive->query(me->host, job, &query, &rows, err) : RKB_OK;
   const uint32_t total = rows ? me->archive->rows_count(rows) : 0;
   *points = calloc((size_t)total + 1, bytes);
   *count = 0;
   if (status == RKB_OK && !*points)
      status = rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate %u points", total);
   for (uint32_t i = 0; i < total && status == RKB_OK; i++) {
      const rkb_archive_row_t *row = me->archive->rows_at(rows, i);
      if (row->source && read(manifest, source, row, (char *)*points + *count * bytes))
         ++*count;
   }
   if (rows)
      me->archive->rows_free(rows);
   return status;
}

static int guided(const tune_t *me, rkb_job_t job, const rkb_manifest_t *manifest, const char *source,
                  rkb_random_t *stream, assignment_t *assignment, bool *moved, rkb_error_t *err) {
   void *points;
   uint32_t count;
   int status =
      known_points(me, job, manifest, source, read_guide_point, sizeof(guide_point_t), &points, &count, err);
   if (status == RKB_OK)
      *moved = additive_model_move(me->random, stream, manifest, points, count, assignment);
   free(points);
   return status;
}

/* The assignment whose number the strategy's hint {"grid": n} gives. */
static int from_grid(const tune_t *me, const rkb_item_t *request, const rkb_manifest_t *manifest,
                     assignment_t *assignment, bool *moved, rkb_error_t *err) {
   const char *hints = me->host->item_json(me->host, request, "hints");
   json_t *object = hints ? json_loads(hints, 0, NULL) : NULL;
   const json_t *index = json_object_get(object, "grid");
   int status = RKB_OK;
   if (json_is_integer(index) && json_integer_value(index) >= 0)
      *moved = assignment_at(manifest, (uint64_t)json_integer_value(index), assignment);
   else
      status = rkb_fail_option(err, "mode", "grid needs a strategy that counts, such as rkb.strategy.grid");
   json_decref(object);
   return status;
}

/* The assignment that the strategy's hint {"tune": {NAME: value}} gives. */
static int as_asked(const tune_t *me, const rkb_item_t *request, const rkb_manifest_t *manifest,
                    assignment_t *assignment, bool *moved, rkb_error_t *err) {
   const char *hints = me->host->item_json(me->host, request, "hints");
   json_t *object = hints ? json_loads(hints, 0, NULL) : NULL;
   char *tune = json_dumps(json_object_get(object, "tune"), 0);
   json_decref(object);
   if (!tune)
      return rkb_fail_option(err, "mode", "asked needs a strategy that chooses, such as rkb.strategy.tune");
   int status = assignment_read(manifest, tune, assignment, err);
   *moved = status == RKB_OK;
   free(tune);
   return status;
}

static int move(const tune_t *me, rkb_job_t job, const rkb_item_t *request, const rkb_manifest_t *manifest,
                const char *source, assignment_t *assignment, bool *moved, rkb_error_t *err) {
   rkb_random_t stream = me->random->for_job(me->host, job, 0);
   const char *mode = me->config->mode;
   if (strcmp(mode, "grid") == 0)
      return from_grid(me, request, manifest, assignment, moved, err);
   if (strcmp(mode, "asked") == 0)
      return as_asked(me, request, manifest, assignment, moved, err);
   if (strcmp(mode, "guided") == 0)
      return guided(me, job, manifest, source, &stream, assignment, moved, err);
   *moved = strcmp(mode, "random") == 0
               ? move_anywhere(me->random, &stream, manifest, assignment)
               : move_to_neighbour(me->random, &stream, manifest, (uint32_t)me->config->steps, assignment);
   return RKB_OK;
}

static int emit(const tune_t *me, rkb_job_t job, const rkb_item_t *parent, const char *source,
                const rkb_manifest_t *manifest, const int64_t *from, const int64_t *to, rkb_error_t *err) {
   char difference[400], note[480];
   char *tune = assignment_write_values(manifest, to);
   if (!tune)
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot write the tune assignment");
   assignment_difference(manifest, from, to, difference, sizeof difference);
   snprintf(note, sizeof note, "%s: %s", me->config->mode,
            difference[0] ? difference : "the parent's own assignment");
   int status = rkb_emit_candidate(me->host, job, source, tune, note, &parent, 1);
   free(tune);
   return status == RKB_OK ? RKB_OK : rkb_fail(err, status, "cannot emit the candidate");
}

/* A move to values that need not be choices; the candidate's text gets them as choices. */
static int widen(const tune_t *me, rkb_job_t job, const rkb_item_t *parent, const char *source,
                 const rkb_manifest_t *manifest, const int64_t *from, rkb_error_t *err) {
   rkb_random_t stream = me->random->for_job(me->host, job, 0);
   int64_t to[ASSIGNMENT_MAX];
   void *points;
   uint32_t count;
   bool moved = false;
   memcpy(to, from, sizeof to);
   int status =
      known_points(me, job, manifest, source, read_wide_point, sizeof(wide_point_t), &points, &count, err);
   if (status == RKB_OK)
      status = off_choice_move(me->random, &stream, manifest, points, count, (double)strlen(source), to,
                               &moved, err);
   free(points);
   char *text = status == RKB_OK && moved ? family_text(manifest, source, to) : NULL;
   if (text) /* else a list of choices stands where it cannot be found, and there is no candidate */
      status = emit(me, job, parent, text, manifest, from, to, err);
   free(text);
   return status;
}

static int tune_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const tune_t *me = self;
   const rkb_item_t *parent = me->host->item_reference(me->host, in, "parent", 0);
   if (!parent)
      return rkb_fail(err, RKB_ERR_INVALID, "a tune move needs a parent");
   const char *source = me->host->item_text(me->host, parent, "source");
   rkb_manifest_t *manifest = NULL;
   rkb_finding_t finding = {0};
   assignment_t before, after;
   int64_t from[ASSIGNMENT_MAX] = {0}, to[ASSIGNMENT_MAX] = {0};
   bool moved = false;
   int status = me->kernel->manifest(me->host, source, &manifest, &finding, err);
   if (status != RKB_OK)
      return status;
   if (!manifest) /* the parent cannot be tuned, so there is no candidate, and the job does not fail */
      return RKB_OK;
   status = assignment_read(manifest, me->host->item_json(me->host, parent, "tune"), &before, err);
   after = before;
   if (status == RKB_OK)
      assignment_values(manifest, &before, from);
   if (status == RKB_OK && strcmp(me->config->mode, "wide") == 0)
      status = widen(me, job, parent, source, manifest, from, err);
   else if (status == RKB_OK)
      status = move(me, job, in, manifest, source, &after, &moved, err);
   if (status == RKB_OK && moved) {
      assignment_values(manifest, &after, to);
      status = emit(me, job, parent, source, manifest, from, to, err);
   }
   me->kernel->manifest_free(manifest);
   return status;
}

static void tune_destroy(void *self) {
   free(self);
}

static const rkb_option_t options[] = {
   {.name = "mode",
    .type = RKB_OPT_ENUM,
    .offset = offsetof(tune_config_t, mode),
    .fallback = "guided",
    .choices = (const char *const[]){"neighbour", "random", "guided", "wide", "grid", "asked", NULL},
    .help =
       "neighbour: the next value below or above; random: any value; guided: by the archive's results for the "
       "same source; wide: by those for all texts with the same parameters, and to values that are no choices yet; grid: the point that rkb.strategy.grid asks for; asked: the assignment that "
       "rkb.strategy.tune asks for."},
   {.name = "steps",
    .type = RKB_OPT_INT,
    .offset = offsetof(tune_config_t, steps),
    .fallback = "1",
    .min = 1,
    .max = ASSIGNMENT_MAX,
    .help = "How many parameters a neighbour move changes."},
};

static const rkb_stage_t tune = {
   .size = sizeof(rkb_stage_t),
   .kind = RKB_MUTATOR,
   .flags = RKB_STAGE_DETERMINISTIC,
   .id = "rkb.mutator.tune",
   .summary = "Changes the tune values of a candidate.",
   .accepts = (const char *const[]){RKB_ITEM_REQUEST, NULL},
   .emits = (const char *const[]){RKB_ITEM_CANDIDATE, NULL},
   RKB_OPTIONS(options),
   .config_size = sizeof(tune_config_t),
   .create = tune_create,
   .run = tune_run,
   .destroy = tune_destroy,
   .needs = (const char *const[]){RKB_EXT_KERNEL, RKB_EXT_RANDOM, NULL},
};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {
   RKB_PLUGIN_HEAD,
   .name = "tune",
   .version = "0.1.0",
   .stages = (const rkb_stage_t *const[]){&tune, NULL},
};
