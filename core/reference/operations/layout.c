/* Operations that move elements; each has an index map.  They are exact, so bounds pass unchanged.  Pure functions. */
#include "reference/operations/layout.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "reference/dtype.h"
#include "reference/operations/elementwise.h"

static double no_work(const rkb_program_t *program, const rkb_program_node_t *node) {
   (void)program, (void)node;
   return 0;
}

/* Element of operand *which that becomes output element at; false for the node's constant (reals[0]). */
typedef bool (*map_t)(const rkb_program_t *program, const rkb_program_node_t *node, int64_t element,
                      int64_t *at, uint32_t *which, int64_t *from);

static const rkb_shape_t *output_shape(const rkb_program_t *program, const rkb_program_node_t *node) {
   return &program->values[node->output].shape;
}

static const rkb_shape_t *input_shape(const rkb_program_t *program, const rkb_program_node_t *node,
                                      uint32_t which) {
   return &program->values[node->inputs[which]].shape;
}

/* The source of each output element; -1 for the constant. */
static void map_elements(const rkb_program_t *program, const rkb_program_node_t *node, map_t map,
                         uint64_t count, const int64_t *index, uint8_t *operand, int64_t *from) {
   const rkb_shape_t *shape = output_shape(program, node);
   int64_t next[RKB_MAX_RANK] = {0}, at[RKB_MAX_RANK];
   for (uint64_t i = 0; i < count; i++) {
      uint32_t which = 0;
      if (i > 0 && index[i] == index[i - 1] + 1)
         for (uint32_t d = shape->rank; d-- > 0 && ++next[d] == shape->size[d];)
            next[d] = 0;
      else
         rkb_shape_split(shape, (uint64_t)index[i], next);
      memcpy(at, next, sizeof at);
      if (!map(program, node, index[i], at, &which, &from[i]))
         from[i] = -1;
      operand[i] = (uint8_t)which;
   }
}

static int move(rkb_reader_t *reader, const rkb_program_node_t *node, map_t map, uint64_t count,
                const int64_t *index, rkb_block_t *out) {
   const rkb_point_t constant = {node->real_count ? node->reals[0] : 0, 0, 0, 0};
   int64_t *from = rkb_try_uncleared(2 * count + 1, sizeof *from, NULL), *wanted = from + count;
   uint8_t *operand = rkb_try_uncleared(count + 1, 1, NULL);
   rkb_block_t block = {0};
   int status = from && operand ? RKB_OK : RKB_ERR_NOMEM;
   if (status == RKB_OK)
      map_elements(rkb_reader_program(reader), node, map, count, index, operand, from);
   if (status == RKB_OK && node->input_count == 1)
      status = rkb_read(reader, node->inputs[0], count, from, out);
   else if (status == RKB_OK && !rkb_block_new(&block, count))
      status = RKB_ERR_NOMEM;
   for (uint32_t k = 0; status == RKB_OK && k < node->input_count && node->input_count > 1; k++) {
      uint64_t found = 0;
      for (uint64_t i = 0; i < count; i++)
         if (operand[i] == k && from[i] >= 0)
            wanted[found++] = from[i];
      if (found == 0)
         continue;
      status = rkb_read(reader, node->inputs[k], found, wanted, &block);
      found = 0;
      for (uint64_t i = 0; status == RKB_OK && i < count; i++)
         if (operand[i] == k && from[i] >= 0)
            rkb_block_put(out, i, rkb_block_get(&block, found++));
   }
   for (uint64_t i = 0; status == RKB_OK && i < count; i++)
      if (from[i] < 0)
         rkb_block_put(out, i, constant);
   rkb_block_free(&block);
   free(operand);
   free(from);
   return status;
}

/* The sources of permuted elements.  Two elements that are as far apart as the two before them, without a carry from one dim to the next,
 * have sources that are as far apart too: a column of a matrix is found without a division for each of its elements. */
