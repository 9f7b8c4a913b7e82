/* One sitting: the candidate, and the incumbent where there is one, in several arenas of one process.  They
 * are timed turn by turn in random order; then their outputs and inputs are checked. */
#ifndef TIME_SITTING_H
#define TIME_SITTING_H

#include <rkb/ext/device.h>
#include <rkb/ext/random.h>
#include <rkb/ext/task.h>
#include "device_values/element_ranges.h"
#include "device_values/value_staging.h"
#include "device_values/stopwatch.h"
#include "peer/seed_peer.h"

struct time_config {
   const char *mode; /* "quick" or "full" */
   int64_t arenas;
   int64_t rounds;    /* turns of each arena in one sitting */
   int64_t points;    /* output elements checked after the batch */
   uint64_t deadline; /* of one run, nanoseconds */
   uint64_t budget;   /* for evaluating one output, nanoseconds */
};

struct timer {
   const rkb_host_t *host;
   const struct time_config *config;
   const rkb_task_api_t *task;
   const rkb_kernel_api_t *kernel;
   const rkb_device_api_t *device;
   const rkb_random_api_t *random;
   const rkb_workers_api_t *workers;
   rkb_store_t *store;    /* expected values kept between runs, or NULL */
   struct incumbent_holder *holder; /* incumbent.h */
};

enum { SETS = 2, CONTENDERS = 2, CANDIDATE = 0, INCUMBENT = 1, MOST_ARENAS = 32 };

/* A plan that takes part; its number is its module's too. */
struct contender {
   const void *cubin;
   size_t cubin_bytes;
   const rkb_plan_t *plan;
   bool transform; /* the manifest's algorithm: transform */
};

/* What every sitting of a case shares. */
struct subject {
   rkb_job_t job;
   rkb_session_t *session;
   const rkb_case_t *the_case;
   const rkb_family_t *family;
   uint64_t seeds[SETS];
   rkb_inputs_t *inputs[SETS];
   sums_t sums[SETS]; /* sums of the inputs, once they are staged */
   /* One for each tensor: what outputs should be; made after the first batch was timed. */
   rkb_sample_t *samples[SETS];
   bool expected; /* whether samples are there */
   struct contender contenders[CONTENDERS];
   uint32_t contender_count; /* 1 while there is no incumbent */
   peer_t *peer;             /* the kernel with which whole outputs are compared */
   bool compared;            /* whether they were compared in this case */
   uint32_t mixed;           /* bits of an ordinary turn (mixed_inputs) */
   stopwatch_t *watch;
};

/* The turns of a sitting: rounds, and then a last turn of each arena. */
struct turns {
   rkb_turn_t *list;            /* owned */
   float *times;                /* owned; milliseconds, one a turn */
   uint32_t count, round, last; /* of all turns, of those of a round, of last ones */
   uint32_t arenas;             /* of each contender */
};

struct sitting {
   double *cold[CONTENDERS], *warm[CONTENDERS]; /* milliseconds, owned; `count` of each */
   size_t count;
   double floor, copy_anchor,
      chain_anchor; /* milliseconds: of an empty run, and of the worker's fixed work; trimmed means */
   double *
      copies; /* milliseconds, owned: the tuned copy's (tuned_copies.h); NULL where it is not timed or finds no memory */
   size_t copy_count;
   bool right;      /* all contenders' outputs are right, and their inputs untouched */
   char wrong[256]; /* what was wrong, when right is false */
};

/* mixed_inputs.c: the bits of an ordinary turn (rkb_turn_t.reserved), which say that every run has inputs of its own and which of them are
 * mixed half and half. */
int mixed_inputs(const struct timer *me, const struct subject *subject, uint32_t *bits, rkb_error_t *err);

/* timed_values.c: draws the inputs of the_case, SETS of them under different seeds, from the pool where values are kept.  Give
 * them back with subject_free whatever it returns. */
int subject_draw(const struct timer *me, struct subject *subject, rkb_random_t *stream, rkb_error_t *err);
void subject_free(const struct timer *me, struct subject *subject);

bool full_mode(const struct timer *me);

/* Loads the modules and stages the values; once a process. */
int sitting_prepare(const struct timer *me, struct subject *subject, rkb_error_t *err);
/* Gives up the modules and values again. */
int sitting_clear(const struct timer *me, const struct subject *subject, rkb_error_t *err);
/* Allocates fresh arenas, times, checks and frees.  Call sitting_free whatever it returns. */
int sitting_run(const struct timer *me, struct subject *subject, rkb_random_t *stream,
                struct sitting *sitting, rkb_error_t *err);
void sitting_free(struct sitting *sitting);

/* sitting_check.c: judges every arena's outputs after its last turn, and looks for damage to the inputs.  If
 * anything is wrong, the batch is discarded whichever contender caused it, because contenders share an
 * address space. */
int sitting_check(const struct timer *me, struct subject *subject, const struct turns *turns,
                  struct sitting *sitting, rkb_error_t *err);
/* Sums over all that an arena holds, one for each tensor; nobody but this program knows the keys. */
int sitting_sums(const struct timer *me, const struct subject *subject, uint32_t instance, uint32_t set, uint64_t *sums,
                 rkb_error_t *err);

/* sitting_whole.c: the same for whole outputs of the candidate, compared with those of another kernel. */
int sitting_compare(const struct timer *me, struct subject *subject, const struct turns *turns,
                    struct sitting *sitting, rkb_error_t *err);
peer_place_t sitting_peer_place(const struct timer *me, const struct subject *subject);
/* The number of a contender's arena on the device; CONTENDERS is the number for the tuned copies. */
uint32_t sitting_instance(uint32_t contender, uint32_t arena);

#endif
