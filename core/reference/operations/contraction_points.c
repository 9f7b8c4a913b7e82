/* Evaluates sums of products for listed elements only.  Each wanted row and column is read once for each part of the depth.  Where
 * most pairs of some rows and columns are wanted, blocks are multiplied; otherwise pair by pair.  Owns its panels while it runs;
 * the calling thread, with OpenMP helpers in the products. */
#include "reference/operations/contraction_panel.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "reference/evaluate.h"

#define PANEL_ELEMENTS (UINT64_C(1) << 21)
/* Multiply a block if it computes at most this many pairs per wanted pair: a product inside a block is much cheaper than one alone. */
#define MOST_IDLE 4u
#define TABLE_SPAN 16u /* use a table if the numbers span at most this many per line */
#define LEAST_LINES 4u /* with fewer lines a block is not worth its setup */
#define MOST_GRID (UINT64_C(1) << 22)

/* The pairs of one group and their sums so far: per sum a matrix of rows x columns, or six numbers for each pair. */
typedef struct work {
   const rkb_contraction_t *contraction;
   uint64_t group, count, row_count, column_count, depth;
   uint64_t *left_lines,
      *right_lines; /* for each pair: first row and column within the group, then their places in the panels */
   uint64_t *rows, *columns; /* distinct, ascending */
   double *sums;
   uint8_t *row_flags, *column_flags; /* one per line */
   bool grid;
   rkb_panel_t left, right;
} work_t;

static void work_free(work_t *work) {
   rkb_panel_free(&work->left);
   rkb_panel_free(&work->right);
   free(work->rows);
   free(work->columns);
   free(work->sums);
   free(work->row_flags);
   free(work->column_flags);
}

static int ascending(const void *a, const void *b) {
   uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
   return (left > right) - (left < right);
}

static uint64_t distinct(uint64_t *list, uint64_t count) {
   qsort(list, count, sizeof *list, ascending);
   uint64_t kept = 0;
   for (uint64_t i = 0; i < count; i++)
      if (i == 0 || list[i] != list[i - 1])
         list[kept++] = list[i];
   return kept;
}

static uint64_t place_of(const uint64_t *list, uint64_t count, uint64_t wanted) {
   const uint64_t *found = bsearch(&wanted, list, count, sizeof *list, ascending);
   return (uint64_t)(found - list);
}

/* Fills list with the distinct values of places in ascending order and returns their count.  Replaces each entry of places by its
 * index in list.  Uses a table where the values lie close together, as they mostly do; otherwise sorts. */
static uint64_t number_lines(uint64_t *list, uint64_t count, uint64_t *places) {
   uint64_t first = list[0], last = list[0];
   for (uint64_t i = 1; i < count; i++) {
      first = list[i] < first ? list[i] : first;
      last = list[i] > last ? list[i] : last;
   }
   uint64_t span = last - first + 1, kept = 0;
   uint32_t *table = span <= TABLE_SPAN * (count + 64) ? rkb_try_allocate(span, sizeof *table, NULL) : NULL;
   if (!table) {
      kept = distinct(list, count);
      for (uint64_t i = 0; i < count; i++)
         places[i] = place_of(list, kept, places[i]);
      return kept;
   }
   for (uint64_t i = 0; i < count; i++)
      table[places[i] - first] = 1;
   for (uint64_t i = 0; i < span; i++)
      if (table[i]) {
         table[i] = (uint32_t)kept;
         list[kept++] = first + i;
      }
   for (uint64_t i = 0; i < count; i++)
      places[i] = table[places[i] - first];
   free(table);
   return kept;
}

static uint64_t least(uint64_t a, uint64_t b) {
   return a < b ? a : b;
}

static int work_open(work_t *work) {
   uint64_t count = work->count;
   work->rows = rkb_try_uncleared(count + 1, sizeof *work->rows, NULL);
   work->columns = rkb_try_uncleared(count + 1, sizeof *work->columns, NULL);
   if (!work->rows || !work->columns)
      return RKB_ERR_NOMEM;
   memcpy(work->rows, work->left_lines, count * sizeof *work->rows);
   memcpy(work->columns, work->right_lines, count * sizeof *work->columns);
   work->row_count = number_lines(work->rows, count, work->left_lines);
   work->column_count = number_lines(work->columns, count, work->right_lines);
   uint64_t all = work->row_count * work->column_count;
   work->grid = least(work->row_count, work->column_count) >= LEAST_LINES && all <= MOST_GRID &&
                all <= MOST_IDLE * count;
   work->depth = least(work->contraction->depth, PANEL_ELEMENTS / (work->row_count + work->column_count) + 1);
   work->sums = rkb_try_allocate((work->grid ? all : count) * SUMS + 1, sizeof *work->sums, NULL);
   work->row_flags = rkb_try_allocate(work->row_count + 1, 1, NULL);
   work->column_flags = rkb_try_allocate(work->column_count + 1, 1, NULL);
   return work->sums && work->row_flags && work->column_flags &&
                rkb_panel_new(&work->left, work->row_count, work->depth) &&
                rkb_panel_new(&work->right, work->column_count, work->depth)
             ? RKB_OK
             : RKB_ERR_NOMEM;
}