static void permute_elements(const rkb_program_t *program, const rkb_program_node_t *node, uint64_t count,
                             const int64_t *index, int64_t *from) {
   const rkb_shape_t *shape = output_shape(program, node), *in = input_shape(program, node, 0);
   int64_t at[RKB_MAX_RANK] = {0}, before[RKB_MAX_RANK] = {0}, step[RKB_MAX_RANK] = {0},
           strides[RKB_MAX_RANK] = {0};
   int64_t apart = 0, sources_apart = 0; /* the last two elements; 0: not known */
   for (int64_t d = (int64_t)in->rank - 1, elements = 1; d >= 0; elements *= in->size[d--])
      strides[d] = elements;
   for (uint64_t i = 0; i < count; i++) {
      bool carries = apart == 0 || index[i] - index[i - 1] != apart;
      for (uint32_t d = 0; d < shape->rank && !carries; d++) {
         at[d] += step[d];
         carries = at[d] < 0 || at[d] >= shape->size[d];
      }
      if (carries) {
         rkb_shape_split(shape, (uint64_t)index[i], at);
         from[i] = 0;
         for (uint32_t d = 0; d < shape->rank; d++) {
            from[i] += at[d] * strides[node->integers[d]];
            step[d] = at[d] - before[d];
         }
         apart = i ? index[i] - index[i - 1] : 0;
         sources_apart = i ? from[i] - from[i - 1] : 0;
      } else {
         from[i] = from[i - 1] + sources_apart;
      }
      memcpy(before, at, sizeof before);
   }
}

static int compute_permute(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count,
                           const int64_t *index, rkb_block_t *out) {
   int64_t *from = rkb_try_uncleared(count + 1, sizeof *from, NULL);
   int status = from ? RKB_OK : RKB_ERR_NOMEM;
   if (status == RKB_OK) {
      permute_elements(rkb_reader_program(reader), node, count, index, from);
      status = rkb_read(reader, node->inputs[0], count, from, out);
   }
   free(from);
   return status;
}

/* integers: dim, start, step. */
static bool map_slice(const rkb_program_t *program, const rkb_program_node_t *node, int64_t element,
                      int64_t *at, uint32_t *which, int64_t *from) {
   (void)element, (void)which;
   at[node->integers[0]] = node->integers[1] + at[node->integers[0]] * node->integers[2];
   *from = (int64_t)rkb_shape_join(input_shape(program, node, 0), at);
   return true;
}

static bool map_embed(const rkb_program_t *program, const rkb_program_node_t *node, int64_t element,
                      int64_t *at, uint32_t *which, int64_t *from) {
   (void)element, (void)which;
   const rkb_shape_t *in = input_shape(program, node, 0);
   int64_t dim = node->integers[0], place = at[dim] - node->integers[1];
   if (place < 0 || place % node->integers[2] != 0 || place / node->integers[2] >= in->size[dim])
      return false;
   at[dim] = place / node->integers[2];
   *from = (int64_t)rkb_shape_join(in, at);
   return true;
}

static bool map_cat(const rkb_program_t *program, const rkb_program_node_t *node, int64_t element,
                    int64_t *at, uint32_t *which, int64_t *from) {
   (void)element;
   int64_t dim = node->integers[0];
   for (*which = 0; at[dim] >= input_shape(program, node, *which)->size[dim]; ++*which)
      at[dim] -= input_shape(program, node, *which)->size[dim];
   *from = (int64_t)rkb_shape_join(input_shape(program, node, *which), at);
   return true;
}

static bool map_flip(const rkb_program_t *program, const rkb_program_node_t *node, int64_t element,
                     int64_t *at, uint32_t *which, int64_t *from) {
   (void)element, (void)which;
   const rkb_shape_t *in = input_shape(program, node, 0);
   for (uint32_t d = 0; d < in->rank; d++)
      if (node->integers[0] >> d & 1)
         at[d] = in->size[d] - 1 - at[d];
   *from = (int64_t)rkb_shape_join(in, at);
   return true;
}

