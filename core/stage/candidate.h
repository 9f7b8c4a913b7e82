/* A candidate on its way: what it is, what each stage found, and how it stands.  Loop thread; a worker that runs a job
 * about it may read what the comments mark so, for the loop leaves those alone while jobs are open. */
#ifndef RKB_STAGE_CANDIDATE_H
#define RKB_STAGE_CANDIDATE_H

#include <pthread.h>
#include "stage/instance.h"

struct rkb_build;

enum rkb_result_state { RKB_NOT_REACHED = 0, RKB_RUNNING, RKB_RAN, RKB_SKIPPED, RKB_BLOCKED };

/* What one entry of the graph found. */
typedef struct rkb_stage_result {
   uint32_t state; /* enum rkb_result_state */
   bool shadow;    /* by the entry, or by sample */
   uint32_t attempts;
   bool near_limit;           /* a limit of this machine decided, or nearly: not reproducible */
   double seconds;            /* negative: not known */
   rkb_item_t *verdict;       /* owned; NULL when it gave none */
   rkb_item_t **measurements; /* owned */
   uint32_t measurement_count;
   rkb_work_t work;
} rkb_stage_result_t;

/* A blob that one stage leaves for a later one (rkb/ext/kernel.h). */
typedef struct rkb_note {
   struct rkb_note *next;
   char *key;
   void *data;
   size_t bytes;
} rkb_note_t;

/* What is left of the verdicts once it was told. */
typedef struct rkb_summary {
   const char *standing; /* constant text */
   char reason[64];
   bool has_objective, promoted;
   double objective;
} rkb_summary_t;

typedef struct rkb_candidate {
   int64_t number;   /* from 1; 0 before it has one */
   uint32_t section; /* enum rkb_request_section */
   int64_t request;
   uint32_t child;
   const rkb_entry_t *operator_entry; /* of the request that it came from; NULL in a check */
   rkb_item_t *made;                  /* as its stage emitted it; [worker] */
   rkb_item_t *item;                  /* over it, what the core adds; replaced when the standing changes */
   const char *source;                /* in made; [worker] */
   char *tune; /* whole assignment, canonical; as given when the manifest does not parse; [worker] */
   char hash[RKB_HASH_TEXT], source_hash[RKB_HASH_TEXT], token_hash[RKB_HASH_TEXT];
   /* "" when there is none */
   char ptx_hash[RKB_HASH_TEXT], plan_hash[RKB_HASH_TEXT], cubin_hash[RKB_HASH_TEXT];
   int64_t *parents;
   uint32_t parent_count;
   int64_t duplicate_of; /* 0: none */
   uint32_t promotion;   /* enum rkb_promotion */

   rkb_summary_t summary;       /* from the moment it is told */
   rkb_stage_result_t *results; /* one an entry of the pipeline; NULL once it was told */
   uint64_t settled;            /* entries that ran, were skipped or blocked */
   uint64_t blocking;           /* entries whose verdict stops what depends on them */
   uint64_t begun;              /* sections begun: sets of entries */
   bool advancing;

   bool fetching;           /* its build is being fetched again */
   bool built_again;        /* the build was fetched again, or could not be */
   struct rkb_build *build; /* while it is in flight, or NULL; [worker] */
   pthread_mutex_t notes_lock;
   rkb_note_t *notes; /* under notes_lock; [worker] */
   struct rkb_manifest
      *manifest; /* source's, from the first plan that a stage asked for; under notes_lock; [worker] */
   bool pinned;  /* a job about it hangs: it stays in memory */
   void *owner;  /* the run's request, or the check */
} rkb_candidate_t;

/* Takes the item.  NULL when memory is out. */
rkb_candidate_t *rkb_candidate_new(const rkb_pipeline_t *pipeline, rkb_item_t *made);
void rkb_candidate_free(const rkb_pipeline_t *pipeline, rkb_candidate_t *candidate);
/* Frees what only stages need: build, manifest and notes. */
void rkb_candidate_settle(rkb_candidate_t *candidate);
/* Frees what the stages found: it has been told, and the archive has it. */
void rkb_candidate_forget(const rkb_pipeline_t *pipeline, rkb_candidate_t *candidate);
/* Hashes, and the whole tune assignment.  [worker], before anything else sees the candidate. */
void rkb_candidate_identify(const rkb_pipeline_t *pipeline, rkb_candidate_t *candidate);
/* Brings item up to date with number and standing; false when memory is out. */
bool rkb_candidate_refresh(const rkb_pipeline_t *pipeline, rkb_candidate_t *candidate, uint64_t entries);

/* Its standing by the verdicts of a set of entries, shadow apart: "none" without any.  *decided (or NULL) is the verdict
 * that made it so, or NULL. */
const char *rkb_candidate_standing(const rkb_pipeline_t *pipeline, const rkb_candidate_t *candidate,
                                   uint64_t entries, const rkb_item_t **decided);
/* accept 0, suspect 1, unknown 2, none 3, reject 4: better first */
uint32_t rkb_standing_rank(const char *standing);
/* A measurement by "<entry id>.<name>", over the objective's cases; false when there is none.  *higher: more is better. */
bool rkb_candidate_measurement(const rkb_pipeline_t *pipeline, const rkb_candidate_t *candidate,
                               const char *name, double *value, bool *higher);
bool rkb_candidate_objective(const rkb_pipeline_t *pipeline, const rkb_candidate_t *candidate, double *value);
/* Nothing stopped it in these entries, and it is no duplicate. */
bool rkb_candidate_passed(const rkb_candidate_t *candidate, uint64_t entries);

/* A verdict the core gives; NULL when memory is out. */
rkb_item_t *rkb_verdict_new(const char *standing, const char *reason, const char *message);
const char *rkb_tool_reason(int status); /* "tool.timeout", ... */

#endif
