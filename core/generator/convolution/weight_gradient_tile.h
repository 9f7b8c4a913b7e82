/* Launches that compute the gradient of a convolution's weight by warpgroups (Hopper), of floats whose pixels
 * come last in memory.  A part of the image lies in shared memory, and each row of the window has a
 * warpgroup, which reads the part as its taps see it.  One thread. */
#ifndef RKB_GENERATOR_WEIGHT_GRADIENT_TILE_H
#define RKB_GENERATOR_WEIGHT_GRADIENT_TILE_H

#include "generator/text/launch_text.h"

void rkb_write_weight_gradient_kernel(rkb_writer_t *writer, const rkb_launch_t *launch,
                                      rkb_kernel_shape_t *shape);

#endif
