/* Conversion between element types, as PyTorch's x.to(dtype). */
#ifndef RKB_REFERENCE_OPERATIONS_CONVERT_H
#define RKB_REFERENCE_OPERATIONS_CONVERT_H

#include "reference/operation.h"

/* Returns x itself when it has the type already. */
uint32_t rkb_make_convert(rkb_program_t *program, uint32_t x, uint32_t dtype);
/* Whether the node is a conversion that changes no element: every number of the operand's type is one of the result's. */
bool rkb_widens(const rkb_program_t *program, const rkb_program_node_t *node);
/* Whether the node is a conversion: its elements are numbers of its type already. */
bool rkb_converts(const rkb_program_node_t *node);

#endif
