/* rkb.mutator.edit - the edits that programmers try first, made on the tokens of a parent's text.
 *
 * Owns nothing between jobs; runs on workers. */
#include <rkb/ext/archive.h>
#include <rkb/ext/kernel.h>
#include <rkb/ext/random.h>
#include <rkb/items.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "edits.h"
#include "shared/known_candidate.h"

enum { TRIES = 24 };

typedef struct edit_config {
   const char *kind;
} edit_config_t;

typedef struct edit {
   const rkb_host_t *host;
   const edit_config_t *config;
   const rkb_kernel_api_t *kernel;
   const rkb_random_api_t *random;
   const rkb_archive_api_t *archive; /* or NULL */
} edit_t;

static int edit_create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   edit_t *me = malloc(sizeof *me);
   if (!me)
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate %zu bytes", sizeof *me);
   *me = (edit_t){host, config, host->get_extension(host, RKB_EXT_KERNEL), host->get_extension(host, RKB_EXT_RANDOM),
                  host->get_extension(host, RKB_EXT_ARCHIVE)};
   *self = me;
   return RKB_OK;
}

/* The parent's tune object with the edit's new value; malloc'd. */
static char *new_tune(const char *parent_tune, const edit_result_t *result) {
   json_t *tune = parent_tune ? json_loads(parent_tune, 0, NULL) : json_object();
   if (json_is_object(tune) && result->tune_name)
      json_object_set_new(tune, result->tune_name, json_integer(result->tune_value));
   char *text = json_is_object(tune) ? json_dumps(tune, JSON_COMPACT) : NULL;
   json_decref(tune);
   return text;
}

/* Emits the edited text, unless it repeats a candidate that the job may see. */
static int emit_new(const edit_t *me, rkb_job_t job, const rkb_item_t *parent, const char *text, const char *kind,
                    const edit_result_t *result, bool *emitted, rkb_error_t *err) {
   char note[256];
   int status = RKB_OK;
   char *tune = new_tune(me->host->item_json(me->host, parent, "tune"), result);
   if (!tune)
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot write the tune assignment");
   *emitted = !candidate_is_known(me->host, me->archive, job, text, tune);
   snprintf(note, sizeof note, "%s: %s", kind, result->note);
   if (*emitted)
      status = rkb_emit_candidate(me->host, job, text, tune, note, &parent, 1);
   free(tune);
   return status == RKB_OK ? RKB_OK : rkb_fail(err, status, "cannot emit the candidate");
}

static const edit_kind_t *draw_kind(const edit_t *me, const edit_subject_t *subject) {
   if (strcmp(me->config->kind, "any") == 0)
      return &EDIT_KINDS[edit_draw(subject, EDIT_KIND_COUNT)];
   for (uint32_t i = 0; i < EDIT_KIND_COUNT; i++)
      if (strcmp(EDIT_KINDS[i].name, me->config->kind) == 0)
         return &EDIT_KINDS[i];
   return NULL;
}

/* Draws kinds of edit until one applies and gives a new text; emits nothing when none does. */
static int try_edits(const edit_t *me, rkb_job_t job, const rkb_item_t *parent, const edit_subject_t *subject,
                     rkb_error_t *err) {
   for (uint32_t i = 0; i < TRIES; i++) {
      edit_result_t result = {0};
      const edit_kind_t *kind = draw_kind(me, subject);
      bool made = kind && kind->make(subject, &result);
      char *text =
         made ? patches_apply(&result.patches, subject->source->text, subject->source->bytes) : NULL;
      int status = RKB_OK;
      bool emitted = false;
      if (text && strcmp(text, subject->source->text) != 0)
         status = emit_new(me, job, parent, text, kind->name, &result, &emitted, err);
      patches_free(&result.patches);
      free(text);
      if (emitted || status != RKB_OK)
         return status;
   }
   return RKB_OK;
}

static int edit_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const edit_t *me = self;
   const rkb_item_t *parent = me->host->item_reference(me->host, in, "parent", 0);
   rkb_manifest_t *manifest = NULL;
   rkb_finding_t finding = {0};
   source_t source;
   functions_t functions;
   if (!parent)
      return rkb_fail(err, RKB_ERR_INVALID, "an edit needs a parent");
   const char *text = me->host->item_text(me->host, parent, "source");
   int status = me->kernel->manifest(me->host, text, &manifest, &finding, err);
   if (status != RKB_OK || !manifest) /* without a manifest no edit is possible, and the job does not fail */
      return status;
   status = source_open(&source, me->kernel, text, strlen(text), err);
   if (status != RKB_OK)
      goto free_manifest;
   status = functions_find(&source, &functions, err);
   if (status != RKB_OK)
      goto close_source;
   rkb_random_t stream = me->random->for_job(me->host, job, 0);
   const edit_subject_t subject = {&source, &functions, manifest, me->random, &stream};
   status = try_edits(me, job, parent, &subject, err);
   functions_free(&functions);
close_source:
   source_close(&source);
free_manifest:
   me->kernel->manifest_free(manifest);
   return status;
}

static void edit_destroy(void *self) {
   free(self);
}

static const rkb_option_t options[] = {
   {.name = "kind",
    .type = RKB_OPT_ENUM,
    .offset = offsetof(edit_config_t, kind),
    .fallback = "any",
    .choices = (const char *const[]){"any", "unroll", "launch_bounds", "restrict", "ldg", "block_shape",
                                     "grid_stride", "barrier", "intrinsic", NULL},
    .help = "Which edit to make; any: one of those that apply, drawn at random."},
};

static const rkb_stage_t edit = {
   .size = sizeof(rkb_stage_t),
   .kind = RKB_MUTATOR,
   .flags = RKB_STAGE_DETERMINISTIC,
   .id = "rkb.mutator.edit",
   .summary = "Edits a candidate's text by tokens, in the ways a person tries first.",
   .accepts = (const char *const[]){RKB_ITEM_REQUEST, NULL},
   .emits = (const char *const[]){RKB_ITEM_CANDIDATE, NULL},
   RKB_OPTIONS(options),
   .config_size = sizeof(edit_config_t),
   .create = edit_create,
   .run = edit_run,
   .destroy = edit_destroy,
   .needs = (const char *const[]){RKB_EXT_KERNEL, RKB_EXT_RANDOM, NULL},
};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {
   RKB_PLUGIN_HEAD,
   .name = "edit",
   .version = "0.1.0",
   .stages = (const rkb_stage_t *const[]){&edit, NULL},
};
