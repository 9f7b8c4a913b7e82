/* Extension rkb.kernel/1: core/kernel for plugins, and the notes that travel with a candidate. */
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "stage/launched_build.h"
#include "stage/candidate.h"
#include "stage/confined/confined.h"
#include "stage/current_stage.h"
#include "stage/extensions.h"
#include "stage/item.h"
#include "kernel/kernel.h"
#include "stage/named_case.h"
#include "task/task.h"

#define MAX_NOTE (64u << 20)
#define MAX_NOTES 64

static const rkb_runtime_t *core_of(const rkb_host_t *host) {
   return rkb_owner_of(host)->runtime;
}

static const rkb_device_t *device(const rkb_host_t *host) {
   return core_of(host)->pipeline->device;
}

static void tell_problem(const rkb_problems_t *problems, rkb_finding_t *finding) {
   const rkb_problem_t *first = problems->count ? &problems->list[0] : NULL;
   snprintf(finding->reason, sizeof finding->reason, "plan.manifest");
   snprintf(finding->message, sizeof finding->message, "%s",
            first ? first->message : "the manifest could not be read");
   finding->line = first ? first->line : 0;
   finding->column = first ? first->column : 0;
}

/* The call names no host, so the texts that were read are those of the stage that this thread is in.  A thread that a plugin started is in no stage, and splits
 * its text itself. */
static rkb_tokens_t *tokens(const char *text, size_t bytes) {
   rkb_source_cache_t *sources = rkb_current_stage().sources;
   rkb_source_t *read = sources ? rkb_source_cache_find(sources, text, bytes) : NULL;
   rkb_tokens_t *found = read ? rkb_tokens_ref(read->tokens) : rkb_tokens_new(text, bytes);
   rkb_source_free(read);
   return found;
}

/* The job's candidate holds its own manifest.  Other texts are mostly those of its parents, which the run has read when they appeared. */
static int manifest(const rkb_host_t *host, const char *source, rkb_manifest_t **parsed,
                    rkb_finding_t *finding, rkb_error_t *err) {
   const rkb_runtime_t *runtime = core_of(host);
   rkb_candidate_t *candidate = rkb_jobs_candidate_of(runtime->jobs, source);
   rkb_source_t *own = candidate          ? NULL
                       : runtime->sources ? rkb_source_cache_take(runtime->sources, source)
                                          : rkb_source_read(source);
   const rkb_source_t *read = candidate ? rkb_candidate_read(candidate) : own;
   (void)err;
   *finding = (rkb_finding_t){0};
   *parsed = rkb_manifest_ref(read->manifest);
   if (!read->manifest)
      tell_problem(&read->problems, finding);
   rkb_source_free(own);
   return RKB_OK;
}

/* A build lent to a stage.  Its members point into `whole`, or into the candidate's build when `whole` is NULL. */
typedef struct lent {
   rkb_build_t build; /* first */
   rkb_build_t *whole;
} lent_t;

typedef struct asking {
   rkb_jobs_t *jobs;
   rkb_job_t job;
} asking_t;

static bool cancelled(void *argument) {
   const asking_t *asking = argument;
   return rkb_jobs_cancelled(asking->jobs, asking->job);
}

/* The tune assignment of an item: the whole assignment if the core has numbered the item, otherwise as the stage emitted it. */
static const char *tune_of(const rkb_item_t *item) {
   const char *tune = rkb_item_json(item, "tune");
   return tune ? tune : "{}";
}

/* Builds an item's text.  read: it, parsed; or NULL. */
static int build_text(const rkb_runtime_t *runtime, const rkb_source_t *read, const rkb_item_t *candidate,
                      uint32_t flags, asking_t *asking, rkb_build_t **build, rkb_finding_t *finding,
                      rkb_error_t *err) {
   rkb_source_t *own = read ? NULL : rkb_source_read(rkb_item_text(candidate, "source"));
   const int status =
      flags & RKB_BUILD_BENCH
         ? rkb_bench_build(runtime, read ? read : own, tune_of(candidate), cancelled, asking, build, finding,
                           err)
         : rkb_build_source(runtime->compilers, runtime->pipeline->device, read ? read : own,
                            tune_of(candidate), flags, cancelled, asking, build, NULL, finding, err);
   rkb_source_free(own);
   return status;
}