static void add_pairs(work_t *work) {
   bool large = (double)work->count * (double)work->left.depth > RKB_SHARED_PRODUCTS;
   (void)large; /* used only in the OpenMP pragma */
#pragma omp parallel for schedule(static) if (large)
   for (uint64_t i = 0; i < work->count; i++)
      rkb_panel_lines_multiply(&work->left, work->left_lines[i], &work->right, work->right_lines[i],
                               work->sums + i * SUMS);
}

static void add_blocks(work_t *work) {
   uint64_t row_blocks = (work->row_count + RKB_ROWS_A_BLOCK - 1) / RKB_ROWS_A_BLOCK;
   uint64_t column_blocks = (work->column_count + RKB_COLUMNS_A_BLOCK - 1) / RKB_COLUMNS_A_BLOCK;
   uint64_t all = work->row_count * work->column_count, blocks = row_blocks * column_blocks;
   bool large = (double)all * (double)work->left.depth > RKB_SHARED_PRODUCTS;
   (void)large; /* used only in the OpenMP pragma */
#pragma omp parallel for schedule(dynamic) if (blocks > 1 && large)
   for (uint64_t block = 0; block < blocks; block++) {
      uint64_t row = block / column_blocks * RKB_ROWS_A_BLOCK;
      uint64_t column = block % column_blocks * RKB_COLUMNS_A_BLOCK;
      double *sums[SUMS];
      for (int s = 0; s < SUMS; s++)
         sums[s] = work->sums + (uint64_t)s * all + row * work->column_count + column;
      rkb_panels_multiply(
         (rkb_panel_part_t){&work->left, row, least(RKB_ROWS_A_BLOCK, work->row_count - row)},
         (rkb_panel_part_t){&work->right, column, least(RKB_COLUMNS_A_BLOCK, work->column_count - column)},
         work->column_count, sums);
   }
}

/* Adds the terms of the part of the depth that begins at first. */
static int add_part(rkb_reader_t *reader, work_t *work, uint64_t first) {
   const rkb_contraction_t *c = work->contraction;
   uint64_t part = least(work->depth, c->depth - first);
#pragma omp parallel for schedule(static) if (work->row_count > 1 &&                                         \
                                              work->row_count * part > RKB_SHARED_ELEMENTS)
   for (uint64_t i = 0; i < work->row_count; i++)
      c->left_index(c->geometry, work->group, work->rows[i], first, part, work->left.index + i * part);
#pragma omp parallel for schedule(static) if (work->column_count > 1 &&                                      \
                                              work->column_count * part > RKB_SHARED_ELEMENTS)
   for (uint64_t i = 0; i < work->column_count; i++)
      c->right_index(c->geometry, work->group, work->columns[i], first, part, work->right.index + i * part);
   int status = rkb_panel_read(reader, &work->left, c->left, work->row_count, part);
   if (status == RKB_OK)
      status = rkb_panel_read(reader, &work->right, c->right, work->column_count, part);
   if (status != RKB_OK)
      return status;
   if (work->grid && (!rkb_panel_derive(&work->left) || !rkb_panel_derive(&work->right)))
      return RKB_ERR_NOMEM;
   (work->grid ? add_blocks : add_pairs)(work);
   for (uint64_t i = 0; i < work->row_count; i++)
      work->row_flags[i] |= work->left.line_flags[i];
   for (uint64_t i = 0; i < work->column_count; i++)
      work->column_flags[i] |= work->right.line_flags[i];
   return RKB_OK;
}

