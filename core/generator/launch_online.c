/* Kernels that walk over a matrix of scores without storing it: score products, what is made of them element by element, row statistics
 * (largest, sums) kept as running numbers, and products of the result with other rows, all in one launch.  One thread writes them.
 *
 * A block owns some rows (or columns: `own`) of the matrix and streams over the others.  A running largest rescales what was summed
 * below the one before (Milakov and Gimelshein: 'Online normalizer calculation for softmax', 2018; Dao et al.: 'FlashAttention', 2022):
 * this is right where terms are proportional to exp(-largest), and sums to its inverse, which degree_of finds by the rules of products
 * and quotients.  Where a value is not, the launch is refused: its statistics must then be in memory before.
 *
 * All tiles lie in shared memory as rows with 4 numbers added, so that both kinds of product read four neighbours at once. */
#include "generator/launch_online.h"

#include <string.h>

#define PADDING 4
#define MANY 8u
#define NO_DEGREE 99

typedef struct brought {
   uint32_t node;
   const rkb_index_t *at[RKB_MAX_RANK]; /* of the own or streamed number and of inner */
   const rkb_index_t *inner;
   int64_t width, rows;
   bool own;
   const char *name;
} brought_t;

typedef struct online {
   const rkb_launch_t *launch;
   rkb_online_nodes_t nodes;
   const rkb_index_t *own, *stream, *own_total, *stream_total, *group_total;
   const rkb_index_t *group[RKB_MAX_RANK];
   rkb_product_t products[RKB_MAX_LAUNCH_NODES]; /* of outs */
   int64_t own_tile, stream_tile, rows, columns, out_columns, across, down, threads, head; /* columns: of scores; head: a row of an out */
   brought_t brought[2 * MANY];
   uint32_t brought_count;
   struct factor {
      uint32_t own, streamed; /* numbers of what is brought */
   } factors[MANY];
   uint32_t out_brought[MANY];
   const char *score_names[MANY], *out_names[MANY], *reduce_names[MANY], *made_names[MANY], *made_tiles[MANY];
   const rkb_index_t *from[MANY][RKB_MAX_RANK]; /* coordinates of the reductions' operands */
   const rkb_index_t *begin, *end; /* of the streamed numbers, for the block; NULL: all */
   uint32_t hidden;                /* the value that is -infinity outside of begin and end */
   bool hides, streams_first;
} online_t;

static bool is_operation(const rkb_node_t *node, const char *operation) {
   return node->kind == RKB_NODE_MAP && strcmp(node->operation, operation) == 0;
}

/* Whether a value depends on a node, through light nodes. */
static bool depends(const rkb_graph_t *graph, uint32_t value, uint32_t on, bool *seen) {
   if (value == on)
      return true;
   if (value < on || seen[value] || !rkb_node_is_light(&graph->nodes[value]))
      return false;
   seen[value] = true;
   for (uint32_t i = 0; i < graph->nodes[value].input_count; i++)
      if (depends(graph, graph->nodes[value].inputs[i], on, seen))
         return true;
   return false;
}

static bool reads(const rkb_graph_t *graph, uint32_t value, uint32_t on) {
   bool seen[RKB_MAX_GRAPH_NODES] = {0};
   return depends(graph, value, on, seen);
}

bool rkb_online_nodes(const rkb_graph_t *graph, const rkb_launch_t *launch, rkb_online_nodes_t *nodes) {
   *nodes = (rkb_online_nodes_t){0};
   for (uint32_t a = 0; a < launch->anchor_count; a++) {
      const uint32_t number = launch->anchors[a];
      const rkb_node_t *node = &graph->nodes[number];
      uint32_t side = 2;
      if (node->kind == RKB_NODE_REDUCE) {
         if (nodes->reduce_count == MANY)
            return false;
         nodes->reduces[nodes->reduce_count++] = number;
         continue;
      }
      if (node->kind != RKB_NODE_MATMUL)
         return false;
      for (uint32_t b = 0; b < launch->anchor_count; b++)
         for (uint32_t s = 0; s < 2 && b != a; s++)
            side = side == 2 && reads(graph, node->inputs[s], launch->anchors[b]) ? s : side;
      if ((side == 2 ? nodes->score_count : nodes->out_count) == MANY)
         return false;
      if (side == 2)
         nodes->scores[nodes->score_count++] = number;
      else {
         nodes->made_side[nodes->out_count] = side;
         nodes->outs[nodes->out_count++] = number;
      }
   }
   return nodes->score_count > 0 && nodes->reduce_count + nodes->out_count > 0;
}

static uint32_t row_size(const rkb_graph_t *graph, uint32_t number, uint32_t side, bool of_depth) {
   const rkb_node_t *node = &graph->nodes[number], *input = &graph->nodes[node->inputs[side]];
   const bool turned = (graph->sizes.list[node->integers[side]].at[0] != 0) != (side == 1);
   return input->shape[input->rank - (turned == of_depth ? 2 : 1)];
}

uint32_t rkb_online_heads(const rkb_graph_t *graph, const rkb_launch_t *launch, uint32_t *size, int64_t heads[RKB_ONLINE_HEADS]) {
   rkb_online_nodes_t nodes;
   uint32_t count = 0, found = UINT32_MAX;
   if (!rkb_online_nodes(graph, launch, &nodes))
      return 0;
   for (uint32_t i = 0; i < nodes.score_count + nodes.out_count; i++) {
      const uint32_t width = i < nodes.score_count ? row_size(graph, nodes.scores[i], 0, true)
                                                   : row_size(graph, nodes.outs[i - nodes.score_count],
                                                              1 - nodes.made_side[i - nodes.score_count], false);
      if (graph->sizes.list[width].constant)
         continue;
      if (found != UINT32_MAX && found != width)
         return 0;
      found = width;
   }
   *size = found;
   if (found == UINT32_MAX)
      return 1;
   for (uint32_t p = 0; p < RKB_PROBES; p++) {
      const int64_t value = graph->sizes.list[found].at[p];
      uint32_t at = 0;
      while (at < count && heads[at] < value)
         at++;
      if (at < count && heads[at] == value)
         continue;
      if (count == RKB_ONLINE_HEADS || value > 256)
         return 0;
      memmove(heads + at + 1, heads + at, (count - at) * sizeof *heads);
      heads[at] = value;
      count++;
   }
   return count;
}

