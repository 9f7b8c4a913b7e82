/* Lanes that an instruction of a warp names and that it waits for (named_lanes.c).  On the machine's thread. */
#ifndef RKB_MACHINE_EXECUTE_NAMED_LANES_H
#define RKB_MACHINE_EXECUTE_NAMED_LANES_H

#include "machine/state/execution.h"

/* Whether lanes of the fragment, which have come to the instruction, name lanes that have not come yet.  Then the fragment waits. */
bool machine_waits_for_named(machine_warp_t *warp, machine_fragment_t *f, const machine_instruction_t *i);

#endif
