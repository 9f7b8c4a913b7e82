/* rkb.mutator.crossover - one child of two parents: tune genes, launch genes, or the body of a device
 * function.
 *
 * The child is the first parent with a part of the second.  Owns nothing between jobs; runs on workers. */
#include <rkb/ext/archive.h>
#include <rkb/ext/kernel.h>
#include <rkb/ext/random.h>
#include <rkb/items.h>
#include <stdlib.h>
#include <string.h>
#include "gene_exchange.h"
#include "genes.h"
#include "shared/known_candidate.h"

enum { TRIES = 8 };

typedef struct crossover {
   const rkb_host_t *host;
   const rkb_kernel_api_t *kernel;
   const rkb_random_api_t *random;
   const rkb_archive_api_t *archive; /* or NULL */
} crossover_t;

/* A parent and its parsed parts. */
typedef struct parent {
   const rkb_item_t *item;
   const char *text;
   rkb_manifest_t *manifest;
   source_t source;
   functions_t functions;
   assignment_t assignment;
} parent_t;

typedef struct child {
   char *text; /* the child's text; NULL: the first parent's */
   assignment_t assignment;
   char note[480];
} child_t;

static int crossover_create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   (void)config;
   crossover_t *me = malloc(sizeof *me);
   if (!me)
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate %zu bytes", sizeof *me);
   *me = (crossover_t){host, host->get_extension(host, RKB_EXT_KERNEL),
                       host->get_extension(host, RKB_EXT_RANDOM), host->get_extension(host, RKB_EXT_ARCHIVE)};
   *self = me;
   return RKB_OK;
}

static void parent_close(const crossover_t *me, parent_t *parent) {
   functions_free(&parent->functions);
   source_close(&parent->source);
   if (parent->manifest)
      me->kernel->manifest_free(parent->manifest);
   parent->manifest = NULL;
}

/* *usable false: the manifest does not parse, so that the item cannot be a parent here. */
static int parent_open(const crossover_t *me, const rkb_item_t *item, parent_t *parent, bool *usable,
                       rkb_error_t *err) {
   rkb_finding_t finding = {0};
   *parent = (parent_t){.item = item, .text = me->host->item_text(me->host, item, "source")};
   int status = me->kernel->manifest(me->host, parent->text, &parent->manifest, &finding, err);
   *usable = parent->manifest != NULL;
   if (status != RKB_OK || !*usable)
      return status;
   status = assignment_read(parent->manifest, me->host->item_json(me->host, item, "tune"),
                            &parent->assignment, err);
   if (status == RKB_OK)
      status = source_open(&parent->source, me->kernel, parent->text, strlen(parent->text), err);
   if (status == RKB_OK)
      status = functions_find(&parent->source, &parent->functions, err);
   return status;
}

static bool mix_genes(const crossover_t *me, rkb_random_t *stream, const parent_t *first,
                      const parent_t *second, child_t *child) {
   char difference[400];
   bool same_source = strcmp(first->text, second->text) == 0;
   child->assignment = first->assignment;
   if (!genes_mix(me->random, stream, first->manifest, &child->assignment, second->manifest,
                  &second->assignment, same_source))
      return false;
   int64_t from[ASSIGNMENT_MAX], to[ASSIGNMENT_MAX];
   assignment_values(first->manifest, &first->assignment, from);
   assignment_values(first->manifest, &child->assignment, to);
   assignment_difference(first->manifest, from, to, difference, sizeof difference);
   snprintf(child->note, sizeof child->note, "genes of the second parent: %s", difference);
   return true;
}

typedef bool (*exchange_t)(const rkb_random_api_t *random, rkb_random_t *stream, const side_t *first,
                           const side_t *second, patches_t *patches, char *note, size_t note_size);

static bool exchange_text(const crossover_t *me, rkb_random_t *stream, const parent_t *first,
                          const parent_t *second, exchange_t exchange, child_t *child) {
   const side_t a = {&first->source, &first->functions, first->manifest},
                b = {&second->source, &second->functions, second->manifest};
   patches_t patches = {0};
   child->assignment = first->assignment;
   if (exchange(me->random, stream, &a, &b, &patches, child->note, sizeof child->note))
      child->text = patches_apply(&patches, first->text, strlen(first->text));
   patches_free(&patches);
   return child->text != NULL;
}