static int build(const rkb_host_t *host, rkb_job_t job, const rkb_item_t *candidate, uint32_t flags,
                 rkb_build_t **out, rkb_finding_t *finding, rkb_error_t *err) {
   const rkb_runtime_t *runtime = core_of(host);
   const char *source = rkb_item_text(candidate, "source");
   rkb_scope_t scope;
   *out = NULL;
   *finding = (rkb_finding_t){0};
   if (!rkb_jobs_scope(runtime->jobs, job, &scope))
      return rkb_fail(err, RKB_ERR_CANCELLED, "the job has ended");
   if (!source || (!runtime->compilers && !runtime->confined_job))
      return rkb_fail(err, source ? RKB_ERR_UNAVAILABLE : RKB_ERR_INVALID,
                      source ? "this pipeline builds nothing: no stage of it is marked RKB_STAGE_NEEDS_BUILD"
                             : "the item is not a candidate");
   lent_t *lent = rkb_allocate(1, sizeof *lent);
   bool own = scope.candidate && rkb_item_bottom(candidate) == scope.candidate->made;
   if (own && !(flags & RKB_BUILD_DEBUG) && scope.candidate->build) {
      lent->build = *scope.candidate->build;
      *out = &lent->build;
      return RKB_OK;
   }
   asking_t asking = {.jobs = runtime->jobs, .job = job};
   const rkb_source_t *read = own && !runtime->confined_job ? rkb_candidate_read(scope.candidate) : NULL;
   int status = runtime->confined_job
                   ? rkb_confined_build(runtime->confined_job, flags, &lent->whole, finding, err)
                   : build_text(runtime, read, candidate, flags, &asking, &lent->whole, finding, err);
   if (status != RKB_OK || !lent->whole) {
      free(lent);
      return status;
   }
   lent->build = *lent->whole;
   *out = &lent->build;
   return RKB_OK;
}

static void build_free(rkb_build_t *build) {
   lent_t *lent = (lent_t *)build;
   if (!lent)
      return;
   rkb_build_free(lent->whole);
   free(lent);
}

/* Whether the item is this candidate, unchanged: a stage may have laid another text or other tune values over it. */
static bool is_candidate(const rkb_candidate_t *candidate, const rkb_item_t *item) {
   return candidate && rkb_item_bottom(item) == candidate->made &&
          rkb_item_text(item, "source") == candidate->source &&
          strcmp(tune_of(item), candidate->tune ? candidate->tune : tune_of(candidate->made)) == 0;
}

/* Where the plans of this item with this build are kept, or NULL.  Only plans of the job's own candidate with its plain build are kept. */
static rkb_plan_cache_t *plans_of(const rkb_runtime_t *runtime, rkb_job_t job, const rkb_item_t *item,
                                  const rkb_build_t *build) {
   rkb_scope_t scope;
   const bool own = rkb_jobs_scope(runtime->jobs, job, &scope) && is_candidate(scope.candidate, item) &&
                    scope.candidate->build && build && build->ptx == scope.candidate->build->ptx;
   return own ? scope.candidate->plans : NULL;
}

static int plan_borrowed(const rkb_host_t *host, rkb_job_t job, const rkb_item_t *candidate, const rkb_build_t *build,
                         const rkb_case_t *the_case, const rkb_plan_t *lender, rkb_plan_t **out, rkb_finding_t *finding,
                         rkb_error_t *err) {
   const rkb_runtime_t *runtime = core_of(host);
   const char *source = rkb_item_text(candidate, "source");
   rkb_manifest_t *parsed = NULL;
   named_case_t at = {.task = runtime->pipeline->task, .the_case = the_case};
   *out = NULL;
   *finding = (rkb_finding_t){0};
   if (!source)
      return rkb_fail(err, RKB_ERR_INVALID, "the item is not a candidate");
   rkb_plan_cache_t *plans = lender ? NULL : plans_of(runtime, job, candidate, build);
   int status = manifest(host, source, &parsed, finding, err);
   if (status == RKB_OK && parsed)
      status = plans
                  ? rkb_plan_cache_take(plans, parsed, tune_of(candidate), build, runtime->pipeline->device,
                                        the_case, named_case_lookup, &at, out, finding, err)
                  : rkb_plan_make_borrowed(parsed, tune_of(candidate), build, runtime->pipeline->device,
                                           the_case, named_case_lookup, &at, lender, out, finding, err);
   rkb_manifest_free(parsed);
   return status;
}

