/* The decode table of this instruction set. */
#include "machine/lanes/opcodes.h"
#include "machine/lanes/handlers.h"

static const machine_opcode_t opcodes[] = {
#define MACHINE_ROW(key, signature, kind, class, operation, type, name, shadow)                              \
   {key, signature, OP_NAME(name), OP_NAME(shadow), MACHINE_##kind, RKB_CLASS_##class, operation, type},
#include "machine/decode/opcodes.def"
#undef MACHINE_ROW
};

const machine_opcode_t *MACHINE_PASTE2(machine_opcodes, MACHINE_ISA)(uint32_t *count) {
   *count = sizeof opcodes / sizeof opcodes[0];
   return opcodes;
}
