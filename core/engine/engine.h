/* The engine's public face, for the commands: load plugins, open a pipeline file, run it, check one candidate.
 *
 * Threads.  Everything here belongs to the thread that calls it, one thread at a time; rkb_run and rkb_check turn that
 * thread into the loop until they return.  Only rkb_interrupt is [any] and safe in a signal handler.
 * Ownership is as everywhere: *_open gives, *_free takes back and accepts NULL, getters lend until the owner is freed. */
#ifndef RKB_ENGINE_ENGINE_H
#define RKB_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stdint.h>
#include <rkb/plugin.h>
#include <rkb/strategy.h>
#include "base/log.h"
#include "base/problems.h"

/* Plugins ----------------------------------------------------------------------------------------------------------- */

typedef struct rkb_registry rkb_registry_t; /* every plugin that was loaded; nothing is ever unloaded */

typedef struct rkb_registry_object {
   const char *path; /* absolute */
   const rkb_plugin_t *plugin;
   const char *hash; /* 32 hex digits over the file's bytes */
} rkb_registry_object_t;

/* Loads, in this order, everything in: first (NULL-terminated files and directories: the pipeline's "plugins:", already
 * absolute), paths (--plugin-path), RKB_PLUGIN_PATH (colon-separated), and the build's or installation's directory.
 * A directory gives its *.so and those of its direct subdirectories, by name.  The same file twice counts once.  A bad
 * object becomes a warning in problems, one sentence, and is left out; two objects with one stage id are an error that
 * names both.  first and paths may be NULL.  NULL only when memory is out. */
rkb_registry_t *rkb_registry_open(const char *const *first, const char *const *paths,
                                  rkb_problems_t *problems);
void rkb_registry_free(rkb_registry_t *registry); /* the objects stay mapped */
uint32_t rkb_registry_count(const rkb_registry_t *registry);
const rkb_registry_object_t *rkb_registry_at(const rkb_registry_t *registry, uint32_t index);
/* By stage or strategy id; NULL when there is none.  *object (or NULL) receives where it came from. */
const rkb_stage_t *rkb_registry_stage(const rkb_registry_t *registry, const char *id,
                                      const rkb_registry_object_t **object);
const rkb_strategy_t *rkb_registry_strategy(const rkb_registry_t *registry, const char *id,
                                            const rkb_registry_object_t **object);
/* The id nearest to what was written, or NULL. */
const char *rkb_registry_nearest(const rkb_registry_t *registry, const char *written);
const char *rkb_kind_name(uint32_t kind); /* "translator", ...; "" for no kind */

/* Pipelines --------------------------------------------------------------------------------------------------------- */

typedef struct rkb_pipeline rkb_pipeline_t;

typedef struct rkb_pipeline_options {
   const char *path;                /* of the pipeline file */
   const char *task;                /* directory that replaces "task:", or NULL */
   const char *direction, *target;  /* likewise, or NULL */
   const char *const *set;          /* "path=value", NULL-terminated, or NULL; the value is YAML */
   const char *const *plugin_paths; /* --plugin-path, NULL-terminated, or NULL */
} rkb_pipeline_options_t;

/* Reads, merges, loads the plugins, checks wiring and options, and loads task and device.  NULL when problems has an
 * error; warnings may be there in any case.  options are not kept. */
rkb_pipeline_t *rkb_pipeline_open(const rkb_pipeline_options_t *options, rkb_problems_t *problems);
void rkb_pipeline_free(rkb_pipeline_t *pipeline);

const char *rkb_pipeline_name(const rkb_pipeline_t *pipeline);
const char *rkb_pipeline_path(const rkb_pipeline_t *pipeline);
const rkb_registry_t *rkb_pipeline_registry(const rkb_pipeline_t *pipeline);
/* The resolved form: canonical YAML that opens to the same pipeline.  Secrets are absent, only their source is named. */
const char *rkb_pipeline_text(const rkb_pipeline_t *pipeline);
/* 32 hex digits over the resolved form without what may change on resume (limits). */
const char *rkb_pipeline_hash(const rkb_pipeline_t *pipeline);
struct rkb_task;
struct rkb_task *rkb_pipeline_task(const rkb_pipeline_t *pipeline);     /* NULL when the pipeline has none */
struct rkb_device *rkb_pipeline_device(const rkb_pipeline_t *pipeline); /* NULL when nothing needs one */