/* How a value scales with exp(-largest), or with 1 / of: 1 for exp(x - largest), -1 for a quotient by a sum.  NO_DEGREE: neither. */
static int degree_of(const rkb_graph_t *graph, uint32_t number, uint32_t of) {
   const rkb_node_t *node = &graph->nodes[number];
   int degrees[RKB_MAX_OPERANDS] = {0};
   if (number == of)
      return graph->nodes[of].operation[0] == 's' ? 1 : NO_DEGREE;
   if (number < of || !rkb_node_is_light(node) || !reads(graph, number, of))
      return 0;
   if (is_operation(node, "exp")) {
      const rkb_node_t *below = &graph->nodes[node->inputs[0]];
      if (!is_operation(below, "sub") || reads(graph, below->inputs[0], of))
         return NO_DEGREE;
      uint32_t base = below->inputs[1];
      while (rkb_node_is_view(&graph->nodes[base]))
         base = graph->nodes[base].inputs[0];
      return base == of ? 1 : NO_DEGREE;
   }
   for (uint32_t i = 0; i < node->input_count; i++) {
      degrees[i] = degree_of(graph, node->inputs[i], of);
      if (degrees[i] == NO_DEGREE)
         return NO_DEGREE;
   }
   if (is_operation(node, "mul"))
      return degrees[0] + degrees[1];
   if (is_operation(node, "div"))
      return degrees[0] - degrees[1];
   if (is_operation(node, "add") || is_operation(node, "sub"))
      return degrees[0] == degrees[1] ? degrees[0] : NO_DEGREE;
   static const char *const linear[] = {"copy", "neg", "mul_scalar", "div_scalar", "convert", "divide_by_count"};
   for (uint32_t i = 0; i < sizeof linear / sizeof linear[0]; i++)
      if (is_operation(node, linear[i]))
         return degrees[0];
   if (rkb_node_is_view(node) || node->kind == RKB_NODE_FLIP ||
       (node->kind == RKB_NODE_TRIANGLE && node->reals[0].constant && node->reals[0].value == 0))
      return degrees[0];
   return NO_DEGREE;
}

/* Whether a value is 0 wherever another is -infinity. */
static bool vanishes(const rkb_graph_t *graph, uint32_t number, uint32_t hidden) {
   const rkb_node_t *node = &graph->nodes[number];
   if (!rkb_node_is_light(node) || !node->input_count)
      return false;
   if (is_operation(node, "exp")) {
      const rkb_node_t *below = &graph->nodes[node->inputs[0]];
      return is_operation(below, "sub") && below->inputs[0] == hidden;
   }
   if (is_operation(node, "mul"))
      return vanishes(graph, node->inputs[0], hidden) || vanishes(graph, node->inputs[1], hidden);
   if (is_operation(node, "add") || is_operation(node, "sub"))
      return vanishes(graph, node->inputs[0], hidden) && vanishes(graph, node->inputs[1], hidden);
   static const char *const linear[] = {"copy", "neg", "mul_scalar", "div_scalar", "convert", "div"};
   for (uint32_t i = 0; i < sizeof linear / sizeof linear[0]; i++)
      if (is_operation(node, linear[i]))
         return vanishes(graph, node->inputs[0], hidden);
   if (node->kind == RKB_NODE_TRIANGLE && node->reals[0].constant && node->reals[0].value == 0)
      return vanishes(graph, node->inputs[0], hidden);
   return false;
}

/* The masked scores below an exponential: the first operand of its difference. */
static uint32_t masked_below(const rkb_graph_t *graph, uint32_t number, bool *seen) {
   const rkb_node_t *node = &graph->nodes[number];
   if (seen[number] || !rkb_node_is_light(node))
      return RKB_NO_NODE;
   seen[number] = true;
   if (is_operation(node, "exp") && is_operation(&graph->nodes[node->inputs[0]], "sub"))
      return graph->nodes[node->inputs[0]].inputs[0];
   for (uint32_t i = 0; i < node->input_count; i++) {
      const uint32_t found = masked_below(graph, node->inputs[i], seen);
      if (found != RKB_NO_NODE)
         return found;
   }
   return RKB_NO_NODE;
}

/* The coordinates at which the launch's values need each other, from one trial. */
static void find_places(rkb_writer_t *writer, online_t *o) {
   const rkb_online_nodes_t *nodes = &o->nodes;
   const rkb_graph_t *graph = writer->graph;
   rkb_writer_t trial;
   rkb_writer_try(writer, &trial);
   const rkb_index_t *numbers[] = {o->own, o->stream}, *at[RKB_MAX_RANK];
   for (uint32_t i = 0; i < 2; i++)
      rkb_writer_known_variable(&trial, numbers[i]);
   if (!rkb_index_is(o->group_total, 1)) {
      const rkb_index_t *group = rkb_writer_variable(&trial, "group_number", o->group_total);
      if (nodes->out_count)
         rkb_product_split(&trial, &o->products[0].group, group, o->group);
      else {
         const rkb_node_t *from = &graph->nodes[graph->nodes[nodes->reduces[0]].inputs[0]];
         rkb_index_split(&trial.indices, from->rank - 2, from->shape, group, o->group);
      }
      o->group_total = group; /* the variable; its extent is found again by the caller */
   } else
      for (uint32_t d = 0; d < RKB_MAX_RANK; d++)
         o->group[d] = rkb_index_constant(&trial.indices, 0);
   for (uint32_t s = 0; s < nodes->score_count; s++)
      rkb_writer_local(&trial, nodes->scores[s], "score");
   for (uint32_t r = 0; r < nodes->reduce_count; r++)
      rkb_writer_local(&trial, nodes->reduces[r], "row");
   for (uint32_t i = 0; i < nodes->out_count; i++) {
      const uint32_t side = nodes->made_side[i];
      rkb_product_operand(&trial, &o->products[i], side, o->group, &o->own, &o->stream, at);
      rkb_write_float(&trial, graph->nodes[nodes->outs[i]].inputs[side], at);
   }
   for (uint32_t r = nodes->reduce_count; r-- > 0 && !trial.failed;) {
      const rkb_node_t *reduce = &graph->nodes[nodes->reduces[r]];
      struct rkb_local *local = rkb_writer_find_local(&trial, nodes->reduces[r]);
      if (!local->placed) { /* no one needs it here: it is for memory */
         memcpy(local->at, o->group, (reduce->rank - 2) * sizeof *at);
         local->at[reduce->rank - 2] = o->own;
         local->at[reduce->rank - 1] = rkb_index_constant(&trial.indices, 0);
         local->placed = true;
      }
      memcpy(o->from[r], local->at, sizeof o->from[r]);
      o->from[r][reduce->rank - 1] = o->stream;
      rkb_write_float(&trial, reduce->inputs[0], o->from[r]);
   }
   if (trial.failed)
      rkb_writer_fail(writer, "%s", trial.why);
   memcpy(writer->locals, trial.locals, sizeof writer->locals);
   writer->local_count = trial.local_count;
   rkb_writer_tried(writer, &trial);
}

