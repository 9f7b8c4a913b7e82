/* Gathers and scatters: picks elements by integers, and puts or adds elements at integers.  An index outside
 * its dim makes the element don't-care; PyTorch raises an error for it.  An index that is in doubt itself (an
 * argmax of two equal elements) also makes the element don't-care.  A node's integer: the dim.  Pure
 * functions. */
#include "reference/operations/gather.h"

#include <math.h>
#include <stdlib.h>
#include "base/memory.h"
#include "reference/operations/layout.h"
#include "reference/operations/reduce.h"
#include "reference/operations/scatter_row.h"

static double work(const rkb_program_t *program, const rkb_program_node_t *node) {
   return (double)program->values[node->inputs[0]].elements;
}

static const rkb_point_t outside = {0, 0, 0, RKB_POINT_DONT_CARE};

static int compute_gather(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count,
                          const int64_t *index, rkb_block_t *out) {
   const rkb_program_t *program = rkb_reader_program(reader);
   const rkb_shape_t *shape = rkb_program_shape(program, node->output),
                     *from = rkb_program_shape(program, node->inputs[0]);
   int64_t dim = node->integers[0], *places = rkb_try_uncleared(count + 1, sizeof *places, NULL);
   int status = places ? rkb_read(reader, node->inputs[1], count, index, out) : RKB_ERR_NOMEM;
   for (uint64_t i = 0; status == RKB_OK && i < count; i++) {
      int64_t at[RKB_MAX_RANK];
      rkb_shape_split(shape, (uint64_t)index[i], at);
      at[dim] = (int64_t)out->value[i];
      bool doubt = out->hard[i] > 0 || at[dim] < 0 || at[dim] >= from->size[dim];
      places[i] = doubt ? -1 : (int64_t)rkb_shape_join(from, at);
   }
   if (status == RKB_OK)
      status = rkb_read(reader, node->inputs[0], count, places, out);
   for (uint64_t i = 0; status == RKB_OK && i < count; i++)
      if (places[i] < 0)
         rkb_block_put(out, i, outside);
   free(places);
   return status;
}

/* The elements that reach one place.  Either all of them are added, in any order, or they are put there, and
 * any of them may be the last. */
typedef struct arrivals {
   rkb_point_t point;
   double absolute, squares, terms, low, high;
   bool not_a_number;
} arrivals_t;

static void arrive(arrivals_t *all, rkb_point_t term, bool add) {
   all->low = fmin(all->terms > 0 ? all->low : INFINITY, term.value - term.hard);
   all->high = fmax(all->terms > 0 ? all->high : -INFINITY, term.value + term.hard);
   all->terms++;
   all->not_a_number |= rkb_point_is_nan(term);
   if (!add) {
      all->point = term;
      return;
   }
   all->point.value += term.value;
   all->point.hard += term.hard;
   all->point.variance += term.variance;
   all->point.flags |= term.flags;
   all->absolute += fabs(term.value);
   all->squares += term.value * term.value;
}

static rkb_point_t arrived(const rkb_precision_t *precision, const arrivals_t *all, bool add) {
   rkb_point_t point = all->point;
   if (all->not_a_number) /* put beside others, it may be the last or not */
      return add || all->terms < 2 ? rkb_point_nan() : outside;
   if (add && all->terms > 1)
      rkb_sum_rounding(precision, point.value, all->absolute, all->squares, all->terms, all->terms, &point);
   double apart = add || all->terms < 2 ? 0 : fmax(all->high - point.value, point.value - all->low);
   if (apart > point.hard) {
      point.hard = apart;
      point.variance = apart * apart;
      point.flags |= RKB_POINT_AMBIGUOUS;
   }
   return point;
}

/* Sources of several places, read together, because each may be a point of a product. */
#define SOURCES_TOGETHER 4096

typedef struct arriving {
   rkb_scatter_row_t row;
   rkb_block_t sources;
   int64_t *elements; /* of the sources that are read next */
   uint64_t *ends;    /* by point: where its elements end */
   bool *doubts;      /* by point */
} arriving_t;

