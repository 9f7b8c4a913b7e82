/* The steps from a candidate's text to something that can be executed: manifest, build, plan.  Uses the types of
 * <rkb/ext/kernel.h>.  Functions may block and run on a worker unless marked otherwise. */
#ifndef RKB_KERNEL_KERNEL_H
#define RKB_KERNEL_KERNEL_H

#include <rkb/ext/kernel.h>
#include "base/problems.h"
#include "base/expression.h"
#include "base/expression_many.h"
#include "base/hash.h"

/* tokens.c --------------------------------------------------------------------------------------------- */
rkb_tokens_t *rkb_tokens_new(const char *text, size_t bytes);
const rkb_token_t *rkb_tokens_at(const rkb_tokens_t *tokens, uint32_t *count);
/* Adds a reference; each holder calls the free function. */
rkb_tokens_t *rkb_tokens_ref(rkb_tokens_t *tokens);
void rkb_tokens_free(rkb_tokens_t *tokens);
/* Hashes the text without comments and white space.  The manifest's comment counts, by its meaning. */
void rkb_tokens_hash(const char *text, size_t bytes, char out[RKB_HASH_TEXT]);

/* manifest.c: problems point into the .cu at path (a name for messages).  NULL with problems added. ------- */
rkb_manifest_t *rkb_manifest_parse(const char *path, const char *source, size_t bytes,
                                   rkb_problems_t *problems);
/* Adds a reference; each holder calls the free function.  NULL gives NULL. */
rkb_manifest_t *rkb_manifest_ref(rkb_manifest_t *manifest);
void rkb_manifest_free(rkb_manifest_t *manifest);

/* source.c: a text that is parsed once and shared.  Immutable; any thread. ------------------------------------ */
typedef struct rkb_source {
   const char *text; /* a copy */
   size_t bytes;
   rkb_tokens_t *tokens;
   rkb_manifest_t *manifest; /* NULL: `problems` say why there is none */
   rkb_problems_t problems;
   uint32_t more_holders; /* holders besides the first; atomic */
} rkb_source_t;
rkb_source_t *rkb_source_read(const char *text);
/* Adds a reference; each holder calls the free function. */
rkb_source_t *rkb_source_ref(rkb_source_t *source);
void rkb_source_free(rkb_source_t *source);
void rkb_source_hash(const rkb_source_t *source, char out[RKB_HASH_TEXT]); /* rkb_tokens_hash of the text */
/* build.c: whether the bytes may go to a compiler: valid UTF-8 and not too many.  Comments count, so one of two texts with equal
 * tokens may be refused.  finding, or NULL, gets the reason. */
bool rkb_source_is_text(const rkb_source_t *source, rkb_finding_t *finding);

/* source_cache.c: the sources that a run used last, found by their texts.  So each text is split into tokens and parsed once, when its candidate appears.
 * Stages that ask for its tokens or its manifest, and mutators that later change it, get the same source.  Any thread. --- */
typedef struct rkb_source_cache rkb_source_cache_t;
rkb_source_cache_t *rkb_source_cache_new(void);
/* Frees the cache.  Sources to which somebody has a reference stay. */
void rkb_source_cache_free(rkb_source_cache_t *cache);
/* Each returns a reference to the source of a text.  If the cache does not have the text, `find` returns NULL, and `take` reads and keeps it. */
rkb_source_t *rkb_source_cache_find(rkb_source_cache_t *cache, const char *text, size_t bytes);
rkb_source_t *rkb_source_cache_take(rkb_source_cache_t *cache, const char *text);
/* How many texts were read so far. */
uint64_t rkb_source_cache_reads(rkb_source_cache_t *cache);

/* device_profile.c: profiles are data, share/devices/<name>.yaml ------------------------------------------------- */
rkb_device_t *rkb_device_load(const char *name_or_path, rkb_problems_t *problems);
void rkb_device_free(rkb_device_t *device);
/* Returns the name and value of a device property that a manifest's expressions may use, for example to choose the size of a persistent grid or a tile.
 * NULL: `number` is past the last property. */
const char *rkb_device_property(const rkb_device_t *device, uint32_t number, int64_t *value);

/* tune_assignment.c: resolves a whole assignment (every parameter) from a JSON object and the defaults.
 * Gives a finding when a name or value is not in the manifest.  values has tune_count entries. */
int rkb_tune_resolve(const rkb_manifest_t *manifest, const char *tune_json, int64_t *values,
                     rkb_finding_t *finding, rkb_error_t *err);
/* JSON, all names, sorted; malloc'd */
char *rkb_tune_canonical(const rkb_manifest_t *manifest, const int64_t *values);
/* The choices of every parameter: a JSON object name -> [choices], in the manifest's order; malloc'd, NULL when memory is out. */
char *rkb_tune_choices(const rkb_manifest_t *manifest);
/* tune_write.c: the text with the assignment written in as the manifest's defaults and nothing else changed; malloc'd. */
int rkb_tune_write(const char *source, const char *tune_json, char **text, rkb_error_t *err);

