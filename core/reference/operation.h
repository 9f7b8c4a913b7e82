/* One operation with all its functions, and the types that its code uses: points, blocks, the reader.
 *
 * A point is the reference's value of one element, with two bounds on what a correct kernel may hold there:
 *   hard      worst case, absolute, to first order in the unit roundoff
 *   variance  of independent rounding errors of random sign; the stat bound is 8 standard deviations.  An allowance t for
 *             tensor-core truncation is included as (sigma + t/8)^2, so that 8 standard deviations are 8 sigma + t.
 *
 * docs/numerics.md derives both.  compute() gives the points of any list of output elements and asks the reader for the operand
 * elements it needs.  The same code serves whole tensors (operands lie in memory) and points (operands are computed on demand).
 * Any thread; compute() may run on several ranges of one output at once. */
#ifndef RKB_REFERENCE_OPERATION_H
#define RKB_REFERENCE_OPERATION_H

#include <math.h>
#include "reference/graph_program.h"

typedef struct rkb_reader rkb_reader_t;

/* What a precision class allows.  For fp32, unit is 2^-24. */
typedef struct rkb_precision {
   double unit;        /* unit roundoff of stored intermediates and sums */
   double approximate; /* factor on the error of approximate functions: 1, or more for fp32-fast */
   double product;     /* unit roundoff to which operands of matrix products may be rounded; 0: none */
   /* Unit roundoff of a sum of products whose factors are both 8-bit floats; equals `unit` when no such
    * rule exists. */
   double eighth;
   double tiny;    /* results below it may be flushed to zero: an absolute error of each operation */
   double largest; /* overflow threshold of intermediates */
   /* For graphs so deep that bounds carried along are useless: how many evaluations with random errors give
    * their bounds (deep_graph_bounds.h).  0 for all other graphs. */
   uint32_t passes;
   bool filtered; /* convolutions may be computed by minimal filtering (operations/convolution_filter.h) */
} rkb_precision_t;

typedef struct rkb_point {
   double value, hard, variance;
   uint32_t flags; /* enum rkb_point_flags */
} rkb_point_t;

/* An array of points, one array per member.  Input data has hard and variance 0. */
typedef struct rkb_block {
   double *value, *hard, *variance;
   uint8_t *flags;
} rkb_block_t;

struct rkb_operation {
   const char *name;
   bool costly; /* a point reads many operand elements, so computed points are remembered */
   bool exact;  /* integers give integers: exact in fp32 in any order, while sums stay below 2^24 */
   bool moves;  /* each element is an element of the first operand, so it is stored as it is */
   bool converts; /* the result is the operand in another type, rounded to it already */
   bool random_data; /* its bounds hold on random data alone */
   bool divides;     /* a norm divides by its root, which might be 0 where its bound is large */
   int (*compute)(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count, const int64_t *index,
                  rkb_block_t *out);
   /* Optional: a faster way to the same points, for whole tensors. */
   int (*whole)(rkb_reader_t *reader, const rkb_program_node_t *node, rkb_block_t *out);
   /* Optional, for whole tensors: how many neighbouring elements share work, which would be done again for each piece of
    * them.  NULL: RKB_CHUNK elements share enough. */
   uint64_t (*shared)(const rkb_program_t *program, const rkb_program_node_t *node);
   /* Appends operations that compute the gradient of operand number `which` from the output's gradient.  Returns RKB_NO_VALUE
    * when no gradient flows.  NULL: not differentiable, which is an error only where a gradient through it is
    * wanted. */
   uint32_t (*gradient)(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                        uint32_t grad);
   double (*work)(const rkb_program_t *program, const rkb_program_node_t *node); /* arithmetic */
   /* For recurrences: the arithmetic of one sequence, which a block that computes the whole sequence has to
    * do alone.  Otherwise NULL. */
   double (*sequential)(const rkb_program_t *program, const rkb_program_node_t *node);
   /* For matrix products and convolutions, whose factors are operands 0 and 1: terms of one sum of products.  Otherwise
    * NULL. */
   uint64_t (*depth)(const rkb_program_t *program, const rkb_program_node_t *node);
   /* Optional, for estimates: about how many elements of operand number `which` must be read for so many outputs.  output[]
    * holds random samples of the outputs (-1: no sample); the function returns as many samples of the operand's elements.
    * 0: not known. */
   double (*cone)(const rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                  double outputs, uint64_t samples, const int64_t *output, int64_t *operand);
   /* For elementwise operations only: computes one element from up to three operands, or count elements side by side. */
   rkb_point_t (*point)(const rkb_precision_t *precision, const double *reals, const rkb_point_t *operands);
   void (*points)(const rkb_precision_t *precision, const double *reals, uint64_t count,
                  const rkb_block_t *operands, rkb_block_t *out);
};

