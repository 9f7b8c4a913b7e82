/* Input and output of a compile as bytes: for a compiler process, for the build cache, and for another machine that compiles for
 * this one.  Pure functions; any thread. */
#ifndef RKB_KERNEL_COMPILE_RECORD_H
#define RKB_KERNEL_COMPILE_RECORD_H

#include "base/arena.h"
#include "kernel/byte_record.h"
#include "kernel/compilers.h"

void compile_input_write(const compile_input_t *input, rkb_text_t *out);
/* Reads an input into the arena.  False: the bytes are malformed. */
bool compile_input_read(record_reader_t *in, rkb_arena_t *arena, compile_input_t *input);

/* Writes the finding, the cost, the log, PTX, machine code and the names of `expressions` kernels. */
void compile_output_write(const compile_output_t *output, uint32_t expressions, const rkb_finding_t *finding,
                          rkb_text_t *out);
/* Takes ownership of payload (malloc'd, or NULL); output points into it.  Reading begins at in->at.  When the bytes are malformed
 * or hold another number of kernels: false, output is empty, and payload is freed. */
bool compile_output_read(void *payload, record_reader_t *in, uint32_t expressions, compile_output_t *output,
                         rkb_finding_t *finding);

#endif
