/* Convolutions whose channels are convolved by themselves and come last in memory: finds them, and the sizes
 * of their windows.  Pure functions. */
#ifndef RKB_GENERATOR_CHANNELWISE_H
#define RKB_GENERATOR_CHANNELWISE_H

#include "generator/graph/schedule.h"

#define RKB_CHANNELWISE_WINDOWS 4u

/* Whether a launch computes one of these convolutions, of two dims, with stride and dilation 1, and nothing else
 * that needs many elements. */
bool rkb_launch_is_channelwise(const rkb_graph_t *graph, const rkb_launch_t *launch);
/* The sizes that the window has, the same along both dims, ascending.  Returns how many there are; 0: more
 * than fit. */
uint32_t rkb_channelwise_windows(const rkb_graph_t *graph, const rkb_launch_t *launch, uint32_t *size,
                                 int64_t values[RKB_CHANNELWISE_WINDOWS]);

#endif
