/* Index maps of products and convolutions; core/reference/operations/convolution.c describes them.  One
 * thread. */
#include "generator/text/product_index.h"

#include <string.h>

#define HEAD 2

static const rkb_node_t *node_of(const rkb_writer_t *writer, const rkb_product_t *product) {
   return &writer->graph->nodes[product->node];
}

static const rkb_node_t *input_of(const rkb_writer_t *writer, const rkb_product_t *product, uint32_t which) {
   return &writer->graph->nodes[node_of(writer, product)->inputs[which]];
}

static void add_dim(rkb_writer_t *writer, rkb_product_dims_t *dims, const char *name,
                    const rkb_index_t *extent) {
   dims->name[dims->count] = name;
   dims->extent[dims->count++] = extent;
   dims->total =
      dims->total ? rkb_index_make(&writer->indices, RKB_INDEX_PRODUCT, dims->total, extent) : extent;
}

static const rkb_index_t *size_of(rkb_writer_t *writer, const rkb_node_t *node, uint32_t dim) {
   return rkb_index_size(&writer->indices, node->shape[dim]);
}

static const rkb_index_t *integer_of(rkb_writer_t *writer, const rkb_node_t *node, uint32_t which) {
   return rkb_index_size(&writer->indices, node->integers[which]);
}

static bool is_set(const rkb_writer_t *writer, const rkb_node_t *node, uint32_t which) {
   return writer->graph->sizes.list[node->integers[which]].at[0] != 0;
}

static const char *const pixels[] = {"p", "q", "r"}, *const places[] = {"in_p", "in_q", "in_r"},
                         *const taps[] = {"u", "v", "w"};

static void matmul(rkb_writer_t *writer, rkb_product_t *product) {
   const rkb_node_t *node = node_of(writer, product), *left = input_of(writer, product, 0);
   for (uint32_t d = 0; d + 2 < node->rank; d++)
      add_dim(writer, &product->group, "batch", size_of(writer, node, d));
   add_dim(writer, &product->row, "m", size_of(writer, node, node->rank - 2));
   add_dim(writer, &product->column, "n", size_of(writer, node, node->rank - 1));
   add_dim(writer, &product->depth, "k",
           size_of(writer, left, left->rank - (is_set(writer, node, 0) ? 2 : 1)));
}

static void convolution(rkb_writer_t *writer, rkb_product_t *product) {
   const rkb_node_t *node = node_of(writer, product), *left = input_of(writer, product, 0),
                    *right = input_of(writer, product, 1);
   rkb_indices_t *indices = &writer->indices;
   const rkb_index_t *groups = integer_of(writer, node, 1);
   const uint32_t spatial = node->rank - 2;
   const bool of_weight = node->kind == RKB_NODE_CONVOLUTION_WEIGHT,
              of_input = node->kind == RKB_NODE_CONVOLUTION_INPUT;
   add_dim(writer, &product->group, "group", groups);
   /* Channels of one group: of the output (columns), and those that are summed. */
   const rkb_index_t *columns =
      of_input    ? size_of(writer, right, 1)
      : of_weight ? rkb_index_make(indices, RKB_INDEX_QUOTIENT, size_of(writer, node, 0), groups)
                  : rkb_index_make(indices, RKB_INDEX_QUOTIENT, size_of(writer, right, 0), groups);
   add_dim(writer, &product->column, of_input ? "c" : "o", columns);
   if (of_weight) {
      add_dim(writer, &product->row, "c", size_of(writer, node, 1));
      add_dim(writer, &product->depth, "sample", size_of(writer, left, 0));
   } else {
      add_dim(writer, &product->row, "sample", size_of(writer, node, 0));
      add_dim(writer, &product->depth, of_input ? "o" : "c",
              of_input ? rkb_index_make(indices, RKB_INDEX_QUOTIENT, size_of(writer, right, 0), groups)
                       : size_of(writer, right, 1));
   }
   for (uint32_t d = 0; d < spatial; d++) {
      add_dim(writer, &product->row,
              of_weight  ? taps[d]
              : of_input ? places[d]
                         : pixels[d],
              size_of(writer, node, 2 + d));
      add_dim(writer, &product->depth, of_weight ? pixels[d] : taps[d], size_of(writer, right, 2 + d));
   }
}