/* matrix: combinations, each validated when the pipeline was opened; 0 without a matrix. */
uint32_t rkb_pipeline_variants(const rkb_pipeline_t *pipeline);
/* "seed=1 screen.machine.with.trials=4" */
const char *rkb_pipeline_variant(const rkb_pipeline_t *pipeline, uint32_t index);

typedef struct rkb_pipeline_facts {
   const char *objective; /* the measurement that will be minimised, or "" when none can be produced */
   const char *task, *direction, *target; /* "" when absent */
   uint64_t seed;
   uint64_t limit_candidates, limit_generations, limit_stale; /* 0: none */
   uint64_t limit_wall_ns;                                    /* 0: none */
   double limit_cost_usd;                                     /* negative: none */
   uint32_t window;                                           /* 0: no search */
   uint32_t promote_keep, promote_of;                         /* 0: no promotion */
   const char *promote_by;                                    /* or "" */
   bool verified_by_execution; /* some verifier outside shadow executes the candidate */
} rkb_pipeline_facts_t;
rkb_pipeline_facts_t rkb_pipeline_facts(const rkb_pipeline_t *pipeline);

/* The graph, in file order: propose entries, screen (with "build" where it will run), evaluate, strategy, operators. */
enum rkb_pipeline_section {
   RKB_IN_PROPOSE = 1,
   RKB_IN_SCREEN,
   RKB_IN_EVALUATE,
   RKB_IN_STRATEGY,
   RKB_IN_OPERATORS
};
typedef struct rkb_graph_node {
   const char *id;   /* "machine" */
   const char *use;  /* "rkb.verifier.machine"; "" for build */
   uint32_t section; /* enum rkb_pipeline_section */
   uint32_t flags;   /* enum rkb_stage_flags */
   uint32_t jobs;    /* most at a time */
   uint32_t retries;
   uint64_t deadline_ns;
   bool shadow, stops_unknown;
   double sample;
   double weight;            /* of an operator */
   const char *const *needs; /* ids, NULL-terminated */
   const char *only;         /* "unknown, suspect", or "" for all that passed */
   rkb_place_t place;
} rkb_graph_node_t;
const char *rkb_pipeline_section_name(
   uint32_t section); /* as the file says: "propose", ..., "search.operators"; "" for none */
uint32_t rkb_pipeline_node_count(const rkb_pipeline_t *pipeline);
const rkb_graph_node_t *rkb_pipeline_node(const rkb_pipeline_t *pipeline, uint32_t index);

/* Runs -------------------------------------------------------------------------------------------------------------- */

enum rkb_event_kind {
   RKB_EVENT_REQUEST,     /* asked: request, section, entry (operator; "" when empty) */
   RKB_EVENT_CANDIDATE,   /* numbered: candidate, request, section, entry (operator) */
   RKB_EVENT_STAGE_START, /* entry, candidate (0 for an operator's job) */
   /* entry, candidate, standing and reason ("" when it gave no verdict), seconds, attempts */
   RKB_EVENT_STAGE_END,
   RKB_EVENT_CANDIDATE_END, /* screened, or evaluated: candidate, standing, reason, duplicate_of, objective */
   RKB_EVENT_GROUP,         /* a promote group closed: request is its last member, count how many passed */
   RKB_EVENT_REQUEST_END,   /* finished and told: request, section */
   RKB_EVENT_BEST,          /* candidate and objective are the new best */
   /* text: something a person should know (a tool failed, an instance was written off) */
   RKB_EVENT_NOTE
};

typedef struct rkb_stage_progress {
   const char *id;
   uint32_t section; /* enum rkb_pipeline_section */
   uint32_t waiting, running;
   uint64_t done, passed, rejected, unknown, skipped;
} rkb_stage_progress_t;

typedef struct rkb_event {
   uint32_t kind;
   uint32_t section;  /* enum rkb_request_section of services/archive.h; 0 when it does not apply */
   const char *entry; /* never NULL */
   int64_t request, candidate, duplicate_of;
   const char *standing, *reason, *text; /* never NULL */
   bool has_objective;
   double objective, seconds;
   uint32_t attempts, count;
   /* The state after the event, all stages in graph order; valid until the observer returns. */
   const rkb_stage_progress_t *stages;
   uint32_t stage_count;
   uint64_t candidates, duplicates, told; /* so far: numbered without duplicates, duplicates, requests told */
   double elapsed_seconds, cost_usd;
} rkb_event_t;

