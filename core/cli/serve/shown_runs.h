/* The runs and sweeps in a folder, as `rkb serve` shows them.  The main thread alone. */
#ifndef RKB_CLI_SERVE_SHOWN_RUNS_H
#define RKB_CLI_SERVE_SHOWN_RUNS_H

#include <stdbool.h>
#include <stdint.h>

enum { SHOWN_MOST_RUNS = 1000, SHOWN_STAMP = 17 };

typedef struct shown_run {
   char *name, *directory;
   bool sweep;
   int64_t changed_s;       /* time of its last change, in seconds since 1970 */
   char stamp[SHOWN_STAMP]; /* changes whenever the run changes */
} shown_run_t;

typedef struct shown_runs {
   shown_run_t *list; /* the most recently changed run first */
   uint32_t count;
   bool cut; /* there are more than SHOWN_MOST_RUNS */
} shown_runs_t;

/* Lists the folder: itself, if it is a run or a sweep (named "this"), and the runs and sweeps directly in it.
 * A folder that cannot be read gives an empty list. */
void shown_runs_scan(const char *folder, shown_runs_t *runs);
void shown_runs_free(shown_runs_t *runs);
/* NULL: there is no run of this name. */
const shown_run_t *shown_runs_find(const shown_runs_t *runs, const char *name);

#endif
