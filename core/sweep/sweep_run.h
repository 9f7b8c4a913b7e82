/* Runs a sweep: a process of rkb-run for each cell that has not ended, on the machines of an executor.  The process that runs the sweep
 * decides nothing about a cell: which cells are left is read from their archives, so a sweep that was interrupted or killed goes on where
 * it was.  rkb_sweep_run turns the calling thread into a loop until it returns. */
#ifndef RKB_SWEEP_SWEEP_RUN_H
#define RKB_SWEEP_SWEEP_RUN_H

#include "executor/executor.h"
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
   RKB_SWEEP_STOPPING,    /* ^C: no cell starts any more */
   RKB_SWEEP_LOST,        /* its machine was lost, or the scheduler ended it; it is started again: text */
   RKB_SWEEP_REMOVED,     /* a person removed it from the queue; it is not started again: text */
   RKB_SWEEP_TROUBLE      /* of a machine or of the scheduler, not of a cell: text */
};

typedef struct rkb_sweep_event {
   uint32_t kind;
   uint32_t cell;                         /* index in the plan */
   const char *text;                      /* never NULL */
   const rkb_cell_look_t *look;           /* RKB_SWEEP_ENDED */
   const char *where;                     /* the machine; "" for this one, never NULL */
   double seconds;                        /* of the process that ended */
   uint32_t ended, running, left, failed; /* cells, after the event */
} rkb_sweep_event_t;

typedef struct rkb_sweep_options {
   const char *program;             /* path of rkb-run */
   const char *version;             /* the output of its --version */
   const rkb_destination_t *destination;        /* where the cells run */
   const char *const *slurm_options; /* words for sbatch, NULL-terminated, or NULL */
   bool detach;                     /* return when every cell is in the scheduler's queue */
   const char *const *plugin_paths; /* --plugin-path of every cell, NULL-terminated, or NULL */
   uint32_t at_once; /* cells that run at the same time, on each machine; 0: 1, with a scheduler no limit */
   uint32_t jobs; /* worker threads of each; 0: on this machine the cores divided among those that run at once, elsewhere rkb-run's default */
   void (*observe)(void *argument, const rkb_sweep_event_t *event); /* on the loop, must be quick */
   void *argument;
} rkb_sweep_options_t;

typedef struct rkb_sweep_result {
   uint32_t ended, failed, left; /* cells; left: neither ended nor failed */
   bool interrupted, detached;
} rkb_sweep_result_t;

/* RKB_OK whatever became of the cells.  RKB_ERR_UNAVAILABLE: another process runs this sweep.  ^C and SIGTERM end every running cell
 * as ^C ends a run; a second one kills them, and a third one does not wait for a
 * scheduler. */
int rkb_sweep_run(const rkb_sweep_t *sweep, const rkb_sweep_options_t *options, rkb_sweep_result_t *result,
                  rkb_error_t *err);

#endif
