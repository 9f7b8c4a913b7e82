/* Elementwise operations with broadcasting.  Each constructor adds an operation to a program and infers its shape. */
#ifndef RKB_REFERENCE_OPERATIONS_ELEMENTWISE_H
#define RKB_REFERENCE_OPERATIONS_ELEMENTWISE_H

#include "reference/operation.h"

/* On two tensors: "add" "sub" "mul" "div" "maximum" "minimum", "greater" "greater_equal" "less" "less_equal" "equal" (1 or 0),
 * "share" (1 where a > b, 1/2 where they tie, else 0; PyTorch splits the gradient of maximum this way). */
uint32_t rkb_make_binary(rkb_program_t *program, const char *name, uint32_t a, uint32_t b);

/* On a tensor and a number: "add_scalar" "mul_scalar" "div_scalar" "reverse_sub" (s - x) "reverse_div" (s / x) "pow", comparisons
 * "greater_scalar" ... "equal_scalar".  If fp32 does not hold the number exactly, the bounds include its rounding. */
uint32_t rkb_make_scalar(rkb_program_t *program, const char *name, uint32_t x, double scalar);

/* The same, where a kernel's number may lie further from the scalar: by error. */
uint32_t rkb_make_scalar_within(rkb_program_t *program, const char *name, uint32_t x, double scalar,
                                double error);

/* On one tensor: "relu" "step" "abs" "sign" "neg", and the smooth functions of smooth_functions.c. */
uint32_t rkb_make_unary(rkb_program_t *program, const char *name, uint32_t x);
/* On one tensor, with two numbers: "leaky_relu" {slope}, "elu" {alpha}, "clamp" {low, high}, "inside" {low, high}. */
uint32_t rkb_make_unary_with(rkb_program_t *program, const char *name, uint32_t x, double first,
                             double second);

uint32_t rkb_make_where(rkb_program_t *program, uint32_t condition, uint32_t a, uint32_t b);

/* Sums x over the dims along which it was broadcast, so that it gets the shape of `like`. */
uint32_t rkb_make_sum_to(rkb_program_t *program, uint32_t x, const rkb_shape_t *like);

const rkb_operation_t *rkb_elementwise_find(const char *name);
/* Adds an operation on up to three operands, which are stretched to one shape. */
uint32_t rkb_make_elementwise(rkb_program_t *program, const rkb_operation_t *operation,
                              const uint32_t *inputs, uint32_t count, const double *reals,
                              uint32_t real_count);

/* Shared by both files of elementwise operations: makes an operation on arrays of points from a function of one point. */
#define RKB_ELEMENTWISE_OPERANDS 3
#define RKB_POINTS(label)                                                                                    \
   __attribute__((flatten)) static void points_##label(const rkb_precision_t *precision,                     \
                                                       const double *reals, uint64_t count,                  \
                                                       const rkb_block_t *operands, rkb_block_t *out) {      \
      for (uint64_t i = 0; i < count; i++) {                                                                 \
         const rkb_point_t in[] = {rkb_block_get(&operands[0], i), rkb_block_get(&operands[1], i),           \
                                   rkb_block_get(&operands[2], i)};                                          \
         rkb_block_put(out, i, point_##label(precision, reals, in));                                         \
      }                                                                                                      \
   }
int rkb_elementwise_compute(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count,
                            const int64_t *index, rkb_block_t *out);
/* Reads elements index[0 .. count-1] of a value stretched to shape.  A stretched element is read once. */
int rkb_read_stretched(rkb_reader_t *reader, uint32_t value, const rkb_shape_t *shape, uint64_t count,
                       const int64_t *index, rkb_block_t *out);
double rkb_elementwise_work(const rkb_program_t *program, const rkb_program_node_t *node);

/* A smooth function at one place: value, |slope|, and its own error in unit roundoffs, rounding of the result included. */
typedef struct rkb_curve {
   double value, slope, own;
} rkb_curve_t;
const rkb_operation_t *rkb_curve_find(const char *name);

#endif
