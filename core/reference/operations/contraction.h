/* Sums of products: out[group, row, column] = sum over k of left[group, row, k] * right[group, k, column], where index maps say
 * which elements left and right are, and an addend where the sum has one.  Matrix products and all three convolutions (forward, and both gradients) have this form
 * with different maps. */
#ifndef RKB_REFERENCE_OPERATIONS_CONTRACTION_H
#define RKB_REFERENCE_OPERATIONS_CONTRACTION_H

#include "reference/operation.h"

typedef struct rkb_contraction {
   uint64_t groups, rows, columns, depth;
   uint64_t places;      /* the terms that a kernel adds up, if these are fewer than depth; else 0 */
   uint32_t left, right; /* values */
   uint32_t addend,
      frame;         /* a value added to the sum, stretched to the shape of another value; or RKB_NO_VALUE */
   uint64_t repeats; /* how often, at most, one element of the left operand occurs among a group's terms */
   const void *geometry; /* passed to the maps */
   /* Element numbers of operand terms first .. first+count-1; -1 where the term is zero (padding). */
   void (*left_index)(const void *geometry, uint64_t group, uint64_t row, uint64_t first, uint64_t count,
                      int64_t *index);
   void (*right_index)(const void *geometry, uint64_t group, uint64_t column, uint64_t first, uint64_t count,
                       int64_t *index);
   uint64_t (*element)(const void *geometry, uint64_t group, uint64_t row, uint64_t column);
   void (*split)(const void *geometry, uint64_t element, uint64_t *group, uint64_t *row, uint64_t *column);
} rkb_contraction_t;

static inline uint64_t rkb_contraction_places(const rkb_contraction_t *contraction) {
   return contraction->places ? contraction->places : contraction->depth;
}

/* Sets the factors and the addend that a node reads. */
void rkb_contraction_operands(rkb_contraction_t *contraction, const rkb_program_node_t *node);
/* The number of operations that add the addend, one per element; 0 without an addend. */
double rkb_contraction_addend_work(const rkb_program_t *program, const rkb_program_node_t *node);
/* Reads the points of the addend at a list of output elements.  The caller frees the block, also after a
 * failure.  Without an addend the block is empty. */
int rkb_contraction_read_addend(rkb_reader_t *reader, const rkb_contraction_t *contraction, uint64_t count,
                                const int64_t *index, rkb_block_t *out);

int rkb_contract_whole(rkb_reader_t *reader, const rkb_contraction_t *contraction, rkb_block_t *out);
int rkb_contract_points(rkb_reader_t *reader, const rkb_contraction_t *contraction, uint64_t count,
                        const int64_t *index, rkb_block_t *out);
/* The `cone` of an operation that is a contraction (operation.h). */
double rkb_contraction_cone(const rkb_program_t *program, const rkb_contraction_t *contraction,
                            uint32_t which, double outputs, uint64_t samples, const int64_t *output,
                            int64_t *operand);

#endif