/* compilers.c: the pool of compiler processes. ------------------------------------------------------------ */
typedef struct rkb_compilers rkb_compilers_t;
typedef struct rkb_compilers_config {
   uint32_t processes;          /* at most; started on demand */
   uint64_t memory_limit;       /* bytes per process (RLIMIT_DATA); 0: 4 GiB */
   uint64_t cpu_limit_ns;       /* CPU time per compile; 0: 80 s */
   const char *cache_directory; /* NULL: $XDG_CACHE_HOME/rkb/build; "": no cache */
   uint64_t cache_bytes;        /* 0: 2 GiB */
} rkb_compilers_config_t;
int rkb_compilers_open(const rkb_compilers_config_t *config, rkb_compilers_t **compilers, rkb_error_t *err);
void rkb_compilers_close(rkb_compilers_t *compilers); /* kills running compiles */
/* "13.0" and where NVRTC was found, or RKB_ERR_UNAVAILABLE with a sentence that says what to install. */
int rkb_compilers_toolkit(rkb_compilers_t *compilers, char *version, size_t version_size, char *path,
                          size_t path_size, rkb_error_t *err);
/* The sandbox layers of the compiler processes, "capabilities landlock seccomp", each with "no-" before it if this machine does not offer it; "" before
 * the first has started. */
const char *rkb_compilers_layers(const rkb_compilers_t *compilers);

/* The cost of a build, successful or not. */
typedef struct rkb_build_cost {
   bool from_cache; /* if true, the other members describe the compile that filled the entry */
   bool
      near_limit; /* a limit on time or memory ended the compile, or was less than 20 % away: another machine may decide differently */
   uint64_t cpu_ns;       /* of the compiler process; 0: no compile ended */
   uint64_t memory_bytes; /* the peak of its memory use */
} rkb_build_cost_t;

/* build.c: compiles, or finds the build in the cache.  RKB_OK with *build NULL: finding has the reason.  cancelled (or NULL) is
 * polled at least every 50 ms; cost may be NULL.  Any worker thread; concurrent calls use different processes. */
int rkb_build_candidate(rkb_compilers_t *compilers, const rkb_device_t *device, const char *source,
                        const char *tune_json, uint32_t flags, bool (*cancelled)(void *), void *argument,
                        rkb_build_t **build, rkb_build_cost_t *cost, rkb_finding_t *finding,
                        rkb_error_t *err);
/* As rkb_build_candidate, for a text that is already parsed. */
int rkb_build_source(rkb_compilers_t *compilers, const rkb_device_t *device, const rkb_source_t *source,
                     const char *tune_json, uint32_t flags, bool (*cancelled)(void *), void *argument,
                     rkb_build_t **build, rkb_build_cost_t *cost, rkb_finding_t *finding, rkb_error_t *err);
/* PTX alone, of the kernels of some launches (RKB_BUILD_BENCH).  launched: for each launch of the manifest, whether it is one of them. */
int rkb_build_launched(rkb_compilers_t *compilers, const rkb_device_t *device, const rkb_source_t *source,
                       const char *tune_json, const bool *launched, bool (*cancelled)(void *), void *argument,
                       rkb_build_t **build, rkb_finding_t *finding, rkb_error_t *err);
void rkb_build_free(rkb_build_t *build);

/* plan.c ---------------------------------------------------------------------------------------------------- */
/* Makes a plan.  lookup gives the values of the case's dims and attributes.  It is a function because core/kernel does not import core/task. */
int rkb_plan_make(const rkb_manifest_t *manifest, const char *tune_json, const rkb_build_t *build,
                  const rkb_device_t *device, const rkb_case_t *the_case, rkb_lookup_t lookup, void *argument,
                  rkb_plan_t **plan, rkb_finding_t *finding, rkb_error_t *err);
/* Makes a plan with the launches of another plan, the lender, whether or not their `when` holds at this case, and for a device with few multiprocessors.
 * lender NULL: as rkb_plan_make. */
int rkb_plan_make_borrowed(const rkb_manifest_t *manifest, const char *tune_json, const rkb_build_t *build,
                           const rkb_device_t *device, const rkb_case_t *the_case, rkb_lookup_t lookup, void *argument,
                           const rkb_plan_t *lender, rkb_plan_t **plan, rkb_finding_t *finding, rkb_error_t *err);
/* As rkb_plan_make.  Calls decided for each decision of a manifest expression that is evaluated. */
int rkb_plan_make_decided(const rkb_manifest_t *manifest, const char *tune_json, const rkb_build_t *build,
                          const rkb_device_t *device, const rkb_case_t *the_case, rkb_lookup_t lookup,
                          void *argument, rkb_decided_t decided, void *decided_argument, rkb_plan_t **plan,
                          rkb_finding_t *finding, rkb_error_t *err);