/* Reads elements index[0 .. count-1] of a value (evaluate.c, points.c).  An index of -1 gives an exact zero. */
int rkb_read(rkb_reader_t *reader, uint32_t value, uint64_t count, const int64_t *index, rkb_block_t *out);
/* Gives direct access to neighbouring elements of a value that lies in memory with its bounds; false otherwise. */
bool rkb_reader_view(const rkb_reader_t *reader, uint32_t value, uint64_t count, const int64_t *index,
                     rkb_block_t *view);
const rkb_precision_t *rkb_reader_precision(const rkb_reader_t *reader);
const rkb_program_t *rkb_reader_program(const rkb_reader_t *reader);

bool rkb_reader_in_points(const rkb_reader_t *reader);
/* Whether the value lies in memory, so that reading few elements at a time costs no more than reading many. */
bool rkb_reader_holds(const rkb_reader_t *reader, uint32_t value);
int rkb_reader_work(rkb_reader_t *reader, double work); /* counts work; RKB_ERR_LIMIT past the limit */

/* Allocates all four arrays at once; release them with rkb_block_free.  False when memory is out. */
bool rkb_block_new(rkb_block_t *block, uint64_t count);
/* Allocates a block for a node's operands.  For points, large blocks are reused, because fresh memory costs as much as the sums in
 * it. */
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

/* Whether a kernel's value is NaN too, whatever way it computes the element.  False when the bounds cannot
 * tell the value from an infinity. */
static inline bool rkb_point_is_nan(rkb_point_t point) {
   return isnan(point.value) && !(point.flags & RKB_POINT_DONT_CARE);
}

/* The result of arithmetic on such an operand, whatever the other operands are. */
static inline rkb_point_t rkb_point_nan(void) {
   return (rkb_point_t){NAN, 0, 0, 0};
}

/* Adds one rounding of `units` roundoffs, the flush of a tiny result, and don't-care where the result may overflow.  A kernel's
 * result may overflow when value plus bound pass the largest number.  Infinities that a graph writes on purpose (masks) must not
 * be passed here. */
static inline rkb_point_t rkb_point_rounded(const rkb_precision_t *precision, rkb_point_t point,
                                            double units) {
   if (point.value == 0 && point.hard == 0) /* an exact zero stays exact: nothing is rounded or flushed */
      return point;
   const double size = fabs(point.value) + point.hard; /* the largest value a kernel may hold */
   const double rounding = units * precision->unit * size;
   point.hard += rounding + precision->tiny;
   /* A result that is certainly subnormal may be flushed.  Flushing errs by the whole result.  If a kernel
    * does not flush it, its error is at most one step of the subnormal numbers, which is at most the result.
    * */
   point.variance += size < precision->tiny ? size * size : rounding * rounding / 3;
   if (!(fabs(point.value) + point.hard < precision->largest)) /* also NaN */
      point.flags |= RKB_POINT_DONT_CARE;
   return point;
}

/* Adds to hard and variance the rounding of a sum of count non-zero terms at so many places, in any order: absolute = sum |terms|,
 * squares = sum terms^2, both of exact terms.
 *
 * hard: a product, and every addition that its partial sum goes through, rounds once, whatever the order (Higham, 'Accuracy and
 * Stability of Numerical Algorithms', section 3.1).  RKB_SUM_SPARE further roundings are allowed for a scaling folded into a
 * factor, for sums in parts, and for 3xTF32, whose three truncating accumulations of the first 8 terms and dropped low product
 * make 9.
 *
 * stat: each rounding is independent, of random sign, and uniform over one unit (variance u^2/3 times the square of the partial
 * sum).  Partial sums grow towards the sum s and wander with the squares q.  Truncating accumulators of tensor cores always err
 * in one direction: 3xTF32 truncates three times for every 8 places begun, by a unit of a typical partial sum.  Where most terms
 * are zero, it truncates once for each non-zero term.  What is lost adds up to a share of the mean partial sum, which is s/2 and a
 * normal number of variance q/12; sqrt(q) is 6.4 of its standard deviations (docs/decisions/bounds.md). */
