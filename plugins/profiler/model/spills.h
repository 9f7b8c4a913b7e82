/* What the registers that a kernel spilled cost a launch.  Pure functions; any thread. */
#ifndef MODEL_SPILLS_H
#define MODEL_SPILLS_H

#include "roofline.h"

/* Bytes and frame are zero if the assembler spilled nothing.  The assembler reports the bytes that its spilling instructions move if each is executed once.
 * Nobody counted how often they are executed; the estimate is as often as an instruction of the kernel in the mean. */
spilled_registers_t spilled_registers(const rkb_device_t *device, const rkb_build_t *build, const rkb_plan_launch_t *launch,
                                      const rkb_launch_counters_t *counters, rkb_occupancy_t occupancy);

/* Instructions in the text of a kernel, its branches counted once; 0 when the kernel is not there.  ptx ends with a NUL. */
uint64_t ptx_instructions(const char *ptx, const char *entry);

#endif
