/* What a compile is given and what it left, as bytes: for a compiler's process, for the build cache, and for a process of another machine that
 * compiles for this one.  Values; any thread. */
#ifndef RKB_KERNEL_COMPILE_RECORD_H
#define RKB_KERNEL_COMPILE_RECORD_H

#include "base/arena.h"
#include "kernel/byte_record.h"
#include "kernel/compilers.h"

void compile_input_write(const compile_input_t *input, rkb_text_t *out);
/* A copy in the arena.  False for bytes that are none. */
bool compile_input_read(record_reader_t *in, rkb_arena_t *arena, compile_input_t *input);

/* Finding, what it cost, log, PTX, machine code and the names of `expressions` kernels. */
void compile_output_write(const compile_output_t *output, uint32_t expressions, const rkb_finding_t *finding,
                          rkb_text_t *out);
/* Takes over payload (malloc'd, or NULL), which output lends parts of; reading begins at in->at.  False when it is none, or of another number
 * of kernels; output is empty then and payload is freed. */
bool compile_output_read(void *payload, record_reader_t *in, uint32_t expressions, compile_output_t *output,
                         rkb_finding_t *finding);

#endif
