/* Puts a candidate's bench cases on a device, one after the other, each ready for a profiler to run.  Runs on
 * a worker. */
#ifndef PROFILER_PROFILED_PLAN_H
#define PROFILER_PROFILED_PLAN_H

#include <rkb/ext/device.h>
#include <rkb/ext/kernel.h>
#include <rkb/ext/random.h>
#include <rkb/ext/task.h>
#include <rkb/ext/workers.h>

typedef struct profiler {
   const rkb_host_t *host;
   const rkb_task_api_t *task;
   const rkb_kernel_api_t *kernel;
   const rkb_device_api_t *device;
   const rkb_random_api_t *random;
   const rkb_workers_api_t *workers;
   const void *config; /* the stage's options */
} profiler_t;

/* The extensions that such a stage lists in its needs. */
#define PROFILER_NEEDS                                                                                       \
   (const char *const[]) {                                                                                   \
      RKB_EXT_TASK, RKB_EXT_KERNEL, RKB_EXT_DEVICE, RKB_EXT_RANDOM, RKB_EXT_WORKERS, NULL                    \
   }

/* A stage's create and destroy: *self is size bytes, cleared, that begin with a profiler_t.  RKB_ERR_UNAVAILABLE: this program's workers cannot
 * be observed. */
int profiler_new(const rkb_host_t *host, const void *config, size_t size, void **self, rkb_error_t *err);
void profiler_free(void *self);

/* Returns the candidate's build, which the caller frees by build_free. */
int profiler_build(const profiler_t *profiler, rkb_job_t job, const rkb_item_t *in, rkb_build_t **build, rkb_error_t *err);

/* One case: its plan is instance 0 of the session, and its values are set 0. */
typedef struct profiled_plan {
   rkb_session_t *session;
   const rkb_build_t *build;
   const rkb_plan_t *plan;
   const rkb_case_t *the_case;
} profiled_plan_t;

/* What a job profiles: where, and which cases. */
typedef struct profiled_cases {
   rkb_job_t job;
   const rkb_item_t *in;
   const rkb_build_t *build;
   rkb_session_t *session; /* owned by the caller */
   uint32_t kind;          /* enum rkb_case_kind */
   uint32_t first, most;
   uint32_t placement; /* enum rkb_placement */
} profiled_cases_t;

#define PROFILED_ENOUGH 1 /* What visit returns, in place of a status, to stop without an error. */

/* Calls visit for each case; ends at the first status that is not RKB_OK.  *visited receives how many cases
 * there were. */
int profile_cases(const profiler_t *profiler, const profiled_cases_t *cases,
                  int (*visit)(void *context, const profiled_plan_t *plan, rkb_error_t *err), void *context,
                  uint32_t *visited, rkb_error_t *err);

/* Finds a program of the CUDA toolkit: the option, or the one on PATH, or where toolkits put it, or its bare
 * name, which the worker's machine may know. */
void find_tool(const char *option, const char *name, char *out, size_t size);

#endif
