/* Running sums and products along one dim.  The bounds allow any order of evaluation; a parallel scan works in trees.
 * In each of them NaN is in every result from its place on, and in none before it, as in PyTorch.
 * Pure functions of what they read.  A node's integer: the dim. */
#include "reference/operations/scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "reference/operations/elementwise.h"
#include "reference/operations/layout.h"
#include "reference/operations/reduce.h"
#include "reference/operations/whole_numbers.h"

enum { SUM, PRODUCT, PRODUCT_GRADIENT };

/* One row: its operands (x; or grad, then x), and the results of all its places. */
typedef struct row {
   uint64_t number, length;
   rkb_block_t operands[2], results;
   int64_t *index;
   bool whole; /* its numbers, whatever the inputs are */
} row_t;

static void row_free(row_t *row) {
   rkb_block_free(&row->operands[0]);
   rkb_block_free(&row->operands[1]);
   rkb_block_free(&row->results);
   free(row->index);
}

static bool row_new(row_t *row, uint64_t length) {
   *row = (row_t){
      .number = UINT64_MAX, .length = length, .index = rkb_try_uncleared(length, sizeof(int64_t), NULL)};
   if (row->index && rkb_block_new(&row->operands[0], length) && rkb_block_new(&row->operands[1], length) &&
       rkb_block_new(&row->results, length))
      return true;
   row_free(row);
   return false;
}

static rkb_point_t product_of(const rkb_precision_t *precision, rkb_point_t a, rkb_point_t b) {
   rkb_point_t factors[] = {a, b};
   return rkb_elementwise_find("mul")->point(precision, NULL, factors);
}

/* What a sum has gathered so far. */
typedef struct gathered {
   rkb_point_t point;
   double absolute, squares, nonzero;
} gathered_t;

static void gather(gathered_t *sum, rkb_point_t term) {
   sum->point.value += term.value;
   sum->point.hard += term.hard;
   sum->point.variance += term.variance;
   sum->point.flags |= term.flags & RKB_POINT_DONT_CARE;
   sum->absolute += fabs(term.value);
   sum->squares += term.value * term.value;
   sum->nonzero += term.value != 0;
}

static rkb_point_t conclude(const rkb_precision_t *precision, const gathered_t *sum) {
   rkb_point_t point = sum->point;
   if (rkb_point_is_nan(point))
      return rkb_point_nan();
   rkb_sum_rounding(precision, point.value, sum->absolute, sum->squares, sum->nonzero, sum->nonzero, &point);
   point.hard += sum->nonzero > 0 || point.hard > 0 ? precision->tiny : 0;
   if (!(sum->absolute + point.hard < precision->largest))
      point.flags |= RKB_POINT_DONT_CARE;
   return point;
}

static void scan_sums(const rkb_precision_t *precision, row_t *row) {
   gathered_t sum = {.point = {0}};
   for (uint64_t i = 0; i < row->length; i++) {
      gather(&sum, rkb_block_get(&row->operands[0], i));
      rkb_block_put(&row->results, i,
                    row->whole && rkb_sums_exactly(sum.point.hard, sum.absolute) ? sum.point
                                                                                 : conclude(precision, &sum));
   }
}

static void scan_products(const rkb_precision_t *precision, row_t *row) {
   rkb_point_t product = rkb_block_get(&row->operands[0], 0);
   rkb_block_put(&row->results, 0, product);
   for (uint64_t i = 1; i < row->length; i++) {
      product = product_of(precision, product, rkb_block_get(&row->operands[0], i));
      rkb_block_put(&row->results, i, product);
   }
}

/* dx_i = sum over j >= i of g_j times the product of x_0 .. x_j without x_i.  This also holds where x_i is zero.  Kernels may take
 * reversed sums of g_j y_j and divide by x_i, which rounds the same sizes plus one quotient. */
static void scan_product_gradients(const rkb_precision_t *precision, row_t *row) {
   rkb_point_t before = {1, 0, 0, 0}; /* the product of the elements before i */
   for (uint64_t i = 0; i < row->length; i++) {
      gathered_t sum = {.point = {0}};
      double flushed = 0; /* running products, and g times them, may be flushed before the division */
      rkb_point_t others = before, x = rkb_block_get(&row->operands[1], i);
      for (uint64_t j = i; j < row->length; j++) {
         if (j > i)
            others = product_of(precision, others, rkb_block_get(&row->operands[1], j));
         rkb_point_t grad = rkb_block_get(&row->operands[0], j), running = product_of(precision, others, x);
         gather(&sum, product_of(precision, grad, others));
         rkb_point_t weighted = product_of(precision, grad, running);
         flushed += precision->tiny * (fabs(grad.value) + grad.hard + 1);
         sum.point.flags |= weighted.flags & RKB_POINT_DONT_CARE;
      }
      rkb_point_t point = conclude(precision, &sum);
      if (rkb_point_is_nan(x)) /* PyTorch divides by it; a sum of products without it need not be NaN */
         point = (rkb_point_t){NAN, 0, 0, RKB_POINT_DONT_CARE};
      double quotient = 12 * precision->approximate * precision->unit * sum.absolute;
      point.hard += quotient + (x.value != 0 ? flushed / fabs(x.value) : 0);
      point.variance += quotient * quotient / 3;
      rkb_block_put(&row->results, i, rkb_point_is_nan(point) ? rkb_point_nan() : point);
      before = product_of(precision, before, x);
   }
}

