/* Which registers an instruction reads and which it writes (operands.c).  Any thread. */
#ifndef RKB_MACHINE_DECODE_OPERANDS_H
#define RKB_MACHINE_DECODE_OPERANDS_H

#include "machine/decode/decoded_program.h"

enum machine_record_kind {
   RECORD_OTHER,      /* the record is refused where inputs reached the instruction's values */
   RECORD_VALUE,      /* an operation on a, b and c into d, and nothing else */
   RECORD_VALUE_MORE, /* also has a second destination or a fourth source */
   RECORD_LOAD,
   RECORD_STORE,
   RECORD_SELECT, /* of a and b by c */
   RECORD_SHUFFLE,
   RECORD_CONVERT,      /* of a */
   RECORD_PACK,         /* extras: the destination, then the sources */
   RECORD_UNPACK,       /* extras: the source, then the destinations */
   RECORD_TENSOR,       /* extras: the destinations, then the sources */
   RECORD_MATRIX_LOAD,  /* by all lanes together, of a and b; extras: the destinations */
   RECORD_MATRIX_STORE, /* likewise; extras: the sources */
   RECORD_COPY,         /* of b to a, as much as c says */
   RECORD_NOTHING
};

typedef struct machine_operands {         /* registers */
   uint16_t sources[26], destinations[9]; /* wmma has three fragments of eight registers */
   uint8_t source_count, destination_count;
} machine_operands_t;

const char *machine_opcode_of(const machine_program_t *program, const machine_instruction_t *i);
uint8_t machine_operands_kind(const machine_program_t *program, const machine_instruction_t *i);
/* For instructions that move memory, or work on registers alone.  For RECORD_OTHER a register listed as a
 * source may be a destination.  No list of sources has register 0. */
machine_operands_t machine_operands(const machine_program_t *program, const machine_instruction_t *i,
                                    uint8_t kind);

#endif
