/* Computes one element of a heavy node by a thread's loops.  One thread writes them. */
#include <string.h>
#include "generator/graph/pool_window.h"
#include "generator/text/product_index.h"
#include "generator/text/sum_parts.h"
#include "reference/operations/resample.h"

static const rkb_index_t *loop(rkb_writer_t *writer, const char *wanted, const rkb_index_t *extent) {
   if (rkb_index_is(extent, 1))
      return rkb_index_constant(&writer->indices, 0);
   const char *name = rkb_writer_name(writer, wanted), *end = rkb_writer_uniform(writer, extent);
   rkb_write_open(writer, false, "for (index %s = 0; %s < %s; %s++)", name, name, end, name);
   return rkb_writer_variable(writer, name, extent);
}

static void close_to(rkb_writer_t *writer, uint32_t depth) {
   while (writer->depth > depth)
      rkb_write_close(writer);
}

static const rkb_index_t *size_of(rkb_writer_t *writer, const rkb_node_t *node, uint32_t dim) {
   return rkb_index_size(&writer->indices, node->shape[dim]);
}

static const rkb_index_t *integer_of(rkb_writer_t *writer, const rkb_node_t *node, uint32_t which) {
   return rkb_index_size(&writer->indices, node->integers[which]);
}

static uint32_t constant_of(const rkb_writer_t *writer, const rkb_node_t *node, uint32_t which) {
   return (uint32_t)writer->graph->sizes.list[node->integers[which]].at[0];
}

static rkb_term_t write_reduce(rkb_writer_t *writer, const rkb_node_t *node, const char *name,
                               const rkb_index_t *const *at) {
   const rkb_node_t *from = &writer->graph->nodes[node->inputs[0]];
   const uint32_t depth = writer->depth;
   const rkb_index_t *inner[RKB_MAX_RANK], *place = rkb_index_constant(&writer->indices, 0);
   const bool places = strncmp(node->operation, "arg", 3) == 0, sum = strcmp(node->operation, "sum") == 0;
   const bool largest = strstr(node->operation, "max") != NULL;
   const char *best = places ? rkb_writer_name(writer, largest ? "largest" : "smallest") : name;
   rkb_write(writer, "float %s = %s;", best, sum ? "0.0f" : largest ? "-INFINITY" : "INFINITY");
   if (places)
      rkb_write(writer, "%s %s = 0;", rkb_value_type(node->dtype), name);
   for (uint32_t d = 0; d < node->rank; d++) {
      inner[d] = node->mask >> d & 1 ? loop(writer, "k", size_of(writer, from, d)) : at[d];
      if (node->mask >> d & 1)
         place = rkb_index_make(
            &writer->indices, RKB_INDEX_SUM,
            rkb_index_make(&writer->indices, RKB_INDEX_PRODUCT, place, size_of(writer, from, d)), inner[d]);
   }
   const rkb_term_t term = rkb_write_float(writer, node->inputs[0], inner);
   if (places) {
      const char *where = rkb_writer_index(writer, place);
      /* the first NaN is taken, and nothing after it */
      rkb_write_open(writer, true, "if (%s == %s && !(%s %s %s))", best, best, term.text,
                     largest ? "<=" : ">=", best);
      rkb_write(writer, "%s = %s;", best, term.text);
      rkb_write(writer, "%s = %s;", name, where);
      rkb_write_close(writer);
   } else if (sum)
      rkb_write(writer, "%s += %s;", name, term.text);
   else
      rkb_write(writer, "%s = %s(%s, %s);", name, largest ? "larger" : "smaller", name, term.text);
   close_to(writer, depth);
   return (rkb_term_t){name, depth, 0};
}

