/* One operation and all its columns, and what its code may use: points, blocks, the reader.
 *
 * A point is the reference's value of one element with two bounds on what a correct kernel may hold there:
 *   hard      worst case, absolute, first order in the unit roundoff
 *   variance  of independent random-sign rounding errors; the stat bound is 8 standard deviations.  The
 * allowance for tensor-core truncation, t, rides along as (sigma + t/8)^2, so that 8 sigma of the sum is 8
 * sigma + t docs/numerics.md derives both.  compute() gives them for any list of elements of the output,
 * asking the reader for the operands' elements it needs: the same code serves whole tensors (operands lie in
 * memory) and points (operands are computed on demand).  Any thread; compute() may run on several ranges of
 * one output at once. */
#ifndef RKB_REFERENCE_OPERATION_H
#define RKB_REFERENCE_OPERATION_H

#include <math.h>
#include "reference/graph_program.h"

typedef struct rkb_reader rkb_reader_t;

/* What a precision class allows.  unit 2^-24 for fp32. */
typedef struct rkb_precision {
   double unit; /* of stored intermediates and sums */
   double
      approximate; /* of approximate functions, as a factor on their own units: 1, or more for fp32-fast */
   double product; /* unit to which operands of matrix products may be rounded, 0: none */
   double tiny;    /* results below are flushed: absolute error of each operation */
   double largest; /* overflow threshold of intermediates */
} rkb_precision_t;

typedef struct rkb_point {
   double value, hard, variance;
   uint32_t flags; /* enum rkb_point_flags */
} rkb_point_t;

/* Points side by side.  Input data has hard and variance 0. */
typedef struct rkb_block {
   double *value, *hard, *variance;
   uint8_t *flags;
} rkb_block_t;

struct rkb_operation {
   const char *name;
   bool costly; /* a point costs many operand reads: points mode remembers it */
   bool exact;  /* integers stay integers: exact in fp32, in any order, while sums stay below 2^24 */
   int (*compute)(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count, const int64_t *index,
                  rkb_block_t *out);
   /* Optional, whole tensors at once: a faster way to the same points. */
   int (*whole)(rkb_reader_t *reader, const rkb_program_node_t *node, rkb_block_t *out);
   /* Appends operations that compute the gradient of operand number which from that of the output;
    * RKB_NO_VALUE when there is none.  NULL: not differentiable, which is an error only where a gradient is
    * wanted through it. */
   uint32_t (*gradient)(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                        uint32_t grad);
   double (*work)(const rkb_program_t *program, const rkb_program_node_t *node); /* arithmetic */
   /* Terms of one sum of products, for matrix products and convolutions (operands 0 and 1 are the factors);
    * else NULL. */
   uint64_t (*depth)(const rkb_program_t *program, const rkb_program_node_t *node);
   /* Optional, for estimates: about how many elements of operand number which are read for so many outputs, of which
    * output[] are samples at random (-1: none), and as many samples of them.  0: not known. */
   double (*cone)(const rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                  double outputs, uint64_t samples, const int64_t *output, int64_t *operand);
   /* Elementwise operations alone: one element of up to three operands, and count of them side by side. */
   rkb_point_t (*point)(const rkb_precision_t *precision, const double *reals, const rkb_point_t *operands);
   void (*points)(const rkb_precision_t *precision, const double *reals, uint64_t count,
                  const rkb_block_t *operands, rkb_block_t *out);
};

/* Reader (evaluate.c, points.c): elements index[0 .. count-1] of a value; an index of -1 gives an exact zero.
 */
int rkb_read(rkb_reader_t *reader, uint32_t value, uint64_t count, const int64_t *index, rkb_block_t *out);
/* Neighbours of a value that lies in memory with its bounds, to be looked at where they are; false otherwise. */
bool rkb_reader_view(const rkb_reader_t *reader, uint32_t value, uint64_t count, const int64_t *index,
                     rkb_block_t *view);
const rkb_precision_t *rkb_reader_precision(const rkb_reader_t *reader);
const rkb_program_t *rkb_reader_program(const rkb_reader_t *reader);

bool rkb_reader_in_points(const rkb_reader_t *reader);
int rkb_reader_work(rkb_reader_t *reader, double work); /* adds to its work; RKB_ERR_LIMIT past the most */