static bool arriving_new(arriving_t *a, const rkb_program_t *program, uint32_t index, uint64_t mask,
                         uint64_t count) {
   *a = (arriving_t){0};
   if (!rkb_scatter_row_new(&a->row, program, index, mask))
      return false;
   const uint64_t room = a->row.rows.length + SOURCES_TOGETHER;
   a->elements = rkb_try_uncleared(room, sizeof *a->elements, NULL);
   a->ends = rkb_try_uncleared(count + 1, sizeof *a->ends, NULL);
   a->doubts = rkb_try_uncleared(count + 1, sizeof *a->doubts, NULL);
   return a->elements && a->ends && a->doubts && rkb_block_new(&a->sources, room);
}

static void arriving_free(arriving_t *a) {
   rkb_scatter_row_free(&a->row);
   rkb_block_free(&a->sources);
   free(a->elements);
   free(a->ends);
   free(a->doubts);
}

/* Finds the sources of the points from `first` on, until enough are there to be read.  Gives the end of these points. */
static int find_sources(rkb_reader_t *reader, const rkb_program_node_t *node, arriving_t *a, uint64_t first,
                        uint64_t count, const int64_t *index, uint64_t *end) {
   const rkb_shape_t *shape = rkb_program_shape(rkb_reader_program(reader), node->output);
   const uint64_t mask = UINT64_C(1) << node->integers[0];
   uint64_t i = first, found = 0;
   int status = RKB_OK;
   for (; status == RKB_OK && i < count && found < SOURCES_TOGETHER; i++) {
      uint64_t number, place, here;
      rkb_rows_split(shape, mask, (uint64_t)index[i], &number, &place);
      status = rkb_scatter_row_find(reader, node, &a->row, number, place, a->elements + found, &here,
                                    &a->doubts[i]);
      if (status == RKB_OK)
         a->ends[i] = found += here;
   }
   *end = i;
   return status == RKB_OK && found ? rkb_read(reader, node->inputs[0], found, a->elements, &a->sources)
                                    : status;
}

/* out[.., c, ..] = the sum over i with index[.., i, ..] = c of source[.., i, ..], or the last of these
 * elements.  Operands: source, index and, optionally, the tensor to which elements are added or in which they
 * are overwritten.  Reads only the sources that go to a place. */
static int scatter_points(rkb_reader_t *reader, const rkb_program_node_t *node, bool add, uint64_t count,
                          const int64_t *index, rkb_block_t *out) {
   const bool onto = node->input_count > 2;
   arriving_t a;
   int status =
      arriving_new(&a, rkb_reader_program(reader), node->inputs[1], UINT64_C(1) << node->integers[0], count)
         ? RKB_OK
         : RKB_ERR_NOMEM;
   if (status == RKB_OK && onto)
      status = rkb_read(reader, node->inputs[2], count, index, out);
   for (uint64_t first = 0, end; status == RKB_OK && first < count; first = end) {
      status = find_sources(reader, node, &a, first, count, index, &end);
      for (uint64_t i = first, j = 0; status == RKB_OK && i < end; i++) {
         arrivals_t all = {0};
         if (onto && add)
            arrive(&all, rkb_block_get(out, i), true);
         for (; j < a.ends[i]; j++)
            arrive(&all, rkb_block_get(&a.sources, j), add);
         if (onto && all.terms == 0)
            all.point = rkb_block_get(out, i);
         rkb_block_put(out, i, a.doubts[i] ? outside : arrived(rkb_reader_precision(reader), &all, add));
      }
   }
   arriving_free(&a);
   return status;
}

static int compute_scatter(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count,
                           const int64_t *index, rkb_block_t *out) {
   return scatter_points(reader, node, true, count, index, out);
}

static int compute_overwrite(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count,
                             const int64_t *index, rkb_block_t *out) {
   return scatter_points(reader, node, false, count, index, out);
}

static uint32_t gradient_scatter(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                                 uint32_t grad) {
   if (which == 0)
      return rkb_make_gather(program, grad, node->inputs[1], (uint32_t)node->integers[0]);
   return which == 2 ? grad : RKB_NO_VALUE;
}

static uint32_t gradient_overwrite(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                                   uint32_t grad);

static const rkb_operation_t scatter = {
   .name = "scatter", .costly = true, .compute = compute_scatter, .work = work, .gradient = gradient_scatter};