/* Tries the three ways in a random order until one applies. */
static bool cross(const crossover_t *me, rkb_random_t *stream, const parent_t *first, const parent_t *second,
                  child_t *child) {
   const uint32_t start = (uint32_t)me->random->below(stream, 3);
   for (uint32_t i = 0; i < 3; i++) {
      uint32_t way = (start + i) % 3;
      if (way == 0 ? mix_genes(me, stream, first, second, child)
                   : exchange_text(me, stream, first, second, way == 1 ? exchange_function : exchange_launch,
                                   child))
         return true;
   }
   return false;
}

/* Emits the child, unless it repeats a candidate that the job may see. */
static int emit_new(const crossover_t *me, rkb_job_t job, const parent_t *first, const parent_t *second,
                    const child_t *child, bool *emitted, rkb_error_t *err) {
   const rkb_item_t *const parents[] = {first->item, second->item};
   const char *text = child->text ? child->text : first->text;
   int status = RKB_OK;
   char *tune = assignment_write(first->manifest, &child->assignment);
   if (!tune)
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot write the tune assignment");
   *emitted = !candidate_is_known(me->host, me->archive, job, text, tune);
   if (*emitted)
      status = rkb_emit_candidate(me->host, job, text, tune, child->note, parents, 2);
   free(tune);
   return status == RKB_OK ? RKB_OK : rkb_fail(err, status, "cannot emit the candidate");
}

/* Draws children until one is new; emits none when none is new. */
static int try_children(const crossover_t *me, rkb_job_t job, const parent_t *first, const parent_t *second,
                        rkb_error_t *err) {
   rkb_random_t stream = me->random->for_job(me->host, job, 0);
   bool emitted = false, made = true;
   int status = RKB_OK;
   for (int n = 0; n < TRIES && made && !emitted && status == RKB_OK; n++) {
      child_t child = {0};
      made = cross(me, &stream, first, second, &child);
      if (made)
         status = emit_new(me, job, first, second, &child, &emitted, err);
      free(child.text);
   }
   return status;
}

static int crossover_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const crossover_t *me = self;
   const rkb_item_t *items[] = {me->host->item_reference(me->host, in, "parent", 0),
                                me->host->item_reference(me->host, in, "parent", 1)};
   parent_t first = {0}, second = {0};
   bool usable = false, both = false;
   if (!items[0])
      return rkb_fail(err, RKB_ERR_INVALID, "a crossover needs parents");
   /* A young population may have one member; then there is no child, and the job does not fail. */
   if (!items[1])
      return RKB_OK;
   int status = parent_open(me, items[0], &first, &usable, err);
   if (status == RKB_OK && usable)
      status = parent_open(me, items[1], &second, &both, err);
   if (status == RKB_OK && both)
      status = try_children(me, job, &first, &second, err);
   parent_close(me, &second);
   parent_close(me, &first);
   return status;
}

static void crossover_destroy(void *self) {
   free(self);
}

static const rkb_stage_t crossover = {
   .size = sizeof(rkb_stage_t),
   .kind = RKB_MUTATOR,
   .flags = RKB_STAGE_DETERMINISTIC,
   .id = "rkb.mutator.crossover",
   .summary = "Joins two candidates: tune values, launch shapes, device functions.",
   .accepts = (const char *const[]){RKB_ITEM_REQUEST, NULL},
   .emits = (const char *const[]){RKB_ITEM_CANDIDATE, NULL},
   .create = crossover_create,
   .run = crossover_run,
   .destroy = crossover_destroy,
   .needs = (const char *const[]){RKB_EXT_KERNEL, RKB_EXT_RANDOM, NULL},
};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {
   RKB_PLUGIN_HEAD,
   .name = "crossover",
   .version = "0.1.0",
   .stages = (const rkb_stage_t *const[]){&crossover, NULL},
};