static rkb_term_t write_product(rkb_writer_t *writer, uint32_t number, const char *name,
                                const rkb_index_t *const *at) {
   const rkb_node_t *node = &writer->graph->nodes[number];
   const uint32_t depth = writer->depth;
   const bool parts = writer->parts.count > 1;
   rkb_product_t product;
   const rkb_index_t *group[RKB_MAX_RANK], *row[RKB_MAX_RANK], *column[RKB_MAX_RANK], *sum[RKB_MAX_RANK],
      *inner[RKB_MAX_RANK];
   rkb_product_of(writer, number, &product);
   rkb_product_place(writer, &product, at, group, row, column);
   rkb_write(writer, "float %s = 0.0f;", name);
   for (uint32_t d = 0; d < product.depth.count; d++) {
      const bool divided = parts && !writer->parts.divided && !rkb_index_is(product.depth.extent[d], 1);
      sum[d] = (divided ? rkb_sum_parts_loop : loop)(writer, product.depth.name[d], product.depth.extent[d]);
   }
   const char *guard = rkb_product_operand(writer, &product, 0, group, row, sum, inner), *inside = NULL;
   if (guard && parts)
      inside = rkb_write_inside(writer, &writer->graph->nodes[node->inputs[0]], guard, inner);
   else if (guard)
      rkb_write_open(writer, true, "if (%s)", guard);
   const rkb_term_t left = rkb_write_float(writer, node->inputs[0], inner);
   rkb_product_operand(writer, &product, 1, group, column, sum, inner);
   const rkb_term_t right = rkb_write_float(writer, node->inputs[1], inner);
   if (inside)
      rkb_write(writer, "if (%s)", inside);
   rkb_write(writer, "%s%s += %s * %s;", inside ? "   " : "", name, left.text, right.text);
   close_to(writer, depth);
   if (parts)
      rkb_sum_parts_add(writer, name);
   return (rkb_term_t){name, depth, 0};
}

/* Pools: integers are spatial dims, ceil mode, count padding, then kernel, stride, padding, dilation of each dim. */
#define POOL_HEAD 3
enum { KERNEL, STRIDE, PADDING, DILATION };

static const rkb_index_t *window(rkb_writer_t *writer, const rkb_node_t *node, uint32_t d, uint32_t which) {
   return integer_of(writer, node, POOL_HEAD + 4 * d + which);
}

/* The place of x at tap k in the window of pixel p; the condition that the place is in x, and (counted) the
 * condition that it is in the padded x. */
static const char *in_window(rkb_writer_t *writer, const rkb_node_t *node, const rkb_node_t *x,
                             const rkb_index_t *const *pixel, const rkb_index_t *const *tap,
                             const rkb_index_t **at, const char **counted) {
   rkb_indices_t *indices = &writer->indices;
   const char *guard = NULL;
   *counted = NULL;
   for (uint32_t d = 0; d + 2 < x->rank; d++) {
      const rkb_index_t *padding = window(writer, node, d, PADDING);
      at[d] = rkb_index_make(
         indices, RKB_INDEX_DIFFERENCE,
         rkb_index_make(
            indices, RKB_INDEX_SUM,
            rkb_index_make(indices, RKB_INDEX_PRODUCT, pixel[d], window(writer, node, d, STRIDE)),
            rkb_index_make(indices, RKB_INDEX_PRODUCT, tap[d], window(writer, node, d, DILATION))),
         padding);
      const char *text = rkb_writer_index(writer, at[d]);
      guard =
         rkb_arena_format(writer->arena, "%s%s%s >= 0 && %s < %s", guard ? guard : "", guard ? " && " : "",
                          text, text, rkb_writer_uniform(writer, size_of(writer, x, 2 + d)));
      *counted = rkb_arena_format(
         writer->arena, "%s%s%s < %s", *counted ? *counted : "", *counted ? " && " : "", text,
         rkb_writer_uniform(writer,
                            rkb_index_make(indices, RKB_INDEX_SUM, size_of(writer, x, 2 + d), padding)));
   }
   return guard;
}

/* The pixel whose window has x's place at tap k. */
static const char *of_window(rkb_writer_t *writer, const rkb_node_t *node, const rkb_node_t *grad,
                             const rkb_index_t *const *place, const rkb_index_t *const *tap,
                             const rkb_index_t **at) {
   rkb_indices_t *indices = &writer->indices;
   const char *guard = NULL;
   for (uint32_t d = 0; d + 2 < node->rank; d++) {
      const rkb_index_t *stride = window(writer, node, d, STRIDE);
      const rkb_index_t *shifted = rkb_index_make(
         indices, RKB_INDEX_DIFFERENCE,
         rkb_index_make(indices, RKB_INDEX_SUM, place[d], window(writer, node, d, PADDING)),
         rkb_index_make(indices, RKB_INDEX_PRODUCT, tap[d], window(writer, node, d, DILATION)));
      at[d] = rkb_index_make(indices, RKB_INDEX_QUOTIENT, shifted, stride);
      const char *text = rkb_writer_index(writer, shifted);
      guard = rkb_arena_format(writer->arena, "%s%s%s >= 0 && %s %% %s == 0 && %s < %s", guard ? guard : "",
                               guard ? " && " : "", text, text, rkb_writer_uniform(writer, stride),
                               rkb_writer_index(writer, at[d]),
                               rkb_writer_uniform(writer, size_of(writer, grad, 2 + d)));
   }
   return guard;
}

