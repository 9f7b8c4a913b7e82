/* Definitions that the files of rkb.verifier.gpu share: options, the extensions, one case's work, and its results. */
#ifndef GPU_VERIFIER_H
#define GPU_VERIFIER_H

#include <jansson.h>
#include <rkb/ext/device.h>
#include <rkb/ext/random.h>
#include <rkb/ext/task.h>
#include <rkb/ext/workers.h>
#include "device_values/element_ranges.h"
#include "device_values/value_staging.h"
#include "device_values/stopwatch.h"
#include "peer/seed_peer.h"

struct gpu_config {
   int64_t families, bench_families; /* at most, of a check case; of a bench case or a drawn shape */
   int64_t pool;        /* seeds a listed case's values are drawn from */
   uint64_t budget;     /* for evaluating one output, nanoseconds */
   int64_t drawn;       /* shapes drawn anew */
   double drawn_work;   /* operations of a drawn shape, at most */
   int64_t drawn_bytes; /* and bytes */
   int64_t points;      /* output elements compared at bench shapes */
   uint64_t deadline;   /* of one run, nanoseconds */
};

struct gpu {
   const rkb_host_t *host;
   const struct gpu_config *config;
   const rkb_task_api_t *task;
   const rkb_kernel_api_t *kernel;
   const rkb_device_api_t *device;
   const rkb_random_api_t *random;
   const rkb_workers_api_t *workers;
   rkb_store_t *store; /* expected values kept between runs, or NULL */
};

/* The first thing found wrong, or nothing. */
struct found {
   char reason[48]; /* "" while nothing is wrong */
   bool suspect;
   char message[448];
   json_t *evidence; /* owned object, or NULL */
};

/* Results of the runs in addition to right or wrong. */
struct tally {
   uint32_t runs;
   uint64_t judged;               /* output elements */
   uint64_t ambiguous, dont_care; /* of those compared within both branches; others whose value may be any */
   uint32_t not_judged;           /* outputs whose reference is too costly at that shape */
   uint32_t refused;  /* outputs that the judge would not pass: too many of their elements are ambiguous */
   char refusal[192]; /* its sentence on the first of them */
   double worst_hard, worst_stat;
   bool repeatable; /* equal inputs gave equal bits */
};

struct candidate {
   rkb_job_t job;
   const rkb_item_t *item;
   const rkb_build_t *build;
   bool transform; /* the manifest's algorithm: transform */
   rkb_session_t *session;
   bool module_loaded;
   stopwatch_t watch;
   peer_t peer; /* what outputs at bench shapes are compared with */
};

/* output_values.c: one set of inputs on both sides.  Made once for a family and used for both placements. */
struct values {
   const rkb_case_t *the_case;
   const rkb_family_t *family;
   uint64_t seed;
   bool pooled; /* the seed is from the store's pool, so expected values can be stored */
   rkb_inputs_t *inputs;
   sums_t sums;       /* of the inputs, once they are staged */
   rkb_sample_t *samples; /* one a tensor; empty until trials_expect */
   bool expected;
   uint64_t *judged; /* one a tensor: the device's sum of an output that was judged and found right */
   bool *right;      /* one a tensor: whether there is such a sum */
   uint64_t *whole;  /* one a tensor: the same of an output that was compared whole with the peer's */
   bool *compared;
};
int values_open(const struct gpu *me, const rkb_case_t *the_case, const rkb_family_t *family, uint64_t seed,
                bool pooled, struct values *values, rkb_error_t *err);
void values_free(const struct gpu *me, struct values *values);
/* Makes two sets of one case sets 0 and 1 on the device. */
int values_stage(const struct gpu *me, struct candidate *candidate, struct values values[2],
                 rkb_error_t *err);

/* gpu_trial.c: one case with the values of all families that are to be run on it. */
struct trial {
   const rkb_case_t *the_case;
   rkb_case_t *drawn; /* the same, when it is this trial's own */
   uint32_t families;
   struct values (*values)[2]; /* families of them: two sets each; owned */
};
/* Takes drawn over, whatever it returns; the_case is it, or outlives the trial. */
int trial_open(const struct gpu *me, const rkb_case_t *the_case, rkb_case_t *drawn, rkb_random_t *stream,
               struct trial *trial, rkb_error_t *err);
void trial_close(const struct gpu *me, struct trial *trial);
/* Evaluates what the outputs of all trials' values should be, on the workers that are free; nothing the second time.  Not before
 * the candidate has run on the first of them. */
int trials_expect(const struct gpu *me, struct trial *trials, uint32_t count, rkb_error_t *err);

/* verify_case.c: runs the candidate on trial number n of count that are evaluated together: all families, both placements, twice
 * on the same scratch.  RKB_OK with found->reason set ends the verification. */
int verify_trial(const struct gpu *me, struct candidate *candidate, struct trial *trials, uint32_t count,
                 uint32_t n, struct found *found, struct tally *tally, rkb_error_t *err);

/* outputs.c: reads back what instance wrote and judges it, and compares every byte of the inputs with what was staged. */
int outputs_judge(const struct gpu *me, struct candidate *candidate, struct values *values, uint32_t instance,
                  struct found *found, struct tally *tally, rkb_error_t *err);
/* Judges elements of an output by the task's rule; data and points are of these elements. */
int outputs_judge_points(const struct gpu *me, const struct candidate *candidate, const struct values *values, uint32_t t,
                         const void *data, const rkb_points_t *points, const uint64_t *elements, struct found *found,
                         struct tally *tally, rkb_error_t *err);
/* Runs instance once more on a set's values, which it has just run on: are the bits the same?  outcome says how that went. */
int outputs_repeat(const struct gpu *me, struct candidate *candidate, const struct values *values,
                   uint32_t instance, uint32_t set, rkb_run_outcome_t *outcome, struct tally *tally,
                   rkb_error_t *err);

/* whole_outputs.c: compares the whole outputs of an instance with the peer's, after it ran on this set's values and a sample was
 * judged. */
int whole_outputs_compare(const struct gpu *me, struct candidate *candidate, struct values *values, uint32_t instance,
                          uint32_t set, struct found *found, struct tally *tally, rkb_error_t *err);
/* Where the peer lives. */
peer_place_t whole_place(const struct gpu *me, const struct candidate *candidate);

void found_set(struct found *found, const char *reason, json_t *evidence, const char *fmt, ...)
   RKB_PRINTF(4, 5);

#endif
