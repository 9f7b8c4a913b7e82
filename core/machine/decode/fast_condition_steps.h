/* Steps of conditions whose operands are only integers in registers and in the text, in a form that is quickly computed.  When rkb looks for
 * sizes, it takes a loop's steps millions of times. */
#ifndef RKB_MACHINE_DECODE_FAST_CONDITION_STEPS_H
#define RKB_MACHINE_DECODE_FAST_CONDITION_STEPS_H

#include "machine/decode/conditions.h"

struct plain_step; /* one for each step, in the same order */

/* NULL: memory ran out. */
struct plain_step *machine_plain_steps_new(const rkb_machine_conditions_t *conditions,
                                           const struct step *steps, uint32_t count);

/* What machine_condition_step, machine_condition_distance and machine_condition_is_first say of a step. */
struct plain_result {
   bool known,
      outcome; /* outcome: of a comparison; of a least or largest number, whether it is the first one */
   double distance;
};

/* Computes the step's register.  False: the step is not plain, or its operands have no single values now; nothing was done. */
bool machine_plain_step(rkb_machine_conditions_t *conditions, const struct plain_step *steps, uint32_t number,
                        struct plain_result *result);

#endif
