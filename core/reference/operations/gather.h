/* Elements picked by an integer tensor. */
#ifndef RKB_REFERENCE_OPERATIONS_GATHER_H
#define RKB_REFERENCE_OPERATIONS_GATHER_H

#include "reference/operation.h"

/* As torch.gather: out[.., i, ..] = x[.., index[.., i, ..], ..] along dim; x and index agree in the other
 * dims. */
uint32_t rkb_make_gather(rkb_program_t *program, uint32_t x, uint32_t index, uint32_t dim);
/* As torch.scatter and torch.scatter_add: puts or adds source[.., i, ..] to x at index[.., i, ..] along dim.
 * index and source have one shape, which is x's except along dim.  If several elements are put at one place,
 * any of them may be the last. */
uint32_t rkb_make_scatter(rkb_program_t *program, uint32_t x, uint32_t index, uint32_t source, uint32_t dim,
                          bool add);
/* Rows of a table: out[i..., :] = table[index[i...], :]. */
uint32_t rkb_make_embedding(rkb_program_t *program, uint32_t table, uint32_t index);

#endif