static int scan(rkb_reader_t *reader, const rkb_program_node_t *node, int kind, uint64_t count,
                const int64_t *index, rkb_block_t *out) {
   const rkb_shape_t *shape = rkb_program_shape(rkb_reader_program(reader), node->inputs[0]);
   uint64_t mask = UINT64_C(1) << node->integers[0], number, place;
   rkb_rows_t rows = rkb_rows_of(shape, mask);
   row_t row;
   if (!row_new(&row, rows.length))
      return RKB_ERR_NOMEM;
   row.whole = rkb_is_whole(rkb_reader_program(reader), node->inputs[0]);
   int status = RKB_OK;
   for (uint64_t i = 0; status == RKB_OK && i < count; i++) {
      rkb_rows_split(shape, mask, (uint64_t)index[i], &number, &place);
      if (number != row.number) {
         row.number = number;
         rkb_rows_index(&rows, number, 0, rows.length, row.index);
         for (uint32_t k = 0; status == RKB_OK && k < node->input_count; k++)
            status = rkb_read(reader, node->inputs[k], rows.length, row.index, &row.operands[k]);
         if (status != RKB_OK)
            break;
         const rkb_precision_t *precision = rkb_reader_precision(reader);
         (kind == SUM       ? scan_sums
          : kind == PRODUCT ? scan_products
                            : scan_product_gradients)(precision, &row);
      }
      rkb_block_put(out, i, rkb_block_get(&row.results, place));
   }
   row_free(&row);
   return status;
}

#define COMPUTE(name, kind)                                                                                  \
   static int compute_##name(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count,           \
                             const int64_t *index, rkb_block_t *out) {                                       \
      return scan(reader, node, kind, count, index, out);                                                    \
   }
COMPUTE(sum, SUM)
COMPUTE(product, PRODUCT)
COMPUTE(product_gradient, PRODUCT_GRADIENT)

static double work_once(const rkb_program_t *program, const rkb_program_node_t *node) {
   return (double)program->values[node->output].elements;
}

/* As kernels compute it: a product, a running sum and a quotient per element. */
static double work_thrice(const rkb_program_t *program, const rkb_program_node_t *node) {
   return 3 * work_once(program, node);
}

/* The running sum taken from the other end. */
static uint32_t gradient_sum(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                             uint32_t grad) {
   (void)which;
   uint64_t mask = UINT64_C(1) << node->integers[0];
   uint32_t turned = rkb_make_flip(program, grad, mask);
   return rkb_make_flip(program,
                        rkb_make_scan(program, "cumulative_sum", turned, (uint32_t)node->integers[0]), mask);
}

static const rkb_operation_t product_gradient = {.name = "cumulative_product_gradient",
                                                 .costly = true,
                                                 .compute = compute_product_gradient,
                                                 .work = work_thrice};

static uint32_t gradient_product(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                                 uint32_t grad) {
   (void)which;
   rkb_shape_t shape = *rkb_program_shape(program, node->inputs[0]);
   return rkb_program_add(program, &product_gradient, (uint32_t[]){grad, node->inputs[0]}, 2, node->integers,
                          1, NULL, 0, rkb_program_dtype(program, node->inputs[0]), &shape);
}

static const rkb_operation_t cumulative_sum = {.name = "cumulative_sum",
                                               .costly = true,
                                               .exact = true,
                                               .compute = compute_sum,
                                               .work = work_once,
                                               .gradient = gradient_sum};
static const rkb_operation_t cumulative_product = {.name = "cumulative_product",
                                                   .costly = true,
                                                   .compute = compute_product,
                                                   .work = work_once,
                                                   .gradient = gradient_product};

uint32_t rkb_make_scan(rkb_program_t *program, const char *name, uint32_t x, uint32_t dim) {
   rkb_shape_t shape = *rkb_program_shape(program, x);
   int64_t along = dim;
   const rkb_operation_t *operation =
      strcmp(name, "cumulative_sum") == 0 ? &cumulative_sum : &cumulative_product;
   return rkb_program_add(program, operation, &x, 1, &along, 1, NULL, 0, rkb_program_dtype(program, x),
                          &shape);
}
