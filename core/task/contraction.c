/* Sums of products with both bounds, by panels: a panel holds some rows (or columns) of an operand over part
 * of the depth. Six sums are needed for each output: the value, |ab|, (ab)^2, the count of non-zero terms,
 * and the operands' own bounds carried through.  Whole blocks get them from OpenBLAS; scattered points by
 * plain loops over the same panels. Owns its panels while it runs; any thread. */
#include "task/contraction.h"

#include <cblas.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define PANEL_DEPTH 1024u
#define ROWS_A_BLOCK 128u
#define COLUMNS_A_BLOCK 512u
#define PANEL_ELEMENTS (UINT64_C(1) << 21)

enum { VALUE, ABSOLUTE, SQUARES, NONZERO, HARD, VARIANCE, SUMS };

/* Rows of one operand over part of the depth: arrays of lines x depth, the depth running fastest. */
typedef struct panel {
   uint64_t lines, depth, room;
   bool zeros, exact, dont_care;
   double *value, *size, *square, *nonzero, *hard, *variance, *hard_total, *variance_total;
   uint8_t *line_flags;
   int64_t *index;
   rkb_block_t block;
} panel_t;

static pthread_once_t blas_once = PTHREAD_ONCE_INIT;

/* The program's own threads are the parallelism; OpenBLAS must not add its own below them. */
static void use_one_blas_thread(void) {
   openblas_set_num_threads(1);
}

static void panel_free(panel_t *panel) {
   free(panel->value);
   free(panel->line_flags);
   free(panel->index);
   rkb_block_free(&panel->block);
   *panel = (panel_t){0};
}

static bool panel_new(panel_t *panel, uint64_t lines, uint64_t depth) {
   *panel = (panel_t){.room = lines * depth};
   panel->value = malloc((panel->room * 8 + 1) * sizeof *panel->value);
   panel->line_flags = malloc(lines + 1);
   panel->index = malloc((panel->room + 1) * sizeof *panel->index);
   if (!panel->value || !panel->line_flags || !panel->index || !rkb_block_new(&panel->block, panel->room)) {
      panel_free(panel);
      return false;
   }
   double **arrays[] = {&panel->size,     &panel->square,     &panel->nonzero,       &panel->hard,
                        &panel->variance, &panel->hard_total, &panel->variance_total};
   for (unsigned i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
      *arrays[i] = panel->value + (i + 1) * panel->room;
   return true;
}

/* Reads the panel whose indices are in place, and makes the arrays the sums need.  With rounded products
 * (TF32 and narrower classes) each operand carries that rounding, unless it is stored that narrow anyway. */
static int panel_read(rkb_reader_t *reader, panel_t *panel, uint32_t value, uint64_t lines, uint64_t depth) {
   const rkb_precision_t *precision = rkb_reader_precision(reader);
   uint32_t dtype = rkb_program_dtype(rkb_reader_program(reader), value);
   double product = dtype == RKB_F16 || dtype == RKB_BF16 ? 0 : precision->product;
   uint64_t count = lines * depth;
   int status = rkb_read(reader, value, count, panel->index, &panel->block);
   if (status != RKB_OK)
      return status;
   panel->lines = lines;
   panel->depth = depth;
   panel->zeros = panel->dont_care = false;
   panel->exact = true;
   for (uint64_t i = 0; i < count; i++) {
      double x = panel->block.value[i], size = fabs(x);
      panel->value[i] = x;
      panel->size[i] = size;
      panel->square[i] = x * x;
      panel->nonzero[i] = x != 0;
      panel->zeros |= x == 0;
      double hard = panel->block.hard[i] + product * size;
      double variance = panel->block.variance[i] + product * product * x * x / 3;
      panel->hard[i] = hard;
      panel->variance[i] = variance;
      panel->hard_total[i] = size + hard;
      panel->variance_total[i] = x * x + variance;
      panel->exact &= hard == 0 && variance == 0;
   }
   for (uint64_t line = 0; line < lines; line++) {
      uint8_t flags = 0;
      for (uint64_t k = 0; k < depth; k++)
         flags |= panel->block.flags[line * depth + k];
      panel->line_flags[line] = flags & RKB_POINT_DONT_CARE;
   }
   return RKB_OK;
}

static void accumulate(const panel_t *left, const double *a, const panel_t *right, const double *b,
                       double *sum) {
   cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)left->lines, (int)right->lines, (int)left->depth,
               1, a, (int)left->depth, b, (int)right->depth, 1, sum, (int)right->lines);
}

