/* The conformance set of matrix instructions: tensor_forms.txt turned into operands and PTX, the same bytes on every machine.
 * Shared by the recorder (on a GPU) and the replay (on the checking machine).  libc and xxHash only; one thread.
 *
 * A form is executed by one warp a block, on words drawn from a counter: registers of a fragment for mma and the moves of
 * fragments, matrices in memory for wmma. */
#ifndef TENSOR_VECTORS_H
#define TENSOR_VECTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TENSOR_OUTPUTS 32768u /* elements of the result that a form is held to */
#define TENSOR_BLOCK 256u     /* elements a digest covers */
#define TENSOR_SAMPLES 64u    /* elements recorded in full */

enum tensor_kind { TENSOR_MMA, TENSOR_WMMA, TENSOR_MOVE, TENSOR_WARPGROUP };
#define TENSOR_WARPGROUP_OUTPUTS 20480u /* elements of the result that a form of a warpgroup is held to */

typedef struct tensor_form {
   enum tensor_kind kind;
   char text[160];          /* the line */
   char opcode[128];        /* mma and moves: the opcode; wmma: what follows wmma.mma.sync.aligned */
   uint32_t m, n, k;        /* of the whole instruction */
   char type[4][8];         /* of d, a, b, c */
   uint32_t registers[4];   /* of d, a, b, c: 64 bits wide where the type is f64, else 32 */
   uint32_t bytes[4];       /* of a matrix in memory: registers of 32 lanes, or m x n elements */
   char layout[2][4];       /* of a and b */
   uint32_t warps, outputs; /* warps, or warpgroups, that execute it; elements each gives */
   uint32_t total;          /* elements that are held to the device */
   uint32_t threads;        /* of a block: a warp or a warpgroup */
   uint64_t descriptor[2];  /* of a and b of a warpgroup, from the start of their images */
   char tail[64];           /* of a warpgroup: the operands after the descriptors */
   bool a_in_registers;
   uint32_t output_bytes; /* of an element */
} tensor_form_t;

/* Reads one line; false for blank lines and comments; *message is set when the line is malformed. */
bool tensor_parse(const char *line, tensor_form_t *out, const char **message);
/* Fills the bytes of operand 1 (a), 2 (b) or 3 (c) of all warps: form->warps * form->bytes[operand]. */
void tensor_fill(const tensor_form_t *form, uint32_t operand, uint8_t *out);
/* One kernel "tensor"(d, a, b, c, all 64-bit pointers); returns the length, 0 when it does not fit. */
size_t tensor_ptx(const tensor_form_t *form, char *out, size_t size);
uint64_t tensor_hash(const void *data, size_t bytes);

#endif
