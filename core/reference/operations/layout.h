/* Operations that move elements and compute nothing: each output element is one input element, or a constant.
 */
#ifndef RKB_REFERENCE_OPERATIONS_LAYOUT_H
#define RKB_REFERENCE_OPERATIONS_LAYOUT_H

#include "reference/operation.h"

const rkb_operation_t *rkb_reshape_operation(void);
const rkb_operation_t *rkb_expand_operation(void);
/* Replaces numbers of the node's elements by those of the operand's elements that they are.  False: the node is no reshape, permute, slice or
 * flip. */
bool rkb_move_back(const rkb_program_t *program, const rkb_program_node_t *node, uint64_t count,
                   int64_t *index);
uint32_t rkb_make_reshape(rkb_program_t *program, uint32_t x, const rkb_shape_t *shape);
uint32_t rkb_make_expand(rkb_program_t *program, uint32_t x, const rkb_shape_t *shape);
uint32_t rkb_make_permute(rkb_program_t *program, uint32_t x, const uint32_t *dims); /* rank of x entries */
uint32_t rkb_make_slice(rkb_program_t *program, uint32_t x, uint32_t dim, int64_t start, int64_t count,
                        int64_t step);
/* The reverse of a slice: puts x at start, start + step, ... of a dim of the given size, and value elsewhere. */
uint32_t rkb_make_embed(rkb_program_t *program, uint32_t x, uint32_t dim, int64_t start, int64_t size,
                        int64_t step, double value);
uint32_t rkb_make_cat(rkb_program_t *program, const uint32_t *inputs, uint32_t count, uint32_t dim);
uint32_t rkb_make_flip(rkb_program_t *program, uint32_t x, uint64_t mask);
/* Keeps elements of the last two dims with column - row <= diagonal (upper: >= diagonal); puts value elsewhere. */
uint32_t rkb_make_triangle(rkb_program_t *program, uint32_t x, int64_t diagonal, bool upper, double value);
/* A constant, or start + step * i along one dim. */
uint32_t rkb_make_full(rkb_program_t *program, const rkb_shape_t *shape, double value, uint32_t dtype);
uint32_t rkb_make_arange(rkb_program_t *program, double start, double step, int64_t count, uint32_t dtype);

#endif