/* integers: diagonal, upper. */
static bool map_triangle(const rkb_program_t *program, const rkb_program_node_t *node, int64_t element,
                         int64_t *at, uint32_t *which, int64_t *from) {
   (void)which;
   uint32_t rank = output_shape(program, node)->rank;
   int64_t offset = at[rank - 1] - at[rank - 2];
   *from = element;
   return node->integers[1] ? offset >= node->integers[0] : offset <= node->integers[0];
}

#define COMPUTE(name)                                                                                        \
   static int compute_##name(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count,           \
                             const int64_t *index, rkb_block_t *out) {                                       \
      return move(reader, node, map_##name, count, index, out);                                              \
   }
COMPUTE(slice)
COMPUTE(embed)
COMPUTE(cat)
COMPUTE(flip)
COMPUTE(triangle)

static int compute_expand(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count,
                          const int64_t *index, rkb_block_t *out) {
   const rkb_program_t *program = rkb_reader_program(reader);
   return rkb_read_stretched(reader, node->inputs[0], output_shape(program, node), count, index, out);
}

static int compute_reshape(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count,
                           const int64_t *index, rkb_block_t *out) {
   return rkb_read(reader, node->inputs[0], count, index, out);
}

/* reals: start, step. */
static int compute_arange(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count,
                          const int64_t *index, rkb_block_t *out) {
   (void)reader;
   for (uint64_t i = 0; i < count; i++)
      rkb_block_put(out, i, (rkb_point_t){node->reals[0] + node->reals[1] * (double)index[i], 0, 0, 0});
   return RKB_OK;
}

/* Gradients */

static uint32_t gradient_reshape(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                                 uint32_t grad) {
   return rkb_make_reshape(program, grad, input_shape(program, node, which));
}

static uint32_t gradient_expand(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                                uint32_t grad) {
   rkb_shape_t shape = *input_shape(program, node, which);
   return rkb_make_sum_to(program, grad, &shape);
}

static uint32_t gradient_permute(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                                 uint32_t grad) {
   (void)which;
   uint32_t back[RKB_MAX_RANK];
   for (uint32_t d = 0; d < node->integer_count; d++)
      back[node->integers[d]] = d;
   return rkb_make_permute(program, grad, back);
}

static uint32_t gradient_slice(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                               uint32_t grad) {
   uint32_t dim = (uint32_t)node->integers[0];
   return rkb_make_embed(program, grad, dim, node->integers[1], input_shape(program, node, which)->size[dim],
                         node->integers[2], 0);
}

static uint32_t gradient_embed(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                               uint32_t grad) {
   uint32_t dim = (uint32_t)node->integers[0];
   return rkb_make_slice(program, grad, dim, node->integers[1], input_shape(program, node, which)->size[dim],
                         node->integers[2]);
}

static uint32_t gradient_cat(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                             uint32_t grad) {
   uint32_t dim = (uint32_t)node->integers[0];
   int64_t start = 0;
   for (uint32_t k = 0; k < which; k++)
      start += input_shape(program, node, k)->size[dim];
   return rkb_make_slice(program, grad, dim, start, input_shape(program, node, which)->size[dim], 1);
}

static uint32_t gradient_flip(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                              uint32_t grad) {
   (void)which;
   return rkb_make_flip(program, grad, (uint64_t)node->integers[0]);
}

static uint32_t gradient_triangle(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                                  uint32_t grad) {
   (void)which;
   return rkb_make_triangle(program, grad, node->integers[0], node->integers[1] != 0, 0);
}

#define OPERATION(label, is_move)                                                                            \
   static const rkb_operation_t label = {.name = #label,                                                     \
                                         .exact = true,                                                      \
                                         .moves = is_move,                                                   \
                                         .compute = compute_##label,                                         \
                                         .work = no_work,                                                    \
                                         .gradient = gradient_##label}
OPERATION(reshape, true);
OPERATION(expand, true);
OPERATION(permute, true);
OPERATION(slice, true);
OPERATION(embed, false);
OPERATION(cat, false);
OPERATION(flip, true);
OPERATION(triangle, false);
static const rkb_operation_t arange = {
   .name = "arange", .exact = true, .compute = compute_arange, .work = no_work};

bool rkb_move_back(const rkb_program_t *program, const rkb_program_node_t *node, uint64_t count,
                   int64_t *index) {
   const map_t map = node->operation == &slice ? map_slice : node->operation == &flip ? map_flip : NULL;
   int64_t at[RKB_MAX_RANK], from[RKB_MAX_RANK];
   if (!map && node->operation != &permute)
      return node->operation == &reshape;
   for (uint64_t i = 0; i < count; i++) {
      uint32_t which = 0;
      rkb_shape_split(output_shape(program, node), (uint64_t)index[i], at);
      if (map) {
         map(program, node, index[i], at, &which, &index[i]);
         continue;
      }
      for (uint32_t d = 0; d < node->integer_count; d++)
         from[node->integers[d]] = at[d];
      index[i] = (int64_t)rkb_shape_join(input_shape(program, node, 0), from);
   }
   return true;
}

/* Constructors */

const rkb_operation_t *rkb_reshape_operation(void) {
   return &reshape;
}

const rkb_operation_t *rkb_expand_operation(void) {
   return &expand;
}

uint32_t rkb_make_reshape(rkb_program_t *program, uint32_t x, const rkb_shape_t *shape) {
   if (x == RKB_NO_VALUE || rkb_shape_equal(rkb_program_shape(program, x), shape))
      return x;
   rkb_shape_t wanted = *shape;
   uint64_t have, want;
   if (!rkb_shape_elements(rkb_program_shape(program, x), &have) || !rkb_shape_elements(&wanted, &want) ||
       have != want) {
      char left[96], right[96];
      rkb_shape_text(rkb_program_shape(program, x), left, sizeof left);
      rkb_shape_text(&wanted, right, sizeof right);
      return rkb_program_fail(program, "reshape of %s to %s: the numbers of elements differ", left, right);
   }
   return rkb_program_add(program, &reshape, &x, 1, NULL, 0, NULL, 0, rkb_program_dtype(program, x), &wanted);
}

uint32_t rkb_make_expand(rkb_program_t *program, uint32_t x, const rkb_shape_t *shape) {
   rkb_shape_t wanted = *shape, together;
   if (x == RKB_NO_VALUE || rkb_shape_equal(rkb_program_shape(program, x), &wanted))
      return x;
   if (!rkb_shape_broadcast(rkb_program_shape(program, x), &wanted, &together) ||
       !rkb_shape_equal(&together, &wanted)) {
      char left[96], right[96];
      rkb_shape_text(rkb_program_shape(program, x), left, sizeof left);
      rkb_shape_text(&wanted, right, sizeof right);
      return rkb_program_fail(program, "%s does not expand to %s", left, right);
   }
   return rkb_program_add(program, &expand, &x, 1, NULL, 0, NULL, 0, rkb_program_dtype(program, x), &wanted);
}

uint32_t rkb_make_permute(rkb_program_t *program, uint32_t x, const uint32_t *dims) {
   const rkb_shape_t *in = rkb_program_shape(program, x);
   rkb_shape_t shape = {.rank = in->rank};
   int64_t order[RKB_MAX_RANK];
   uint64_t seen = 0;
   for (uint32_t d = 0; d < in->rank; d++) {
      if (dims[d] >= in->rank || seen >> dims[d] & 1)
         return rkb_program_fail(program, "permute: every dim must be named once");
      seen |= UINT64_C(1) << dims[d];
      order[d] = dims[d];
      shape.size[d] = in->size[dims[d]];
   }
   return rkb_program_add(program, &permute, &x, 1, order, in->rank, NULL, 0, rkb_program_dtype(program, x),
                          &shape);
}

uint32_t rkb_make_slice(rkb_program_t *program, uint32_t x, uint32_t dim, int64_t start, int64_t count,
                        int64_t step) {
   rkb_shape_t shape = *rkb_program_shape(program, x);
   if (dim >= shape.rank || start < 0 || step < 1 || count < 1 || start >= shape.size[dim] ||
       (count - 1) > (shape.size[dim] - 1 - start) / step)
      return rkb_program_fail(program, "a slice of %lld from %lld by %lld does not fit into size %lld",
                              (long long)count, (long long)start, (long long)step,
                              dim < shape.rank ? (long long)shape.size[dim] : 0);
   shape.size[dim] = count;
   return rkb_program_add(program, &slice, &x, 1, (int64_t[]){dim, start, step}, 3, NULL, 0,
                          rkb_program_dtype(program, x), &shape);
}

uint32_t rkb_make_embed(rkb_program_t *program, uint32_t x, uint32_t dim, int64_t start, int64_t size,
                        int64_t step, double value) {
   rkb_shape_t shape = *rkb_program_shape(program, x);
   if (dim >= shape.rank || step < 1)
      return rkb_program_fail(program, "dim %u is not one of %u", dim, shape.rank);
   shape.size[dim] = size;
   value = rkb_dtype_round(rkb_program_dtype(program, x), value);
   return rkb_program_add(program, &embed, &x, 1, (int64_t[]){dim, start, step}, 3, &value, 1,
                          rkb_program_dtype(program, x), &shape);
}

uint32_t rkb_make_cat(rkb_program_t *program, const uint32_t *inputs, uint32_t count, uint32_t dim) {
   if (count == 0)
      return rkb_program_fail(program, "cat of nothing");
   rkb_shape_t shape = *rkb_program_shape(program, inputs[0]);
   for (uint32_t k = 1; k < count; k++) {
      const rkb_shape_t *other = rkb_program_shape(program, inputs[k]);
      for (uint32_t d = 0; d < shape.rank; d++)
         if (other->rank != shape.rank || (d != dim && other->size[d] != shape.size[d]))
            return rkb_program_fail(program, "cat: the inputs differ in more than dim %u", dim);
      shape.size[dim] += other->size[dim];
   }
   int64_t along = dim;
   return rkb_program_add(program, &cat, inputs, count, &along, 1, NULL, 0,
                          rkb_program_dtype(program, inputs[0]), &shape);
}

uint32_t rkb_make_flip(rkb_program_t *program, uint32_t x, uint64_t mask) {
   rkb_shape_t shape = *rkb_program_shape(program, x);
   return rkb_program_add(program, &flip, &x, 1, (int64_t[]){(int64_t)mask}, 1, NULL, 0,
                          rkb_program_dtype(program, x), &shape);
}

uint32_t rkb_make_triangle(rkb_program_t *program, uint32_t x, int64_t diagonal, bool upper, double value) {
   rkb_shape_t shape = *rkb_program_shape(program, x);
   if (shape.rank < 2)
      return rkb_program_fail(program, "a triangle needs two dims");
   value = rkb_dtype_round(rkb_program_dtype(program, x), value);
   return rkb_program_add(program, &triangle, &x, 1, (int64_t[]){diagonal, upper}, 2, &value, 1,
                          rkb_program_dtype(program, x), &shape);
}

uint32_t rkb_make_full(rkb_program_t *program, const rkb_shape_t *shape, double value, uint32_t dtype) {
   rkb_shape_t wanted = *shape;
   value = rkb_dtype_round(dtype, value);
   return rkb_program_add(program, &arange, NULL, 0, NULL, 0, (double[]){value, 0}, 2, dtype, &wanted);
}

uint32_t rkb_make_arange(rkb_program_t *program, double start, double step, int64_t count, uint32_t dtype) {
   rkb_shape_t shape = {.rank = 1, .size = {count}};
   return rkb_program_add(program, &arange, NULL, 0, NULL, 0, (double[]){start, step}, 2, dtype, &shape);
}
