/* Declares the handlers of every opcode of opcodes.def for this instruction set. */
#ifndef MACHINE_LANES_HANDLERS_H
#define MACHINE_LANES_HANDLERS_H

#include "values.h"

#define MACHINE_ROW(key, signature, kind, class, operation, type, name, shadow)                              \
   OP(name);                                                                                                 \
   OP(shadow);
#include "../opcodes.def"
#undef MACHINE_ROW

#endif