static uint32_t bring(rkb_writer_t *writer, online_t *o, uint32_t node, const rkb_index_t *const *at, const rkb_index_t *inner,
                      int64_t width, bool own) {
   const uint32_t rank = writer->graph->nodes[node].rank;
   for (uint32_t b = 0; b < o->brought_count; b++)
      if (o->brought[b].node == node && o->brought[b].inner == inner && memcmp(o->brought[b].at, at, rank * sizeof *at) == 0)
         return b;
   if (o->brought_count == 2 * MANY) {
      rkb_writer_fail(writer, "a launch brings more than %u tiles", 2 * MANY);
      return 0;
   }
   brought_t *made = &o->brought[o->brought_count];
   *made = (brought_t){.node = node, .inner = inner, .width = width, .rows = own ? o->own_tile : o->stream_tile, .own = own};
   memcpy(made->at, at, rank * sizeof *at);
   made->name = rkb_writer_name(writer, rkb_arena_format(writer->arena, "%s_tile", writer->graph->nodes[node].name));
   rkb_writer_know(writer, node, (const rkb_index_t *const[RKB_MAX_RANK]){0}, made->name); /* the name is taken */
   return o->brought_count++;
}

/* The number of an element in a row of such a width: one variable for each width. */
static const rkb_index_t *inner_of(rkb_writer_t *writer, const online_t *o, int64_t width) {
   for (uint32_t b = 0; b < o->brought_count; b++)
      if (o->brought[b].width == width)
         return o->brought[b].inner;
   return rkb_index_variable(&writer->indices, "u", rkb_index_constant(&writer->indices, width));
}

static bool is_width(rkb_writer_t *writer, const rkb_index_t *width) {
   if (width->kind == RKB_INDEX_CONSTANT && width->constant % 8 == 0 && width->constant <= 256)
      return true;
   rkb_writer_fail(writer, "rows of products must be short, of one length that is a multiple of 8");
   return false;
}

static void find_factors(rkb_writer_t *writer, online_t *o) {
   const rkb_graph_t *graph = writer->graph;
   for (uint32_t s = 0; s < o->nodes.score_count && !writer->failed; s++) {
      rkb_product_t product;
      const uint32_t number = o->nodes.scores[s];
      const struct rkb_local *local = rkb_writer_find_local(writer, number);
      const rkb_index_t *group[RKB_MAX_RANK], *row[RKB_MAX_RANK], *column[RKB_MAX_RANK], *at[RKB_MAX_RANK];
      if (!local->placed) {
         rkb_writer_fail(writer, "%s is not needed", graph->nodes[number].name);
         return;
      }
      rkb_product_of(writer, number, &product);
      rkb_product_place(writer, &product, local->at, group, row, column);
      const uint32_t side = row[0] == o->own && column[0] == o->stream ? 0 : 1;
      if (side == 1 && (row[0] != o->stream || column[0] != o->own))
         rkb_writer_fail(writer, "%s is needed at other places", graph->nodes[number].name);
      if (writer->failed || !is_width(writer, product.depth.total))
         return;
      o->streams_first |= side == 1 && o->nodes.reduce_count == 0;
      const int64_t width = product.depth.total->constant;
      const rkb_index_t *inner = inner_of(writer, o, width);
      rkb_product_operand(writer, &product, side, group, &o->own, &inner, at);
      o->factors[s].own = bring(writer, o, graph->nodes[number].inputs[side], at, inner, width, true);
      rkb_product_operand(writer, &product, 1 - side, group, &o->stream, &inner, at);
      o->factors[s].streamed = bring(writer, o, graph->nodes[number].inputs[1 - side], at, inner, width, false);
   }
   for (uint32_t i = 0; i < o->nodes.out_count && !writer->failed; i++) {
      const uint32_t side = o->nodes.made_side[i];
      const rkb_product_dims_t *across = side == 0 ? &o->products[i].column : &o->products[i].row;
      const rkb_index_t *at[RKB_MAX_RANK];
      if (!is_width(writer, across->total))
         return;
      const rkb_index_t *inner = inner_of(writer, o, across->total->constant);
      rkb_product_operand(writer, &o->products[i], 1 - side, o->group, &inner, &o->stream, at);
      o->out_brought[i] = bring(writer, o, graph->nodes[o->nodes.outs[i]].inputs[1 - side], at, inner, across->total->constant, false);
   }
}

