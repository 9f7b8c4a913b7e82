/* The outputs of a bench case that are still unjudged, during the search for smaller shapes at which they can be judged.  reduced_shapes.c
 * searches shapes that have the launches, borrowed_launches.c shapes whose own launches are others.  One worker thread a candidate. */
#ifndef MACHINE_REDUCED_SHAPES_H
#define MACHINE_REDUCED_SHAPES_H

#include "bench_values.h"

#define REDUCED_INSTRUCTIONS 1.5e7 /* thread-instructions of a shape, as the bench shape's blocks tell */
#define LIKELY_INSTRUCTIONS 4.0    /* an operation, where they do not tell */
#define UNSEEN_BUDGET 3000000000u   /* of a shape that alone has a launch: without it nothing would be known */

struct launch_draws;

/* A bench case with outputs that were not judged. */
struct reduced {
   const struct verifier *verifier;
   struct candidate *candidate;
   const struct sample *sample;
   rkb_random_t stream;
   struct launch_draws *draws; /* of launch_shapes_draw(); NULL: nothing was drawn yet */
   json_t *shapes;   /* descriptions of those that were executed whole */
   char not_borrowed[160]; /* why none of those is; empty: they were not looked for */
   json_t *borrowed; /* and of those that were with the bench case's launches in place of their own */
};

/* The most operations of a shape that seems to take so many thread-instructions. */
double reduced_work(const struct reduced *r, double instructions);
/* The next launch from *from on that no case has executed whole, and *from behind it; NULL: all were. */
const rkb_plan_launch_t *reduced_unseen(const struct sample *s, uint32_t *from);
/* "B = 1, T = 67" */
json_t *reduced_describe(const rkb_case_t *shape);

/* A launch that a shape has to have; axis: of its grid, along which it has to have more than one block. */
#define ANY_AXIS UINT32_MAX
struct wanted_launch {
   uint64_t name; /* shapes_launch_name */
   uint32_t axis;
};

/* launch_shapes.c: three ways to find a shape that has it.  *best is NULL where there is none; the caller frees it. */
int launch_shapes_draw(struct reduced *r, const struct wanted_launch *wanted, rkb_case_t **best,
                       rkb_error_t *err);
int launch_shapes_reduce(struct reduced *r, const struct wanted_launch *wanted, rkb_case_t **best,
                         rkb_error_t *err);
int launch_shapes_descend(struct reduced *r, const struct wanted_launch *wanted, rkb_case_t **best,
                          rkb_error_t *err);
void launch_draws_free(struct launch_draws *draws);

/* Executes the bench case's launches at smaller shapes, where their conditions do not hold.  A wrong result there proves nothing. */
int reduced_judge_borrowed(struct reduced *r, rkb_error_t *err);

#endif
