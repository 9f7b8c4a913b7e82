/* The second stage of the plugin: rkb.profiler.counts (counting_stage.c), which machine_verifier.c lists beside the first. */
#ifndef MACHINE_COUNTING_STAGE_H
#define MACHINE_COUNTING_STAGE_H

#include <rkb/plugin.h>

extern const rkb_stage_t COUNTING_STAGE;

#endif