/* What a mask that is -infinity past a diagonal leaves of the streamed numbers, for a block's own ones. */
static void find_bounds(rkb_writer_t *writer, online_t *o) {
   const rkb_graph_t *graph = writer->graph;
   rkb_indices_t *indices = &writer->indices;
   bool seen[RKB_MAX_GRAPH_NODES] = {0}, turned = false;
   uint32_t hidden = RKB_NO_NODE;
   for (uint32_t i = 0; i < o->nodes.out_count && hidden == RKB_NO_NODE; i++)
      hidden = masked_below(graph, graph->nodes[o->nodes.outs[i]].inputs[o->nodes.made_side[i]], seen);
   for (uint32_t r = 0; r < o->nodes.reduce_count && hidden == RKB_NO_NODE; r++)
      hidden = masked_below(graph, graph->nodes[o->nodes.reduces[r]].inputs[0], seen);
   if (hidden == RKB_NO_NODE)
      return;
   for (uint32_t i = 0; i < o->nodes.out_count; i++)
      if (!vanishes(graph, graph->nodes[o->nodes.outs[i]].inputs[o->nodes.made_side[i]], hidden))
         return;
   for (uint32_t r = 0; r < o->nodes.reduce_count; r++) {
      const rkb_node_t *reduce = &graph->nodes[o->nodes.reduces[r]];
      if (reduce->operation[0] == 's' ? !vanishes(graph, reduce->inputs[0], hidden) : reduce->inputs[0] != hidden)
         return;
   }
   /* Which of own and streamed is the mask's row is known where the statistics' row is: the place of the last dim. */
   const struct rkb_local *score = rkb_writer_find_local(writer, o->nodes.scores[0]);
   const rkb_node_t *first = &graph->nodes[o->nodes.scores[0]], *mask = &graph->nodes[hidden];
   if (mask->rank != first->rank || memcmp(mask->shape, first->shape, mask->rank * sizeof *mask->shape) != 0)
      return;
   const bool own_rows = score->at[first->rank - 2] == o->own;
   const rkb_index_t *rows = rkb_index_size(indices, mask->shape[mask->rank - 2]),
                     *columns = rkb_index_size(indices, mask->shape[mask->rank - 1]);
   const rkb_index_t *first_own = rkb_index_variable(indices, "m_first", o->own_total),
                     *last = rkb_index_make(indices, RKB_INDEX_SUM, first_own, rkb_index_constant(indices, o->own_tile - 1));
   for (const rkb_node_t *node = mask; node->kind == RKB_NODE_TRIANGLE || node->kind == RKB_NODE_FLIP; node = &graph->nodes[node->inputs[0]]) {
      if (node->kind == RKB_NODE_FLIP) {
         if (node->mask != UINT64_C(3) << (node->rank - 2))
            return;
         turned = !turned;
         continue;
      }
      if (!node->reals[0].constant || !(node->reals[0].value < 0) || node->reals[0].value * 0 == 0)
         return;
      /* Kept: column - row <= diagonal (not upper), both counted from their ends where turned. */
      if (!graph->sizes.list[node->integers[1]].constant || graph->sizes.list[node->integers[1]].at[0] != 0)
         continue;
      const rkb_index_t *diagonal = rkb_index_size(indices, node->integers[0]);
      if (turned) /* row - column <= diagonal + rows - columns */
         diagonal = rkb_index_make(indices, RKB_INDEX_SUM, diagonal, rkb_index_make(indices, RKB_INDEX_DIFFERENCE, rows, columns));
      if (own_rows != turned) { /* the streamed number is at most own + diagonal */
         if (!o->end)
            o->end = rkb_index_make(indices, RKB_INDEX_SUM, last, rkb_index_make(indices, RKB_INDEX_SUM, diagonal, rkb_index_constant(indices, 1)));
      } else if (!o->begin)
         o->begin = rkb_index_make(indices, RKB_INDEX_DIFFERENCE, first_own, diagonal);
   }
   o->hides = o->begin || o->end;
   if (o->hides)
      rkb_writer_known_variable(writer, first_own);
}

static void write_place(rkb_writer_t *writer, online_t *o, const rkb_index_t *blocks) {
   const char *along = rkb_writer_uniform(writer, blocks), *all = rkb_writer_uniform(writer, o->stream_total);
   if (o->end && !o->begin) /* the blocks with the most work go first */
      rkb_write(writer, "const index m_first = (%s - 1 - (index)blockIdx.x %% %s) * %lld;", along, along, (long long)o->own_tile);
   else
      rkb_write(writer, "const index m_first = (index)blockIdx.x %% %s * %lld;", along, (long long)o->own_tile);
   if (o->group_total->kind != RKB_INDEX_CONSTANT) {
      rkb_write(writer, "const index group_number = (index)blockIdx.x / %s;", along);
      rkb_writer_known_variable(writer, o->group_total);
   }
   rkb_write(writer, "const int across = threadIdx.x %% %lld, down = threadIdx.x / %lld;", (long long)o->across, (long long)o->across);
   if (o->begin) {
      rkb_write(writer, "const index first_seen = %s;", rkb_writer_index(writer, o->begin));
      rkb_write(writer, "const index begin = first_seen > 0 ? first_seen / %lld * %lld : 0;", (long long)o->stream_tile,
                (long long)o->stream_tile);
   } else
      rkb_write(writer, "const index begin = 0;");
   if (o->end) {
      rkb_write(writer, "const index seen = %s;", rkb_writer_index(writer, o->end));
      rkb_write(writer, "const index end = seen < %s ? seen : %s;", all, all);
   } else
      rkb_write(writer, "const index end = %s;", all);
}

/* Brings the rows of a tile from memory; rows that do not exist are zero. */
static void write_bring(rkb_writer_t *writer, const online_t *o, const brought_t *tile) {
   rkb_indices_t *indices = &writer->indices;
   const int64_t width = o->launch->decisions[RKB_VECTOR] < 4 ? 4 : o->launch->decisions[RKB_VECTOR], packs = tile->width / width;
   const rkb_index_t *loaded[RKB_MAX_RANK], *total = tile->own ? o->own_total : o->stream_total;
   const rkb_node_t *node = &writer->graph->nodes[tile->node];
   const char *number = tile->own ? "m" : "n";
   rkb_write_open(writer, false, "for (int slot = threadIdx.x; slot < %lld; slot += %lld)", (long long)(tile->rows * packs),
                  (long long)o->threads);
   rkb_write(writer, "const int row = slot / %lld, u = slot %% %lld * %lld;", (long long)packs, (long long)packs, (long long)width);
   rkb_write(writer, "const index %s = %s_first + row;", number, number);
   rkb_write(writer, "Pack<4> brought[%lld] = {};", (long long)width / 4);
   const rkb_index_t *place = rkb_writer_variable(writer, number, total),
                     *inner = rkb_writer_known_variable(
                        writer, rkb_index_multiple(indices, "u", rkb_index_constant(indices, tile->width), width));
   rkb_write_open(writer, true, "if (%s < %s)", number, rkb_writer_uniform(writer, total));
   const rkb_index_t *lane = rkb_open_lanes(writer, (uint32_t)width);
   rkb_index_make(indices, RKB_INDEX_SUM, inner, lane);
   for (uint32_t d = 0; d < node->rank; d++) {
      loaded[d] = rkb_index_replace(indices, tile->at[d], tile->own ? o->own : o->stream, place);
      loaded[d] = rkb_index_replace(indices, loaded[d], tile->inner, rkb_index_make(indices, RKB_INDEX_SUM, inner, lane));
   }
   rkb_write(writer, "brought[%s / 4].at[%s %% 4] = %s;", lane->name, lane->name, rkb_write_float(writer, tile->node, loaded).text);
   rkb_close_lanes(writer);
   rkb_write_close(writer);
   rkb_write(writer, "for (int i = 0; i < %lld; i++)", (long long)width / 4);
   rkb_write(writer, "   *(Pack<4> *)(%s + row * %lld + u + 4 * i) = brought[i];", tile->name, (long long)(tile->width + PADDING));
   rkb_write_close(writer);
}