static int plan(const rkb_host_t *host, rkb_job_t job, const rkb_item_t *candidate, const rkb_build_t *build,
                const rkb_case_t *the_case, rkb_plan_t **out, rkb_finding_t *finding, rkb_error_t *err) {
   return plan_borrowed(host, job, candidate, build, the_case, NULL, out, finding, err);
}

typedef struct told {
   void (*take)(void *argument, const rkb_plan_decision_t *decision);
   void *argument;
} told_t;

static uint64_t place_of(const rkb_expression_t *expression, uint32_t decision) {
   const rkb_place_t at = rkb_expression_place(expression);
   return (uint64_t)(at.line & 0xffffff) << 40 | (uint64_t)(at.column & 0xfffff) << 20 | (decision & 0xfffff);
}

static void tell(void *argument, const rkb_expression_t *expression,
                 const rkb_expression_decision_t *decision) {
   const told_t *told = argument;
   const rkb_plan_decision_t own = {.place = place_of(expression, decision->at),
                                    .divides = decision->divides,
                                    .outcome = decision->outcome,
                                    .left = decision->left,
                                    .right = decision->right,
                                    .is_value = decision->is_value,
                                    .distance = decision->distance};
   told->take(told->argument, &own);
}

static int plan_decisions(const rkb_host_t *host, rkb_job_t job, const rkb_item_t *candidate,
                          const rkb_build_t *build, const rkb_case_t *the_case,
                          void (*take)(void *argument, const rkb_plan_decision_t *decision), void *argument,
                          rkb_error_t *err) {
   const rkb_runtime_t *runtime = core_of(host);
   const char *source = rkb_item_text(candidate, "source");
   rkb_manifest_t *parsed = NULL;
   rkb_plan_t *made = NULL;
   rkb_finding_t finding = {0};
   named_case_t at = {.task = runtime->pipeline->task, .the_case = the_case};
   told_t told = {take, argument};
   (void)job;
   if (!source)
      return rkb_fail(err, RKB_ERR_INVALID, "the item is not a candidate");
   int status = manifest(host, source, &parsed, &finding, err);
   if (status == RKB_OK && parsed)
      status = rkb_plan_make_decided(parsed, tune_of(candidate), build, runtime->pipeline->device, the_case,
                                     named_case_lookup, &at, tell, &told, &made, &finding, err);
   rkb_plan_free(made);
   rkb_manifest_free(parsed);
   return status;
}

struct rkb_plan_survey {
   rkb_manifest_t *manifest;
   rkb_manifest_survey_t *expressions;
   rkb_shape_names_t *names;
};

static void survey_free(rkb_plan_survey_t *survey) {
   if (!survey)
      return;
   rkb_manifest_survey_free(survey->expressions);
   rkb_shape_names_free(survey->names);
   rkb_manifest_free(survey->manifest);
   free(survey);
}

static bool survey_name(void *argument, const char *name, rkb_value_t *value) {
   return rkb_shape_names_lookup(argument, name, &value->is_real, &value->integer, &value->real);
}

static int survey_open(const rkb_host_t *host, const rkb_item_t *candidate, const rkb_case_t *like,
                       rkb_plan_survey_t **out, rkb_error_t *err) {
   const rkb_runtime_t *runtime = core_of(host);
   const char *source = rkb_item_text(candidate, "source");
   rkb_finding_t finding = {0};
   *out = NULL;
   if (!source)
      return rkb_fail(err, RKB_ERR_INVALID, "the item is not a candidate");
   rkb_plan_survey_t *survey = rkb_allocate(1, sizeof *survey);
   survey->names = rkb_shape_names_new(runtime->pipeline->task, like);
   int status = manifest(host, source, &survey->manifest, &finding, err);
   if (status == RKB_OK && survey->manifest)
      status = rkb_manifest_survey_new(survey->manifest, tune_of(candidate), runtime->pipeline->device,
                                       survey_name, survey->names, &survey->expressions, err);
   if (status != RKB_OK || !survey->expressions) {
      survey_free(survey);
      return status;
   }
   *out = survey;
   return RKB_OK;
}

static bool survey_at(rkb_plan_survey_t *survey, const int64_t *dims,
                      void (*take)(void *argument, const rkb_plan_decision_t *decision), void *argument) {
   told_t told = {take, argument};
   if (!rkb_shape_names_set(survey->names, dims))
      return false;
   rkb_manifest_survey_decide(survey->expressions, tell, &told);
   return true;
}

