/* The weight of a convolution as tensor cores take it: each float is a sum of two numbers of 11 bits.  The two
 * numbers are in two planes for each tap of the window; a plane's rows are channels of the output.  A launch
 * before the convolution's launch writes the planes.  One thread. */
#ifndef RKB_GENERATOR_SPLIT_WEIGHTS_H
#define RKB_GENERATOR_SPLIT_WEIGHTS_H

#include "generator/text/launch_text.h"
#include "generator/text/product_index.h"

/* The name of the buffer, and its dims: high and low parts, taps, channels of the output, channels that are summed. */
const char *rkb_split_weights_name(const rkb_writer_t *writer, uint32_t convolution);
void rkb_split_weights_dims(rkb_writer_t *writer, const rkb_product_t *product, rkb_product_dims_t *plane);
void rkb_write_split_weights_kernel(rkb_writer_t *writer, const rkb_launch_t *launch,
                                    rkb_kernel_shape_t *shape);

#endif
