/* Conversion between element types, as PyTorch's x.to(dtype). */
#ifndef RKB_REFERENCE_OPERATIONS_CONVERT_H
#define RKB_REFERENCE_OPERATIONS_CONVERT_H

#include "reference/operation.h"

/* Returns x itself when it has the type already. */
uint32_t rkb_make_convert(rkb_program_t *program, uint32_t x, uint32_t dtype);

#endif
