/* One sitting: a plan in several arenas of one process, timed turn by turn in random order, its outputs checked after. */
#ifndef TIME_SITTING_H
#define TIME_SITTING_H

#include <rkb/ext/device.h>
#include <rkb/ext/random.h>
#include <rkb/ext/task.h>
#include "expected/sample.h"

struct time_config {
   const char *mode;    /* "quick" or "full" */
   int64_t arenas;
   int64_t rounds;      /* turns of each arena in one sitting */
   int64_t points;      /* output elements checked after the batch */
   uint64_t deadline;   /* of one run, nanoseconds */
   uint64_t budget;     /* for evaluating one output, nanoseconds */
};

struct timer {
   const rkb_host_t *host;
   const struct time_config *config;
   const rkb_task_api_t *task;
   const rkb_kernel_api_t *kernel;
   const rkb_device_api_t *device;
   const rkb_random_api_t *random;
   store_t *store; /* expected values kept between runs, or NULL */
};

enum { SETS = 2 };

/* What every sitting of a case shares. */
struct subject {
   rkb_session_t *session;
   const rkb_build_t *build;
   const rkb_plan_t *plan;
   const rkb_case_t *the_case;
   const rkb_family_t *family;
   uint64_t seeds[SETS];
   rkb_inputs_t *inputs[SETS];
   bool transform;
};

struct sitting {
   double *cold, *warm; /* milliseconds, owned; count each */
   size_t count;
   bool outputs_right;
   char wrong[256];     /* what was not, when they are not */
};

/* Loads module 0 and stages the values; once a process. */
int sitting_prepare(const struct timer *me, const struct subject *subject, rkb_error_t *err);
/* Drops them again. */
int sitting_clear(const struct timer *me, const struct subject *subject, rkb_error_t *err);
/* Allocates fresh arenas, times, checks, frees.  Release with sitting_free whatever it returns. */
int sitting_run(const struct timer *me, const struct subject *subject, rkb_random_t *stream, struct sitting *sitting, rkb_error_t *err);
void sitting_free(struct sitting *sitting);

#endif