/* Follows a dim of a value down to a product from which it is computed.  RKB_MAX_RANK: it leads elsewhere. */
static uint32_t follow(const rkb_graph_t *graph, uint32_t value, uint32_t dim, uint32_t product, bool *seen) {
   const rkb_node_t *node = &graph->nodes[value];
   uint32_t found = RKB_MAX_RANK;
   if (value == product)
      return dim;
   if (value < product || seen[value])
      return found;
   seen[value] = true;
   if (node->kind == RKB_NODE_PERMUTE)
      return follow(graph, node->inputs[0], (uint32_t)graph->sizes.list[node->integers[dim]].at[0], product, seen);
   const rkb_node_t *first = node->input_count ? &graph->nodes[node->inputs[0]] : NULL;
   if (node->kind == RKB_NODE_RESHAPE && first->rank == node->rank && memcmp(first->shape, node->shape, node->rank * sizeof *node->shape) == 0)
      return follow(graph, node->inputs[0], dim, product, seen); /* the node only rounds */
   for (uint32_t i = 0; i < node->input_count && node->kind == RKB_NODE_MAP && found == RKB_MAX_RANK; i++) {
      const uint32_t fewer = node->rank - graph->nodes[node->inputs[i]].rank;
      if (dim >= fewer)
         found = follow(graph, node->inputs[i], dim - fewer, product, seen);
   }
   return found;
}

uint32_t rkb_product_fast_dim(const rkb_graph_t *graph, uint32_t product, uint32_t root) {
   bool seen[RKB_MAX_GRAPH_NODES] = {0};
   const uint32_t last = graph->nodes[product].rank - 1,
                  dim = graph->nodes[root].rank ? follow(graph, root, graph->nodes[root].rank - 1, product, seen) : RKB_MAX_RANK;
   return dim < RKB_MAX_RANK ? dim : last;
}

bool rkb_product_is_turned(const rkb_graph_t *graph, uint32_t product, uint32_t root) {
   const uint32_t kind = graph->nodes[product].kind;
   return kind != RKB_NODE_MATMUL && rkb_product_fast_dim(graph, product, root) != (kind == RKB_NODE_CONVOLUTION_WEIGHT ? 0 : 1);
}

/* The dims of a product's output in the order in which the parts of sums are stored. */
static void parts_order(const rkb_graph_t *graph, uint32_t product, uint32_t root, uint32_t order[RKB_MAX_RANK]) {
   const rkb_node_t *node = &graph->nodes[product];
   const uint32_t fast = node->kind == RKB_NODE_MATMUL ? node->rank - 1 : rkb_product_fast_dim(graph, product, root);
   uint32_t count = 0;
   for (uint32_t d = 0; d < node->rank; d++)
      if (d != fast)
         order[count++] = d;
   order[count] = fast;
}

const rkb_index_t *rkb_product_join(rkb_writer_t *writer, uint32_t product, uint32_t root, const rkb_index_t *const *at) {
   const rkb_node_t *node = &writer->graph->nodes[product];
   const rkb_index_t *ordered[RKB_MAX_RANK];
   uint32_t order[RKB_MAX_RANK], shape[RKB_MAX_RANK];
   parts_order(writer->graph, product, root, order);
   for (uint32_t d = 0; d < node->rank; d++) {
      ordered[d] = at[order[d]];
      shape[d] = node->shape[order[d]];
   }
   return rkb_index_join(&writer->indices, node->rank, shape, ordered);
}

void rkb_product_unjoin(rkb_writer_t *writer, uint32_t product, uint32_t root, const rkb_index_t *number, const rkb_index_t **at) {
   const rkb_node_t *node = &writer->graph->nodes[product];
   const rkb_index_t *ordered[RKB_MAX_RANK];
   uint32_t order[RKB_MAX_RANK], shape[RKB_MAX_RANK];
   parts_order(writer->graph, product, root, order);
   for (uint32_t d = 0; d < node->rank; d++)
      shape[d] = node->shape[order[d]];
   rkb_index_split(&writer->indices, node->rank, shape, number, ordered);
   for (uint32_t d = 0; d < node->rank; d++)
      at[order[d]] = ordered[d];
}

