/* rkb-run --resume SWEEP --cell N: one cell of a sweep, which an executor starts on any machine.  The main thread alone. */
#ifndef RKB_CLI_RUN_CELL_H
#define RKB_CLI_RUN_CELL_H

#include <stdbool.h>
#include "base/secret.h"

typedef struct rkb_run_cell {
   char *directory; /* directory of its run; owned */
   rkb_secret_t secret;
   bool ended; /* no work is left */
} rkb_run_cell_t;

/* Finds the cell, and waits for a process that still writes its run, because the scheduler may have lost
 * contact with a machine that is still working.  Prints errors; returns enum rkb_exit. */
int rkb_find_run_cell(const char *sweep_directory, const char *number, rkb_run_cell_t *cell);

#endif
