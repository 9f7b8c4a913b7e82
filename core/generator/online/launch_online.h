/* Launches that go over a matrix of scores without storing it; launch_online.c says how.  One thread. */
#ifndef RKB_GENERATOR_LAUNCH_ONLINE_H
#define RKB_GENERATOR_LAUNCH_ONLINE_H

#include "generator/text/launch_text.h"

void rkb_write_online_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape);

#endif