static void open_taps(rkb_writer_t *writer, const rkb_node_t *node, const char *name,
                      const rkb_index_t **tap) {
   for (uint32_t d = 0; d + 2 < node->rank; d++)
      tap[d] = loop(writer, name, window(writer, node, d, KERNEL));
}

static rkb_term_t write_pool(rkb_writer_t *writer, const rkb_node_t *node, const char *name,
                             const rkb_index_t *const *at) {
   const rkb_node_t *x = &writer->graph->nodes[node->inputs[0]];
   const bool largest = node->operation[0] == 'm', padded = constant_of(writer, node, 2) != 0;
   const uint32_t depth = writer->depth;
   const rkb_index_t *tap[RKB_MAX_RANK], *inner[RKB_MAX_RANK];
   const char *counted, *count = largest ? NULL : rkb_writer_name(writer, "count");
   rkb_write(writer, "float %s = %s;", name, largest ? "-INFINITY" : "0.0f");
   if (count)
      rkb_write(writer, "int %s = 0;", count);
   open_taps(writer, node, "u", tap);
   memcpy(inner, at, 2 * sizeof *at);
   const char *guard = in_window(writer, node, x, at + 2, tap, inner + 2, &counted);
   if (count && padded)
      rkb_write(writer, "%s += %s;", count, counted);
   rkb_write_open(writer, true, "if (%s)", guard);
   const rkb_term_t term = rkb_write_float(writer, node->inputs[0], inner);
   if (largest)
      rkb_write(writer, "%s = larger(%s, %s);", name, name, term.text);
   else
      rkb_write(writer, "%s += %s;", name, term.text);
   if (count && !padded)
      rkb_write(writer, "%s++;", count);
   close_to(writer, depth);
   if (count)
      rkb_write(writer, "%s /= (float)%s;", name, count);
   return (rkb_term_t){name, depth, 0};
}

/* The only window of a place, where windows lie side by side. */
static const char *own_window(rkb_writer_t *writer, const rkb_node_t *node, const rkb_node_t *grad,
                              const rkb_index_t *const *place, const rkb_index_t **at) {
   const char *guard = NULL;
   for (uint32_t d = 0; d + 2 < node->rank; d++) {
      at[d] = rkb_index_make(&writer->indices, RKB_INDEX_QUOTIENT, place[d], window(writer, node, d, STRIDE));
      guard = rkb_arena_format(writer->arena, "%s%s%s < %s", guard ? guard : "", guard ? " && " : "",
                               rkb_writer_index(writer, at[d]),
                               rkb_writer_uniform(writer, size_of(writer, grad, 2 + d)));
   }
   return guard;
}

/* Inputs: grad and x of a largest pool; grad of an average.  Every window that contains the place adds its
 * share. */