static void conclude(const rkb_reader_t *reader, const work_t *work, const rkb_block_t *addend,
                     rkb_block_t *out) {
   const rkb_precision_t precision =
      rkb_contraction_precision(reader, work->contraction->left, work->contraction->right);
   uint64_t all = work->row_count * work->column_count;
   for (uint64_t i = 0; i < work->count; i++) {
      uint64_t row = work->left_lines[i], column = work->right_lines[i];
      double numbers[SUMS], *sums[SUMS];
      for (uint64_t s = 0; s < SUMS; s++) {
         numbers[s] =
            work->grid ? work->sums[s * all + row * work->column_count + column] : work->sums[i * SUMS + s];
         sums[s] = &numbers[s];
      }
      const rkb_block_t one = addend->value ? rkb_block_from(addend, i) : *addend;
      rkb_contraction_conclude(&precision, 1, rkb_contraction_places(work->contraction),
                               one.value ? &one : NULL, sums);
      rkb_block_put(out, i,
                    rkb_contraction_point(&precision, sums, 0,
                                          (uint32_t)work->row_flags[row] | work->column_flags[column] |
                                             rkb_addend_flags(&one, 0)));
   }
}

static int contract_group(rkb_reader_t *reader, const rkb_contraction_t *c, uint64_t group, uint64_t count,
                          uint64_t *rows, uint64_t *columns, const int64_t *index, rkb_block_t *out) {
   work_t work = {
      .contraction = c, .group = group, .count = count, .left_lines = rows, .right_lines = columns};
   rkb_block_t addend = {0};
   int status = rkb_reader_work(reader, (double)count * (double)c->depth);
   if (status == RKB_OK)
      status = work_open(&work);
   for (uint64_t first = 0; status == RKB_OK && first < c->depth; first += work.depth)
      status = add_part(reader, &work, first);
   if (status == RKB_OK)
      status = rkb_contraction_read_addend(reader, c, count, index, &addend);
   if (status == RKB_OK)
      conclude(reader, &work, &addend, out);
   rkb_block_free(&addend);
   work_free(&work);
   return status;
}

int rkb_contract_points(rkb_reader_t *reader, const rkb_contraction_t *c, uint64_t count,
                        const int64_t *index, rkb_block_t *out) {
   uint64_t *groups = rkb_try_uncleared(3 * count + 1, sizeof *groups, NULL), *rows = groups + count,
            *columns = rows + count;
   int status = groups ? RKB_OK : RKB_ERR_NOMEM;
   for (uint64_t i = 0; status == RKB_OK && i < count; i++)
      c->split(c->geometry, (uint64_t)index[i], &groups[i], &rows[i], &columns[i]);
   for (uint64_t first = 0, end; status == RKB_OK && first < count; first = end) {
      for (end = first + 1; end < count && groups[end] == groups[first];)
         end++;
      rkb_block_t part = rkb_block_from(out, first);
      status = contract_group(reader, c, groups[first], end - first, rows + first, columns + first,
                              index + first, &part);
   }
   free(groups);
   return status;
}

/* Lines of both operands repeat where outputs share rows or columns; elements repeat where windows overlap. */
double rkb_contraction_cone(const rkb_program_t *program, const rkb_contraction_t *c, uint32_t which,
                            double outputs, uint64_t samples, const int64_t *output, int64_t *operand) {
   if (which > 1) { /* the addend has one element for each output, unless it is stretched */
      memcpy(operand, output, samples * sizeof *operand);
      return rkb_shape_equal(rkb_program_shape(program, c->addend), rkb_program_shape(program, c->frame))
                ? outputs
                : 0;
   }
   uint64_t *lines = rkb_allocate(samples + 1, sizeof *lines), found = 0;
   double most = (double)program->values[which == 0 ? c->left : c->right].elements;
   double all = (double)c->groups * (double)(which == 0 ? c->rows : c->columns);
   for (uint64_t i = 0; i < samples; i++) {
      uint64_t group, row, column, term = (i * UINT64_C(0x9E3779B97F4A7C15) >> 20) % c->depth;
      operand[i] = -1;
      if (output[i] < 0)
         continue;
      c->split(c->geometry, (uint64_t)output[i], &group, &row, &column);
      if (which == 0)
         c->left_index(c->geometry, group, row, term, 1, &operand[i]);
      else
         c->right_index(c->geometry, group, column, term, 1, &operand[i]);
      lines[found++] = which == 0 ? group * c->rows + row : group * c->columns + column;
   }
   double distinct = rkb_estimate_distinct(lines, found, all < outputs ? all : outputs);
   double elements = distinct * (double)c->depth / (which == 0 ? (double)c->repeats : 1);
   free(lines);
   return found == 0 ? 0 : elements < most ? elements : most;
}
