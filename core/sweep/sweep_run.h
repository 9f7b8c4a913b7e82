/* Runs a sweep: a process of rkb-run for each cell that has not ended, on the machines of an executor.  The
 * process that runs the sweep decides nothing about a cell.  It reads from the archives which cells are left,
 * so a sweep that was interrupted or killed continues where it stopped.  rkb_sweep_run turns the calling
 * thread into a loop until it returns. */
#ifndef RKB_SWEEP_SWEEP_RUN_H
#define RKB_SWEEP_SWEEP_RUN_H

#include "executor/executor.h"
#include "sweep/cell_state.h"
#include "sweep/sweep_plan.h"

enum rkb_sweep_event_kind {
   RKB_SWEEP_STARTED = 1, /* a cell's run begins */
   RKB_SWEEP_CONTINUED,   /* a cell's run continues */
   RKB_SWEEP_ENDED,       /* the cell's run ended by itself or at a limit; see `look` */
   RKB_SWEEP_CUT,         /* the run was interrupted, and can be resumed */
   RKB_SWEEP_WAITING,     /* a process of an earlier sweep is still ending the cell's run */
   /* The process ended without an ending of its run: a tool broke, or the run was refused; see `text`. */
   RKB_SWEEP_FAILED,
   RKB_SWEEP_SAID,     /* a line of its standard error; see `text` */
   RKB_SWEEP_STOPPING, /* ^C: no further cell starts */
   /* Its machine was lost, or the scheduler ended it; it is started again; see `text`. */
   RKB_SWEEP_LOST,
   RKB_SWEEP_REMOVED, /* a person removed it from the queue; it is not started again; see `text` */
   RKB_SWEEP_TROUBLE  /* a problem of a machine or of the scheduler, not of a cell; see `text` */
};

typedef struct rkb_sweep_event {
   uint32_t kind;
   uint32_t cell;                         /* index in the plan */
   const char *text;                      /* never NULL */
   const rkb_cell_look_t *look;           /* set for RKB_SWEEP_ENDED */
   const char *where;                     /* the machine; "" for this one, never NULL */
   double seconds;                        /* running time of the process that ended */
   uint32_t ended, running, left, failed; /* numbers of cells, after the event */
} rkb_sweep_event_t;

typedef struct rkb_sweep_options {
   const char *program;             /* path of rkb-run */
   const char *version;             /* the output of its --version */
   const rkb_destination_t *destination;        /* where the cells run */
   const char *const *slurm_options; /* words for sbatch, NULL-terminated, or NULL */
   bool detach;                     /* return when every cell is in the scheduler's queue */
   const char *const *plugin_paths; /* --plugin-path of every cell, NULL-terminated, or NULL */
   uint32_t at_once; /* cells that run at the same time, on each machine; 0: 1, with a scheduler no limit */
   /* Worker threads of each cell; 0: on this machine the cores divided among the cells that run at once,
    * elsewhere rkb-run's default. */
   uint32_t jobs;
   void (*observe)(void *argument, const rkb_sweep_event_t *event); /* on the loop, must be quick */
   void *argument;
} rkb_sweep_options_t;

typedef struct rkb_sweep_result {
   uint32_t ended, failed, left; /* numbers of cells; left: neither ended nor failed */
   bool interrupted, detached;
} rkb_sweep_result_t;

/* Returns RKB_OK whatever the outcome of the cells.  RKB_ERR_UNAVAILABLE: another process runs this sweep.
 * ^C and SIGTERM end every running cell as ^C ends a run; a second signal kills the cells, and a third one
 * stops waiting for a scheduler. */
int rkb_sweep_run(const rkb_sweep_t *sweep, const rkb_sweep_options_t *options, rkb_sweep_result_t *result,
                  rkb_error_t *err);

#endif
