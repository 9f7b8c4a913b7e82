/* A shape with tensors so large that offsets of 32 bits overflow. */
#ifndef RKB_MACHINE_FAR_SHAPES_H
#define RKB_MACHINE_FAR_SHAPES_H

#include "verifier.h"

/* The candidate's own random numbers choose it.  *drawn: owned by the caller, case_free; NULL: the domain does not reach so far, or the device does
 * not hold it.  One worker thread a candidate. */
int far_shape_draw(const struct verifier *me, const struct candidate *candidate, rkb_case_t **drawn,
                   rkb_error_t *err);

#endif
