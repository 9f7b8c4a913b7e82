/* The state of a sweep's cell, read from its run's archive.  The archive is the only record of it, so nothing
 * can contradict it after a kill.  Any thread. */
#ifndef RKB_SWEEP_CELL_STATE_H
#define RKB_SWEEP_CELL_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <rkb/plugin.h>

enum rkb_cell_state {
   RKB_CELL_WAITING = 1, /* its run has not begun */
   RKB_CELL_BEGUN,       /* it was cut short, or it runs now */
   RKB_CELL_ENDED        /* nothing is left to do: it ended by itself or reached one of its limits */
};

typedef struct rkb_cell_look {
   uint32_t state;               /* enum rkb_cell_state */
   char ended[128];              /* why the run ended, in words; "" while it has not */
   int64_t candidates, accepted; /* without duplicates */
   int64_t best;                 /* candidate number; 0: none */
   double value;                 /* the objective's value of the best candidate */
} rkb_cell_look_t;

/* The process that writes the cell's run now, as rkb_lock_holder tells it. */
int64_t rkb_cell_writer(const char *run_directory);
/* Reads the state.  Returns RKB_OK also when there is no archive yet. */
int rkb_cell_state(const char *run_directory, rkb_cell_look_t *look, rkb_error_t *err);

#endif