static const rkb_operation_t overwrite = {.name = "overwrite",
                                          .costly = true,
                                          .compute = compute_overwrite,
                                          .work = work,
                                          .gradient = gradient_overwrite};

/* The tensor below gets no gradient at places that were overwritten. */
static uint32_t gradient_overwrite(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                                   uint32_t grad) {
   if (which == 0)
      return rkb_make_gather(program, grad, node->inputs[1], (uint32_t)node->integers[0]);
   if (which == 1)
      return RKB_NO_VALUE;
   rkb_shape_t picks = *rkb_program_shape(program, node->inputs[1]);
   uint32_t nothing = rkb_make_full(program, &picks, 0, rkb_program_dtype(program, grad));
   return rkb_make_scatter(program, grad, node->inputs[1], nothing, (uint32_t)node->integers[0], false);
}

static uint32_t gradient_gather(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                                uint32_t grad) {
   if (which == 1)
      return RKB_NO_VALUE;
   rkb_shape_t shape = *rkb_program_shape(program, node->inputs[0]);
   return rkb_program_add(program, &scatter, (uint32_t[]){grad, node->inputs[1]}, 2, node->integers, 1, NULL,
                          0, rkb_program_dtype(program, node->inputs[0]), &shape);
}

static const rkb_operation_t gather = {
   .name = "gather", .moves = true, .compute = compute_gather, .work = work, .gradient = gradient_gather};

uint32_t rkb_make_gather(rkb_program_t *program, uint32_t x, uint32_t index, uint32_t dim) {
   const rkb_shape_t *from = rkb_program_shape(program, x), *picks = rkb_program_shape(program, index);
   if (program->failed)
      return RKB_NO_VALUE;
   bool fits = from->rank == picks->rank && dim < from->rank;
   for (uint32_t d = 0; fits && d < from->rank; d++)
      fits = d == dim || from->size[d] == picks->size[d];
   if (!fits)
      return rkb_program_fail(program, "gather: x and index differ in more than dim %u", dim);
   rkb_shape_t shape = *picks;
   int64_t along = dim;
   return rkb_program_add(program, &gather, (uint32_t[]){x, index}, 2, &along, 1, NULL, 0,
                          rkb_program_dtype(program, x), &shape);
}

uint32_t rkb_make_scatter(rkb_program_t *program, uint32_t x, uint32_t index, uint32_t source, uint32_t dim,
                          bool add) {
   rkb_shape_t shape = *rkb_program_shape(program, x), picks = *rkb_program_shape(program, index),
               from = *rkb_program_shape(program, source);
   if (program->failed)
      return RKB_NO_VALUE;
   bool fits = shape.rank == picks.rank && dim < shape.rank && rkb_shape_equal(&picks, &from);
   for (uint32_t d = 0; fits && d < shape.rank; d++)
      fits = d == dim || shape.size[d] == picks.size[d];
   if (!fits)
      return rkb_program_fail(program, "scatter: index and source have one shape, that of x except in dim %u",
                              dim);
   int64_t along = dim;
   return rkb_program_add(program, add ? &scatter : &overwrite, (uint32_t[]){source, index, x}, 3, &along, 1,
                          NULL, 0, rkb_program_dtype(program, x), &shape);
}

uint32_t rkb_make_embedding(rkb_program_t *program, uint32_t table, uint32_t index) {
   const rkb_shape_t *rows = rkb_program_shape(program, table);
   rkb_shape_t picks = *rkb_program_shape(program, index), flat = {.rank = 2, .size = {1, 1}}, out = picks;
   if (program->failed)
      return RKB_NO_VALUE;
   if (rows->rank != 2 || picks.rank >= RKB_MAX_RANK)
      return rkb_program_fail(program, "embedding: the table is a matrix");
   flat.size[0] = (int64_t)rkb_shape_product(&picks, 0, picks.rank);
   rkb_shape_t wide = {.rank = 2, .size = {flat.size[0], rows->size[1]}};
   out.size[out.rank++] = rows->size[1];
   uint32_t stretched = rkb_make_expand(program, rkb_make_reshape(program, index, &flat), &wide);
   return rkb_make_reshape(program, rkb_make_gather(program, table, stretched, 0), &out);
}
