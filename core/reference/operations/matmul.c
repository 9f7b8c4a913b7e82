/* Matrix products over the last two dims.  A node's integers: transpose of a, transpose of b.  Pure
 * functions. */
#include "reference/operations/product.h"

#include "reference/operations/contraction.h"
#include "reference/dtype.h"
#include "reference/operations/elementwise.h"

typedef struct geometry {
   uint64_t rows, columns, depth;
   bool transpose_a, transpose_b;
   rkb_shape_t batch;                                      /* dims before the last two, of the output */
   int64_t stride_a[RKB_MAX_RANK], stride_b[RKB_MAX_RANK]; /* in matrices */
} geometry_t;

static rkb_shape_t batch_of(const rkb_shape_t *shape) {
   rkb_shape_t batch = *shape;
   batch.rank = shape->rank - 2;
   return batch;
}

static geometry_t geometry_of(const rkb_program_t *program, const rkb_program_node_t *node) {
   const rkb_shape_t *a = rkb_program_shape(program, node->inputs[0]),
                     *b = rkb_program_shape(program, node->inputs[1]);
   const rkb_shape_t *out = rkb_program_shape(program, node->output);
   geometry_t g = {
      .transpose_a = node->integers[0] != 0, .transpose_b = node->integers[1] != 0, .batch = batch_of(out)};
   rkb_shape_t batch_a = batch_of(a), batch_b = batch_of(b);
   g.rows = (uint64_t)out->size[out->rank - 2];
   g.columns = (uint64_t)out->size[out->rank - 1];
   g.depth = (uint64_t)a->size[a->rank - (g.transpose_a ? 2 : 1)];
   rkb_shape_broadcast_strides(&batch_a, &g.batch, g.stride_a);
   rkb_shape_broadcast_strides(&batch_b, &g.batch, g.stride_b);
   return g;
}

static int64_t matrix(const geometry_t *g, uint64_t group, const int64_t *strides) {
   int64_t at[RKB_MAX_RANK], number = 0;
   rkb_shape_split(&g->batch, group, at);
   for (uint32_t d = 0; d < g->batch.rank; d++)
      number += at[d] * strides[d];
   return number;
}

static void left_index(const void *geometry, uint64_t group, uint64_t row, uint64_t first, uint64_t count,
                       int64_t *index) {
   const geometry_t *g = geometry;
   int64_t base = matrix(g, group, g->stride_a) * (int64_t)(g->rows * g->depth);
   int64_t step = g->transpose_a ? (int64_t)g->rows : 1;
   base += g->transpose_a ? (int64_t)row : (int64_t)(row * g->depth);
   for (uint64_t k = 0; k < count; k++)
      index[k] = base + (int64_t)(first + k) * step;
}

static void right_index(const void *geometry, uint64_t group, uint64_t column, uint64_t first, uint64_t count,
                        int64_t *index) {
   const geometry_t *g = geometry;
   int64_t base = matrix(g, group, g->stride_b) * (int64_t)(g->columns * g->depth);
   int64_t step = g->transpose_b ? 1 : (int64_t)g->columns;
   base += g->transpose_b ? (int64_t)(column * g->depth) : (int64_t)column;
   for (uint64_t k = 0; k < count; k++)
      index[k] = base + (int64_t)(first + k) * step;
}

static uint64_t element(const void *geometry, uint64_t group, uint64_t row, uint64_t column) {
   const geometry_t *g = geometry;
   return (group * g->rows + row) * g->columns + column;
}

static void split(const void *geometry, uint64_t element, uint64_t *group, uint64_t *row, uint64_t *column) {
   const geometry_t *g = geometry;
   *column = element % g->columns;
   *row = element / g->columns % g->rows;
   *group = element / g->columns / g->rows;
}

static rkb_contraction_t contraction_of(const rkb_program_node_t *node, const geometry_t *g) {
   rkb_contraction_t c = {.groups = rkb_shape_product(&g->batch, 0, g->batch.rank),
                          .rows = g->rows,
                          .columns = g->columns,
                          .depth = g->depth,
                          .repeats = 1,
                          .geometry = g,
                          .left_index = left_index,
                          .right_index = right_index,
                          .element = element,
                          .split = split};
   rkb_contraction_operands(&c, node);
   return c;
}

static int compute(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count, const int64_t *index,
                   rkb_block_t *out) {
   geometry_t g = geometry_of(rkb_reader_program(reader), node);
   rkb_contraction_t contraction = contraction_of(node, &g);
   return rkb_contract_points(reader, &contraction, count, index, out);
}