typedef struct rkb_run_options {
   const char *directory; /* existing run directory; NULL: nothing is kept (no archive) */
   bool resume;           /* directory holds a run to go on with */
   uint32_t jobs;         /* worker threads; 0: one a core */
   rkb_log_t *log;        /* not NULL */
   bool catch_signals;    /* SIGINT and SIGTERM end the run cleanly; a second one kills it at once */
   void (*observe)(void *argument, const rkb_event_t *event); /* on the loop, must be quick; or NULL */
   void *argument;
   int *interrupt_handle; /* receives what rkb_interrupt takes while the run lasts, or NULL */
} rkb_run_options_t;

enum rkb_ending {
   RKB_ENDED_DONE = 1, /* the strategy had no more, or there was no search */
   RKB_ENDED_LIMIT,    /* limits.candidates, generations or stale */
   RKB_ENDED_STUCK,    /* a whole window of WAIT */
   RKB_ENDED_WALL,
   RKB_ENDED_COST,
   RKB_ENDED_INTERRUPTED /* resumable */
};

typedef struct rkb_outcome {
   uint32_t ending;  /* enum rkb_ending */
   char reason[128]; /* in words: "limits.candidates (200) reached" */
   int64_t best;     /* candidate number, 0: none accepted */
   bool has_objective;
   double objective, first_objective; /* of best, and of the best one of the propose section (NaN: none) */
   bool verified_by_execution;
   uint64_t candidates, duplicates, accepted, suspect, unknown, rejected, told, jobs;
   double seconds, earlier_seconds; /* in all, and of those in the processes that the run was resumed from */
   bool must_exit_hard; /* a job hangs in a thread: leave with _exit, not exit */
} rkb_outcome_t;

/* Runs to an ending.  RKB_OK whatever was found; otherwise err says which tool, disk or contract broke and outcome holds
 * how far it came. */
int rkb_run(rkb_pipeline_t *pipeline, const rkb_run_options_t *options, rkb_outcome_t *outcome,
            rkb_error_t *err);
/* Asks a run to end as ^C does.  handle is what the run wrote to *interrupt_handle.  [any], async-signal-safe */
void rkb_interrupt(int handle);

/* One candidate through the screen ------------------------------------------------------------------------------------ */

typedef struct rkb_check_options {
   const char *name;   /* of the source, for messages */
   const char *source; /* the .cu text */
   const char *tune;   /* JSON object, or NULL for the defaults */
   uint32_t jobs;
   rkb_log_t *log;
   bool catch_signals;
   struct rkb_devices *devices; /* of services/devices.h, to use and leave open; NULL: opens its own */
   /* Its place in a run, which its random streams are keyed by.  section 0: none, the same streams for every file. */
   uint32_t section; /* enum rkb_request_section of services/archive.h */
   int64_t request;  /* number within the section */
   uint32_t child;
} rkb_check_options_t;

typedef struct rkb_check_verdict {
   const char *stage, *standing, *reason, *message;
   const char *evidence, *certificate; /* JSON or NULL */
   bool shadow, executes;
   double seconds;
} rkb_check_verdict_t;

typedef struct rkb_check_measurement {
   const char *name, *unit, *better, *method, *case_name, *detail; /* case_name and detail may be NULL */
   double value, spread;                                           /* spread negative: none */
} rkb_check_measurement_t;

typedef struct rkb_check_result {
   const char *standing, *reason; /* of the candidate; "none" when no verdict was given */
   /* the whole assignment, canonical JSON; as given when the manifest does not parse */
   const char *tune;
   uint32_t verdict_count, measurement_count;
   const rkb_check_verdict_t *verdicts; /* in graph order */
   const rkb_check_measurement_t *measurements;
   bool verified_by_execution; /* a verifier outside shadow executed it and gave a verdict */
   bool must_exit_hard;        /* a job hangs in a thread: leave with _exit, not exit */
} rkb_check_result_t;

/* Runs propose-less: the pipeline's screen on this one candidate.  Nothing is archived. */
int rkb_check(rkb_pipeline_t *pipeline, const rkb_check_options_t *options, rkb_check_result_t **result,
              rkb_error_t *err);
void rkb_check_result_free(rkb_check_result_t *result);

#endif