static rkb_term_t write_pool_gradient(rkb_writer_t *writer, const rkb_node_t *node, const char *name,
                                      const rkb_index_t *const *at) {
   const rkb_node_t *grad = &writer->graph->nodes[node->inputs[0]];
   const bool largest = node->operation[0] == 'm', padded = constant_of(writer, node, 2) != 0;
   const uint32_t depth = writer->depth;
   const rkb_index_t *tap[RKB_MAX_RANK], *other[RKB_MAX_RANK], *pixel[RKB_MAX_RANK], *inner[RKB_MAX_RANK];
   const char *counted, *found = rkb_writer_name(writer, largest ? "is_largest" : "count");
   const char *best = largest ? rkb_writer_name(writer, "largest") : NULL;
   rkb_write(writer, "float %s = 0.0f;", name);
   const bool apart = !rkb_windows_meet(writer->graph, node);
   if (!apart)
      open_taps(writer, node, "u", tap);
   memcpy(pixel, at, 2 * sizeof *at);
   memcpy(inner, at, 2 * sizeof *at);
   rkb_write_open(writer, true, "if (%s)",
                  apart ? own_window(writer, node, grad, at + 2, pixel + 2)
                        : of_window(writer, node, grad, at + 2, tap, pixel + 2));
   const uint32_t in_guard = writer->depth;
   rkb_write(writer, "int %s = 0;", found);
   if (largest)
      rkb_write(writer, "float %s = -INFINITY;", best);
   open_taps(writer, node, "v", other);
   const char *guard = in_window(writer, node, node, pixel + 2, other, inner + 2, &counted);
   rkb_write_open(writer, true, "if (%s)", !largest && padded ? counted : guard);
   if (largest) {
      const rkb_term_t term = rkb_write_float(writer, node->inputs[1], inner);
      const char *same = NULL;
      for (uint32_t d = 2; d < node->rank; d++)
         same = rkb_arena_format(writer->arena, "%s%s%s == %s", same ? same : "", same ? " && " : "",
                                 rkb_writer_index(writer, inner[d]), rkb_writer_index(writer, at[d]));
      /* if there are several NaN, the last one counts, as in PyTorch */
      rkb_write_open(writer, true, "if (%s > %s || %s != %s)", term.text, best, term.text, term.text);
      rkb_write(writer, "%s = %s;", best, term.text);
      rkb_write(writer, "%s = %s;", found, same);
   } else
      rkb_write(writer, "%s++;", found);
   close_to(writer, in_guard);
   if (largest)
      rkb_write_open(writer, true, "if (%s)", found);
   const rkb_term_t term = rkb_write_float(writer, node->inputs[0], pixel);
   rkb_write(writer, largest ? "%s += %s;" : "%s += %s / (float)%s;", name, term.text, found);
   close_to(writer, depth);
   return (rkb_term_t){name, depth, 0};
}

static rkb_term_t write_scan(rkb_writer_t *writer, const rkb_node_t *node, const char *name,
                             const rkb_index_t *const *at) {
   const uint32_t depth = writer->depth, dim = constant_of(writer, node, 0),
                  x = node->inputs[node->input_count - 1];
   const bool sum = strcmp(node->operation, "cumulative_sum") == 0, gradient = node->input_count == 2;
   const char *variable = rkb_writer_name(writer, "k"), *here = rkb_writer_index(writer, at[dim]);
   const char *size = rkb_writer_uniform(writer, size_of(writer, node, dim));
   const char *others = gradient ? rkb_writer_name(writer, "others") : name;
   const rkb_index_t *inner[RKB_MAX_RANK];
   rkb_write(writer, "float %s = %s;", others, sum ? "0.0f" : "1.0f");
   memcpy(inner, at, sizeof inner);
   rkb_write_open(writer, true, "for (index %s = 0; %s %s %s; %s++)", variable, variable,
                  gradient ? "<" : "<=", here, variable);
   inner[dim] = rkb_writer_variable(writer, variable, size_of(writer, node, dim));
   rkb_write(writer, "%s %s %s;", others, sum ? "+=" : "*=", rkb_write_float(writer, x, inner).text);
   rkb_write_close(writer);
   if (!gradient)
      return (rkb_term_t){name, depth, 0};
   /* The gradient of element i is the sum over j >= i of grad j, multiplied by the product of the others up
    * to j. */
   const char *after = rkb_writer_name(writer, "j");
   rkb_write(writer, "float %s = 0.0f;", name);
   rkb_write_open(writer, true, "for (index %s = %s; %s < %s; %s++)", after, here, after, size, after);
   inner[dim] = rkb_writer_variable(writer, after, size_of(writer, node, dim));
   rkb_write_open(writer, true, "if (%s > %s)", after, here);
   rkb_write(writer, "%s *= %s;", others, rkb_write_float(writer, x, inner).text);
   rkb_write_close(writer);
   rkb_write(writer, "%s += %s * %s;", name, rkb_write_float(writer, node->inputs[0], inner).text, others);
   rkb_write_close(writer);
   return (rkb_term_t){name, depth, 0};
}

