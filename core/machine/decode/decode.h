/* The decoder's state, shared by decode.c (layout, functions), decode_table.c (rows), decode_operands.c, decode_forms.c (opcodes with
 * forms of their own), decode_moves.c, decode_memory.c and decode_control.c. */
#ifndef RKB_MACHINE_DECODE_DECODE_H
#define RKB_MACHINE_DECODE_DECODE_H

#include "machine/decode/decoded_program.h"

#define MAX_MODIFIERS 20

typedef struct decoder {
   machine_program_t *program;
   const ptx_module_t *module;
   const uint64_t *variable_address; /* global and const variables, by module index */
   const machine_opcode_t *opcodes;
   uint32_t opcode_count;
   uint16_t *index; /* hash of keys */
   uint32_t index_size;
   machine_handler_t none;
   /* by module function; PTX_NONE: it is not reached */
   uint32_t *function_pc, *function_registers, *function_frame;
   uint32_t *order, order_count; /* functions reached */
   uint32_t *shared_offset;      /* by module variable */
   uint32_t code_room, extra_room, argument_room, target_room;
   uint32_t *constant_index, constant_slots;
   uint32_t *targets, target_count; /* of brx.idx: labels first, later instructions */
   /* Of each register of the function being decoded: how many definitions; 2 for more. */
   uint8_t *definitions;
   uint32_t *definition;            /* the statement that defines it, where there is one */
   uint8_t *rounds;                 /* of each statement: what it does to the bits of a float, DECODE_* */
   uint32_t *large;                 /* nonzero: its only definition is a constant of rounding size */
   uint8_t *labelled;               /* of each statement of the function: whether a label precedes it */
   uint32_t block_start;            /* the last label's statement */
   uint32_t straight;               /* statements that are executed before anything may branch */
   /* The instruction being decoded */
   const ptx_function_t *function;
   uint32_t function_index;
   const ptx_statement_t *statement;
   const ptx_operand_t *operands;
   machine_instruction_t instruction;
   /* In a survey: called for each statement that cannot be decoded; decoding continues. */
   machine_missing_t *missing;
   void *missing_argument;
   char modifiers[MAX_MODIFIERS][32]; /* [0] is the base of the opcode */
   uint32_t modifier_count;
} decoder_t;

bool decode_unsupported(decoder_t *decoder, const char *what); /* returns false */
bool decode_out_of_memory(decoder_t *decoder);                 /* returns false */
bool decode_modifier(const decoder_t *decoder, const char *name);
/* Returns the type that the last (or, from the end, nth) type modifier names; PTX_NO_TYPE. */
uint32_t decode_type(const decoder_t *decoder, uint32_t nth_from_end);

/* decode_operands.c.  Makes room in an array that doubles; returns the element to fill, or NULL. */
void *decode_append(decoder_t *decoder, void **array, uint32_t *count, uint32_t *room, size_t size);
machine_register_info_t *decode_add_register(decoder_t *decoder, uint32_t type, uint32_t bytes,
                                             const char *name);
machine_slot_t decode_function_register(const decoder_t *decoder, uint32_t index);

/* Finds the register or constant that holds an operand.  letter as in opcodes.def. */
bool decode_operand(decoder_t *decoder, const ptx_operand_t *operand, char letter, machine_slot_t *slot);
/* The same; but a register that always holds one number counts as that constant.  Compilers move the operands of a shuffle (distances, clamps,
 * member masks) into registers first. */
bool decode_known_operand(decoder_t *decoder, const ptx_operand_t *operand, char letter,
                          machine_slot_t *slot);
