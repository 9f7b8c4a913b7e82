/* Prints which matrix instructions and asynchronous copies a kernel contains, and which of them the checking
 * machine executed: the facet "tensor" of a verdict's certificate (docs/archive.md).  Only the main thread. */
#ifndef RKB_CLI_SHARED_TENSOR_INSTRUCTIONS_H
#define RKB_CLI_SHARED_TENSOR_INSTRUCTIONS_H

#include "archive/history.h"

/* Prints one line for the instructions that were executed and one for those that never were; nothing when a
 * verdict has no such facet. */
void rkb_print_tensor_instructions(const rkb_verdict_record_t *verdict);

#endif
