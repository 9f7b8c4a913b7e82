/* The conditions that a launch decides by registers with several writers, such as what a loop counted. */
#ifndef RKB_MACHINE_DECODE_CONDITION_PATHS_H
#define RKB_MACHINE_DECODE_CONDITION_PATHS_H

#include "machine/decode/condition_graph.h"
#include "machine/decode/conditions.h"

#define MOST_WAYS 32u /* begun and not yet gone */

struct way {
   uint32_t block;
   struct range *values; /* of the slice's registers */
   bool *known;
};

/* What is computed in a block. */
struct part {
   uint32_t first, count; /* steps */
   /* of the branch at its end; PTX_NONE: the branch is passed over, or the launch does not decide it */
   uint32_t guard;
   bool negated, decides; /* decides: what is computed depends on where it leads */
   bool gone[2];          /* in this launch, where a branch is not decided */
};

struct tested {
   uint32_t number;
   uint8_t met; /* in this launch, a bit for each outcome */
   double nearest[2];
};

struct condition_paths {
   struct text_graph *graph;
   /* by statement while the slice is looked for; then the slice's steps, block by block */
   struct step *steps;
   uint32_t step_count;
   struct plain_step *plain; /* those of the slice */
   machine_lone_t *lone;     /* of its steps */
   struct part *parts; /* by block */
   bool *leads;        /* by block: a way from its beginning may come to a condition that is asked for */
   struct tested *tested;
   uint32_t tested_count;
   uint32_t *which;     /* by step: its number in tested, plus one */
   uint32_t *registers; /* of the slice */
   uint32_t register_count;
   struct way ways[MOST_WAYS];
   uint32_t way_count;
   struct range *values; /* memory of the ways */
   bool *known;
};

/* condition_slices.c.  writers: by register, how many statements give it a value.  NULL: there is no such condition, or memory ran out. */
struct condition_paths *machine_paths_new(rkb_machine_conditions_t *conditions, const uint32_t *writers);
void machine_paths_free(struct condition_paths *paths);
/* Whether this is a condition on a way. */
bool machine_paths_test(const struct condition_paths *paths, uint32_t number);
/* Marks the registers that ways need, and from now on asks for these conditions alone; false: none of them is on a way. */
bool machine_paths_need(struct condition_paths *paths, const ptx_function_t *function, const uint8_t *wanted,
                        bool *needed);
/* condition_paths.c.  Goes along the ways through the text, after the conditions' steps were taken.  visit is called once for each condition and
 * outcome.  distance: the least distance between the sides of a comparison on all ways. */
void machine_paths_follow(rkb_machine_conditions_t *conditions, const rkb_plan_launch_t *launch,
                          void (*visit)(void *argument, uint32_t number, bool outcome, double distance),
                          void *argument);

#endif