bool rkb_product_has_taps(const rkb_node_t *node) {
   return node->kind == RKB_NODE_CONVOLUTION || node->kind == RKB_NODE_CONVOLUTION_INPUT;
}

void rkb_product_of(rkb_writer_t *writer, uint32_t node, rkb_product_t *product) {
   *product = (rkb_product_t){.node = node};
   if (writer->graph->nodes[node].kind == RKB_NODE_MATMUL)
      matmul(writer, product);
   else
      convolution(writer, product);
   if (!product->group.total)
      product->group.total = rkb_index_constant(&writer->indices, 1);
}

bool rkb_product_in_phases(rkb_writer_t *writer, rkb_product_t *product) {
   static const char *const phases[] = {"phase_p", "phase_q", "phase_r"};
   const rkb_node_t *node = node_of(writer, product);
   rkb_indices_t *indices = &writer->indices;
   const uint32_t spatial = node->rank - 2;
   if (node->kind != RKB_NODE_CONVOLUTION_INPUT || !rkb_index_is(integer_of(writer, node, 1), 1))
      return false;
   for (uint32_t d = 0; d < spatial; d++) {
      const rkb_index_t *stride = integer_of(writer, node, HEAD + 3 * d);
      if (stride->kind != RKB_INDEX_CONSTANT || stride->constant < 2 || !rkb_index_is(integer_of(writer, node, HEAD + 3 * d + 2), 1) ||
          !rkb_index_divides(product->row.extent[1 + d], (uint32_t)stride->constant))
         return false;
   }
   rkb_product_t own = {.node = product->node, .column = product->column, .in_phases = true};
   add_dim(writer, &own.group, "group", product->group.extent[0]);
   add_dim(writer, &own.row, "sample", product->row.extent[0]);
   add_dim(writer, &own.depth, "o", product->depth.extent[0]);
   for (uint32_t d = 0; d < spatial; d++) {
      const rkb_index_t *stride = integer_of(writer, node, HEAD + 3 * d), *rest = rkb_index_constant(indices, stride->constant - 1);
      add_dim(writer, &own.group, phases[d], stride);
      add_dim(writer, &own.row, places[d], rkb_index_make(indices, RKB_INDEX_QUOTIENT, product->row.extent[1 + d], stride));
      add_dim(writer, &own.depth, taps[d],
              rkb_index_make(indices, RKB_INDEX_QUOTIENT, rkb_index_make(indices, RKB_INDEX_SUM, product->depth.extent[1 + d], rest), stride));
   }
   *product = own;
   return true;
}

/* The phase, counted from the window's edge. */
static const rkb_index_t *shifted_phase(rkb_writer_t *writer, const rkb_product_t *product, const rkb_index_t *const *group, uint32_t dim) {
   return rkb_index_make(&writer->indices, RKB_INDEX_SUM, group[1 + dim], integer_of(writer, node_of(writer, product), HEAD + 3 * dim + 1));
}

const rkb_index_t *rkb_product_first_tap(rkb_writer_t *writer, const rkb_product_t *product, const rkb_index_t *const *group, uint32_t dim) {
   return rkb_index_make(&writer->indices, RKB_INDEX_REMAINDER, shifted_phase(writer, product, group, dim),
                         integer_of(writer, node_of(writer, product), HEAD + 3 * dim));
}

const rkb_index_t *rkb_product_phase_shift(rkb_writer_t *writer, const rkb_product_t *product, const rkb_index_t *const *group, uint32_t dim) {
   return rkb_index_make(&writer->indices, RKB_INDEX_QUOTIENT, shifted_phase(writer, product, group, dim),
                         integer_of(writer, node_of(writer, product), HEAD + 3 * dim));
}

