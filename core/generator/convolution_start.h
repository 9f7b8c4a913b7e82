/* Decisions that suit a convolution of floats by warpgroups.  Pure functions; one thread a graph. */
#ifndef RKB_GENERATOR_CONVOLUTION_START_H
#define RKB_GENERATOR_CONVOLUTION_START_H

#include "generator/schedule.h"
#include "generator/target.h"

/* Gives a launch of mapping TENSOR parts of images and warpgroups where these are faster by estimate in the bench cases.  False: left alone.
 * Whether its images are stored as they are copied is not known here. */
bool rkb_convolution_suit(const rkb_graph_t *graph, const rkb_target_t *target, rkb_launch_t *launch);

#endif
