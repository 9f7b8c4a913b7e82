/* Convolutions whose channels are convolved by themselves and come last in memory: which they are, and the numbers of their window.  Pure
 * functions. */
#ifndef RKB_GENERATOR_CHANNELWISE_H
#define RKB_GENERATOR_CHANNELWISE_H

#include "generator/schedule.h"

#define RKB_CHANNELWISE_WINDOWS 4u

/* Whether a launch computes one such convolution of two dims, of stride and dilation 1, and nothing else that needs many elements. */
bool rkb_launch_is_channelwise(const rkb_graph_t *graph, const rkb_launch_t *launch);
/* The window's size, one for both dims, and the few numbers that it is, ascending.  Returns how many; 0: there are more. */
uint32_t rkb_channelwise_windows(const rkb_graph_t *graph, const rkb_launch_t *launch, uint32_t *size,
                                 int64_t values[RKB_CHANNELWISE_WINDOWS]);

#endif