static void write_scores(rkb_writer_t *writer, const online_t *o, uint32_t s) {
   const brought_t *own = &o->brought[o->factors[s].own], *streamed = &o->brought[o->factors[s].streamed];
   const char *name = o->score_names[s];
   rkb_write(writer, "float %s[%lld][%lld] = {};", name, (long long)o->rows, (long long)o->columns);
   rkb_write(writer, "#pragma unroll 4");
   rkb_write_open(writer, false, "for (int u = 0; u < %lld; u += 4)", (long long)own->width);
   rkb_write(writer, "Pack<4> left[%lld];", (long long)o->rows);
   rkb_write(writer, "for (int i = 0; i < %lld; i++)", (long long)o->rows);
   rkb_write(writer, "   left[i] = *(const Pack<4> *)(%s + (down + i * %lld) * %lld + u);", own->name, (long long)o->down,
             (long long)(own->width + PADDING));
   rkb_write_open(writer, false, "for (int j = 0; j < %lld; j++)", (long long)o->columns);
   rkb_write(writer, "const Pack<4> right = *(const Pack<4> *)(%s + (across + j * %lld) * %lld + u);", streamed->name,
             (long long)o->across, (long long)(streamed->width + PADDING));
   rkb_write(writer, "for (int i = 0; i < %lld; i++)", (long long)o->rows);
   rkb_write(writer, "   for (int e = 0; e < 4; e++)");
   rkb_write(writer, "      %s[i][j] += left[i].at[e] * right.at[e];", name);
   rkb_write_close(writer);
   rkb_write_close(writer);
}

static void open_own(rkb_writer_t *writer, const online_t *o) {
   rkb_write(writer, "#pragma unroll");
   rkb_write_open(writer, false, "for (int i = 0; i < %lld; i++)", (long long)o->rows);
   rkb_write(writer, "const index m = m_first + down + i * %lld;", (long long)o->down);
   rkb_writer_known_variable(writer, o->own);
}

static void open_streamed(rkb_writer_t *writer, const online_t *o) {
   rkb_write(writer, "#pragma unroll");
   rkb_write_open(writer, false, "for (int j = 0; j < %lld; j++)", (long long)o->columns);
   rkb_write(writer, "const index n = n_first + across + j * %lld;", (long long)o->across);
   rkb_writer_known_variable(writer, o->stream);
}

static void open_guard(rkb_writer_t *writer, const char *number, const rkb_index_t *total) {
   rkb_write_open(writer, true, "if (%s < %s)", number, rkb_writer_uniform(writer, total));
}

static bool is_sum(const rkb_writer_t *writer, uint32_t reduce) {
   return strcmp(writer->graph->nodes[reduce].operation, "sum") == 0;
}

static uint32_t largest_of(const rkb_writer_t *writer, const online_t *o) {
   for (uint32_t r = 0; r < o->nodes.reduce_count; r++)
      if (!is_sum(writer, o->nodes.reduces[r]))
         return r;
   return MANY;
}

/* A row's new largest score, and what was summed below the old one brought below the new. */
static void write_largest(rkb_writer_t *writer, online_t *o, uint32_t r) {
   const rkb_graph_t *graph = writer->graph;
   const uint32_t number = o->nodes.reduces[r], from = graph->nodes[number].inputs[0];
   const char *name = o->reduce_names[r], *kept = rkb_writer_name(writer, rkb_arena_format(writer->arena, "%s_row", graph->nodes[from].name));
   rkb_write(writer, "float %s[%lld], next = %s[i];", kept, (long long)o->columns, name);
   open_streamed(writer, o);
   rkb_write(writer, "%s[j] = -INFINITY;", kept);
   rkb_write_open(writer, true, "if (m < %s && n < %s)", rkb_writer_uniform(writer, o->own_total), rkb_writer_uniform(writer, o->stream_total));
   rkb_write(writer, "%s[j] = %s;", kept, rkb_write_float(writer, from, o->from[r]).text);
   rkb_write_close(writer);
   rkb_write(writer, "next = larger(next, %s[j]);", kept);
   rkb_write_close(writer);
   rkb_write(writer, "for (int distance = 1; distance < %lld; distance *= 2)", (long long)o->across);
   rkb_write(writer, "   next = larger(next, __shfl_xor_sync(0xffffffffu, next, distance));");
   rkb_write(writer, "const float factor = next == %s[i] ? 1.0f : expf(%s[i] - next);", name, name);
   rkb_write(writer, "%s[i] = next;", name);
   rkb_write(writer, "const float peak = next == -INFINITY ? 0.0f : next; /* no score of the row was seen yet */");
   for (uint32_t s = 0; s < o->nodes.reduce_count; s++) {
      const int degree = s == r ? 0 : degree_of(graph, graph->nodes[o->nodes.reduces[s]].inputs[0], number);
      if (degree < 0 || degree > 1)
         rkb_writer_fail(writer, "%s cannot be rescaled", graph->nodes[o->nodes.reduces[s]].name);
      if (degree == 1)
         rkb_write(writer, "%s[i] *= factor;", o->reduce_names[s]);
   }
   for (uint32_t i = 0; i < o->nodes.out_count; i++) {
      const int degree = degree_of(graph, graph->nodes[o->nodes.outs[i]].inputs[o->nodes.made_side[i]], number);
      if (degree < 0 || degree > 1)
         rkb_writer_fail(writer, "%s cannot be rescaled", graph->nodes[o->nodes.outs[i]].name);
      if (degree == 1) {
         rkb_write(writer, "for (int j = 0; j < %lld; j++)", (long long)o->out_columns);
         rkb_write(writer, "   %s[i][j] *= factor;", o->out_names[i]);
      }
   }
   rkb_writer_local(writer, number, "peak");
   if (rkb_node_is_light(&graph->nodes[from])) {
      struct rkb_local *local = rkb_writer_local(writer, from, rkb_arena_format(writer->arena, "%s[j]", kept));
      memcpy(local->at, o->from[r], sizeof local->at);
      local->placed = true;
   }
}