const rkb_index_t *rkb_product_phase_taps(rkb_writer_t *writer, const rkb_product_t *product, const rkb_index_t *const *group, uint32_t dim) {
   rkb_indices_t *indices = &writer->indices;
   const rkb_index_t *stride = integer_of(writer, node_of(writer, product), HEAD + 3 * dim),
                     *most = rkb_index_make(indices, RKB_INDEX_SUM, size_of(writer, input_of(writer, product, 1), 2 + dim),
                                            rkb_index_constant(indices, stride->constant - 1));
   return rkb_index_make(indices, RKB_INDEX_QUOTIENT,
                         rkb_index_make(indices, RKB_INDEX_DIFFERENCE, most, rkb_product_first_tap(writer, product, group, dim)), stride);
}

/* The same as rkb_product_operand, for a factor of a product in phases: the gradient's pixels, or the weight, where
 * some taps do not exist. */
static const char *phase_operand(rkb_writer_t *writer, const rkb_product_t *product, uint32_t side, const rkb_index_t *const *group,
                                 const rkb_index_t *const *across, const rkb_index_t *const *depth, const rkb_index_t **at) {
   const rkb_node_t *node = node_of(writer, product), *from = input_of(writer, product, side);
   rkb_indices_t *indices = &writer->indices;
   const char *guard = NULL;
   at[0] = side ? depth[0] : across[0];
   at[1] = side ? across[0] : depth[0];
   for (uint32_t d = 0; d + 2 < node->rank; d++) {
      const rkb_index_t *tap = depth[1 + d];
      at[2 + d] = side ? rkb_index_make(indices, RKB_INDEX_SUM,
                                        rkb_index_make(indices, RKB_INDEX_PRODUCT, tap, integer_of(writer, node, HEAD + 3 * d)),
                                        rkb_product_first_tap(writer, product, group, d))
                       : rkb_index_make(indices, RKB_INDEX_DIFFERENCE,
                                        rkb_index_make(indices, RKB_INDEX_SUM, across[1 + d], rkb_product_phase_shift(writer, product, group, d)), tap);
      const char *place = rkb_writer_index(writer, at[2 + d]), *size = rkb_writer_uniform(writer, size_of(writer, from, 2 + d)),
                 *inside = rkb_arena_format(writer->arena, side ? "%s < %s" : "%s >= 0 && %s < %s", place, side ? size : place, size);
      guard = guard ? rkb_arena_format(writer->arena, "%s && %s", guard, inside) : inside;
   }
   return guard;
}

void rkb_product_split(rkb_writer_t *writer, const rkb_product_dims_t *dims, const rkb_index_t *number,
                       const rkb_index_t **at) {
   const rkb_index_t *rest = number;
   uint32_t first = 0;
   while (first < dims->count && rkb_index_is(dims->extent[first], 1))
      at[first++] = rkb_index_constant(&writer->indices, 0);
   for (uint32_t d = dims->count; d-- > first;) {
      at[d] =
         d == first ? rest : rkb_index_make(&writer->indices, RKB_INDEX_REMAINDER, rest, dims->extent[d]);
      if (at[d]->kind >= RKB_INDEX_SUM && !at[d]->name)
         ((rkb_index_t *)(uintptr_t)at[d])->name = dims->name[d];
      if (d > first)
         rest = rkb_index_make(&writer->indices, RKB_INDEX_QUOTIENT, rest, dims->extent[d]);
   }
}

/* The place of x that output pixel p sees through tap k: p stride + k dilation - padding. */
static const char *seen(rkb_writer_t *writer, const rkb_node_t *node, const rkb_node_t *x,
                        const rkb_index_t *const *pixel, const rkb_index_t *const *tap,
                        const rkb_index_t **at) {
   rkb_indices_t *indices = &writer->indices;
   const char *guard = NULL;
   for (uint32_t d = 0; d + 2 < node->rank; d++) {
      const rkb_index_t *place = rkb_index_make(
         indices, RKB_INDEX_SUM,
         rkb_index_make(indices, RKB_INDEX_PRODUCT, pixel[d], integer_of(writer, node, HEAD + 3 * d)),
         rkb_index_make(indices, RKB_INDEX_PRODUCT, tap[d], integer_of(writer, node, HEAD + 3 * d + 2)));
      const rkb_index_t *padding = integer_of(writer, node, HEAD + 3 * d + 1);
      at[d] = rkb_index_make(indices, RKB_INDEX_DIFFERENCE, place, padding);
      if (rkb_index_is(padding, 0))
         continue;
      const char *text = rkb_writer_index(writer, at[d]),
                 *size = rkb_writer_uniform(writer, size_of(writer, x, 2 + d));
      guard = rkb_arena_format(writer->arena, "%s%s%s >= 0 && %s < %s", guard ? guard : "",
                               guard ? " && " : "", text, text, size);
   }
   return guard;
}

