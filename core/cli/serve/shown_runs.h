/* The runs and sweeps in a folder, as `rkb serve` shows them.  The main thread alone. */
#ifndef RKB_CLI_SERVE_SHOWN_RUNS_H
#define RKB_CLI_SERVE_SHOWN_RUNS_H

#include <stdbool.h>
#include <stdint.h>

enum { SHOWN_MOST_RUNS = 1000, SHOWN_STAMP = 17 };

typedef struct shown_run {
   char *name, *directory;
   bool sweep;
   int64_t changed_s;       /* since 1970: its last change */
   char stamp[SHOWN_STAMP]; /* another text after every change */
} shown_run_t;

typedef struct shown_runs {
   shown_run_t *list; /* the last changed first */
   uint32_t count;
   bool cut; /* there are more than SHOWN_MOST_RUNS */
} shown_runs_t;

/* What the folder holds now: itself, where it is a run or a sweep (named "this"), and the runs and sweeps directly in it.  A folder that
 * cannot be read holds nothing. */
void shown_runs_scan(const char *folder, shown_runs_t *runs);
void shown_runs_free(shown_runs_t *runs);
/* NULL: there is none of this name. */
const shown_run_t *shown_runs_find(const shown_runs_t *runs, const char *name);

#endif
