/* Kernels that reduce rows: lanes run along the reduced dims, or (columns) along the kept ones.  One thread writes them. */
#include <string.h>
#include "generator/launch_text.h"
#include "generator/moments.h"
#include "generator/product.h"
#include "generator/stretches.h"

/* What is known of the rows of a launch. */
typedef struct rows {
   const rkb_launch_t *launch;
   const rkb_index_t *row, *count, *length; /* the row's number, how many, elements of one */
   uint32_t width;
   const char *thread, *step; /* the number of a thread in its row, and how many share the row */
   const char *begin, *end;   /* of its part, in packs */
   const char *segment;       /* the number of a piece of the row at hand, among those of all rows */
   uint32_t variance, mean;   /* anchors that are found in one pass; variance is the count of anchors: none */
   const char *terms;         /* the terms of a pack at hand, of which they are made; NULL: they are not */
   const char *moments[3];    /* what a thread has of them: mean, squares, count */
   uint32_t keep;             /* loads of a row that stay in registers; 0: none, and the loop has no limit */
} rows_t;

const rkb_index_t *rkb_reduced_elements(rkb_writer_t *writer, const rkb_node_t *reduce, bool kept) {
   const rkb_node_t *from = &writer->graph->nodes[reduce->inputs[0]];
   const rkb_index_t *elements = rkb_index_constant(&writer->indices, 1);
   for (uint32_t d = 0; d < from->rank; d++)
      if ((reduce->mask >> d & 1) == !kept)
         elements = rkb_index_make(&writer->indices, RKB_INDEX_PRODUCT, elements,
                                   rkb_index_size(&writer->indices, from->shape[d]));
   return elements;
}

/* The operand's coordinates at a place of a row. */
static void inside(rkb_writer_t *writer, const rkb_node_t *reduce, const rkb_index_t *row,
                   const rkb_index_t *place, const rkb_index_t **at) {
   const rkb_node_t *from = &writer->graph->nodes[reduce->inputs[0]];
   uint32_t shape[RKB_MAX_RANK], dims[RKB_MAX_RANK], count = 0;
   const rkb_index_t *places[RKB_MAX_RANK];
   const rkb_index_t *length = rkb_reduced_elements(writer, reduce, false);
   if (reduce->mask >> (from->rank - 1) &
       1) /* where the row lies in one piece, the join of its coordinates finds this */
      rkb_index_make(&writer->indices, RKB_INDEX_SUM,
                     rkb_index_make(&writer->indices, RKB_INDEX_PRODUCT, row, length), place);
   rkb_index_split(&writer->indices, reduce->rank, reduce->shape, row, at);
   for (uint32_t d = 0; d < from->rank; d++)
      if (reduce->mask >> d & 1) {
         dims[count] = d;
         shape[count++] = from->shape[d];
      }
   rkb_index_split(&writer->indices, count, shape, place, places);
   for (uint32_t i = 0; i < count; i++)
      at[dims[i]] = places[i];
}

/* One term of an anchor: what a reduction reads, or a product of factors. */
static const char *term_of(rkb_writer_t *writer, uint32_t anchor, const rkb_index_t *row,
                           const rkb_index_t *place) {
   const rkb_node_t *node = &writer->graph->nodes[anchor];
   const rkb_index_t *at[RKB_MAX_RANK], *out[RKB_MAX_RANK];
   if (node->kind == RKB_NODE_REDUCE) {
      inside(writer, node, row, place, at);
      return rkb_write_float(writer, node->inputs[0], at).text;
   }
   rkb_product_t product;
   const rkb_index_t *group[RKB_MAX_RANK], *across[RKB_MAX_RANK], *column[RKB_MAX_RANK], *depth[RKB_MAX_RANK];
   rkb_product_of(writer, anchor, &product);
   rkb_index_split(&writer->indices, node->rank, node->shape, row, out);
   rkb_product_place(writer, &product, out, group, across, column);
   rkb_product_split(writer, &product.depth, place, depth);
   const char *guard = rkb_product_operand(writer, &product, 0, group, across, depth, at);
   const char *name = rkb_writer_name(writer, "term");
   rkb_write(writer, "float %s = 0.0f;", name);
   rkb_writer_know(writer, anchor, (const rkb_index_t *const[RKB_MAX_RANK]){0}, name);
   rkb_write_open(writer, true, "if (%s)", guard ? guard : "true");
   const char *left = rkb_write_float(writer, node->inputs[0], at).text;
   rkb_product_operand(writer, &product, 1, group, column, depth, at);
   rkb_write(writer, "%s = %s * %s;", name, left, rkb_write_float(writer, node->inputs[1], at).text);
   rkb_write_close(writer);
   return name;
}

static const char *start_of(const rkb_node_t *anchor) {
   return strcmp(anchor->operation, "amax") == 0   ? "-INFINITY"
          : strcmp(anchor->operation, "amin") == 0 ? "INFINITY"
                                                   : "0.0f";
}