bool decode_destination(decoder_t *decoder, const ptx_operand_t *operand, char letter, machine_slot_t *slot);
/* by its own width */
bool decode_any(decoder_t *decoder, const ptx_operand_t *operand, bool destination, machine_slot_t *slot);
bool decode_address(decoder_t *decoder, const ptx_operand_t *operand);
bool decode_extra(decoder_t *decoder, machine_slot_t slot); /* appends to the instruction's extras */
machine_slot_t decode_constant(decoder_t *decoder, uint64_t bits, uint32_t bytes); /* bytes 0: a predicate */
machine_slot_t decode_nowhere(const decoder_t *decoder, uint32_t bytes);
bool decode_index_opcodes(decoder_t *decoder); /* decode_table.c: called once, before its other functions */
bool decode_generic(decoder_t *decoder);  /* for opcodes that are a row, with operands as in its signature */
/* whether a float is so large that adding it rounds the sum to an integer */
bool decode_rounding_size(uint32_t bits);
const machine_opcode_t *decode_lookup(const decoder_t *decoder, const char *key);
bool decode_use(decoder_t *decoder, const char *key); /* takes handler, kind and class from a row */
/* slow_instructions.c: what a lane of an instruction costs beyond one thread-instruction. */
uint8_t decode_burden(const char *key, uint8_t class);
void decode_place(machine_instruction_t *i, char which, machine_slot_t slot);
/* of a register; 0 if none */
uint32_t decode_declared_bytes(const decoder_t *decoder, const ptx_operand_t *operand);

/* decode_rounding.c: fills decoder->rounds for the function being decoded. */
enum { DECODE_ROUNDS = 1, DECODE_SCALES };
void decode_find_rounding(decoder_t *decoder);

enum decode_result { DECODE_GENERIC, DECODE_DONE, DECODE_FAILED };
enum decode_result decode_form(decoder_t *decoder);
enum decode_result decode_move(decoder_t *decoder); /* decode_moves.c */
enum decode_result decode_conversion(decoder_t *decoder);
/* a conversion whose whole opcode is a row's key */
enum decode_result decode_conversion_row(decoder_t *decoder, const char *key);
enum decode_result decode_branch(decoder_t *decoder); /* decode_control.c */
enum decode_result decode_branch_index(decoder_t *decoder);
enum decode_result decode_call(decoder_t *decoder);
enum decode_result decode_memory_operation(decoder_t *decoder, bool store); /* decode_memory.c */
enum decode_result decode_atomic_operation(decoder_t *decoder, bool reduces);

enum decode_result decode_copy(decoder_t *decoder);     /* decode_async.c */
enum decode_result decode_mbarrier(decoder_t *decoder); /* decode_mbarrier.c */
enum decode_result decode_copy_arrival(decoder_t *decoder);
enum decode_result decode_fence(decoder_t *decoder);
enum decode_result decode_bulk(decoder_t *decoder, bool reduces);        /* decode_bulk.c */
enum decode_result decode_tensor_copy(decoder_t *decoder, bool reduces); /* decode_tensor_copy.c */
/* bulk_operands.c: the operation of a reduction; an address beside the instruction's own, as two extra
 * operands */
bool decode_bulk_reduction(decoder_t *decoder);
bool decode_address_extras(decoder_t *decoder, const ptx_operand_t *operand);
/* The blocks of a multicast, as one more extra. */
bool decode_multicast(decoder_t *decoder, const ptx_operand_t *operand);
enum decode_result decode_store_async(decoder_t *decoder, bool reduces); /* decode_store_async.c */
enum decode_result decode_tensor_map(decoder_t *decoder);                /* decode_tensor_map.c */
enum decode_result decode_tensor_map_fence(decoder_t *decoder);
enum decode_result decode_tensor(decoder_t *decoder);                    /* decode_tensor.c */
enum decode_result decode_multiply(decoder_t *decoder, bool wmma);
enum decode_result decode_fragment_move(decoder_t *decoder, bool store);
enum decode_result decode_matrix_move(decoder_t *decoder);
enum decode_result decode_warpgroup(decoder_t *decoder); /* decode_warpgroup.c */
enum decode_result decode_register_count(decoder_t *decoder);
/* Called when all is decoded: notes which instructions touch registers of products in flight.  False when
 * memory ran out. */
bool decode_touches(decoder_t *decoder);

bool decode_lay_out_shared(decoder_t *decoder); /* shared_layout.c */

#define FAIL_UNLESS(condition)                                                                               \
   if (!(condition))                                                                                         \
   return DECODE_FAILED

static inline enum decode_result decode_refuse(decoder_t *decoder) {
   decode_unsupported(decoder, decoder->statement->opcode);
   return DECODE_FAILED;
}

static inline uint32_t decode_operand_count(const decoder_t *decoder) {
   return decoder->statement->operand_count;
}

#endif
