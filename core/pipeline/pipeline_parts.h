/* The resolved pipeline: the merged files with plugins, options, task and device.  It does not change once open.  pipeline.c opens it,
 * pipeline_extends.c merges files, pipeline_keys.c knows every key, pipeline_entries.c reads entries, pipeline_check.c reads the
 * rest, pipeline_wiring.c wires the entries, pipeline_cells.c opens the cells of a sweep. */
#ifndef RKB_PIPELINE_PIPELINE_PARTS_H
#define RKB_PIPELINE_PIPELINE_PARTS_H

#include "base/hash.h"
#include "pipeline/pipeline.h"
#include "pipeline/pipeline_keys.h"
#include "pipeline/yaml_tree.h"

#define RKB_MAX_ENTRIES 64    /* entries of one pipeline: a set of them fits 64 bits */
#define RKB_MAX_REQUESTS 4096 /* "requests:" of one propose entry */
#define RKB_MAX_WINDOW 4096
#define RKB_DEFAULT_DEADLINE (RKB_DEFAULT_DEADLINE_MINUTES * 60000000000ull)
#define RKB_DEFAULT_EXECUTE_NS 90000000000ull
#define RKB_DEFAULT_EXECUTE_BYTES (4ull << 30)
#define RKB_BUILD_ID "build"

/* Bits in the order of RKB_ONLY_CHOICES. */
enum rkb_standing_mask { RKB_ONLY_ACCEPT = 1, RKB_ONLY_SUSPECT = 2, RKB_ONLY_UNKNOWN = 4, RKB_ONLY_NONE = 8 };

typedef struct rkb_entry {
   rkb_graph_node_t node;          /* the public part */
   uint32_t index;                 /* in the pipeline's entries; its bit in a set */
   const rkb_stage_t *stage;       /* NULL for build and the strategy */
   const rkb_strategy_t *strategy; /* the strategy's */
   const void *config;
   uint64_t needs;    /* set of entries */
   uint64_t before;   /* needs, closed transitively */
   uint32_t only;     /* enum rkb_standing_mask; 0: every candidate that passed */
   uint32_t requests; /* of a propose entry */
   bool is_build;
   rkb_yaml_t *yaml; /* NULL for build */
} rkb_entry_t;

typedef struct rkb_pipeline {
   rkb_arena_t *arena;
   char *path;
   rkb_registry_t *registry; /* owned unless borrowed_registry */
   bool borrowed_registry;
   rkb_yaml_t *root; /* the resolved tree, without extends, set, remove and insert, and without the keys of a sweep, which follow */
   const rkb_yaml_t *seeds, *arms, *matrix; /* each NULL when absent */
   rkb_text_t text;          /* canonical form */
   char hash[RKB_HASH_TEXT];
   rkb_text_t depends; /* hashes of files that the values refer to, one a line */

   const char *name, *task_path, *direction, *target;
   uint64_t seed;
   uint64_t limit_candidates, limit_calls, limit_generations, limit_stale, limit_wall_ns;
   uint64_t limit_compile_ns; /* 0: the compilers' own */
   uint64_t limit_execute_ns, limit_execute_bytes; /* limits of a job in a process of its own; bytes for each thread */
   double limit_cost_usd;     /* negative: none */
   double limit_within;       /* share above objective_least; negative: none */
   struct rkb_models *models; /* or NULL: none are listed */
   rkb_pipeline_worker_t *workers; /* worker_count; none: this machine's GPUs */
   uint32_t worker_count;
   bool *models_used;         /* one for each of models: a stage's option names it; or NULL */

   uint32_t entry_count;
   bool too_many;                        /* the excess of entries was reported */
   rkb_entry_t entries[RKB_MAX_ENTRIES]; /* propose, screen, evaluate, strategy, operators */
   uint64_t screen, evaluate;            /* sets of entries */
   int32_t build;                        /* entry index, or -1 */
   int32_t strategy;                     /* entry index, or -1: no search */
   uint32_t first_operator, operator_count;
   rkb_operator_t *operators; /* operator_count, as the strategy sees them */
   uint32_t propose_count;    /* entries 0 .. propose_count-1 */
   uint32_t window;
   uint32_t promote_keep, promote_of;
   const char *promote_by;     /* or NULL */
   bool promotes;              /* the file has both promote and evaluate */
   const char *objective;      /* or NULL */
   const char *objective_over; /* "bench" or "check" */
   const char *objective_least; /* the measurement that says how low the objective can be; or NULL */
   uint32_t objective_combine; /* enum rkb_combine */
   bool verified_by_execution;

   struct rkb_task *task;
   struct rkb_device *device;
   rkb_pipeline_cell_t *cells;
   uint32_t cell_count;
} rkb_pipeline_t;