/* What becomes of the scores: terms of the sums, and a tile for each product that comes after. */
static void write_made(rkb_writer_t *writer, online_t *o) {
   const rkb_graph_t *graph = writer->graph;
   const uint32_t largest = largest_of(writer, o);
   const rkb_index_t *at[RKB_MAX_RANK];
   for (uint32_t s = 0; s < o->nodes.score_count; s++)
      rkb_writer_local(writer, o->nodes.scores[s], rkb_arena_format(writer->arena, "%s[i][j]", o->score_names[s]));
   for (uint32_t r = 0; r < o->nodes.reduce_count; r++)
      rkb_writer_local(writer, o->nodes.reduces[r], "1.0f"); /* what sums divide is divided in the end */
   for (uint32_t i = 0; i < o->nodes.out_count; i++)
      rkb_write(writer, "float %s[%lld][%lld] = {};", o->made_names[i], (long long)o->rows, (long long)o->columns);
   if (o->streams_first) {
      open_streamed(writer, o);
      open_guard(writer, "n", o->stream_total);
      open_own(writer, o);
      open_guard(writer, "m", o->own_total);
   } else {
      open_own(writer, o);
      if (largest < MANY)
         write_largest(writer, o, largest);
      open_guard(writer, "m", o->own_total);
      open_streamed(writer, o);
      open_guard(writer, "n", o->stream_total);
   }
   for (uint32_t r = 0; r < o->nodes.reduce_count; r++)
      if (is_sum(writer, o->nodes.reduces[r]))
         rkb_write(writer, "%s[i] += %s;", o->reduce_names[r],
                   rkb_write_float(writer, graph->nodes[o->nodes.reduces[r]].inputs[0], o->from[r]).text);
   for (uint32_t i = 0; i < o->nodes.out_count; i++) {
      const uint32_t side = o->nodes.made_side[i];
      rkb_product_operand(writer, &o->products[i], side, o->group, &o->own, &o->stream, at);
      rkb_write(writer, "%s[i][j] = %s;", o->made_names[i], rkb_write_float(writer, graph->nodes[o->nodes.outs[i]].inputs[side], at).text);
   }
   for (uint32_t b = 0; b < 4; b++)
      rkb_write_close(writer);
   if (largest < MANY)
      rkb_writer_forget_local(writer, graph->nodes[o->nodes.reduces[largest]].inputs[0]);
   if (!o->nodes.out_count)
      return;
   rkb_write(writer, "#pragma unroll");
   rkb_write(writer, "for (int i = 0; i < %lld; i++)", (long long)o->rows);
   rkb_write_open(writer, false, "   for (int j = 0; j < %lld; j++)", (long long)o->columns);
   for (uint32_t i = 0; i < o->nodes.out_count; i++)
      rkb_write(writer, "%s[(down + i * %lld) * %lld + across + j * %lld] = %s[i][j];", o->made_tiles[i], (long long)o->down,
                (long long)(o->stream_tile + PADDING), (long long)o->across, o->made_names[i]);
   rkb_write_close(writer);
   rkb_write(writer, "__syncwarp(); /* a warp reads its own rows alone */");
}

static void write_add(rkb_writer_t *writer, const online_t *o, uint32_t out) {
   const brought_t *rows = &o->brought[o->out_brought[out]];
   rkb_write(writer, "#pragma unroll 2");
   rkb_write_open(writer, false, "for (int n = 0; n < %lld; n += 4)", (long long)o->stream_tile);
   rkb_write(writer, "Pack<4> left[%lld];", (long long)o->rows);
   rkb_write(writer, "for (int i = 0; i < %lld; i++)", (long long)o->rows);
   rkb_write(writer, "   left[i] = *(const Pack<4> *)(%s + (down + i * %lld) * %lld + n);", o->made_tiles[out], (long long)o->down,
             (long long)(o->stream_tile + PADDING));
   rkb_write_open(writer, false, "for (int e = 0; e < 4; e++)");
   rkb_write(writer, "Pack<4> right[%lld];", (long long)o->out_columns / 4);
   rkb_write(writer, "for (int j = 0; j < %lld; j++)", (long long)o->out_columns / 4);
   rkb_write(writer, "   right[j] = *(const Pack<4> *)(%s + (n + e) * %lld + across * 4 + j * %lld);", rows->name,
             (long long)(rows->width + PADDING), (long long)(4 * o->across));
   rkb_write(writer, "for (int i = 0; i < %lld; i++)", (long long)o->rows);
   rkb_write(writer, "   for (int j = 0; j < %lld; j++)", (long long)o->out_columns);
   rkb_write(writer, "      %s[i][j] += left[i].at[e] * right[j / 4].at[j %% 4];", o->out_names[out]);
   rkb_write_close(writer);
   rkb_write_close(writer);
}

/* The quotients by sums that were left to the end: " / sum[i]", or "". */
static const char *quotients(rkb_writer_t *writer, const online_t *o, uint32_t value) {
   const char *text = "";
   for (uint32_t r = 0; r < o->nodes.reduce_count; r++) {
      const uint32_t number = o->nodes.reduces[r];
      if (!is_sum(writer, number))
         continue;
      const int degree = degree_of(writer->graph, value, number);
      if (degree < -2 || degree > 0)
         rkb_writer_fail(writer, "%s is no factor of what needs it", writer->graph->nodes[number].name);
      for (int d = degree; d < 0; d++)
         text = rkb_arena_format(writer->arena, "%s / %s[i]", text, o->reduce_names[r]);
   }
   return text;
}

/* Roots that a node's own elements become. */
static rkb_launch_t roots_of(const rkb_writer_t *writer, const online_t *o, uint32_t anchor, bool *taken) {
   rkb_launch_t own = *o->launch;
   own.root_count = 0;
   for (uint32_t r = 0; r < o->launch->root_count; r++)
      if (!taken[r] && reads(writer->graph, o->launch->roots[r], anchor)) {
         taken[r] = true;
         own.roots[own.root_count++] = o->launch->roots[r];
      }
   return own;
}

