/* The candidates of a run that have a number, and which of them repeat an earlier one.  Loop thread. */
#ifndef RKB_RUN_NUMBERED_CANDIDATES_H
#define RKB_RUN_NUMBERED_CANDIDATES_H

#include "stage/candidate.h"
#include "run/digest_set.h"

typedef struct rkb_numbered {
   rkb_candidate_t **list; /* by number - 1 */
   uint64_t count, room;
   uint64_t duplicates; /* of them */
   uint64_t next_build; /* index of the first candidate whose build has not been compared with earlier ones */
   rkb_digest_set_t *by_tokens, *by_build;
} rkb_numbered_t;

void rkb_numbered_open(rkb_numbered_t *numbered);
/* Frees the candidates too. */
void rkb_numbered_close(rkb_numbered_t *numbered, const rkb_pipeline_t *pipeline);
/* NULL when no candidate has this number. */
rkb_candidate_t *rkb_numbered_get(const rkb_numbered_t *numbered, int64_t number);
/* Takes the candidate and gives it the next number. */
void rkb_numbered_add(rkb_numbered_t *numbered, rkb_candidate_t *candidate);
/* Looks for an earlier candidate with the same tokens and tune, and makes this one its duplicate.  With decided_before
 * the candidate keeps what the archive says about it. */
void rkb_numbered_compare_text(rkb_numbered_t *numbered, rkb_candidate_t *candidate, bool decided_before);
/* Looks for an earlier candidate with the same build as the one at next_build, and moves the mark.  If `waits` is true, the candidate's
 * stages have not gone on from the build, and it becomes a duplicate.  If it is false, only its build is noted. */
void rkb_numbered_compare_build(rkb_numbered_t *numbered, bool waits);

#endif
