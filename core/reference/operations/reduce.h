/* Operations over some dims of a tensor: sums, means, variances, largest and smallest elements, softmax rows. */
#ifndef RKB_REFERENCE_OPERATIONS_REDUCE_H
#define RKB_REFERENCE_OPERATIONS_REDUCE_H

#include "reference/operation.h"

/* How an operand is divided into rows: the mask's dims run inside a row, the other dims number the rows. */
typedef struct rkb_rows {
   uint32_t inner_rank, outer_rank;
   int64_t inner_size[RKB_MAX_RANK], inner_stride[RKB_MAX_RANK];
   int64_t outer_size[RKB_MAX_RANK], outer_stride[RKB_MAX_RANK];
   uint64_t length, count;
} rkb_rows_t;

rkb_rows_t rkb_rows_of(const rkb_shape_t *shape, uint64_t mask);
/* The first element of row number `row`; and elements first .. first+count-1 of it. */
int64_t rkb_rows_base(const rkb_rows_t *rows, uint64_t row);
void rkb_rows_index(const rkb_rows_t *rows, uint64_t row, uint64_t first, uint64_t count, int64_t *index);
/* Prefetches the rows of a list from entry *next on, as many as fit a batch, and moves *next past them.  Consecutive equal entries
 * count once. */
int rkb_rows_prefetch(rkb_reader_t *reader, uint32_t value, const rkb_rows_t *rows, uint64_t count,
                      const uint64_t *list, uint64_t *next);

/* The row of an operand element, and its place in the row. */
void rkb_rows_split(const rkb_shape_t *shape, uint64_t mask, uint64_t element, uint64_t *row,
                    uint64_t *place);

/* dims are given as a mask.  name: "sum" "mean" "amax" "amin", or "argmax" "argmin" (int64: the first such place in the row). */
uint32_t rkb_make_reduce(rkb_program_t *program, const char *name, uint32_t x, uint64_t mask, bool keep);
/* The variance: the sum of squared distances from the mean, divided by length - correction. */
uint32_t rkb_make_variance(rkb_program_t *program, uint32_t x, uint64_t mask, bool keep, int64_t correction);
/* The same; its gradient takes `mean`, which is the mean of x as a kernel may have stored it. */
uint32_t rkb_make_variance_about(rkb_program_t *program, uint32_t x, uint64_t mask, bool keep,
                                 int64_t correction, uint32_t mean);
/* name: "softmax" "log_softmax", along one dim. */
uint32_t rkb_make_softmax(rkb_program_t *program, const char *name, uint32_t x, uint32_t dim);
/* rkb_is_softmax: whether the node is a softmax or log_softmax.  rkb_softmax_goes_by: whether, in addition,
 * node `sum` is the log of the sum of exps of its rows.  Then the softmax may take `sum` as a second operand,
 * and is exp(x - sum), or x - sum.  Only programs with given values have such nodes. */
bool rkb_is_softmax(const rkb_program_node_t *node);
/* The same in base 2: log2 of the sum of exps, one a row. */
uint32_t rkb_make_log2_sum_exp2(rkb_program_t *program, uint32_t x, uint32_t dim);
/* The natural logarithm of the base in which `sum` gives its logarithms. */
double rkb_row_sum_base(const rkb_program_node_t *sum);
bool rkb_softmax_goes_by(const rkb_program_node_t *node, const rkb_program_node_t *sum);
/* log of the sum of exps along one dim. */
uint32_t rkb_make_log_sum_exp(rkb_program_t *program, uint32_t x, uint32_t dim, bool keep);

#endif