/* Adds one pair of panels to the six sums of a lines x lines block. */
static void add_block(const panel_t *left, const panel_t *right, double *sums[SUMS]) {
   uint64_t outputs = left->lines * right->lines;
   accumulate(left, left->value, right, right->value, sums[VALUE]);
   accumulate(left, left->size, right, right->size, sums[ABSOLUTE]);
   accumulate(left, left->square, right, right->square, sums[SQUARES]);
   if (left->zeros || right->zeros)
      accumulate(left, left->nonzero, right, right->nonzero, sums[NONZERO]);
   else
      for (uint64_t i = 0; i < outputs; i++)
         sums[NONZERO][i] += (double)left->depth;
   if (!right->exact) {
      accumulate(left, left->size, right, right->hard, sums[HARD]);
      accumulate(left, left->square, right, right->variance, sums[VARIANCE]);
   }
   if (!left->exact) {
      accumulate(left, left->hard, right, right->hard_total, sums[HARD]);
      accumulate(left, left->variance, right, right->variance_total, sums[VARIANCE]);
   }
}

static void add_pair(const panel_t *left, uint64_t row, const panel_t *right, uint64_t column, double *sums) {
   uint64_t a = row * left->depth, b = column * right->depth;
   for (uint64_t k = 0; k < left->depth; k++, a++, b++) {
      double product = left->value[a] * right->value[b];
      sums[VALUE] += product;
      sums[ABSOLUTE] += fabs(product);
      sums[SQUARES] += product * product;
      sums[NONZERO] += product != 0;
      sums[HARD] += left->size[a] * right->hard[b] + left->hard[a] * right->hard_total[b];
      sums[VARIANCE] += left->square[a] * right->variance[b] + left->variance[a] * right->variance_total[b];
   }
}

/* Non-zero terms that lie far apart meet a truncating accumulator one by one, and may lose twice a rounding
 * each: up to twice as many as they are count, and never more than the depth. */
static rkb_point_t conclude(const rkb_precision_t *precision, const double sums[SUMS], uint64_t depth,
                            uint32_t flags) {
   rkb_point_t point = {sums[VALUE], sums[HARD], sums[VARIANCE], flags};
   rkb_sum_rounding(precision, sums[VALUE], sums[ABSOLUTE], sums[SQUARES], sums[NONZERO], (double)depth,
                    &point);
   double apart = fmin(2 * sums[NONZERO], (double)depth) - sums[NONZERO];
   point.hard += apart * precision->unit * (sums[ABSOLUTE] + point.hard);
   if (sums[NONZERO] > 0 || point.hard > 0)
      point.hard +=
         precision->tiny * (sums[NONZERO] + 1); /* each product, and each partial sum, may be flushed */
   if (!(sums[ABSOLUTE] + point.hard < precision->largest))
      point.flags |= RKB_POINT_DONT_CARE;
   return point;
}

static uint64_t least(uint64_t a, uint64_t b) {
   return a < b ? a : b;
}

/* One block of rows against one block of columns, over the whole depth. */
static int contract_block(rkb_reader_t *reader, const rkb_contraction_t *c, uint64_t group, uint64_t row,
                          uint64_t rows, uint64_t column, uint64_t columns, rkb_block_t *out) {
   uint64_t depth = least(c->depth, PANEL_DEPTH), outputs = rows * columns;
   panel_t left = {0}, right = {0};
   uint8_t *row_flags = calloc(rows + columns, 1), *column_flags = row_flags ? row_flags + rows : NULL;
   double *memory = calloc(SUMS * outputs, sizeof *memory), *sums[SUMS];
   int status = RKB_ERR_NOMEM;
   if (!row_flags || !memory || !panel_new(&left, rows, depth) || !panel_new(&right, columns, depth))
      goto out;
   for (int i = 0; i < SUMS; i++)
      sums[i] = memory + (uint64_t)i * outputs;
   status = RKB_OK;
   for (uint64_t first = 0; first < c->depth; first += depth) {
      uint64_t part = least(depth, c->depth - first);
      for (uint64_t i = 0; i < rows; i++)
         c->left_index(c->geometry, group, row + i, first, part, left.index + i * part);
      for (uint64_t i = 0; i < columns; i++)
         c->right_index(c->geometry, group, column + i, first, part, right.index + i * part);
      status = panel_read(reader, &left, c->left, rows, part);
      if (status == RKB_OK)
         status = panel_read(reader, &right, c->right, columns, part);
      if (status != RKB_OK)
         goto out;
      add_block(&left, &right, sums);
      for (uint64_t i = 0; i < rows; i++)
         row_flags[i] |= left.line_flags[i];
      for (uint64_t i = 0; i < columns; i++)
         column_flags[i] |= right.line_flags[i];
   }
   for (uint64_t i = 0; i < rows; i++)
      for (uint64_t j = 0; j < columns; j++) {
         double of_one[SUMS];
         for (int k = 0; k < SUMS; k++)
            of_one[k] = sums[k][i * columns + j];
         rkb_block_put(
            out, c->element(c->geometry, group, row + i, column + j),
            conclude(rkb_reader_precision(reader), of_one, c->depth, row_flags[i] | column_flags[j]));
      }
out:
   panel_free(&left);
   panel_free(&right);
   free(row_flags);
   free(memory);
   return status;
}

