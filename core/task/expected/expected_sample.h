/* Chosen elements of an output with their expected values and bounds.  Of a small output all elements are
 * chosen; of a large one runs of neighbours, because neighbours share most of the work. */
#ifndef RKB_TASK_EXPECTED_EXPECTED_SAMPLE_H
#define RKB_TASK_EXPECTED_EXPECTED_SAMPLE_H

#include "system/workers.h"
#include "task/task.h"

/* Where the values of an output come from. */
enum rkb_sample_source {
   RKB_SAMPLE_FOUND,   /* found in the store */
   RKB_SAMPLE_STORED,  /* evaluated, and stored */
   RKB_SAMPLE_UNSTORED /* evaluated, and not stored: storing was not wanted, or the store cannot be written */
};

typedef struct rkb_sampling {
   const rkb_task_t *task;
   const rkb_store_t *store; /* or NULL */
   rkb_workers_t *workers;   /* free threads among these help; NULL: only the calling thread works */
   uint64_t points; /* how many elements to compare of an output that is too large to compare whole */
   uint64_t budget_ns;       /* time after which no further run of an output is evaluated */

   /* Both may be NULL; any thread. */
   /* asked before each output; when it returns true, no more outputs are evaluated */
   bool (*is_over)(void *argument);
   /* called after each output */
   void (*told)(void *argument, const rkb_sample_t *sample, enum rkb_sample_source source);
   void *argument;
} rkb_sampling_t;

/* Opens the samples of all wanted entries, on the calling thread and on free workers.  The caller closes the
 * samples that were opened, whatever is returned.  A sample has fewer points than wanted when the budget
 * ends, and none when even the first run is too costly.  RKB_ERR_CANCELLED: is_over ended the work before all
 * samples were open.  An output is stored whole or not at all. */
int rkb_samples_open(const rkb_sampling_t *sampling, const rkb_wanted_t *list, uint32_t count,
                     rkb_error_t *err);
void rkb_sample_close(rkb_sample_t *sample);

/* How many of a case's families to run, the most telling first: at most `check` for a check case and at most
 * `bench` for another case.  For a case that moves more than a gigabyte it is one, because its values take
 * seconds to make and to move. */
uint32_t rkb_sample_families(const rkb_task_t *task, const rkb_case_t *the_case, uint32_t check,
                             uint32_t bench);

/* From how many seeds of a pool of `most` a listed case's values are drawn.  It is two when expected values
 * are costly or inputs large, so that checking, timing and every later candidate share the values. */
uint64_t rkb_sample_pool(const rkb_case_t *the_case, uint64_t most);

#endif