/* Sets launched[i] for each launch i of the manifest that runs at this case; needs no build.  A finding says why the case has no plan. */
int rkb_plan_mark_launched(const rkb_manifest_t *manifest, const char *tune_json, const rkb_device_t *device,
                           const rkb_case_t *the_case, rkb_lookup_t lookup, void *argument, bool *launched,
                           rkb_finding_t *finding, rkb_error_t *err);
/* A survey evaluates a manifest's expressions at many shapes, without making plans, and reports their decisions.  lookup gives the names' values at the
 * present shape.  The manifest must outlive the survey.  *survey NULL: the tune values do not fit the manifest.  A fault ends an expression and is no
 * finding. */
typedef struct rkb_manifest_survey rkb_manifest_survey_t;
int rkb_manifest_survey_new(const rkb_manifest_t *manifest, const char *tune_json, const rkb_device_t *device,
                            rkb_lookup_t lookup, void *argument, rkb_manifest_survey_t **survey,
                            rkb_error_t *err);
void rkb_manifest_survey_free(rkb_manifest_survey_t *survey);
void rkb_manifest_survey_decide(rkb_manifest_survey_t *survey, rkb_decided_t decided, void *decided_argument);
/* Finds the decisions at up to RKB_MANY shapes.  Each is evaluated at those of the shapes where rkb_manifest_survey_decide would report it if the shapes came
 * one after the other; bits of them are numbers of shapes.  set: makes lookup give the values at a shape; false where that shape is not in the domain.  The
 * shapes count as surveyed only after rkb_manifest_survey_take.  false: nothing was found out; survey the shapes one by one.  *decisions: until the next
 * call. */
bool rkb_manifest_survey_many(rkb_manifest_survey_t *survey, uint32_t count,
                              bool (*set)(void *argument, uint32_t shape), void *argument,
                              const rkb_many_decisions_t **decisions);
void rkb_manifest_survey_take(rkb_manifest_survey_t *survey);
/* Adds a reference; each holder calls the free function. */
rkb_plan_t *rkb_plan_ref(rkb_plan_t *plan);
void rkb_plan_free(rkb_plan_t *plan);

/* plan_cache.c: the plans of one build, found by shape, so that a process makes each plan once.  The process that executes a candidate makes its own
 * plans: the program has at most a tenth of the plans that this process needs, and making a plan takes microseconds (docs/plan-format.md).  When the cache is
 * full, it keeps no further plans.  Any thread. */
typedef struct rkb_plan_cache rkb_plan_cache_t;
rkb_plan_cache_t *rkb_plan_cache_new(void);
/* Frees the cache.  Plans to which somebody has a reference stay. */
void rkb_plan_cache_free(rkb_plan_cache_t *cache);
/* As rkb_plan_make, but if the cache has a plan for these dims and attributes, returns a reference to it.  Manifest, tune values, build and device must be
 * the same in all calls, and all cases must be of one task.  If a case has no plan, the reason is found again in each call. */
int rkb_plan_cache_take(rkb_plan_cache_t *cache, const rkb_manifest_t *manifest, const char *tune_json,
                        const rkb_build_t *build, const rkb_device_t *device, const rkb_case_t *the_case,
                        rkb_lookup_t lookup, void *argument, rkb_plan_t **plan, rkb_finding_t *finding,
                        rkb_error_t *err);
/* The documented byte form (docs/plan-format.md).  write: malloc'd.  read checks everything: bytes may come from anywhere. */
int rkb_plan_write(const rkb_plan_t *plan, void **bytes, size_t *length, rkb_error_t *err);
int rkb_plan_read(const void *bytes, size_t length, rkb_plan_t **plan, rkb_error_t *err);
void rkb_plan_hash(const rkb_plan_t *plan, char out[RKB_HASH_TEXT]);
/* manifest_identity.c: adds to the hash the parts of a manifest that decide the plans at all shapes.  tune: the values of rkb_tune_resolve. */
void rkb_manifest_hash(const rkb_manifest_t *manifest, const int64_t *tune, rkb_hasher_t *hasher);
/* Most tune parameters of a manifest. */
#define RKB_MOST_TUNE 64u

/* occupancy.c ------------------------------------------------------------------------------------------------- */
rkb_occupancy_t rkb_occupancy(const rkb_device_t *device, const rkb_built_kernel_t *kernel, uint32_t threads,
                              uint32_t dynamic_shared);

/* build_identity.c: whether two candidates are the same ------------------------------------------------------- */
/* PTX without names, comments and line info */
void rkb_ptx_identity(const char *ptx, size_t bytes, char out[RKB_HASH_TEXT]);

/* export.c ------------------------------------------------------------------------------------------------------ */
enum rkb_export_form { RKB_EXPORT_C = 1, RKB_EXPORT_TORCH, RKB_EXPORT_OPERATOR }; /* kernel/export.h */

#endif