static const char *word_of(const rkb_node_t *anchor) {
   return strcmp(anchor->operation, "amax") == 0   ? "largest"
          : strcmp(anchor->operation, "amin") == 0 ? "smallest"
                                                   : "sum";
}

static void accumulate(rkb_writer_t *writer, const rkb_node_t *anchor, const char *name, const char *term) {
   const char *word = word_of(anchor);
   if (*word == 's' && word[1] == 'u')
      rkb_write(writer, "%s += %s;", name, term);
   else
      rkb_write(writer, "%s = %s(%s, %s);", name, *word == 'l' ? "larger" : "smaller", name, term);
}

/* Whether a value needs another that no memory holds, through light nodes. */
static bool needs(const rkb_writer_t *writer, uint32_t node, uint32_t other, bool *seen) {
   const rkb_node_t *from = &writer->graph->nodes[node];
   if (node == other)
      return true;
   if (node < other || seen[node] || writer->storage[node].name)
      return false;
   seen[node] = true;
   for (uint32_t i = 0; i < from->input_count; i++)
      if (needs(writer, from->inputs[i], other, seen))
         return true;
   return false;
}

/* How many passes must come before an anchor's own. */
static uint32_t level_of(const rkb_writer_t *writer, const rkb_launch_t *launch, uint32_t a,
                         const uint32_t *levels) {
   uint32_t level = 0;
   for (uint32_t b = 0; b < a; b++) {
      bool seen[RKB_MAX_GRAPH_NODES] = {0};
      bool needed = false;
      const rkb_node_t *node = &writer->graph->nodes[launch->anchors[a]];
      for (uint32_t i = 0; i < node->input_count; i++)
         needed |= needs(writer, node->inputs[i], launch->anchors[b], seen);
      if (needed && levels[b] + 1 > level)
         level = levels[b] + 1;
   }
   return level;
}

/* The loop over a row's places; in it, place is the number of an element. */
static const rkb_index_t *open_places(rkb_writer_t *writer, const rows_t *rows) {
   rkb_indices_t *indices = &writer->indices;
   const rkb_index_t *width = rkb_index_constant(indices, rows->width);
   const char *name = rkb_writer_name(writer, rows->width > 1 ? "pack" : "place");
   if (rows->keep) {
      writer->keep_item = rkb_writer_name(writer, "item");
      rkb_write_open(writer, false, "#pragma unroll\n%*sfor (int %s = 0; %s < %u; %s++)", 3 * (int)(writer->depth + 1), "", writer->keep_item,
                     writer->keep_item, rows->keep, writer->keep_item);
      rkb_write(writer, "const index %s = %s * %s + %s;", name, writer->keep_item, rows->step, rows->begin);
      rkb_write_open(writer, true, "if (%s < %s)", name, rows->end);
   } else
      rkb_write_open(writer, false, "for (index %s = %s; %s < %s; %s += %s)", name, rows->begin, name,
                     rows->end, name, rows->step);
   const rkb_index_t *number =
      rkb_writer_variable(writer, name, rkb_index_make(indices, RKB_INDEX_QUOTIENT, rows->length, width));
   writer->keep_variable = number;
   if (rows->terms)
      rkb_write(writer, "float %s[%u];", rows->terms, rows->width);
   const rkb_index_t *lane = rkb_open_lanes(writer, rows->width);
   if (rows->width == 1)
      return number;
   const rkb_node_t *reduce = &writer->graph->nodes[rows->launch->anchors[0]];
   const rkb_node_t *from = &writer->graph->nodes[reduce->inputs[0]];
   const rkb_index_t *last = rkb_index_make(indices, RKB_INDEX_QUOTIENT,
                                            rkb_index_size(indices, from->shape[from->rank - 1]), width);
   rkb_index_make(indices, RKB_INDEX_QUOTIENT, number, last);
   rkb_index_make(indices, RKB_INDEX_SUM,
                  rkb_index_make(indices, RKB_INDEX_PRODUCT,
                                 rkb_index_make(indices, RKB_INDEX_REMAINDER, number, last), width),
                  lane);
   return rkb_index_make(indices, RKB_INDEX_SUM, rkb_index_make(indices, RKB_INDEX_PRODUCT, number, width),
                         lane);
}

static void close_places(rkb_writer_t *writer, const rows_t *rows) {
   rkb_close_lanes(writer);
   if (rows->terms)
      rkb_write(writer, "moments_add<%u>(%s, %s, %s, %s);", rows->width, rows->moments[0], rows->moments[1], rows->moments[2], rows->terms);
   rkb_write_close(writer);
   if (rows->keep)
      rkb_write_close(writer);
   writer->keep_variable = NULL;
}

static bool is_moment(const rows_t *rows, uint32_t anchor) {
   return rows->variance < rows->launch->anchor_count && (anchor == rows->variance || anchor == rows->mean);
}

