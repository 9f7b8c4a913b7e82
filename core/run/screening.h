/* A candidate's way through the graph of one section: which stage may begin, what its answer opens and closes.  Knows
 * nothing of requests: runs and checks both stand on it.  Loop thread. */
#ifndef RKB_RUN_SCREENING_H
#define RKB_RUN_SCREENING_H

#include "stage/candidate.h"

typedef struct rkb_screening rkb_screening_t;

struct rkb_screening {
   rkb_core_t *core;
   void *owner;
   /* Every entry of the section is settled. */
   void (*finished)(void *owner, rkb_candidate_t *candidate, uint64_t entries);
   /* The build step has its result; call rkb_screening_built when the candidate's turn has come. */
   void (*built)(void *owner, rkb_candidate_t *candidate);
   /* For progress; or NULL. */
   void (*began)(void *owner, rkb_candidate_t *candidate, const rkb_entry_t *entry);
   void (*ended)(void *owner, rkb_candidate_t *candidate, const rkb_entry_t *entry);
   void (*added)(void *owner, const rkb_entry_t *entry);
   uint64_t candidates; /* between begin and finished */
};

/* Begins a section: entries is the pipeline's screen or evaluate. */
void rkb_screening_begin(rkb_screening_t *screening, rkb_candidate_t *candidate, uint64_t entries);
/* Goes on after the build step; duplicate_of is set by then. */
void rkb_screening_built(rkb_screening_t *screening, rkb_candidate_t *candidate);

#endif