static void write_out(rkb_writer_t *writer, online_t *o, uint32_t out, const rkb_launch_t *roots) {
   const uint32_t number = o->nodes.outs[out], side = o->nodes.made_side[out];
   const rkb_node_t *node = &writer->graph->nodes[number];
   rkb_indices_t *indices = &writer->indices;
   const rkb_index_t *at[RKB_MAX_RANK];
   const char *name = rkb_writer_name(writer, rkb_arena_format(writer->arena, "%s_here", node->name));
   rkb_write(writer, "#pragma unroll");
   rkb_write_open(writer, false, "for (int j = 0; j < %lld; j += 4)", (long long)o->out_columns);
   rkb_write(writer, "const int u = across * 4 + j * %lld;", (long long)o->across);
   const rkb_index_t *inner =
      rkb_writer_known_variable(writer, rkb_index_multiple(indices, "u", rkb_index_constant(indices, o->head), 4));
   const rkb_index_t *lane = rkb_open_lanes(writer, 4), *column = rkb_index_make(indices, RKB_INDEX_SUM, inner, lane);
   rkb_write(writer, "const float %s = %s[i][j + %s]%s;", name, o->out_names[out], lane->name,
             quotients(writer, o, node->inputs[side]));
   rkb_product_output(writer, &o->products[out], o->group, side == 0 ? &o->own : &column, side == 0 ? &column : &o->own, at);
   rkb_writer_know(writer, number, at, name);
   rkb_write_roots(writer, roots, number, at);
   rkb_close_lanes(writer);
   rkb_write_close(writer);
}

static void write_results(rkb_writer_t *writer, online_t *o) {
   bool taken[RKB_MAX_LAUNCH_NODES] = {0};
   for (uint32_t s = 0; s < o->nodes.score_count; s++)
      rkb_writer_forget_local(writer, o->nodes.scores[s]);
   for (uint32_t r = 0; r < o->nodes.reduce_count; r++)
      rkb_writer_local(writer, o->nodes.reduces[r], rkb_arena_format(writer->arena, "%s[i]", o->reduce_names[r]));
   open_own(writer, o);
   for (uint32_t r = 0; r < o->nodes.reduce_count; r++) {
      const uint32_t number = o->nodes.reduces[r];
      if (!is_sum(writer, number))
         continue;
      rkb_write(writer, "for (int distance = 1; distance < %lld; distance *= 2)", (long long)o->across);
      rkb_write(writer, "   %s[i] += __shfl_xor_sync(0xffffffffu, %s[i], distance);", o->reduce_names[r], o->reduce_names[r]);
      const char *divided = quotients(writer, o, writer->graph->nodes[number].inputs[0]);
      if (*divided)
         rkb_write(writer, "%s[i] = %s[i]%s;", o->reduce_names[r], o->reduce_names[r], divided);
   }
   open_guard(writer, "m", o->own_total);
   for (uint32_t i = 0; i < o->nodes.out_count; i++) {
      const rkb_launch_t roots = roots_of(writer, o, o->nodes.outs[i], taken);
      if (roots.root_count)
         write_out(writer, o, i, &roots);
   }
   for (uint32_t r = o->nodes.reduce_count; r-- > 0;) {
      const rkb_launch_t roots = roots_of(writer, o, o->nodes.reduces[r], taken);
      if (!roots.root_count)
         continue;
      rkb_write_open(writer, true, "if (across == 0)");
      rkb_write_roots(writer, &roots, o->nodes.reduces[r], rkb_writer_find_local(writer, o->nodes.reduces[r])->at);
      rkb_write_close(writer);
   }
   rkb_write_close(writer);
   rkb_write_close(writer);
   for (uint32_t r = 0; r < o->launch->root_count; r++)
      if (!taken[r])
         rkb_writer_fail(writer, "%s is neither a statistic nor a product", writer->graph->nodes[o->launch->roots[r]].name);
}

static void set_shape(rkb_writer_t *writer, online_t *o) {
   const int64_t *d = o->launch->decisions;
   const rkb_graph_t *graph = writer->graph;
   rkb_indices_t *indices = &writer->indices;
   for (uint32_t i = 0; i < o->nodes.out_count; i++)
      rkb_product_of(writer, o->nodes.outs[i], &o->products[i]);
   if (o->nodes.out_count) {
      const rkb_product_t *product = &o->products[0];
      const bool left = o->nodes.made_side[0] == 0;
      o->own_total = left ? product->row.total : product->column.total;
      o->stream_total = product->depth.total;
      o->group_total = product->group.total;
      if (is_width(writer, left ? product->column.total : product->row.total))
         o->head = (left ? product->column.total : product->row.total)->constant;
   } else {
      const rkb_node_t *reduce = &graph->nodes[o->nodes.reduces[0]], *from = &graph->nodes[reduce->inputs[0]];
      if (from->rank < 2 || reduce->mask != UINT64_C(1) << (from->rank - 1)) {
         rkb_writer_fail(writer, "%s is no statistic of rows", reduce->name);
         return;
      }
      o->own_total = rkb_index_size(indices, from->shape[from->rank - 2]);
      o->stream_total = rkb_index_size(indices, from->shape[from->rank - 1]);
      o->group_total = rkb_index_elements(indices, from->rank - 2, from->shape);
   }
   o->own_tile = d[RKB_TILE_M];
   o->stream_tile = d[RKB_TILE_N];
   o->rows = d[RKB_THREAD_M];
   o->out_columns = d[RKB_THREAD_N];
   o->across = o->head ? o->head / o->out_columns : o->stream_tile / o->out_columns;
   o->down = o->own_tile / o->rows;
   o->threads = o->across * o->down;
   o->columns = o->across ? o->stream_tile / o->across : 0;
   if (o->own_tile % o->rows || (o->head && (o->head % o->out_columns || o->out_columns % 4)) || o->across < 1 || o->across > 32 ||
       (o->across & (o->across - 1)) || o->stream_tile % o->across || o->threads < 32 || o->threads > 1024 || o->threads % 32 ||
       o->rows * (o->columns * o->nodes.score_count + o->out_columns * o->nodes.out_count) > 192)
      rkb_writer_fail(writer, "threads do not divide the tiles");
   for (uint32_t r = 0; r < o->nodes.reduce_count; r++) {
      const rkb_node_t *reduce = &graph->nodes[o->nodes.reduces[r]], *from = &graph->nodes[reduce->inputs[0]];
      if (reduce->mask != UINT64_C(1) << (from->rank - 1) || (strcmp(reduce->operation, "sum") != 0 && strcmp(reduce->operation, "amax") != 0) ||
          rkb_index_size(indices, from->shape[from->rank - 1]) != o->stream_total)
         rkb_writer_fail(writer, "%s is no statistic of rows", reduce->name);
   }
   for (uint32_t i = 1; i < o->nodes.out_count; i++) {
      const rkb_product_t *product = &o->products[i];
      const bool left = o->nodes.made_side[i] == 0;
      if ((left ? product->row.total : product->column.total) != o->own_total || product->depth.total != o->stream_total ||
          product->group.total != o->group_total || !rkb_index_is(left ? product->column.total : product->row.total, o->head))
         rkb_writer_fail(writer, "products have other rows");
   }
}