/* What a thread has of a mean and of the squares around it. */
static void begin_moments(rkb_writer_t *writer, rows_t *rows) {
   static const char *const words[] = {"mean", "squares", "count"};
   const char *name = writer->graph->nodes[rows->launch->anchors[rows->mean]].name;
   for (uint32_t i = 0; i < 3; i++) {
      rows->moments[i] = rkb_writer_name(writer, rkb_arena_format(writer->arena, "%s_%s", name, words[i]));
      rkb_write(writer, "float %s = 0.0f;", rows->moments[i]);
   }
   rows->terms = rkb_writer_name(writer, rkb_arena_format(writer->arena, "%s_terms", name));
}

/* The two sums, of what all threads of the row have. */
static void end_moments(rkb_writer_t *writer, rows_t *rows, int64_t sharing, const char **names) {
   const char *const *have = rows->moments;
   rkb_write(writer, "row_moments<%lld>(%s, %s, %s);", (long long)sharing, have[0], have[1], have[2]);
   names[rows->mean] = rkb_writer_name(writer, writer->graph->nodes[rows->launch->anchors[rows->mean]].name);
   rkb_write(writer, "const float %s = %s * %s;", names[rows->mean], have[0], have[2]);
   names[rows->variance] = have[1];
   rows->terms = NULL;
}

static bool is_segment(const rkb_writer_t *writer, const rows_t *rows, uint32_t anchor) {
   return rows->launch->decisions[RKB_SEGMENTS] && rkb_segment_adds(writer->graph, rows->launch, anchor);
}

/* Places of a piece of the row, which adds to one element of a sum over rows. */
static const rkb_index_t *piece_of(rkb_writer_t *writer, uint32_t anchor) {
   const rkb_node_t *term = &writer->graph->nodes[writer->graph->nodes[anchor].inputs[0]];
   const uint32_t dim = rkb_segment_dim(writer->graph, anchor);
   return rkb_index_elements(&writer->indices, term->rank - dim - 1, term->shape + dim + 1);
}

/* A loop over the pieces of the row; the places of one follow. */
static void open_segment(rkb_writer_t *writer, rows_t *rows, const uint32_t *levels, uint32_t level, const char **names) {
   rkb_indices_t *indices = &writer->indices;
   const rkb_launch_t *launch = rows->launch;
   const rkb_index_t *piece = NULL, *width = rkb_index_constant(indices, rows->width);
   for (uint32_t a = 1; a < launch->anchor_count; a++)
      if (levels[a] == level && is_segment(writer, rows, a)) {
         const rkb_index_t *own = piece_of(writer, launch->anchors[a]);
         if (piece && own != piece)
            rkb_writer_fail(writer, "%s has pieces of another length", writer->graph->nodes[launch->anchors[a]].name);
         piece = own;
      }
   const rkb_index_t *count = rkb_index_make(indices, RKB_INDEX_QUOTIENT, rows->length, piece);
   if (rkb_index_make(indices, RKB_INDEX_PRODUCT, count, piece) != rows->length || !rkb_index_divides(piece, rows->width)) {
      rkb_writer_fail(writer, "a row has no whole number of pieces");
      return;
   }
   const char *packs = rkb_writer_uniform(writer, rkb_index_make(indices, RKB_INDEX_QUOTIENT, piece, width)),
              *segment = rkb_writer_name(writer, "segment");
   rkb_write_open(writer, false, "for (index %s = 0; %s < %s; %s++)", segment, segment, rkb_writer_uniform(writer, count), segment);
   rkb_writer_variable(writer, segment, count);
   for (uint32_t a = 1; a < launch->anchor_count; a++)
      if (levels[a] == level && is_segment(writer, rows, a)) {
         names[a] = rkb_writer_name(writer, writer->graph->nodes[launch->anchors[a]].name);
         rkb_write(writer, "float %s = 0.0f;", names[a]);
         rkb_writer_know(writer, launch->anchors[a], (const rkb_index_t *const[RKB_MAX_RANK]){0}, names[a]);
      }
   rows->segment = rkb_arena_format(writer->arena, "row * %s + %s", rkb_writer_uniform(writer, count), segment);
   rows->begin = rkb_arena_format(writer->arena, "%s * %s + %s", segment, packs, rows->begin);
   rows->end = rkb_arena_format(writer->arena, "(%s + 1) * %s", segment, packs);
}

/* What a place of the row gives a sum over rows. */
static const char *segment_term(rkb_writer_t *writer, const rows_t *rows, uint32_t anchor, const rkb_index_t *place) {
   const rkb_node_t *sum = &writer->graph->nodes[anchor], *term = &writer->graph->nodes[sum->inputs[0]];
   const rkb_index_t *at[RKB_MAX_RANK],
      *element = rkb_index_make(&writer->indices, RKB_INDEX_SUM,
                                rkb_index_make(&writer->indices, RKB_INDEX_PRODUCT, rows->row, rows->length), place);
   rkb_index_split(&writer->indices, term->rank, term->shape, element, at);
   return rkb_write_float(writer, sum->inputs[0], at).text;
}

