/* Which matrix instructions and asynchronous copies a kernel names, and which of them the checking machine executed: the facet "tensor" of
 * a verdict's certificate (docs/archive.md).  The main thread alone. */
#ifndef RKB_CLI_TENSOR_INSTRUCTIONS_H
#define RKB_CLI_TENSOR_INSTRUCTIONS_H

#include "archive/history.h"

/* Prints a line each for those that run and those that never do; nothing where a verdict has no such facet. */
void rkb_print_tensor_instructions(const rkb_verdict_record_t *verdict);

#endif
