/* Launches that compute a convolution of floats by warpgroups (Hopper), where pixels are the last dim in
 * memory.  A part of the image lies in shared memory in the same order as in memory.  All taps of the window
 * read it there, and warpgroups split the pixels, which are the rows of the product, in registers.  One
 * thread. */
#ifndef RKB_GENERATOR_CONVOLUTION_TILE_H
#define RKB_GENERATOR_CONVOLUTION_TILE_H

#include "generator/text/launch_text.h"

void rkb_write_convolution_kernel(rkb_writer_t *writer, const rkb_launch_t *launch,
                                  rkb_kernel_shape_t *shape);

#endif
