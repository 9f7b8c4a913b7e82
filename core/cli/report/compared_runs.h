/* The runs that `rkb report DIR...` compares: those of sweeps, and single ones.  The main thread alone. */
#ifndef RKB_CLI_REPORT_COMPARED_RUNS_H
#define RKB_CLI_REPORT_COMPARED_RUNS_H

#include "cli/report/run_series.h"

typedef struct rkb_left_out {
   char *directory;
   const char *why;
} rkb_left_out_t;

typedef struct rkb_compared_runs {
   rkb_run_series_t *list;
   uint32_t count, room;
   rkb_left_out_t *left_out; /* runs that have not ended */
   uint32_t left_out_count;
   char **arms; /* names in the order of their first occurrence, as sweeps list them */
   uint32_t arm_count;
   char **subjects;
   uint32_t subject_count;
} rkb_compared_runs_t;

/* directories of runs and sweeps.  A single run's arm is its pipeline's name; a sweep's cell has its own.
 * RKB_ERR_INVALID: a directory holds neither, the objectives differ, or no run has ended. */
int rkb_compared_runs_read(char *const *directories, uint32_t count, rkb_compared_runs_t *runs,
                           rkb_error_t *err);
/* Index of the name; the list's length when it is not there. */
uint32_t rkb_compared_runs_arm(const rkb_compared_runs_t *runs, const char *name);
uint32_t rkb_compared_runs_subject(const rkb_compared_runs_t *runs, const char *name);
void rkb_compared_runs_free(rkb_compared_runs_t *runs);

#endif
