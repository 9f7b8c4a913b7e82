/* An opened pipeline file: merged with its parents and overrides, checked against the plugins, with task and device loaded.
 * It does not change once open.  One thread at a time. */
#ifndef RKB_PIPELINE_PIPELINE_H
#define RKB_PIPELINE_PIPELINE_H

#include <stdbool.h>
#include <stdint.h>
#include <rkb/plugin.h>
#include "base/arena.h"
#include "base/problems.h"
#include "plugin/registry.h"

typedef struct rkb_pipeline rkb_pipeline_t;

typedef struct rkb_pipeline_options {
   const char *path;                /* of the pipeline file */
   const char *task;                /* directory that replaces "task:", or NULL */
   const char *direction, *target;  /* replace "direction:" and "target:", or NULL */
   const char *const *set;          /* "path=value", NULL-terminated, or NULL; the value is YAML */
   const char *const *plugin_paths; /* --plugin-path, NULL-terminated, or NULL */
} rkb_pipeline_options_t;

/* Reads and merges the files, loads the plugins, checks wiring and options, and loads task and device.  Returns NULL when problems has
 * an error; it may also contain warnings.  options are not kept. */
rkb_pipeline_t *rkb_pipeline_open(const rkb_pipeline_options_t *options, rkb_problems_t *problems);
void rkb_pipeline_free(rkb_pipeline_t *pipeline);
/* The models that its stages use; NULL or an empty list when there are none.  They live as long as the pipeline. */
const struct rkb_models *rkb_pipeline_models(const rkb_pipeline_t *pipeline);
/* The models of a pipeline file, read without its plugins: a model counts as used if an option of any entry has its name, or if it is the additional model
 * that the caller wants to ask (NULL: none).  cost_limit as in rkb_models_read.  Everything lives in the arena.  NULL with problems. */
struct rkb_models *rkb_pipeline_read_models(rkb_arena_t *arena, const rkb_pipeline_options_t *options, const char *besides, double cost_limit,
                                            rkb_problems_t *problems);

const char *rkb_pipeline_name(const rkb_pipeline_t *pipeline);
const char *rkb_pipeline_path(const rkb_pipeline_t *pipeline);
/* The resolved form: canonical YAML which, when it is opened, gives the same pipeline.  It names the sources of secrets, never the secrets. */
const char *rkb_pipeline_text(const rkb_pipeline_t *pipeline);
/* 64 hex digits of SHA-256 over the resolved form without limits and workers, which may change on resume. */
const char *rkb_pipeline_hash(const rkb_pipeline_t *pipeline);

/* A machine whose GPUs a run measures on, or whose cores it screens on.  Lists are NULL-terminated and live as long as the pipeline. */
typedef struct rkb_pipeline_worker {
   const char *const *command;     /* starts rkb-worker there; NULL: this machine */
   const char *const *environment; /* names of variables that the command gets; NULL: none */
   uint32_t count;                 /* devices, or workers that screen; 0: all devices, or one worker */
   const char *device;             /* the class that its devices must be of; NULL: that of the first device that answers */
   bool screens;                   /* "device: none": it builds and judges, and measures nothing */
} rkb_pipeline_worker_t;

/* Whether the file describes a sweep (seeds:, arms:, matrix:) and not one run. */
bool rkb_pipeline_is_sweep(const rkb_pipeline_t *pipeline);

/* One pipeline of a sweep.  Everything is owned by the pipeline that lists it. */
typedef struct rkb_pipeline_cell {
   char *name;                      /* "narrow search.window=4 task=softmax seed=1" */
   char *arm;                       /* the name without task, direction, target and seed; arms are compared with each other */
   char *text;                      /* its resolved form, which opens as this cell's pipeline */
   char *task, *direction, *target; /* "" when absent; task: its name */
   uint64_t seed;
} rkb_pipeline_cell_t;
/* How many cells a sweep has; 0: the pipeline is one run.  Each cell was validated when the pipeline was opened.  Of the axes, seeds vary slowest. */
uint32_t rkb_pipeline_cell_count(const rkb_pipeline_t *pipeline);
/* NULL past the end. */
const rkb_pipeline_cell_t *rkb_pipeline_cell(const rkb_pipeline_t *pipeline, uint32_t index);

typedef struct rkb_pipeline_facts {
   const char *objective; /* the measurement that is minimised; "": no stage produces one */
   const char *task, *direction, *target; /* "" when absent */
   uint64_t seed;
   uint64_t limit_candidates, limit_calls, limit_generations, limit_stale; /* 0: none */
   uint64_t limit_wall_ns;                                    /* 0: none */
   double limit_cost_usd;                                     /* negative: none */
   double limit_within;                                       /* share above the objective's least; negative: none */
   uint32_t window;                                           /* 0: no search */
   uint32_t promote_keep, promote_of;                         /* 0: no promotion */
   const char *promote_by;                                    /* or "" */
   bool verified_by_execution; /* some verifier outside shadow executes the candidate */
} rkb_pipeline_facts_t;
rkb_pipeline_facts_t rkb_pipeline_facts(const rkb_pipeline_t *pipeline);

/* The sections of the graph, in the order of its nodes: propose entries, screen (with "build" at the place where it runs), evaluate, strategy, operators.
 * */
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
   const char *only;         /* "unknown, suspect"; "": every candidate that passed */
   rkb_place_t place;
} rkb_graph_node_t;
const char *rkb_pipeline_section_name(
   uint32_t section); /* the section's name in a file: "propose", ..., "search.operators"; "" for none */
uint32_t rkb_pipeline_node_count(const rkb_pipeline_t *pipeline);
const rkb_graph_node_t *rkb_pipeline_node(const rkb_pipeline_t *pipeline, uint32_t index);

#endif
