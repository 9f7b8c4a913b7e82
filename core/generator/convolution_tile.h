/* Launches that compute a convolution of floats by warpgroups (Hopper), where pixels come last in memory: a part of the image lies in shared
 * memory as it lies in memory, all taps of the window read it there, and the pixels are the rows that warpgroups split in registers.  One
 * thread. */
#ifndef RKB_GENERATOR_CONVOLUTION_TILE_H
#define RKB_GENERATOR_CONVOLUTION_TILE_H

#include "generator/launch_text.h"

void rkb_write_convolution_kernel(rkb_writer_t *writer, const rkb_launch_t *launch,
                                  rkb_kernel_shape_t *shape);

#endif