/* The pixel that sees place i of x through tap k: (i + padding - k dilation) / stride, where that is a whole
 * number. */
static const char *seen_by(rkb_writer_t *writer, const rkb_node_t *node, const rkb_node_t *grad,
                           const rkb_index_t *const *place, const rkb_index_t *const *tap,
                           const rkb_index_t **at) {
   rkb_indices_t *indices = &writer->indices;
   const char *guard = NULL;
   for (uint32_t d = 0; d + 2 < node->rank; d++) {
      const rkb_index_t *stride = integer_of(writer, node, HEAD + 3 * d);
      const rkb_index_t *shifted = rkb_index_make(
         indices, RKB_INDEX_DIFFERENCE,
         rkb_index_make(indices, RKB_INDEX_SUM, place[d], integer_of(writer, node, HEAD + 3 * d + 1)),
         rkb_index_make(indices, RKB_INDEX_PRODUCT, tap[d], integer_of(writer, node, HEAD + 3 * d + 2)));
      at[d] = rkb_index_make(indices, RKB_INDEX_QUOTIENT, shifted, stride);
      const char *text = rkb_writer_index(writer, shifted);
      guard = rkb_arena_format(writer->arena, "%s%s%s >= 0", guard ? guard : "", guard ? " && " : "", text);
      if (!rkb_index_is(stride, 1))
         guard = rkb_arena_format(writer->arena, "%s && %s %% %s == 0", guard, text,
                                  rkb_writer_uniform(writer, stride));
      guard = rkb_arena_format(writer->arena, "%s && %s < %s", guard, rkb_writer_index(writer, at[d]),
                               rkb_writer_uniform(writer, size_of(writer, grad, 2 + d)));
   }
   return guard;
}

static const rkb_index_t *in_group(rkb_writer_t *writer, const rkb_product_t *product,
                                   const rkb_index_t *group, const rkb_index_t *channel,
                                   const rkb_index_t *channels) {
   (void)product;
   return rkb_index_make(&writer->indices, RKB_INDEX_SUM,
                         rkb_index_make(&writer->indices, RKB_INDEX_PRODUCT, group, channels), channel);
}

static void matmul_operand(rkb_writer_t *writer, const rkb_product_t *product, uint32_t side,
                           const rkb_index_t *const *group, const rkb_index_t *across,
                           const rkb_index_t *depth, const rkb_index_t **at) {
   const rkb_node_t *node = node_of(writer, product), *from = input_of(writer, product, side);
   for (uint32_t d = 0; d + 2 < from->rank; d++) {
      const rkb_size_t *size = &writer->graph->sizes.list[from->shape[d]];
      at[d] = size->constant && size->at[0] == 1 ? rkb_index_constant(&writer->indices, 0)
                                                 : group[node->rank - from->rank + d];
   }
   const bool turned =
      is_set(writer, node, side) != (side == 1); /* whether depth is the first of the two dims */
   at[from->rank - 2] = turned ? depth : across;
   at[from->rank - 1] = turned ? across : depth;
}

