/* The decoder's table of opcodes with the handlers of an instruction set of the host.  Immutable; any thread. */
#ifndef RKB_MACHINE_LANES_OPCODES_H
#define RKB_MACHINE_LANES_OPCODES_H

#include "machine/decode/decoded_program.h"

machine_opcodes_t machine_opcodes_portable, machine_opcodes_v3;

#endif