static const char *take(rkb_writer_t *writer, const char *name) {
   const char *taken = rkb_writer_name(writer, name);
   rkb_writer_know(writer, 0, (const rkb_index_t *const[RKB_MAX_RANK]){0}, taken);
   return taken;
}

/* The tiles side by side; returns their bytes. */
static int64_t write_tiles(rkb_writer_t *writer, online_t *o) {
   int64_t floats = 0;
   for (uint32_t b = 0; b < o->brought_count; b++)
      floats += o->brought[b].rows * (o->brought[b].width + PADDING);
   floats += o->nodes.out_count * o->own_tile * (o->stream_tile + PADDING);
   const bool extern_memory = 4 * floats > 48 << 10;
   rkb_write(writer, extern_memory ? "extern __shared__ __align__(16) float tiles[];" : "__shared__ __align__(16) float tiles[%lld];",
             (long long)floats);
   int64_t first = 0;
   for (uint32_t b = 0; b < o->brought_count; b++) {
      rkb_write(writer, "float *const %s = tiles + %lld;", o->brought[b].name, (long long)first);
      first += o->brought[b].rows * (o->brought[b].width + PADDING);
   }
   for (uint32_t i = 0; i < o->nodes.out_count; i++) {
      rkb_write(writer, "float *const %s = tiles + %lld;", o->made_tiles[i], (long long)first);
      first += o->own_tile * (o->stream_tile + PADDING);
   }
   return extern_memory ? 4 * floats : 0;
}

void rkb_write_online_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape) {
   const rkb_graph_t *graph = writer->graph;
   rkb_indices_t *indices = &writer->indices;
   online_t *o = rkb_arena_array(writer->arena, 1, sizeof *o);
   *o = (online_t){.launch = launch};
   if (!rkb_online_nodes(graph, launch, &o->nodes)) {
      rkb_writer_fail(writer, "these nodes are no scores with statistics or products");
      return;
   }
   set_shape(writer, o);
   if (writer->failed)
      return;
   const rkb_index_t *groups = o->group_total;
   o->own = rkb_index_variable(indices, "m", o->own_total);
   o->stream = rkb_index_variable(indices, "n", o->stream_total);
   find_places(writer, o);
   if (!writer->failed)
      find_factors(writer, o);
   if (writer->failed)
      return;
   for (uint32_t s = 0; s < o->nodes.score_count; s++)
      o->score_names[s] = take(writer, graph->nodes[o->nodes.scores[s]].name);
   for (uint32_t r = 0; r < o->nodes.reduce_count; r++)
      o->reduce_names[r] = take(writer, graph->nodes[o->nodes.reduces[r]].name);
   for (uint32_t i = 0; i < o->nodes.out_count; i++) {
      const rkb_node_t *node = &graph->nodes[o->nodes.outs[i]], *made = &graph->nodes[node->inputs[o->nodes.made_side[i]]];
      o->out_names[i] = take(writer, node->name);
      o->made_names[i] = take(writer, rkb_arena_format(writer->arena, "%s_made", made->name));
      o->made_tiles[i] = take(writer, rkb_arena_format(writer->arena, "%s_tile", made->name));
   }
   const int64_t bytes = write_tiles(writer, o);
   if (bytes > writer->shared_bytes)
      rkb_writer_fail(writer, "the tiles need more shared memory than a block has");
   const rkb_index_t *tile = rkb_index_constant(indices, o->own_tile);
   const rkb_index_t *blocks = rkb_index_make(
      indices, RKB_INDEX_QUOTIENT,
      rkb_index_make(indices, RKB_INDEX_SUM, o->own_total, rkb_index_constant(indices, o->own_tile - 1)), tile);
   find_bounds(writer, o);
   write_place(writer, o, blocks);
   for (uint32_t b = 0; b < o->brought_count; b++)
      if (o->brought[b].own)
         write_bring(writer, o, &o->brought[b]);
   for (uint32_t i = 0; i < o->nodes.out_count; i++)
      rkb_write(writer, "float %s[%lld][%lld] = {};", o->out_names[i], (long long)o->rows, (long long)o->out_columns);
   for (uint32_t r = 0; r < o->nodes.reduce_count; r++)
      rkb_write(writer, "float %s[%lld] = {};", o->reduce_names[r], (long long)o->rows);
   const uint32_t largest = largest_of(writer, o);
   if (largest < MANY) {
      rkb_write(writer, "for (int i = 0; i < %lld; i++)", (long long)o->rows);
      rkb_write(writer, "   %s[i] = -INFINITY;", o->reduce_names[largest]);
   }
   rkb_write_open(writer, false, "for (index n_first = begin; n_first < end; n_first += %lld)", (long long)o->stream_tile);
   rkb_write(writer, "__syncthreads(); /* the tiles before are used up */");
   for (uint32_t b = 0; b < o->brought_count; b++)
      if (!o->brought[b].own)
         write_bring(writer, o, &o->brought[b]);
   rkb_write(writer, "__syncthreads();");
   for (uint32_t s = 0; s < o->nodes.score_count; s++)
      write_scores(writer, o, s);
   write_made(writer, o);
   for (uint32_t i = 0; i < o->nodes.out_count; i++)
      write_add(writer, o, i);
   rkb_write_close(writer);
   write_results(writer, o);
   const uint32_t first = o->nodes.out_count ? o->nodes.outs[0] : o->nodes.reduces[0];
   *shape = (rkb_kernel_shape_t){
      .threads = o->threads,
      .shared = bytes,
      .blocks = launch->decisions[RKB_BLOCKS],
      .grid = rkb_arena_format(writer->arena, "(%s) * (%s)", rkb_index_manifest(indices, blocks), rkb_index_manifest(indices, groups)),
      .owns = rkb_arena_format(writer->arena, "A block owns %lld rows of %s and goes over the scores %lld at a time; none of them is stored.",
                               (long long)o->own_tile, graph->nodes[first].name, (long long)o->stream_tile)};
}