static void close_segment(rkb_writer_t *writer, rows_t *rows, const uint32_t *levels, uint32_t level, const char **names) {
   const rkb_launch_t *launch = rows->launch;
   for (uint32_t a = 1; a < launch->anchor_count; a++) {
      if (levels[a] != level || !is_segment(writer, rows, a))
         continue;
      const char *parts = rkb_writer_buffer(writer, rkb_parts_name(writer, launch->anchors[a]), RKB_F32, true);
      rkb_write(writer, "%s = row_sum<%lld>(%s);", names[a], (long long)launch->decisions[RKB_THREADS], names[a]);
      rkb_write(writer, "if (%s == 0)", rows->thread);
      rkb_write(writer, "   %s[%s] = %s;", parts, rows->segment, names[a]);
   }
   rkb_write_close(writer);
}

static void write_pass(rkb_writer_t *writer, rows_t *rows, const uint32_t *levels, uint32_t level,
                       const char **names) {
   const rkb_launch_t *launch = rows->launch;
   const rkb_index_t *at[RKB_MAX_RANK];
   const bool moments = rows->variance < launch->anchor_count && levels[rows->variance] == level;
   const rows_t whole = *rows;
   bool segments = false;
   for (uint32_t a = 0; a < launch->anchor_count; a++)
      segments |= levels[a] == level && is_segment(writer, rows, a);
   for (uint32_t a = 0; a < launch->anchor_count; a++)
      if (levels[a] == level && !is_moment(rows, a) && !is_segment(writer, rows, a)) {
         const rkb_node_t *anchor = &writer->graph->nodes[launch->anchors[a]];
         names[a] = rkb_writer_name(writer, anchor->name);
         rkb_write(writer, "float %s = %s;", names[a], start_of(anchor));
         rkb_writer_know(writer, launch->anchors[a], (const rkb_index_t *const[RKB_MAX_RANK]){0}, names[a]);
      }
   if (moments)
      begin_moments(writer, rows);
   if (segments)
      open_segment(writer, rows, levels, level, names);
   const rkb_index_t *place = open_places(writer, rows);
   for (uint32_t a = 0; a < launch->anchor_count; a++)
      if (levels[a] == level && !is_moment(rows, a))
         accumulate(writer, &writer->graph->nodes[launch->anchors[a]], names[a],
                    is_segment(writer, rows, a) ? segment_term(writer, rows, launch->anchors[a], place)
                                                : term_of(writer, launch->anchors[a], rows->row, place));
   if (moments) {
      const char *term = term_of(writer, launch->anchors[rows->mean], rows->row, place);
      rkb_write(writer, rows->width > 1 ? "%s[lane] = %s;" : "%s[0] = %s;", rows->terms, term);
   }
   close_places(writer, rows);
   if (segments) {
      close_segment(writer, rows, levels, level, names);
      rows->begin = whole.begin;
      rows->end = whole.end;
   }
   const int64_t sharing = launch->decisions[RKB_ROWS] > 1 ? 32 : launch->decisions[RKB_THREADS];
   if (moments)
      end_moments(writer, rows, sharing, names);
   for (uint32_t a = 0; a < launch->anchor_count; a++)
      if (levels[a] == level && !is_segment(writer, rows, a)) {
         const rkb_node_t *anchor = &writer->graph->nodes[launch->anchors[a]];
         if (!is_moment(rows, a))
            rkb_write(writer, "%s = row_%s<%lld>(%s);", names[a], word_of(anchor), (long long)sharing, names[a]);
         rkb_index_split(&writer->indices, anchor->rank, anchor->shape, rows->row, at);
         rkb_writer_know(writer, launch->anchors[a], at, names[a]);
      }
}

/* What a block has of a sum over its stretch of rows, at the place at hand: in a register, or where its part lies. */
static const char *stretch_sum(rkb_writer_t *writer, const rows_t *rows, uint32_t anchor, const rkb_index_t *place) {
   const char *parts = rkb_parts_name(writer, rows->launch->anchors[anchor]);
   if (rows->keep)
      return rkb_arena_format(writer->arena, "%s_sums[%s].at[%s]", writer->graph->nodes[rows->launch->anchors[anchor]].name, writer->keep_item,
                              rows->width > 1 ? "lane" : "0");
   rkb_writer_buffer(writer, parts, RKB_F32, true);
   return rkb_arena_format(writer->arena, "%s[(index)blockIdx.x * %s + %s]", parts, rkb_writer_uniform(writer, rows->length),
                           rkb_writer_index(writer, place));
}

