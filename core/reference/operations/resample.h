/* Changes sizes along one dim by picking or weighting neighbours, as torch.nn.functional.interpolate does. */
#ifndef RKB_REFERENCE_OPERATIONS_RESAMPLE_H
#define RKB_REFERENCE_OPERATIONS_RESAMPLE_H

#include "reference/operation.h"

enum rkb_resampling {
   RKB_RESAMPLE_NEAREST,
   RKB_RESAMPLE_LINEAR,  /* between the centres of elements */
   RKB_RESAMPLE_CORNERS, /* linear; the first and last elements coincide: align_corners */
};

uint32_t rkb_make_resample(rkb_program_t *program, uint32_t x, uint32_t dim, int64_t size,
                           enum rkb_resampling resampling);

#endif
