/* A candidate: its source and tune values, what each stage found about it, and its standing.  The loop thread owns it.  A worker
 * that runs a job about it may read the members marked [worker]; the loop does not change them while such a job is open. */
#ifndef RKB_STAGE_CANDIDATE_H
#define RKB_STAGE_CANDIDATE_H

#include <pthread.h>
#include "stage/instance.h"

struct rkb_build;
struct rkb_plan_cache;
struct rkb_source;
struct rkb_source_cache;

enum rkb_result_state { RKB_NOT_REACHED = 0, RKB_RUNNING, RKB_RAN, RKB_SKIPPED, RKB_BLOCKED };

/* The result of one entry of the pipeline. */
typedef struct rkb_stage_result {
   uint32_t state; /* enum rkb_result_state */
   bool shadow;    /* the entry runs in shadow, or `sample` put this candidate in shadow */
   uint32_t attempts;
   bool near_limit;     /* a limit of this machine decided it, or almost did, so another machine may differ */
   double seconds;      /* negative: not known */
   rkb_item_t *verdict; /* owned; NULL when it gave none */
   rkb_item_t **measurements; /* owned */
   uint32_t measurement_count;
   rkb_work_t work;
} rkb_stage_result_t;

/* Bytes that one stage passes to a later one (rkb/ext/kernel.h). */
typedef struct rkb_note {
   struct rkb_note *next;
   char *key;
   void *data;
   size_t bytes;
} rkb_note_t;

/* The part of the verdicts that is kept after the strategy has received the result. */
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
   rkb_item_t *item;                  /* `made` plus what the core adds; replaced when the standing changes */
   const char *source;                /* lives in made; [worker] */
   char *tune; /* whole assignment, canonical; as given when the manifest does not parse; [worker] */
   char *tune_space; /* name -> choices, JSON; [worker] */
   char hash[RKB_HASH_TEXT], source_hash[RKB_HASH_TEXT], token_hash[RKB_HASH_TEXT];
   /* "" when there is none */
   char ptx_hash[RKB_HASH_TEXT], plan_hash[RKB_HASH_TEXT], cubin_hash[RKB_HASH_TEXT];
   int64_t *parents;
   uint32_t parent_count;
   int64_t duplicate_of; /* 0: none */
   uint32_t promotion;   /* enum rkb_promotion */

   rkb_summary_t summary;       /* filled when the strategy is told */
   rkb_stage_result_t *results; /* one for each entry of the pipeline; NULL after the strategy was told */
   uint64_t settled;            /* entries that ran, were skipped or blocked */
   uint64_t blocking;           /* entries whose verdict stops the entries that need them */
   uint64_t begun;              /* sections begun: sets of entries */
   bool advancing;

   bool fetching;           /* its build is being fetched again */
   bool built_again;        /* a second attempt to read the build was made, whether or not it succeeded */
   struct rkb_build *build; /* NULL before it is built, and once no stage needs it; [worker] */
   struct rkb_plan_cache *plans; /* of build, while there is one; [worker] */
   pthread_mutex_t notes_lock;
   rkb_note_t *notes; /* under notes_lock; [worker] */
   struct rkb_source_cache *sources; /* the run's, or NULL: the candidate reads its text itself; [any] */
   struct rkb_source *read;          /* source as it was read; under notes_lock: rkb_candidate_read */
   bool pinned;  /* a job about it hangs and may still read it, so it is never freed */
   void *owner;  /* the run's request, or the check */
} rkb_candidate_t;

/* Takes the item.  sources: where its text is looked for before it is read; NULL: nowhere.  They outlive all jobs about it. */
rkb_candidate_t *rkb_candidate_new(const rkb_pipeline_t *pipeline, struct rkb_source_cache *sources,
                                   rkb_item_t *made);
void rkb_candidate_free(const rkb_pipeline_t *pipeline, rkb_candidate_t *candidate);
/* Frees what only stages need: build, plans, the text as it was read, and notes. */
void rkb_candidate_settle(rkb_candidate_t *candidate);
/* Frees the stages' results.  Call it once the strategy has received them and the archive holds them. */
void rkb_candidate_forget(const rkb_pipeline_t *pipeline, rkb_candidate_t *candidate);
/* The text of its tune space.  [worker], before anything else sees the candidate; rkb_candidate_identify does it too. */
void rkb_candidate_find_tune_space(const rkb_pipeline_t *pipeline, rkb_candidate_t *candidate);
/* Hashes, the whole tune assignment and the tune space.  [worker], before anything else sees the candidate. */
void rkb_candidate_identify(const rkb_pipeline_t *pipeline, rkb_candidate_t *candidate);
/* Its text with tokens and manifest, read once.  The candidate holds them until it is settled.   [worker] */
const struct rkb_source *rkb_candidate_read(rkb_candidate_t *candidate);
/* Makes item again if number or standing have changed. */
void rkb_candidate_refresh(const rkb_pipeline_t *pipeline, rkb_candidate_t *candidate, uint64_t entries);

/* Its standing by the verdicts of a set of entries, without those in shadow; "none" when there is no verdict.  *decided
 * becomes the verdict that decided, or NULL; decided may be NULL. */
const char *rkb_candidate_standing(const rkb_pipeline_t *pipeline, const rkb_candidate_t *candidate,
                                   uint64_t entries, const rkb_item_t **decided);
/* accept 0, suspect 1, unknown 2, none 3, reject 4: the lower the better */
uint32_t rkb_standing_rank(const char *standing);
/* A measurement by "<entry id>.<name>", over the objective's cases; false when there is none.  *higher: more is better. */
bool rkb_candidate_measurement(const rkb_pipeline_t *pipeline, const rkb_candidate_t *candidate,
                               const char *name, double *value, bool *higher);
bool rkb_candidate_objective(const rkb_pipeline_t *pipeline, const rkb_candidate_t *candidate, double *value);
/* True when no verdict of these entries stopped it and it is no duplicate. */
bool rkb_candidate_passed(const rkb_candidate_t *candidate, uint64_t entries);

/* A verdict that the core gives itself; NULL when a text is longer than an item takes. */
rkb_item_t *rkb_verdict_new(const char *standing, const char *reason, const char *message);
const char *rkb_tool_reason(int status); /* "tool.timeout", ... */

#endif