/* The sums begin with zero, and a block goes over its rows. */
static void open_stretch(rkb_writer_t *writer, rows_t *rows) {
   const rkb_launch_t *launch = rows->launch;
   for (uint32_t a = 1; a < launch->anchor_count && rows->keep; a++)
      if (rkb_stretch_adds(writer->graph, launch, a))
         rkb_write(writer, "Pack<%u> %s_sums[%u] = {};", rows->width, writer->graph->nodes[launch->anchors[a]].name, rows->keep);
   if (!rows->keep) {
      const rkb_index_t *place = open_places(writer, rows);
      for (uint32_t a = 1; a < launch->anchor_count; a++)
         if (rkb_stretch_adds(writer->graph, launch, a))
            rkb_write(writer, "%s = 0.0f;", stretch_sum(writer, rows, a, place));
      close_places(writer, rows);
   }
   rkb_write_open(writer, false, "for (index row = blockIdx.x; row < %s; row += %lld)", rkb_writer_uniform(writer, rows->count),
                  (long long)launch->decisions[RKB_STRETCHES]);
}

static void close_stretch(rkb_writer_t *writer, rows_t *rows) {
   const rkb_launch_t *launch = rows->launch;
   rkb_write_close(writer);
   if (!rows->keep)
      return;
   const char *item = rkb_writer_name(writer, "item"), *pack = rkb_writer_name(writer, "pack");
   rkb_write_open(writer, false, "#pragma unroll\n%*sfor (int %s = 0; %s < %u; %s++)", 3 * (int)(writer->depth + 1), "", item, item, rows->keep, item);
   rkb_write(writer, "const index %s = %s * %s + %s;", pack, item, rows->step, rows->begin);
   rkb_write_open(writer, true, "if (%s < %s)", pack, rows->end);
   for (uint32_t a = 1; a < launch->anchor_count; a++) {
      const char *parts = rkb_parts_name(writer, launch->anchors[a]);
      if (!rkb_stretch_adds(writer->graph, launch, a))
         continue;
      rkb_writer_buffer(writer, parts, RKB_F32, true);
      rkb_write(writer, "*(Pack<%u> *)(%s + (index)blockIdx.x * %s + %s * %u) = %s_sums[%s];", rows->width, parts,
                rkb_writer_uniform(writer, rows->length), pack, rows->width, writer->graph->nodes[launch->anchors[a]].name, item);
   }
   rkb_write_close(writer);
   rkb_write_close(writer);
}

/* Adds what this row gives each place. */
static void add_to_stretch(rkb_writer_t *writer, const rows_t *rows, const rkb_index_t *place, const rkb_index_t *const *at) {
   for (uint32_t a = 1; a < rows->launch->anchor_count; a++)
      if (rkb_stretch_adds(writer->graph, rows->launch, a)) {
         const rkb_term_t term = rkb_write_float(writer, writer->graph->nodes[rows->launch->anchors[a]].inputs[0], at);
         rkb_write(writer, "%s += %s;", stretch_sum(writer, rows, a, place), term.text);
      }
}

/* Roots with an element for each place of a row are written in a last pass, those with one for each row by one thread. */
static void write_row_roots(rkb_writer_t *writer, const rows_t *rows) {
   rkb_indices_t *indices = &writer->indices;
   const rkb_launch_t *launch = rows->launch;
   const rkb_node_t *reduce = &writer->graph->nodes[launch->anchors[0]];
   const rkb_index_t *all = rkb_index_make(indices, RKB_INDEX_PRODUCT, rows->count, rows->length),
                     *at[RKB_MAX_RANK];
   rkb_launch_t whole = *launch, single = *launch;
   whole.root_count = single.root_count = 0;
   for (uint32_t r = 0; r < launch->root_count; r++) {
      const rkb_node_t *root = &writer->graph->nodes[launch->roots[r]];
      const rkb_index_t *elements = rkb_index_elements(indices, root->rank, root->shape);
      if ((launch->decisions[RKB_STRETCHES] || launch->decisions[RKB_SEGMENTS]) && rkb_stretch_ends(writer->graph, launch, launch->roots[r]))
         continue;
      if (elements == all && reduce->kind == RKB_NODE_REDUCE)
         whole.roots[whole.root_count++] = launch->roots[r];
      else
         single.roots[single.root_count++] = launch->roots[r];
   }
   if (single.root_count) {
      rkb_write_open(writer, true, "if (%s == 0)", rows->thread);
      rkb_index_split(indices, reduce->rank, reduce->shape, rows->row, at);
      rkb_write_roots(writer, &single, launch->anchors[0], at);
      rkb_write_close(writer);
   }
   if (whole.root_count || launch->decisions[RKB_STRETCHES]) {
      const rkb_index_t *place = open_places(writer, rows);
      inside(writer, reduce, rows->row, place, at);
      if (launch->decisions[RKB_STRETCHES])
         add_to_stretch(writer, rows, place, at);
      if (whole.root_count)
         rkb_write_roots(writer, &whole, reduce->inputs[0], at);
      close_places(writer, rows);
   }
}

static void set_length(rkb_writer_t *writer, rows_t *rows) {
   const rkb_node_t *anchor = &writer->graph->nodes[rows->launch->anchors[0]];
   if (anchor->kind == RKB_NODE_REDUCE) {
      rows->length = rkb_reduced_elements(writer, anchor, false);
      rows->count = rkb_reduced_elements(writer, anchor, true);
      return;
   }
   rkb_product_t product;
   rkb_product_of(writer, rows->launch->anchors[0], &product);
   rows->length = product.depth.total;
   rows->count = rkb_index_elements(&writer->indices, anchor->rank, anchor->shape);
}

