/* Decisions that suit a convolution of floats by warpgroups.  Pure functions; one thread a graph. */
#ifndef RKB_GENERATOR_CONVOLUTION_START_H
#define RKB_GENERATOR_CONVOLUTION_START_H

#include "generator/graph/schedule.h"
#include "generator/graph/target.h"

/* Lets a launch of mapping TENSOR use parts of images and warpgroups, where an estimate says that this is
 * faster in the bench cases.  False: the launch is unchanged.  This function does not know whether the images
 * can be copied as they are stored. */
bool rkb_convolution_suit(const rkb_graph_t *graph, const rkb_target_t *target, rkb_launch_t *launch);

#endif