/* Halves the part of the row that contains the place. */
static rkb_term_t write_search(rkb_writer_t *writer, const rkb_node_t *node, const char *name, const rkb_index_t *const *at) {
   const rkb_node_t *sorted = &writer->graph->nodes[node->inputs[0]];
   const uint32_t depth = writer->depth, last = sorted->rank - 1;
   const rkb_index_t *length = size_of(writer, sorted, last), *inner[RKB_MAX_RANK];
   const char *wanted = rkb_write_float(writer, node->inputs[1], at).text, *end = rkb_writer_name(writer, "search_end"),
              *middle = rkb_writer_name(writer, "middle");
   rkb_write(writer, "long long %s = 0, %s = %s;", name, end, rkb_writer_uniform(writer, length));
   rkb_write_open(writer, true, "while (%s < %s)", name, end);
   rkb_write(writer, "const index %s = (index)((%s + %s) / 2);", middle, name, end);
   memcpy(inner, at, sizeof inner);
   inner[last] = rkb_writer_variable(writer, middle, length);
   /* NaN is greater than all */
   rkb_write(writer, "if (!(%s %s %s))", rkb_write_float(writer, node->inputs[0], inner).text,
             constant_of(writer, node, 0) ? ">" : ">=", wanted);
   rkb_write(writer, "   %s = %s + 1;", name, middle);
   rkb_write(writer, "else");
   rkb_write(writer, "   %s = %s;", end, middle);
   close_to(writer, depth);
   return (rkb_term_t){name, depth, 0};
}

static rkb_term_t write_scatter(rkb_writer_t *writer, const rkb_node_t *node, const char *name,
                                const rkb_index_t *const *at) {
   const rkb_node_t *picks = &writer->graph->nodes[node->inputs[1]];
   const uint32_t depth = writer->depth, dim = constant_of(writer, node, 0);
   const rkb_index_t *inner[RKB_MAX_RANK];
   const char *here = rkb_writer_index(writer, at[dim]);
   rkb_write(writer, "float %s = %s;", name, node->input_count > 2 ? rkb_write_float(writer, node->inputs[2], at).text : "0.0f");
   memcpy(inner, at, sizeof inner);
   inner[dim] = loop(writer, "k", size_of(writer, picks, dim));
   const rkb_term_t pick = rkb_write_value(writer, node->inputs[1], inner);
   rkb_write_open(writer, true, "if (%s == %s)", pick.text, here);
   rkb_write(writer, "%s %s %s;", name,
             rkb_node_overwrites(node) ? "=" : "+=", rkb_write_float(writer, node->inputs[0], inner).text);
   close_to(writer, depth);
   return (rkb_term_t){name, depth, 0};
}

/* An output place's two neighbours in the input, and the share of the second. */
typedef struct neighbours {
   const char *low, *high, *share; /* high is NULL where only low counts */
} neighbours_t;

static neighbours_t write_neighbours(rkb_writer_t *writer, const rkb_node_t *node, const char *place,
                                     const rkb_index_t *in_size, const rkb_index_t *out_size) {
   const uint32_t resampling = constant_of(writer, node, 1);
   const char *in = rkb_writer_uniform(writer, in_size), *out = rkb_writer_uniform(writer, out_size);
   const char *source = rkb_writer_name(writer, "source"), *low = rkb_writer_name(writer, "low");
   neighbours_t found = {.low = low};
   if (resampling == RKB_RESAMPLE_NEAREST) {
      rkb_write(writer, "const float %s = floorf((float)%s * ((float)%s / (float)%s));", source, place, in,
                out);
      rkb_write(writer, "const index %s = (index)%s < %s ? (index)%s : %s - 1;", low, source, in, source, in);
      return found;
   }
   if (resampling == RKB_RESAMPLE_CORNERS)
      rkb_write(writer, "const float %s = %s > 1 ? (float)%s * (float)(%s - 1) / (float)(%s - 1) : 0.0f;",
                source, out, place, in, out);
   else
      rkb_write(writer, "const float %s = fmaxf((float)%s / (float)%s * ((float)%s + 0.5f) - 0.5f, 0.0f);",
                source, in, out, place);
   found.high = rkb_writer_name(writer, "high");
   found.share = rkb_writer_name(writer, "share_of_high");
   rkb_write(writer, "const index %s = (index)%s < %s ? (index)%s : %s - 1;", low, source, in, source, in);
   rkb_write(writer, "const index %s = %s + 1 < %s ? %s + 1 : %s;", found.high, low, in, low, low);
   rkb_write(writer, "const float %s = fminf(%s - (float)%s, 1.0f);", found.share, source, low);
   return found;
}

