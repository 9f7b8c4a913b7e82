/* The other stages of the plugin: rkb.profiler.counts and rkb.profiler.early_counts (counting_stage.c), which machine_verifier.c lists. */
#ifndef MACHINE_COUNTING_STAGE_H
#define MACHINE_COUNTING_STAGE_H

#include <rkb/plugin.h>

extern const rkb_stage_t COUNTING_STAGE, EARLY_COUNTING_STAGE;

#endif