#define RKB_SUM_SPARE 10
#define RKB_SUM_TRUNCATIONS 3
#define RKB_SUM_TERMS_A_TRUNCATION 8

static inline void rkb_sum_rounding(const rkb_precision_t *precision, double sum, double absolute,
                                    double squares, double count, double places, rkb_point_t *point) {
   const double u = precision->unit, begun = places / RKB_SUM_TERMS_A_TRUNCATION;
   point->hard += (count + RKB_SUM_SPARE) * u * (absolute + point->hard);
   double sigma = u * sqrt((count * (sum * sum / 3 + squares / 6) + squares) / 3);
   double truncation =
      RKB_SUM_TRUNCATIONS * u * ((count < begun ? count : begun) + 1) * (sqrt(squares) + fabs(sum) / sqrt(3));
   double both = sigma + truncation / 8;
   point->variance += both * both;
}

/* Adds an addend to a sum of count non-zero terms at so many places, in any order: a kernel may start its accumulator at the addend.
 * sum has the value and the bounds of the terms alone, absolute = sum |terms|.  apart: further roundings of terms that lie apart
 * (contraction_panel.c).
 *
 * hard: the addend is one more term.  It passes through as many roundings as the others, and each of them through one more.
 *
 * stat: partial sums run from the addend b to b + s, or from 0 to s and then once to b + s.  The mean square of the first way exceeds that
 * of the second by b^2 + b s. */
static inline void rkb_addend_rounding(const rkb_precision_t *precision, rkb_point_t addend, double count,
                                       double apart, double places, double absolute, rkb_point_t *sum) {
   const double u = precision->unit, b = addend.value, size = fabs(b) + addend.hard;
   const double begun = places / RKB_SUM_TERMS_A_TRUNCATION, result = b + sum->value;
   const double more = fmax(b * b + b * sum->value, 0);
   if (size == 0) /* an exact zero: nothing is rounded */
      return;
   if (rkb_point_is_nan(addend)) {
      *sum = rkb_point_nan();
      return;
   }
   if (isinf(b)) { /* a mask stays infinite and exact */
      *sum = (rkb_point_t){result, 0, 0, sum->flags};
      return;
   }
   const double rounded = count > 0 ? (count + RKB_SUM_SPARE + apart) * u * size : 0;
   sum->hard += addend.hard + rounded + u * (absolute + sum->hard + size) + precision->tiny;
   const double sigma = u * sqrt((count * more + result * result) / 3);
   const double truncation =
      count > 0 ? RKB_SUM_TRUNCATIONS * u * ((count < begun ? count : begun) + 1) * sqrt(more) : 0;
   const double both = sqrt(sum->variance) + sqrt(addend.variance) + sigma + truncation / 8;
   sum->variance = both * both;
   sum->value = result;
}

/* A weighted sum of points.  Weights are not negative and are known up to rounding. */
rkb_point_t rkb_weighted_sum(const rkb_precision_t *precision, const rkb_block_t *block, uint64_t count,
                             const double *weights);

/* When only points are computed: computes at once the elements that will soon be read row by row, which is much cheaper when rows
 * share the operands of a product.  Does nothing for whole tensors and for inputs. */
int rkb_prefetch(rkb_reader_t *reader, uint32_t value, uint64_t count, const int64_t *index);

/* Only for points: remembers elements of a node's output that were computed in addition to the requested ones. */
int rkb_keep_points(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count, const int64_t *index, const rkb_block_t *block);

/* Only for points: what a node's operation found out about one of its rows, at most RKB_ROW_BYTES (row_memory.h).  False where that is not known.
 * What is kept is only a saving: a row may be forgotten at any time. */
#define RKB_ROW_BYTES 128u
bool rkb_row_recall(const rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t row, void *finding,
                    size_t bytes);
void rkb_row_keep(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t row, const void *finding,
                  size_t bytes);

/* The least number of elements, or of products of pairs, for which several threads pay.  For the small tensors of check cases,
 * which many jobs evaluate side by side, waiting for each other costs more processor time than the work. */
#define RKB_SHARED_ELEMENTS (UINT64_C(1) << 18)
#define RKB_SHARED_PRODUCTS 2e7

/* The number of elements that an operation handles at a time.  A reader may be asked for more. */
#define RKB_CHUNK 4096u

#endif