typedef struct many_shapes {
   rkb_shape_names_t *names;
   const int64_t *const *dims;
} many_shapes_t;

static bool set_shape(void *argument, uint32_t shape) {
   const many_shapes_t *shapes = argument;
   return rkb_shape_names_set(shapes->names, shapes->dims[shape]);
}

static bool survey_many(rkb_plan_survey_t *survey, const int64_t *const *dims, uint32_t count,
                        bool (*take)(void *argument, const rkb_survey_decision_t *decisions,
                                     uint32_t decision_count),
                        void *argument) {
   many_shapes_t shapes = {survey->names, dims};
   const rkb_many_decisions_t *found;
   if (!rkb_manifest_survey_many(survey->expressions, count, set_shape, &shapes, &found))
      return false;
   rkb_survey_decision_t *told = rkb_grow(NULL, found->count, sizeof *told);
   for (uint32_t n = 0; n < found->count; n++) {
      const rkb_many_decision_t *one = &found->list[n];
      told[n] = (rkb_survey_decision_t){.place = place_of(one->expression, one->at),
                                        .divides = one->divides,
                                        .is_value = one->is_value,
                                        .shapes = one->places,
                                        .outcomes = one->outcomes,
                                        .distances = one->divides ? NULL : one->distances.at};
   }
   const bool taken = take(argument, told, found->count);
   free(told);
   if (taken)
      rkb_manifest_survey_take(survey->expressions);
   return taken;
}

static int note_set(const rkb_host_t *host, rkb_job_t job, const char *key, const void *data, size_t bytes) {
   const rkb_runtime_t *runtime = core_of(host);
   rkb_scope_t scope;
   uint32_t count = 0;
   if (!rkb_jobs_scope(runtime->jobs, job, &scope) || !scope.candidate)
      return RKB_ERR_INVALID;
   if (bytes > MAX_NOTE)
      return RKB_ERR_LIMIT;
   void *copy = rkb_try_uncleared(bytes, 1, NULL);
   if (!copy)
      return RKB_ERR_NOMEM;
   memcpy(copy, data, bytes);
   rkb_note_t *note = rkb_allocate(1, sizeof *note);
   *note = (rkb_note_t){.key = rkb_duplicate(key), .data = copy, .bytes = bytes};
   /* The newest note comes first and hides older ones of the same key.  They stay, because another thread may be reading them. */
   pthread_mutex_lock(&scope.candidate->notes_lock);
   for (const rkb_note_t *other = scope.candidate->notes; other; other = other->next)
      count++;
   bool room = count < MAX_NOTES;
   if (room) {
      note->next = scope.candidate->notes;
      scope.candidate->notes = note;
   }
   pthread_mutex_unlock(&scope.candidate->notes_lock);
   if (room)
      return RKB_OK;
   free(note->key);
   free(note->data);
   free(note);
   return RKB_ERR_LIMIT;
}

static const void *note_get(const rkb_host_t *host, rkb_job_t job, const char *key, size_t *bytes) {
   rkb_scope_t scope;
   if (!rkb_jobs_scope(core_of(host)->jobs, job, &scope) || !scope.candidate)
      return NULL;
   pthread_mutex_lock(&scope.candidate->notes_lock);
   const rkb_note_t *note = scope.candidate->notes;
   while (note && strcmp(note->key, key) != 0)
      note = note->next;
   pthread_mutex_unlock(&scope.candidate->notes_lock);
   if (note)
      *bytes = note->bytes;
   return note ? note->data : NULL;
}

const rkb_kernel_api_t RKB_KERNEL_API = {.size = sizeof RKB_KERNEL_API,
                                         .device = device,
                                         .tokens = tokens,
                                         .tokens_at = rkb_tokens_at,
                                         .tokens_free = rkb_tokens_free,
                                         .manifest = manifest,
                                         .manifest_free = rkb_manifest_free,
                                         .build = build,
                                         .build_free = build_free,
                                         .plan = plan,
                                         .plan_free = rkb_plan_free,
                                         .occupancy = rkb_occupancy,
                                         .note_set = note_set,
                                         .note_get = note_get,
                                         .plan_borrowed = plan_borrowed,
                                         .plan_decisions = plan_decisions,
                                         .survey_open = survey_open,
                                         .survey_at = survey_at,
                                         .survey_free = survey_free};

const rkb_survey_api_t RKB_SURVEY_API = {.size = sizeof(rkb_survey_api_t), .many = survey_many};
