/* Takes one candidate through the stages of a section: which stage may begin, and which stages its verdict stops.  It knows
 * nothing of requests, so that a run and a check can both use it.  Loop thread. */
#ifndef RKB_RUN_SCREENING_H
#define RKB_RUN_SCREENING_H

#include "stage/candidate.h"

typedef struct rkb_screening rkb_screening_t;

struct rkb_screening {
   rkb_runtime_t *runtime;
   void *owner;
   /* Every entry of the section ran, was skipped or was blocked. */
   void (*finished)(void *owner, rkb_candidate_t *candidate, uint64_t entries);
   /* The build step has its result.  The owner calls rkb_screening_built when the candidate may go on. */
   void (*built)(void *owner, rkb_candidate_t *candidate);
   /* For progress; each may be NULL. */
   void (*began)(void *owner, rkb_candidate_t *candidate, const rkb_entry_t *entry);
   void (*ended)(void *owner, rkb_candidate_t *candidate, const rkb_entry_t *entry);
   void (*added)(void *owner, const rkb_entry_t *entry);
   uint64_t candidates; /* between begin and finished */
};

/* Begins a section: entries is the pipeline's screen or evaluate. */
void rkb_screening_begin(rkb_screening_t *screening, rkb_candidate_t *candidate, uint64_t entries);
/* Goes on after the build step.  The owner has set duplicate_of by now. */
void rkb_screening_built(rkb_screening_t *screening, rkb_candidate_t *candidate);

#endif
