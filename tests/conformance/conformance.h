/* The conformance set: instructions.txt turned into operands and PTX, the same bytes on every machine.  Shared by the
 * recorder (on a GPU) and the replay (on the checking machine).  libc and xxHash only; one thread. */
#ifndef CONFORMANCE_H
#define CONFORMANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 512 combinations of edge values, then 10,240 counter-generated operands: 42 groups of 256. */
#define CONFORMANCE_EDGES 512
#define CONFORMANCE_COUNT (42 * 256)
#define CONFORMANCE_GROUPS (CONFORMANCE_COUNT / 256)
#define CONFORMANCE_BLOCK 256

enum operand_type {
   TYPE_NONE,
   TYPE_U16,
   TYPE_S16,
   TYPE_U32,
   TYPE_S32,
   TYPE_U64,
   TYPE_S64,
   TYPE_F16,
   TYPE_F16X2,
   TYPE_BF16,
   TYPE_BF16X2,
   TYPE_F32,
   TYPE_F64,
   TYPE_COUNT
};

struct instruction {
   uint32_t line; /* in instructions.txt */
   enum operand_type result;
   enum operand_type operand[3];
   char nearly[16]; /* "" for exact, else the function an approximate instruction computes */
   char text[320];
};

/* Reads one line; false for blank lines and comments; *message is set when the line is malformed. */
bool conformance_parse(const char *line, uint32_t number, struct instruction *out, const char **message);

uint32_t operand_bytes(enum operand_type type);

/* Operand which (0, 1, 2) of element i, in the low operand_bytes; a function of the instruction's text and i. */
uint64_t conformance_operand(const struct instruction *instruction, uint32_t which, uint32_t i);

/* One kernel "conformance"(a, b, c, d, slots, all 64-bit pointers) that runs the instruction once a thread.  Writes at
 * most size bytes; returns the length. */
size_t conformance_ptx(const struct instruction *instruction, char *out, size_t size);

/* Hash of one group's results, bytes wide each. */
uint64_t conformance_hash(const void *results, size_t bytes);

/* The exact result of an approximate instruction, computed in long double, and the error that the PTX manual
 * allows (9.7.3, 9.7.4, per instruction).  allowed is absolute; false when the manual promises nothing for
 * these operands. */
bool conformance_truth(const struct instruction *instruction, const uint64_t operand[3], double *truth,
                       double *allowed);

/* The result's bits as a number, for approximate instructions. */
double conformance_value(enum operand_type type, uint64_t bits);

#endif