static int whole(rkb_reader_t *reader, const rkb_program_node_t *node, rkb_block_t *out) {
   geometry_t g = geometry_of(rkb_reader_program(reader), node);
   rkb_contraction_t contraction = contraction_of(node, &g);
   return rkb_contract_whole(reader, &contraction, out);
}

static double cone(const rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                   double outputs, uint64_t samples, const int64_t *output, int64_t *operand) {
   geometry_t g = geometry_of(program, node);
   rkb_contraction_t contraction = contraction_of(node, &g);
   return rkb_contraction_cone(program, &contraction, which, outputs, samples, output, operand);
}

static uint64_t depth(const rkb_program_t *program, const rkb_program_node_t *node) {
   return geometry_of(program, node).depth;
}

static double work(const rkb_program_t *program, const rkb_program_node_t *node) {
   return 2 * (double)program->values[node->output].elements * (double)depth(program, node) +
          rkb_contraction_addend_work(program, node);
}

/* Let A and B be the operands after their transposes, and C = A B.  Then grad A = G B' and grad B = A' G, each transposed back if the
 * operand was transposed. */
static uint32_t gradient(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                         uint32_t grad) {
   uint32_t a = node->inputs[0], b = node->inputs[1], out;
   bool ta = node->integers[0] != 0, tb = node->integers[1] != 0;
   if (which == 0)
      out = ta ? rkb_make_matmul(program, b, tb, grad, true) : rkb_make_matmul(program, grad, false, b, !tb);
   else
      out = tb ? rkb_make_matmul(program, grad, true, a, ta) : rkb_make_matmul(program, a, !ta, grad, false);
   rkb_shape_t shape = *rkb_program_shape(program, node->inputs[which]);
   return rkb_make_sum_to(program, out, &shape);
}

static const rkb_operation_t matmul = {.name = "matmul",
                                       .costly = true,
                                       .exact = true,
                                       .compute = compute,
                                       .whole = whole,
                                       .gradient = gradient,
                                       .work = work,
                                       .cone = cone,
                                       .depth = depth};

bool rkb_is_matmul(const rkb_program_node_t *node) {
   return node->operation == &matmul;
}

bool rkb_factors_are_floats(rkb_program_t *program, uint32_t a, uint32_t b) {
   const uint32_t left = rkb_program_dtype(program, a), right = rkb_program_dtype(program, b);
   if (rkb_dtype_is_float(left) && rkb_dtype_is_float(right))
      return true;
   rkb_program_fail(program, "a product of %s and %s: convert integers first, with a node `to`",
                    rkb_dtype_name(left), rkb_dtype_name(right));
   return false;
}

uint32_t rkb_make_matmul(rkb_program_t *program, uint32_t a, bool transpose_a, uint32_t b, bool transpose_b) {
   const rkb_shape_t *left = rkb_program_shape(program, a), *right = rkb_program_shape(program, b);
   if (program->failed)
      return RKB_NO_VALUE;
   if (!rkb_factors_are_floats(program, a, b))
      return RKB_NO_VALUE;
   if (left->rank < 2 || right->rank < 2) {
      const rkb_shape_texts_t texts = rkb_shape_texts(left, right);
      return rkb_program_fail(program, "a matrix product needs two matrices, not %s and %s", texts.left,
                              texts.right);
   }
   int64_t rows = left->size[left->rank - (transpose_a ? 1 : 2)],
           inner = left->size[left->rank - (transpose_a ? 2 : 1)];
   int64_t other = right->size[right->rank - (transpose_b ? 1 : 2)],
           columns = right->size[right->rank - (transpose_b ? 2 : 1)];
   rkb_shape_t batch_left = batch_of(left), batch_right = batch_of(right), shape;
   if (inner != other || !rkb_shape_broadcast(&batch_left, &batch_right, &shape)) {
      const rkb_shape_texts_t texts = rkb_shape_texts(left, right);
      return rkb_program_fail(program,
                              "the matrix product of %s and %s does not fit: %lld terms against %lld",
                              texts.left, texts.right, (long long)inner, (long long)other);
   }
   shape.size[shape.rank++] = rows;
   shape.size[shape.rank++] = columns;
   return rkb_program_add(program, &matmul, (uint32_t[]){a, b}, 2, (int64_t[]){transpose_a, transpose_b}, 2,
                          NULL, 0, rkb_program_dtype(program, a), &shape);
}