const char *rkb_product_operand(rkb_writer_t *writer, const rkb_product_t *product, uint32_t side,
                                const rkb_index_t *const *group, const rkb_index_t *const *across,
                                const rkb_index_t *const *depth, const rkb_index_t **at) {
   const rkb_node_t *node = node_of(writer, product), *from = input_of(writer, product, side);
   if (product->in_phases)
      return phase_operand(writer, product, side, group, across, depth, at);
   switch (node->kind) {
   case RKB_NODE_MATMUL:
      matmul_operand(writer, product, side, group, across[0], depth[0], at);
      return NULL;
   case RKB_NODE_CONVOLUTION: /* rows n, p; columns o; depth c, k */
      if (side == 0) {
         at[0] = across[0];
         at[1] = in_group(writer, product, group[0], depth[0], product->depth.extent[0]);
         return seen(writer, node, from, across + 1, depth + 1, at + 2);
      }
      at[0] = in_group(writer, product, group[0], across[0], product->column.extent[0]);
      memcpy(at + 1, depth, (node->rank - 1) * sizeof *at);
      return NULL;
   case RKB_NODE_CONVOLUTION_INPUT: /* rows n, i; columns c; depth o, k */
      if (side == 0) {
         at[0] = across[0];
         at[1] = in_group(writer, product, group[0], depth[0], product->depth.extent[0]);
         return seen_by(writer, node, from, across + 1, depth + 1, at + 2);
      }
      at[0] = in_group(writer, product, group[0], depth[0], product->depth.extent[0]);
      at[1] = across[0];
      memcpy(at + 2, depth + 1, (node->rank - 2) * sizeof *at);
      return NULL;
   default: /* weight: rows c, k; columns o; depth n, p */
      at[0] = depth[0];
      if (side == 0) {
         at[1] = in_group(writer, product, group[0], across[0], product->row.extent[0]);
         return seen(writer, node, from, depth + 1, across + 1, at + 2);
      }
      at[1] = in_group(writer, product, group[0], across[0], product->column.extent[0]);
      memcpy(at + 2, depth + 1, (node->rank - 2) * sizeof *at);
      return NULL;
   }
}

void rkb_product_output(rkb_writer_t *writer, const rkb_product_t *product, const rkb_index_t *const *group,
                        const rkb_index_t *const *row, const rkb_index_t *const *column,
                        const rkb_index_t **at) {
   const rkb_node_t *node = node_of(writer, product);
   if (node->kind == RKB_NODE_MATMUL) {
      memcpy(at, group, (node->rank - 2) * sizeof *at);
      at[node->rank - 2] = row[0];
      at[node->rank - 1] = column[0];
      return;
   }
   const rkb_index_t *channel = in_group(writer, product, group[0], column[0], product->column.extent[0]);
   at[0] = node->kind == RKB_NODE_CONVOLUTION_WEIGHT ? channel : row[0];
   at[1] = node->kind == RKB_NODE_CONVOLUTION_WEIGHT ? row[0] : channel;
   memcpy(at + 2, row + 1, (node->rank - 2) * sizeof *at);
   for (uint32_t d = 0; d + 2 < node->rank && product->in_phases; d++)
      at[2 + d] = rkb_index_make(&writer->indices, RKB_INDEX_SUM,
                                 rkb_index_make(&writer->indices, RKB_INDEX_PRODUCT, row[1 + d], product->group.extent[1 + d]), group[1 + d]);
}

void rkb_product_place(rkb_writer_t *writer, const rkb_product_t *product, const rkb_index_t *const *at,
                       const rkb_index_t **group, const rkb_index_t **row, const rkb_index_t **column) {
   const rkb_node_t *node = node_of(writer, product);
   if (node->kind == RKB_NODE_MATMUL) {
      memcpy(group, at, (node->rank - 2) * sizeof *at);
      row[0] = at[node->rank - 2];
      column[0] = at[node->rank - 1];
      return;
   }
   const bool of_weight = node->kind == RKB_NODE_CONVOLUTION_WEIGHT;
   const rkb_index_t *channel = of_weight ? at[0] : at[1];
   group[0] = rkb_index_make(&writer->indices, RKB_INDEX_QUOTIENT, channel, product->column.extent[0]);
   column[0] = rkb_index_make(&writer->indices, RKB_INDEX_REMAINDER, channel, product->column.extent[0]);
   row[0] = of_weight ? at[1] : at[0];
   memcpy(row + 1, at + 2, (node->rank - 2) * sizeof *at);
}