enum rkb_combine { RKB_COMBINE_GEOMEAN, RKB_COMBINE_MEAN, RKB_COMBINE_MAX, RKB_COMBINE_SUM };

/* pipeline_extends.c: the file, its parents and its edits as one tree; NULL with problems. */
rkb_yaml_t *rkb_pipeline_merge(rkb_arena_t *arena, const char *path, rkb_problems_t *problems);
/* Applies "path=value" in place. */
bool rkb_pipeline_override(rkb_arena_t *arena, rkb_yaml_t *root, const char *assignment,
                           rkb_problems_t *problems);

/* pipeline_entries.c: reads propose, screen, evaluate and search from the tree into entries. */
bool rkb_pipeline_entries(rkb_pipeline_t *pipeline, rkb_problems_t *problems);

/* pipeline_wiring.c: needs, build, sets. */
bool rkb_pipeline_wire(rkb_pipeline_t *pipeline, rkb_problems_t *problems);

/* pipeline_check.c: heading; objective and promotion; limits and models. */
bool rkb_pipeline_heading(rkb_pipeline_t *pipeline, rkb_problems_t *problems);
bool rkb_pipeline_goal(rkb_pipeline_t *pipeline, rkb_problems_t *problems);
bool rkb_pipeline_limits(rkb_pipeline_t *pipeline, rkb_problems_t *problems);

/* pipeline_workers.c */
bool rkb_pipeline_workers_read(rkb_pipeline_t *pipeline, rkb_problems_t *problems);

/* pipeline_cells.c: opens every cell of a sweep and keeps it. */
bool rkb_pipeline_expand(rkb_pipeline_t *pipeline, rkb_problems_t *problems);

/* pipeline.c: puts the command line's options into the merged tree. */
bool rkb_pipeline_apply_options(rkb_pipeline_t *pipeline, const rkb_pipeline_options_t *options, rkb_problems_t *problems);
/* pipeline_document.c: makes an empty pipeline, and reads everything except task and device from a merged tree. */
rkb_pipeline_t *rkb_pipeline_new(const char *path);
bool rkb_pipeline_read(rkb_pipeline_t *pipeline, rkb_problems_t *problems);
/* Spells defaults out and writes the resolved form; false past the arena's limit. */
bool rkb_pipeline_resolve(rkb_pipeline_t *pipeline);
void rkb_pipeline_close(rkb_pipeline_t *pipeline);
/* Makes a path relative to the file that contains it.  shipped: the folder whose files may be given by name alone, or NULL. */
void rkb_pipeline_resolve_path(rkb_pipeline_t *pipeline, rkb_yaml_t *node, const char *shipped);

/* Index of the entry with this id, or -1. */
int32_t rkb_pipeline_find(const rkb_pipeline_t *pipeline, const char *id);
/* Whether an entry of the set that is not a shadow produces this measurement ("model.predicted_us"). */
bool rkb_pipeline_produces(const rkb_pipeline_t *pipeline, uint64_t set, const char *measurement);

#endif
