/* Intermediates of a task's reference (<rkb/ext/intermediates.h>): their list, their expected values, and
 * inputs that hold made-up ones.  The inputs own them. */
#ifndef RKB_TASK_INTERMEDIATES_H
#define RKB_TASK_INTERMEDIATES_H

#include <rkb/ext/intermediates.h>
#include "base/random.h"
#include "reference/evaluate.h"

/* The intermediates that were given to some inputs. */
typedef struct rkb_given {
   rkb_arena_t *arena; /* owned */
   rkb_program_t *program;
   uint32_t count;
   struct rkb_given_value {
      uint32_t value,
         dtype; /* the value's number in the program, and the type in which the kernel stores it */
      double *pool;          /* elements of the true intermediate */
      uint32_t pool_count;
      rkb_random_t stream; /* chooses elements of the pool */
   } *values;
   uint32_t *list; /* numbers of the given values in the program */
} rkb_given_t;

void rkb_given_free(rkb_given_t *given);
/* Fills elements of one given intermediate for the reference: see rkb_source_t. */
void rkb_given_source(const rkb_given_t *given, uint32_t which, uint64_t count, const int64_t *index, double *out);

bool rkb_task_intermediate(const rkb_case_t *the_case, uint32_t number, rkb_intermediate_t *intermediate);
bool rkb_task_intermediates_alike(const rkb_case_t *the_case, const rkb_case_t *other);
int rkb_task_give(rkb_inputs_t *inputs, const uint32_t *numbers, const uint32_t *dtypes, uint32_t count,
                  rkb_error_t *err);
int rkb_task_given_fill(const rkb_inputs_t *inputs, uint32_t number, const uint64_t *elements, uint64_t count,
                        void *out, uint64_t *width, rkb_error_t *err);
int rkb_task_expect_intermediate(const rkb_inputs_t *inputs, uint32_t number, const uint64_t *elements,
                                 uint64_t count, double *value, double *hard, double *stat, uint8_t *flags,
                                 rkb_error_t *err);
int rkb_task_judge_intermediate(const rkb_inputs_t *inputs, uint32_t number, uint32_t dtype, const void *data,
                                const rkb_points_t *points, const uint64_t *elements,
                                rkb_judgement_t *judgement, rkb_error_t *err);

#endif