static rkb_term_t write_resample(rkb_writer_t *writer, const rkb_node_t *node, const char *name,
                                 const rkb_index_t *const *at) {
   const rkb_node_t *from = &writer->graph->nodes[node->inputs[0]];
   const uint32_t depth = writer->depth, dim = constant_of(writer, node, 0);
   const bool gradient = strstr(node->operation, "gradient") != NULL;
   const rkb_index_t *inner[RKB_MAX_RANK];
   memcpy(inner, at, sizeof inner);
   if (!gradient) {
      const neighbours_t near = write_neighbours(writer, node, rkb_writer_index(writer, at[dim]),
                                                 size_of(writer, from, dim), size_of(writer, node, dim));
      inner[dim] = rkb_writer_variable(writer, near.low, size_of(writer, from, dim));
      const char *low = rkb_write_float(writer, node->inputs[0], inner).text, *high = NULL;
      if (!near.high)
         return (rkb_term_t){low, depth, 0};
      inner[dim] = rkb_writer_variable(writer, near.high, size_of(writer, from, dim));
      high = rkb_write_float(writer, node->inputs[0], inner).text;
      rkb_write(writer, "const float %s = %s * (1.0f - %s) + %s * %s;", name, low, near.share, high,
                near.share);
      return (rkb_term_t){name, depth, 0};
   }
   const char *here = rkb_writer_index(writer, at[dim]);
   rkb_write(writer, "float %s = 0.0f;", name);
   inner[dim] = loop(writer, "o", size_of(writer, from, dim));
   const neighbours_t near = write_neighbours(writer, node, rkb_writer_index(writer, inner[dim]),
                                              size_of(writer, node, dim), size_of(writer, from, dim));
   const char *mine =
      near.high ? rkb_arena_format(writer->arena, "%s == %s || %s == %s", near.low, here, near.high, here)
                : rkb_arena_format(writer->arena, "%s == %s", near.low, here);
   rkb_write_open(writer, true, "if (%s)", mine);
   const char *grad = rkb_write_float(writer, node->inputs[0], inner).text;
   if (near.high)
      rkb_write(writer, "%s += %s * ((%s == %s ? 1.0f - %s : 0.0f) + (%s == %s ? %s : 0.0f));", name, grad,
                near.low, here, near.share, near.high, here, near.share);
   else
      rkb_write(writer, "%s += %s;", name, grad);
   close_to(writer, depth);
   return (rkb_term_t){name, depth, 0};
}

rkb_term_t rkb_write_heavy(rkb_writer_t *writer, uint32_t number, const rkb_index_t *const *at) {
   const rkb_node_t *node = &writer->graph->nodes[number];
   const char *name = rkb_writer_name(writer, node->name);
   /* The name is in use now. */
   rkb_writer_know(writer, number, (const rkb_index_t *const[RKB_MAX_RANK]){0}, name);
   switch (node->kind) {
   case RKB_NODE_REDUCE:
      return write_reduce(writer, node, name, at);
   case RKB_NODE_POOL:
      return strstr(node->operation, "gradient") ? write_pool_gradient(writer, node, name, at)
                                                 : write_pool(writer, node, name, at);
   case RKB_NODE_SCAN:
      return write_scan(writer, node, name, at);
   case RKB_NODE_SEARCH:
      return write_search(writer, node, name, at);
   case RKB_NODE_SCATTER:
      return write_scatter(writer, node, name, at);
   case RKB_NODE_LAYER:
      rkb_writer_fail(writer, "%s has a launch of its own", node->name);
      return (rkb_term_t){"0.0f", 0, 0};
   case RKB_NODE_RESAMPLE:
      return write_resample(writer, node, name, at);
   default:
      return write_product(writer, number, name, at);
   }
}