/* Where a part of a split row begins and ends, in packs.  part is the name of its number. */
static void write_part(rkb_writer_t *writer, rows_t *rows, const rkb_index_t *packs, int64_t parts) {
   const rkb_index_t *chunk = rkb_index_make(
      &writer->indices, RKB_INDEX_QUOTIENT,
      rkb_index_make(&writer->indices, RKB_INDEX_SUM, packs, rkb_index_constant(&writer->indices, parts - 1)),
      rkb_index_constant(&writer->indices, parts));
   rkb_check_share(writer, chunk, packs);
   const char *share = rkb_writer_uniform(writer, chunk), *all = rkb_writer_uniform(writer, packs);
   rkb_write(writer, "const index end = (part + 1) * %s < %s ? (part + 1) * %s : %s;", share, all, share,
             all);
   rows->begin = rkb_arena_format(writer->arena, "part * %s + %s", share, rows->begin);
   rows->end = "end";
}

static void write_parts(rkb_writer_t *writer, const rows_t *rows, const char *thread,
                        const char *const *names) {
   rkb_write_open(writer, true, "if (%s == 0)", thread);
   const bool moments = rows->variance < rows->launch->anchor_count;
   for (uint32_t a = 0; a < rows->launch->anchor_count + moments; a++) {
      const bool count = a == rows->launch->anchor_count;
      const char *buffer = count ? rkb_counts_name(writer, rows->launch->anchors[rows->mean]) : rkb_parts_name(writer, rows->launch->anchors[a]),
                 *value = count ? rows->moments[2] : moments && a == rows->mean ? rows->moments[0] : names[a];
      rkb_writer_buffer(writer, buffer, RKB_F32, true);
      rkb_write(writer, "%s[part * %s + %s] = %s;", buffer, rkb_writer_uniform(writer, rows->count),
                rkb_writer_index(writer, rows->row), value);
   }
   rkb_write_close(writer);
}

void rkb_write_row_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape) {
   const int64_t *d = launch->decisions;
   rkb_indices_t *indices = &writer->indices;
   uint32_t levels[RKB_MAX_LAUNCH_NODES] = {0}, last = 0;
   const char *names[RKB_MAX_LAUNCH_NODES] = {0};
   const bool warps = d[RKB_ROWS] > 1, split = d[RKB_SPLIT] > 1, stretches = d[RKB_STRETCHES] > 0;
   rows_t rows = {
      .launch = launch, .width = (uint32_t)d[RKB_VECTOR], .keep = split ? 0 : (uint32_t)d[RKB_KEEP]};
   rows.variance = d[RKB_MOMENTS] ? rkb_launch_moments(writer->graph, launch, &rows.mean) : launch->anchor_count;
   writer->keep = rows.keep;
   set_length(writer, &rows);
   const rkb_index_t *packs =
      rkb_index_make(indices, RKB_INDEX_QUOTIENT, rows.length, rkb_index_constant(indices, rows.width));
   if (warps) {
      rkb_write(writer, "const int thread = threadIdx.x %% 32;");
      rkb_write(writer, "const index row = (index)blockIdx.x * %lld + threadIdx.x / 32;",
                (long long)d[RKB_ROWS]);
      rkb_write(writer, "if (row >= %s)", rkb_writer_uniform(writer, rows.count));
      rkb_write(writer, "   return;");
   } else {
      rkb_write(writer, "const int thread = threadIdx.x;");
      if (split)
         rkb_write(writer, "const index row = (index)blockIdx.x / %lld, part = (index)blockIdx.x %% %lld;", (long long)d[RKB_SPLIT],
                   (long long)d[RKB_SPLIT]);
      else if (!stretches)
         rkb_write(writer, "const index row = blockIdx.x;");
   }
   rows.thread = rows.begin = "thread";
   rows.step = rkb_arena_format(writer->arena, "%lld", (long long)(warps ? 32 : d[RKB_THREADS]));
   rows.end = rkb_writer_uniform(writer, packs);
   if (stretches)
      open_stretch(writer, &rows);
   rows.row = rkb_writer_variable(writer, "row", rows.count);
   if (split)
      write_part(writer, &rows, packs, d[RKB_SPLIT]);
   for (uint32_t a = 0; a < launch->anchor_count; a++) {
      if (rkb_stretch_adds(writer->graph, launch, a)) {
         levels[a] = UINT32_MAX; /* in the last pass */
         continue;
      }
      levels[a] = a == rows.variance ? levels[rows.mean] : level_of(writer, launch, a, levels);
      last = levels[a] > last ? levels[a] : last;
      const rkb_node_t *node = &writer->graph->nodes[launch->anchors[a]];
      if (is_segment(writer, &rows, a)) {
         const rkb_node_t *term = &writer->graph->nodes[node->inputs[0]];
         if (rkb_index_elements(indices, term->rank, term->shape) != rkb_index_make(indices, RKB_INDEX_PRODUCT, rows.count, rows.length))
            rkb_writer_fail(writer, "%s has other elements", node->name);
      } else if (node->kind == RKB_NODE_REDUCE && (rkb_reduced_elements(writer, node, false) != rows.length ||
                                            rkb_reduced_elements(writer, node, true) != rows.count))
         rkb_writer_fail(writer, "%s has other rows", node->name);
   }
   for (uint32_t a = 0; a < launch->anchor_count; a++) /* pieces are added in the last pass */
      if (is_segment(writer, &rows, a))
         levels[a] = last;
   if (split && last > 0)
      rkb_writer_fail(writer, "a split row has one pass");
   for (uint32_t level = 0; level <= last && !writer->failed; level++)
      write_pass(writer, &rows, levels, level, names);
   if (split)
      write_parts(writer, &rows, "thread", names);
   else
      write_row_roots(writer, &rows);
   if (stretches)
      close_stretch(writer, &rows);
   const char *name = writer->graph->nodes[launch->anchors[0]].name;
   *shape = (rkb_kernel_shape_t){
      .threads = d[RKB_THREADS],
      .blocks = stretches && rows.keep && 2 * d[RKB_THREADS] <= 1024 ? 2 : 0, /* one loads while the other adds */
      .when = rows.keep
                 ? rkb_arena_format(writer->arena, "%s <= %lld", rkb_index_manifest(indices, rows.length),
                                    (long long)(rows.keep * (warps ? 32 : d[RKB_THREADS]) * rows.width))
                 : NULL,
      .grid = warps       ? rkb_ceildiv(writer, rows.count, d[RKB_ROWS])
              : stretches ? rkb_arena_format(writer->arena, "%lld", (long long)d[RKB_STRETCHES])
                    : rkb_index_manifest(indices, rkb_index_make(indices, RKB_INDEX_PRODUCT, rows.count,
                                                                 rkb_index_constant(indices, d[RKB_SPLIT]))),
      .owns = rkb_arena_format(writer->arena,
                               warps       ? "A warp owns one row of %s."
                               : split     ? "A block owns one part of a row of %s."
                               : stretches ? "A block owns rows of %s, one after the other, and sums of each place over them."
                                           : "A block owns one row of %s.",
                               name)};
}

