/* Chosen elements of an output with their expected values and bounds: all of a small one, runs of neighbours of a large one,
 * because neighbours share most of what has to be computed for them. */
#ifndef RKB_TASK_EXPECTED_EXPECTED_SAMPLE_H
#define RKB_TASK_EXPECTED_EXPECTED_SAMPLE_H

#include "system/workers.h"
#include "task/task.h"

/* Where an output's values are from. */
enum rkb_sample_source {
   RKB_SAMPLE_FOUND,   /* in the store */
   RKB_SAMPLE_STORED,  /* evaluated, and left there */
   RKB_SAMPLE_UNSTORED /* evaluated, and not left there: not wanted, or it cannot be written to */
};

typedef struct rkb_sampling {
   const rkb_task_t *task;
   const rkb_store_t *store; /* or NULL */
   rkb_workers_t *workers;   /* whose free threads help; NULL: the calling thread alone */
   uint64_t points;          /* elements of an output too large for all of it */
   uint64_t budget_ns;       /* time after which no further run of an output is evaluated */

   /* Both may be NULL; any thread. */
   bool (*is_over)(void *argument); /* asked before each output: no more is evaluated */
   void (*told)(void *argument, const rkb_sample_t *sample, enum rkb_sample_source source); /* after each */
   void *argument;
} rkb_sampling_t;

/* Opens the samples of all of them, on the calling thread and on workers that are free.  What was opened is the caller's to close
 * whatever is returned.  A sample has fewer points than wanted when the budget ends, none when even the first run is too
 * costly.  RKB_ERR_CANCELLED: it was over before all were opened; an output is stored whole or not at all. */
int rkb_samples_open(const rkb_sampling_t *sampling, const rkb_wanted_t *list, uint32_t count,
                     rkb_error_t *err);
void rkb_sample_close(rkb_sample_t *sample);

/* How many of a case's families are run, most telling first: check of a check case, bench of another, at most; where it moves more
 * than a gigabyte one has to do, because values take seconds to make and to move. */
uint32_t rkb_sample_families(const rkb_task_t *task, const rkb_case_t *the_case, uint32_t check,
                             uint32_t bench);

/* How many seeds of a pool of most a listed case's values are drawn from: two where expected values are costly or inputs
 * large, so that checking and timing share them, and every candidate after the first. */
uint64_t rkb_sample_pool(const rkb_case_t *the_case, uint64_t most);

#endif
