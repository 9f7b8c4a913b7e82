/* What each entry of the pipeline took, what the run took, and when each best candidate came.  Only reports read it; no
 * decision depends on it.  Loop thread. */
#ifndef RKB_RUN_RUN_TIMES_H
#define RKB_RUN_RUN_TIMES_H

#include "pipeline/pipeline_parts.h"

struct rkb_run;

/* Jobs of one entry. */
typedef struct rkb_spent {
   uint64_t jobs;
   double seconds, longest;
} rkb_spent_t;

/* When a candidate became the best. */
typedef struct rkb_best {
   int64_t candidate;
   double elapsed; /* seconds of the run */
} rkb_best_t;

typedef struct rkb_times {
   uint64_t started_ns;                /* CLOCK_MONOTONIC */
   double earlier_seconds;             /* of the processes that this run was resumed from */
   rkb_spent_t spent[RKB_MAX_ENTRIES]; /* by this process and earlier ones */
   rkb_best_t *bests;
   uint32_t best_count, best_room;
} rkb_run_times_t;

void rkb_run_times_begin(struct rkb_run *run);
void rkb_run_times_free(struct rkb_run *run);
double rkb_run_times_elapsed(const struct rkb_run *run); /* seconds, with those of earlier processes */
void rkb_run_times_best(struct rkb_run *run, int64_t candidate); /* it is the best from now on */
void rkb_run_times_add(struct rkb_run *run, uint32_t entry,
                       double seconds); /* negative: not known, left out */
/* Keeps everything as the archive's fact "times", and reads it back on resume.  Without an archive both do nothing.  A
 * failure to store breaks the run. */
void rkb_run_times_store(struct rkb_run *run);
void rkb_run_times_load(struct rkb_run *run);

#endif
