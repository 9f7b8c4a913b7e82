/* Runs a sweep: a process of rkb-run for each cell that has not ended, some at a time.  The process that runs the sweep decides nothing
 * about a cell: which cells are left is read from their archives, so a sweep that was interrupted or killed goes on where it was.
 * rkb_sweep_run turns the calling thread into a loop until it returns. */
#ifndef RKB_SWEEP_SWEEP_RUN_H
#define RKB_SWEEP_SWEEP_RUN_H

#include "sweep/cell_state.h"
#include "sweep/sweep_plan.h"

enum rkb_sweep_event_kind {
   RKB_SWEEP_STARTED = 1, /* a cell's run begins */
   RKB_SWEEP_CONTINUED,   /* or goes on */
   RKB_SWEEP_ENDED,       /* it ended by itself or at a limit: look */
   RKB_SWEEP_CUT,         /* it was interrupted, and can go on */
   RKB_SWEEP_WAITING,     /* a process of an earlier sweep still ends its run */
   RKB_SWEEP_FAILED,      /* it ended without an ending: a tool broke, or it was refused; text */
   RKB_SWEEP_SAID,        /* a line of its standard error: text */
   RKB_SWEEP_STOPPING     /* ^C: no cell starts any more */
};

typedef struct rkb_sweep_event {
   uint32_t kind;
   uint32_t cell;                         /* index in the plan */
   const char *text;                      /* never NULL */
   const rkb_cell_look_t *look;           /* RKB_SWEEP_ENDED */
   double seconds;                        /* of the process that ended */
   uint32_t ended, running, left, failed; /* cells, after the event */
} rkb_sweep_event_t;

typedef struct rkb_sweep_options {
   const char *program;             /* path of rkb-run */
   const char *const *plugin_paths; /* --plugin-path of every cell, NULL-terminated, or NULL */
   uint32_t at_once;                /* cells that run at the same time, from 1 */
   uint32_t jobs; /* worker threads of each; 0: the cores divided among those that run at once */
   void (*observe)(void *argument, const rkb_sweep_event_t *event); /* on the loop, must be quick */
   void *argument;
} rkb_sweep_options_t;

typedef struct rkb_sweep_result {
   uint32_t ended, failed, left; /* cells; left: neither ended nor failed */
   bool interrupted;
} rkb_sweep_result_t;

/* RKB_OK whatever became of the cells.  RKB_ERR_UNAVAILABLE: another process runs this sweep.  ^C and SIGTERM end every running cell
 * as ^C ends a run; a second one kills them. */
int rkb_sweep_run(const rkb_sweep_t *sweep, const rkb_sweep_options_t *options, rkb_sweep_result_t *result,
                  rkb_error_t *err);

#endif
