/* Executors run the jobs of a sweep: `local` as processes of this machine, `ssh` as processes of other machines, `slurm` as an array job. A job is a
 * command with a number.  An executor starts jobs, says where they run, and tells how they ended.  It does not judge their work, which is in the archives of
 * their runs.
 *
 * All functions and events: loop thread only. */
#ifndef RKB_EXECUTOR_EXECUTOR_H
#define RKB_EXECUTOR_EXECUTOR_H

#include <stdbool.h>
#include "system/loop.h"

enum rkb_job_end_kind {
   RKB_JOB_EXITED = 1, /* the program ended by itself: exit_code */
   RKB_JOB_LOST,       /* its machine, its connection or the scheduler ended it; it can be started again */
   RKB_JOB_REMOVED     /* a person removed it from the queue; it is not started again */
};

typedef struct rkb_job_end {
   uint32_t kind; /* enum rkb_job_end_kind */
   int exit_code;
   const char *where; /* the machine, and Slurm's job; never NULL */
   const char *text;  /* the last line that the job wrote, or the reason of its end; never NULL */
} rkb_job_end_t;

/* All strings are valid until the call returns. */
typedef struct rkb_executor_events {
   void (*began)(void *argument, uint32_t job,
                 const char *where); /* a job runs on this machine; called again when it was moved to another machine */
   void (*said)(void *argument, uint32_t job, const char *line); /* the job wrote this line to standard error */
   void (*ended)(void *argument, uint32_t job, const rkb_job_end_t *end);
   void (*trouble)(void *argument,
                   const char *text); /* something to tell the user: a machine is left out, or a controller does not answer */
   void (*ready)(void *argument);     /* there is room for jobs again */
   void (*queued)(void *argument);    /* every job that was started is known to the scheduler */
   void (*broken)(void *argument, const rkb_error_t *err); /* nothing can be started any more */
   void *argument;
} rkb_executor_events_t;

typedef struct rkb_executor_options {
   rkb_loop_t *loop;
   const char *const *command; /* words, NULL-terminated; words[0] is a path */
   bool numbered;              /* append the job's number, counted from 1 */
   const char *directory;      /* absolute; the jobs' working directory, from which their name in a queue is made */
   const char *version;        /* the output of `command[0] --version` on this machine */
   uint32_t count;             /* of jobs */
   uint32_t
      at_once;     /* jobs at the same time: on each machine, with Slurm in all; 0: 1, with Slurm no limit */
   uint32_t cores; /* cores of each job, for Slurm; 0: as the user's options say */
   const char *const *slurm_options; /* further words for sbatch, NULL-terminated, or NULL */
   rkb_executor_events_t events;
} rkb_executor_options_t;

typedef struct rkb_executor rkb_executor_t;

/* The functions of an executor.  Each file that has one fills this table. */
typedef struct rkb_executor_operations {
   const char *name;
   bool here;                                  /* its jobs are processes of this machine */
   bool queues;                                /* its jobs continue when this process ends */
   bool (*has_room)(rkb_executor_t *executor); /* whether another job can be started now */
   /* Takes a job.  Unless this fails, `ended` is called once for the job, later. */
   int (*start)(rkb_executor_t *executor, uint32_t job, rkb_error_t *err);
   void (*flush)(rkb_executor_t *executor); /* no further job follows for now: passes the started jobs on */
   void (*end)(rkb_executor_t *executor);   /* ends every job as ^C would, and removes waiting jobs from the queue */
   void (*kill)(rkb_executor_t *executor);
   /* No event follows after this call.  Do not call it inside rkb_loop_run: it runs the loop itself, until the programs that it called have ended. */
   void (*close)(rkb_executor_t *executor);
   void (*free)(rkb_executor_t *executor); /* after the loop */
} rkb_executor_operations_t;

struct rkb_executor {
   const rkb_executor_operations_t *operations;
};

/* Where jobs run, as it is written after --on. */
typedef struct rkb_destination {
   const rkb_executor_operations_t *operations;
   char **hosts; /* the hosts of ssh, NULL-terminated; otherwise NULL */
} rkb_destination_t;

/* Reads "local", "slurm" or "ssh:HOST,HOST".  RKB_ERR_INVALID: it is none of these.  NULL is "local". */
int rkb_destination_read(const char *text, rkb_destination_t *destination, rkb_error_t *err);
void rkb_destination_free(rkb_destination_t *destination);

/* options and destination must outlive the executor. */
rkb_executor_t *rkb_executor_new(const rkb_destination_t *destination, const rkb_executor_options_t *options);

#endif