void rkb_write_column_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape) {
   const int64_t *d = launch->decisions, groups = d[RKB_THREADS] / 32;
   const bool split = d[RKB_SPLIT] > 1;
   const char *names[RKB_MAX_LAUNCH_NODES] = {0};
   const rkb_index_t *at[RKB_MAX_RANK];
   rows_t rows = {.launch = launch, .width = 1, .variance = launch->anchor_count};
   set_length(writer, &rows);
   rkb_write(writer, "const int thread = threadIdx.x / 32;");
   rkb_write(
      writer,
      split
         ? "const index column = (index)blockIdx.x / %lld * 32 + threadIdx.x %% 32, part = (index)blockIdx.x %% %lld;"
         : "const index column = (index)blockIdx.x * 32 + threadIdx.x %% 32;",
      (long long)d[RKB_SPLIT], (long long)d[RKB_SPLIT]);
   rows.row = rkb_writer_variable(writer, "column", rows.count);
   rows.begin = "thread";
   rows.step = rkb_arena_format(writer->arena, "%lld", (long long)groups);
   rows.end = rkb_writer_uniform(writer, rows.length);
   if (split)
      write_part(writer, &rows, rows.length, d[RKB_SPLIT]);
   for (uint32_t a = 0; a < launch->anchor_count; a++) {
      const rkb_node_t *anchor = &writer->graph->nodes[launch->anchors[a]];
      if (anchor->kind != RKB_NODE_REDUCE || rkb_reduced_elements(writer, anchor, false) != rows.length ||
          rkb_reduced_elements(writer, anchor, true) != rows.count)
         rkb_writer_fail(writer, "%s has other columns", anchor->name);
      names[a] = rkb_writer_name(writer, anchor->name);
      rkb_write(writer, "float %s = %s;", names[a], start_of(anchor));
      rkb_writer_know(writer, launch->anchors[a], (const rkb_index_t *const[RKB_MAX_RANK]){0}, names[a]);
   }
   const char *columns = rkb_writer_uniform(writer, rows.count);
   rkb_write_open(writer, true, "if (column < %s)", columns);
   const rkb_index_t *place = open_places(writer, &rows);
   for (uint32_t a = 0; a < launch->anchor_count; a++)
      accumulate(writer, &writer->graph->nodes[launch->anchors[a]], names[a],
                 term_of(writer, launch->anchors[a], rows.row, place));
   rkb_write_close(writer);
   rkb_write_close(writer);
   for (uint32_t a = 0; a < launch->anchor_count; a++)
      rkb_write(writer, "%s = column_%s<%lld>(%s);", names[a],
                word_of(&writer->graph->nodes[launch->anchors[a]]), (long long)groups, names[a]);
   rkb_write(writer, "if (thread > 0 || column >= %s)", columns);
   rkb_write(writer, "   return;");
   if (split)
      write_parts(writer, &rows, "thread", names);
   else {
      for (uint32_t a = 0; a < launch->anchor_count; a++) {
         const rkb_node_t *anchor = &writer->graph->nodes[launch->anchors[a]];
         rkb_index_split(&writer->indices, anchor->rank, anchor->shape, rows.row, at);
         rkb_writer_know(writer, launch->anchors[a], at, names[a]);
      }
      const rkb_node_t *first = &writer->graph->nodes[launch->anchors[0]];
      rkb_index_split(&writer->indices, first->rank, first->shape, rows.row, at);
      rkb_write_roots(writer, launch, launch->anchors[0], at);
   }
   *shape = (rkb_kernel_shape_t){.threads = d[RKB_THREADS],
                                 .grid = split ? rkb_arena_format(writer->arena, "%s * %lld",
                                                                  rkb_ceildiv(writer, rows.count, 32),
                                                                  (long long)d[RKB_SPLIT])
                                               : rkb_ceildiv(writer, rows.count, 32),
                                 .owns = rkb_arena_format(writer->arena,
                                                          split ? "A block owns one part of 32 columns of %s."
                                                                : "A block owns 32 columns of %s.",
                                                          writer->graph->nodes[launch->anchors[0]].name)};
}