int rkb_contract_whole(rkb_reader_t *reader, const rkb_contraction_t *c, rkb_block_t *out) {
   pthread_once(&blas_once, use_one_blas_thread);
   uint64_t row_blocks = (c->rows + ROWS_A_BLOCK - 1) / ROWS_A_BLOCK;
   uint64_t column_blocks = (c->columns + COLUMNS_A_BLOCK - 1) / COLUMNS_A_BLOCK;
   int64_t tasks = (int64_t)(c->groups * row_blocks * column_blocks);
   bool large = (double)c->groups * (double)c->rows * (double)c->columns * (double)c->depth > 1e5;
   int status = RKB_OK;
   (void)large; /* read by OpenMP alone */
#pragma omp parallel for schedule(dynamic) if (tasks > 1 && large)
   for (int64_t task = 0; task < tasks; task++) {
      uint64_t column = (uint64_t)task % column_blocks * COLUMNS_A_BLOCK;
      uint64_t row = (uint64_t)task / column_blocks % row_blocks * ROWS_A_BLOCK;
      uint64_t group = (uint64_t)task / column_blocks / row_blocks;
      int result = contract_block(reader, c, group, row, least(ROWS_A_BLOCK, c->rows - row), column,
                                  least(COLUMNS_A_BLOCK, c->columns - column), out);
      if (result != RKB_OK) {
#pragma omp atomic write
         status = result;
      }
   }
   return status;
}

/* Points: each wanted (group, row) and (group, column) is read once for a part of the depth, whatever the
 * number of pairs. */
typedef struct pair {
   uint64_t left, right; /* group * rows + row, group * columns + column; later the line in the panel */
} pair_t;

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

/* Pairs that share few lines: everything fits in a pair of panels of at least depth 1. */
static int contract_pairs(rkb_reader_t *reader, const rkb_contraction_t *c, uint64_t count, pair_t *pairs,
                          rkb_block_t *out) {
   uint64_t *rows = malloc((count + 1) * sizeof *rows), *columns = malloc((count + 1) * sizeof *columns);
   double *sums = calloc(count * SUMS + 1, sizeof *sums);
   uint8_t *flags = calloc(count + 1, 1);
   panel_t left = {0}, right = {0};
   int status = RKB_ERR_NOMEM;
   if (!rows || !columns || !sums || !flags)
      goto out;
   for (uint64_t i = 0; i < count; i++) {
      rows[i] = pairs[i].left;
      columns[i] = pairs[i].right;
   }
   status = rkb_reader_work(reader, (double)count * (double)c->depth);
   if (status != RKB_OK)
      goto out;
   status = RKB_ERR_NOMEM;
   uint64_t row_count = distinct(rows, count), column_count = distinct(columns, count);
   for (uint64_t i = 0; i < count; i++) {
      pairs[i].left = place_of(rows, row_count, pairs[i].left);
      pairs[i].right = place_of(columns, column_count, pairs[i].right);
   }
   uint64_t depth = least(c->depth, PANEL_ELEMENTS / (row_count + column_count) + 1);
   if (!panel_new(&left, row_count, depth) || !panel_new(&right, column_count, depth))
      goto out;
   status = RKB_OK;
   for (uint64_t first = 0; first < c->depth; first += depth) {
      uint64_t part = least(depth, c->depth - first);
      for (uint64_t i = 0; i < row_count; i++)
         c->left_index(c->geometry, rows[i] / c->rows, rows[i] % c->rows, first, part, left.index + i * part);
      for (uint64_t i = 0; i < column_count; i++)
         c->right_index(c->geometry, columns[i] / c->columns, columns[i] % c->columns, first, part,
                        right.index + i * part);
      status = panel_read(reader, &left, c->left, row_count, part);
      if (status == RKB_OK)
         status = panel_read(reader, &right, c->right, column_count, part);
      if (status != RKB_OK)
         goto out;
#pragma omp parallel for schedule(static) if (count * part > 100000)
      for (uint64_t i = 0; i < count; i++) {
         add_pair(&left, pairs[i].left, &right, pairs[i].right, sums + i * SUMS);
         flags[i] |= left.line_flags[pairs[i].left] | right.line_flags[pairs[i].right];
      }
   }
   for (uint64_t i = 0; i < count; i++)
      rkb_block_put(out, i, conclude(rkb_reader_precision(reader), sums + i * SUMS, c->depth, flags[i]));
out:
   panel_free(&left);
   panel_free(&right);
   free(rows);
   free(columns);
   free(sums);
   free(flags);
   return status;
}

int rkb_contract_points(rkb_reader_t *reader, const rkb_contraction_t *c, uint64_t count,
                        const int64_t *index, rkb_block_t *out) {
   pair_t *pairs = malloc((count + 1) * sizeof *pairs);
   if (!pairs)
      return RKB_ERR_NOMEM;
   for (uint64_t i = 0; i < count; i++) {
      uint64_t group, row, column;
      c->split(c->geometry, (uint64_t)index[i], &group, &row, &column);
      pairs[i] = (pair_t){group * c->rows + row, group * c->columns + column};
   }
   int status = contract_pairs(reader, c, count, pairs, out);
   free(pairs);
   return status;
}
