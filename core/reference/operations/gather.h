/* Elements picked by an integer tensor. */
#ifndef RKB_REFERENCE_OPERATIONS_GATHER_H
#define RKB_REFERENCE_OPERATIONS_GATHER_H

#include "reference/operation.h"

/* As torch.gather: out[.., i, ..] = x[.., index[.., i, ..], ..] along dim; x and index agree in the other
 * dims. */
uint32_t rkb_make_gather(rkb_program_t *program, uint32_t x, uint32_t index, uint32_t dim);
/* Rows of a table: out[i..., :] = table[index[i...], :]. */
uint32_t rkb_make_embedding(rkb_program_t *program, uint32_t table, uint32_t index);

#endif