void rkb_write_stretches_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape) {
   const int64_t groups = 32;
   const bool segments = launch->decisions[RKB_SEGMENTS] > 0;
   rkb_launch_t ends = *launch;
   const rkb_index_t *at[RKB_MAX_RANK];
   const char *names[RKB_MAX_LAUNCH_NODES] = {0};
   uint32_t first = 0;
   rows_t rows = {.launch = launch};
   set_length(writer, &rows);
   const char *parts = rkb_arena_format(writer->arena, "%lld", (long long)launch->decisions[RKB_STRETCHES]);
   for (uint32_t a = 1; a < launch->anchor_count && segments; a++)
      if (is_segment(writer, &rows, a)) {
         const rkb_node_t *term = &writer->graph->nodes[writer->graph->nodes[launch->anchors[a]].inputs[0]];
         const uint32_t dim = rkb_segment_dim(writer->graph, launch->anchors[a]);
         rows.length = rkb_index_size(&writer->indices, term->shape[dim]);
         parts = rkb_writer_uniform(writer, rkb_index_elements(&writer->indices, dim, term->shape));
      }
   const char *length = rkb_writer_uniform(writer, rows.length);
   rkb_write(writer, "const int group = threadIdx.x / 32;");
   rkb_write(writer, "const index column = (index)blockIdx.x * 32 + threadIdx.x %% 32;");
   const rkb_index_t *column = rkb_writer_variable(writer, "column", rows.length);
   for (uint32_t a = 1; a < launch->anchor_count; a++) {
      if (!rkb_row_hands_on(writer->graph, launch, a))
         continue;
      const rkb_node_t *anchor = &writer->graph->nodes[launch->anchors[a]];
      const char *buffer = rkb_writer_buffer(writer, rkb_parts_name(writer, launch->anchors[a]), RKB_F32, false);
      names[a] = rkb_writer_name(writer, anchor->name);
      first = first ? first : a;
      rkb_write(writer, "float %s = 0.0f;", names[a]);
      rkb_write(writer, "for (index part = group; part < %s && column < %s; part += %lld)", parts, length, (long long)groups);
      rkb_write(writer, "   %s += %s[part * %s + column];", names[a], buffer, length);
      rkb_write(writer, "%s = column_sum<%lld>(%s);", names[a], (long long)groups, names[a]);
      rkb_index_split(&writer->indices, anchor->rank, anchor->shape, column, at);
      rkb_writer_know(writer, launch->anchors[a], at, names[a]);
   }
   rkb_write(writer, "if (group > 0 || column >= %s)", length);
   rkb_write(writer, "   return;");
   ends.root_count = 0;
   for (uint32_t r = 0; r < launch->root_count; r++)
      if (rkb_stretch_ends(writer->graph, launch, launch->roots[r]))
         ends.roots[ends.root_count++] = launch->roots[r];
   rkb_index_split(&writer->indices, writer->graph->nodes[launch->anchors[first]].rank, writer->graph->nodes[launch->anchors[first]].shape, column, at);
   rkb_write_roots(writer, &ends, launch->anchors[first], at);
   *shape = (rkb_kernel_shape_t){
      .threads = 32 * groups,
      .grid = rkb_ceildiv(writer, rows.length, 32),
      .owns = rkb_arena_format(writer->arena, "A block adds the %s parts of 32 columns, always in the same order.", parts)};
}
