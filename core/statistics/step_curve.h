/* A curve of steps: the best value so far over what was spent (evaluations, seconds, dollars).  Any thread, one at a time. */
#ifndef RKB_STATISTICS_STEP_CURVE_H
#define RKB_STATISTICS_STEP_CURVE_H

#include <stdint.h>

typedef struct rkb_step {
   double at;    /* the amount spent when the value was found; not below the step before */
   double value; /* holds from this step on */
} rkb_step_t;

typedef struct rkb_step_curve {
   rkb_step_t *steps; /* owned */
   uint32_t count, room;
} rkb_step_curve_t;

void rkb_step_curve_add(rkb_step_curve_t *curve, double at, double value);
/* The value at x; before for an x below the first step. */
double rkb_step_curve_at(const rkb_step_curve_t *curve, double x, double before);
/* The mean of f(value) over 0 .. end, which is the area under f divided by end; f is 0 before the first step.  0 when end is 0. */
double rkb_step_curve_mean(const rkb_step_curve_t *curve, double end,
                           double (*f)(double value, double argument), double argument);
void rkb_step_curve_free(rkb_step_curve_t *curve);

#endif
