/* Declares the handlers of every opcode of opcodes.def for this instruction set. */
#ifndef RKB_MACHINE_LANES_HANDLERS_H
#define RKB_MACHINE_LANES_HANDLERS_H

#include "machine/access/values.h"

#define MACHINE_ROW(key, signature, kind, class, operation, type, name, shadow)                              \
   OP(name);                                                                                                 \
   OP(shadow);
#include "machine/decode/opcodes.def"
#undef MACHINE_ROW

#endif