/* One allocation for all four arrays; release with rkb_block_free.  False when memory is out. */
bool rkb_block_new(rkb_block_t *block, uint64_t count);
/* The same for a node's operands: of points large ones are used again, because fresh memory costs as much as the sums in it. */
bool rkb_reader_block(rkb_reader_t *reader, rkb_block_t *block, uint64_t count);
void rkb_reader_block_free(rkb_reader_t *reader, rkb_block_t *block);
void rkb_block_free(rkb_block_t *block);
rkb_block_t rkb_block_from(const rkb_block_t *block, uint64_t first);

static inline rkb_point_t rkb_block_get(const rkb_block_t *block, uint64_t i) {
   return (rkb_point_t){block->value[i], block->hard[i], block->variance[i], block->flags[i]};
}

static inline void rkb_block_put(rkb_block_t *block, uint64_t i, rkb_point_t point) {
   block->value[i] = point.value;
   block->hard[i] = point.hard;
   block->variance[i] = point.variance;
   block->flags[i] = (uint8_t)point.flags;
}

/* Adds one result rounding of units roundoffs, the flush of a tiny result, and the don't-care of one that may overflow.
 * A result may be lost to overflow in a kernel when its value and its bound together pass the largest number.
 * Infinities that a graph writes on purpose (masks) do not come through here. */
static inline rkb_point_t rkb_point_rounded(const rkb_precision_t *precision, rkb_point_t point,
                                            double units) {
   if (point.value == 0 &&
       point.hard == 0) /* an exact zero stays one: nothing is rounded, nothing is flushed */
      return point;
   double rounding =
      units * precision->unit * (fabs(point.value) + point.hard); /* of what a kernel may hold there */
   point.hard += rounding + precision->tiny;
   point.variance += rounding * rounding / 3;
   if (!(fabs(point.value) + point.hard < precision->largest)) /* also NaN */
      point.flags |= RKB_POINT_DONT_CARE;
   return point;
}

/* Rounding of a sum of count non-zero terms, at so many places, in any order: absolute = sum |terms|, squares = sum
 * terms^2, both of exact terms.  Adds to hard and variance.
 *
 * hard: a product and every addition that its partial sum goes through round once, whatever the order
 * (Higham, 'Accuracy and Stability of Numerical Algorithms', section 3.1), and RKB_SUM_SPARE roundings besides: a
 * scaling folded into a factor, sums in parts, and 3xTF32, whose three truncating accumulations of the first
 * 8 terms and dropped low product make 9.
 *
 * stat: each rounding is independent, of random sign, uniform over one unit (variance u^2/3 times the partial
 * sum squared); partial sums grow towards the sum s and wander with the squares q.  Truncating accumulators
 * of tensor cores lean one way: 3xTF32 truncates three times for every 8 places begun, by a unit of a typical
 * partial sum; where most terms are zero, once for each that is not. */
#define RKB_SUM_SPARE 10
#define RKB_SUM_TRUNCATIONS 3
#define RKB_SUM_TERMS_A_TRUNCATION 8

static inline void rkb_sum_rounding(const rkb_precision_t *precision, double sum, double absolute,
                                    double squares, double count, double places, rkb_point_t *point) {
   const double u = precision->unit, begun = places / RKB_SUM_TERMS_A_TRUNCATION;
   point->hard += (count + RKB_SUM_SPARE) * u * (absolute + point->hard);
   double sigma = u * sqrt((count * (sum * sum / 3 + squares / 6) + squares) / 3);
   double truncation =
      RKB_SUM_TRUNCATIONS * u * ((count < begun ? count : begun) + 1) * sqrt(sum * sum / 3 + squares / 2);
   double both = sigma + truncation / 8;
   point->variance += both * both;
}

/* A sum of points with weights that are not negative and known up to rounding. */
rkb_point_t rkb_weighted_sum(const rkb_precision_t *precision, const rkb_block_t *block, uint64_t count,
                             const double *weights);

/* In points mode, computes elements that will soon be read one row at a time together, which is much cheaper
 * where rows share the operands of a product.  Does nothing for whole tensors and for inputs. */
int rkb_prefetch(rkb_reader_t *reader, uint32_t value, uint64_t count, const int64_t *index);

/* From how many elements, or products of pairs, several threads pay: their waiting for each other costs a processor more than
 * the small tensors of check cases do, which many jobs evaluate side by side. */
#define RKB_SHARED_ELEMENTS (UINT64_C(1) << 18)
#define RKB_SHARED_PRODUCTS 2e7

/* Elements an operation handles at a time; a reader may be asked for more. */
#define RKB_CHUNK 4096u

#endif
