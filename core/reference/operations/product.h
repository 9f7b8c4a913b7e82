/* Matrix products and convolutions: sums of products through index maps (contraction.h). */
#ifndef RKB_REFERENCE_OPERATIONS_PRODUCT_H
#define RKB_REFERENCE_OPERATIONS_PRODUCT_H

#include "reference/operation.h"

/* Multiplies matrices in the last two dims, either transposed first; the dims before them broadcast.  The caller turns a vector into
 * a matrix first. */
uint32_t rkb_make_matmul(rkb_program_t *program, uint32_t a, bool transpose_a, uint32_t b, bool transpose_b);

bool rkb_is_matmul(const rkb_program_node_t *node);

/* Fails the program when a factor is an integer tensor, because PyTorch has no product of an integer and a
 * float tensor. */
bool rkb_factors_are_floats(rkb_program_t *program, uint32_t a, uint32_t b);

#define RKB_MAX_SPATIAL 3
/* Shared by a convolution and its two gradients. */
typedef struct rkb_window {
   uint32_t spatial; /* dims that are slid over: 1 to 3 */
   int64_t stride[RKB_MAX_SPATIAL], padding[RKB_MAX_SPATIAL], dilation[RKB_MAX_SPATIAL], groups;
} rkb_window_t;

/* Whether minimal filtering F(2, 3) applies to the node (Winograd): its window has three elements along each of one or two dims and moves by one. */
enum rkb_filter {
   RKB_FILTER_NONE,
   RKB_FILTER_OF_ELEMENTS, /* a convolution, or the gradient of its input */
   RKB_FILTER_OF_WEIGHT    /* the gradient of a weight */
};
enum rkb_filter rkb_filter_of_three(const rkb_program_t *program, const rkb_program_node_t *node);

/* x [N, C, i...], weight [O, C / groups, k...] -> [N, O, o...] */
uint32_t rkb_make_convolution(rkb_program_t *program, uint32_t x, uint32_t weight,
                              const rkb_window_t *window);
/* grad [N, O, o...], weight -> the gradient of an x of the given spatial sizes.  This is also the transposed convolution. */
uint32_t rkb_make_convolution_input(rkb_program_t *program, uint32_t grad, uint32_t weight,
                                    const rkb_window_t *window, const int64_t *sizes);
/* grad [N, O, o...], x [N, C, i...] -> the gradient of a weight with kernels of the given spatial sizes. */
uint32_t rkb_make_convolution_weight(rkb_program_t *program, uint32_t grad, uint32_t x,
                                     const rkb_window_t *window, const int64_t *kernel);

#endif
