/* Chosen elements of an output with their expected values and bounds: all of a small one, runs of neighbours of a large one,
 * because neighbours share most of what has to be computed for them. */
#ifndef EXPECTED_SAMPLE_H
#define EXPECTED_SAMPLE_H

#include <rkb/ext/task.h>
#include <rkb/ext/workers.h>
#include "expected_store.h"

/* For rkb.task/1's inputs_limit: a run of elements that needs more is not compared on the device, and the verdict says so. */
#define RUN_MOST_WORK 4e9

enum { RUN_ELEMENTS = 32 }; /* neighbours in a run */

typedef struct sample {
   uint64_t *elements; /* ascending within a run; runs in the order drawn */
   double *numbers;    /* values, hard bounds, stat bounds: room each */
   uint8_t *flags;
   uint64_t count, room; /* known, wanted */
   bool all;             /* every element of the tensor, in order */
} sample_t;

typedef struct sampler {
   const rkb_host_t *host;
   const rkb_task_api_t *task;
   const rkb_random_api_t *random;
   const store_t *store; /* or NULL */
   uint64_t most;        /* elements of a tensor too large for all of it */
   uint64_t budget_ns;   /* time after which no further run is evaluated */
} sampler_t;

/* All outputs of one (case, family, seed); samples has a place for every tensor of the case. */
typedef struct wanted {
   const rkb_case_t *the_case;
   const rkb_family_t *family;
   uint64_t seed;
   bool keep; /* look in the store and leave the result there */
   sample_t *samples;
} wanted_t;

/* Opens the samples of all of them, on the calling thread and on workers that are free.  What was opened is the caller's to close
 * whatever is returned.  A sample's count may be less than asked for when the budget ends; 0 when even the first run is too
 * costly. */
int samples_evaluate(const sampler_t *sampler, const rkb_workers_api_t *workers, const wanted_t *list,
                     uint32_t count, rkb_error_t *err);
void sample_close(sample_t *sample);

/* How many input families are run at most, most telling first. */
typedef struct sample_families {
   int64_t check, bench; /* of a check case; of a bench case or a drawn shape */
} sample_families_t;
/* Of one case: as many as it has; where it moves more than a gigabyte one has to do, values take seconds to make and to move. */
uint32_t sample_families(const rkb_host_t *host, const rkb_task_api_t *task, const rkb_case_t *the_case,
                         const sample_families_t *most);

/* How many seeds of a pool of most a listed case's values are drawn from: two where expected values are costly or inputs
 * large, so that checking and timing share them, and every candidate after the first. */
uint64_t sample_pool(const rkb_case_t *the_case, uint64_t most);

/* The judge's view of it. */
rkb_points_t sample_points(const sample_t *sample);

#endif
