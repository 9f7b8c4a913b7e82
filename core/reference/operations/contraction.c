/* Evaluates sums of products, with both bounds, for whole tensors: one block of rows and columns at a time.  Owns its panels while
 * it runs; any thread. */
#include "reference/operations/contraction_panel.h"

#include <stdlib.h>
#include "base/memory.h"
#include "reference/operations/elementwise.h"

#define PANEL_DEPTH 1024u

static uint64_t least(uint64_t a, uint64_t b) {
   return a < b ? a : b;
}

void rkb_contraction_operands(rkb_contraction_t *contraction, const rkb_program_node_t *node) {
   const bool has_addend = node->input_count > 2;
   contraction->left = node->inputs[0];
   contraction->right = node->inputs[1];
   contraction->addend = has_addend ? node->inputs[2] : RKB_NO_VALUE;
   contraction->frame = has_addend ? node->addend_frame : RKB_NO_VALUE;
}

double rkb_contraction_addend_work(const rkb_program_t *program, const rkb_program_node_t *node) {
   return node->input_count > 2 ? (double)program->values[node->output].elements : 0;
}

int rkb_contraction_read_addend(rkb_reader_t *reader, const rkb_contraction_t *contraction, uint64_t count,
                                const int64_t *index, rkb_block_t *out) {
   *out = (rkb_block_t){0};
   if (contraction->addend == RKB_NO_VALUE)
      return RKB_OK;
   if (!rkb_block_new(out, count))
      return RKB_ERR_NOMEM;
   return rkb_read_stretched(reader, contraction->addend,
                             rkb_program_shape(rkb_reader_program(reader), contraction->frame), count, index,
                             out);
}

/* One block of rows against one block of columns, over the whole depth. */
static int contract_block(rkb_reader_t *reader, const rkb_contraction_t *c, uint64_t group, uint64_t row,
                          uint64_t rows, uint64_t column, uint64_t columns, rkb_block_t *out) {
   uint64_t depth = least(c->depth, PANEL_DEPTH), outputs = rows * columns;
   rkb_panel_t left = {0}, right = {0};
   uint8_t *row_flags = rkb_allocate(rows + columns, 1), *column_flags = row_flags + rows;
   double *memory = rkb_allocate(SUMS * outputs, sizeof *memory), *sums[SUMS];
   int64_t *elements = rkb_allocate(outputs, sizeof *elements);
   rkb_block_t addend = {0};
   int status = RKB_ERR_NOMEM;
   if (!rkb_panel_new(&left, rows, depth) || !rkb_panel_new(&right, columns, depth))
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
      status = rkb_panel_read(reader, &left, c->left, rows, part);
      if (status == RKB_OK)
         status = rkb_panel_read(reader, &right, c->right, columns, part);
      if (status != RKB_OK)
         goto out;
      if (!rkb_panel_derive(&left) || !rkb_panel_derive(&right)) {
         status = RKB_ERR_NOMEM;
         goto out;
      }
      rkb_panels_multiply((rkb_panel_part_t){&left, 0, rows}, (rkb_panel_part_t){&right, 0, columns}, columns,
                          sums);
      for (uint64_t i = 0; i < rows; i++)
         row_flags[i] |= left.line_flags[i];
      for (uint64_t i = 0; i < columns; i++)
         column_flags[i] |= right.line_flags[i];
   }
   for (uint64_t i = 0; i < outputs; i++)
      elements[i] = (int64_t)c->element(c->geometry, group, row + i / columns, column + i % columns);
   status = rkb_contraction_read_addend(reader, c, outputs, elements, &addend);
   if (status != RKB_OK)
      goto out;
   const rkb_precision_t precision = rkb_contraction_precision(reader, c->left, c->right);
   rkb_contraction_conclude(&precision, outputs, rkb_contraction_places(c), addend.value ? &addend : NULL,
                            sums);
   for (uint64_t i = 0; i < outputs; i++)
      rkb_block_put(out, (uint64_t)elements[i],
                    rkb_contraction_point(&precision, sums, i,
                                          (uint32_t)row_flags[i / columns] | column_flags[i % columns] |
                                             rkb_addend_flags(&addend, i)));
out:
   free(elements);
   rkb_block_free(&addend);
   rkb_panel_free(&left);
   rkb_panel_free(&right);
   free(row_flags);
   free(memory);
   return status;
}

int rkb_contract_whole(rkb_reader_t *reader, const rkb_contraction_t *c, rkb_block_t *out) {
   uint64_t row_blocks = (c->rows + RKB_ROWS_A_BLOCK - 1) / RKB_ROWS_A_BLOCK;
   uint64_t column_blocks = (c->columns + RKB_COLUMNS_A_BLOCK - 1) / RKB_COLUMNS_A_BLOCK;
   int64_t tasks = (int64_t)(c->groups * row_blocks * column_blocks);
   bool large =
      (double)c->groups * (double)c->rows * (double)c->columns * (double)c->depth > RKB_SHARED_PRODUCTS;
   int status = RKB_OK;
   (void)large; /* used only in the OpenMP pragma */
#pragma omp parallel for schedule(dynamic) if (tasks > 1 && large)
   for (int64_t task = 0; task < tasks; task++) {
      uint64_t column = (uint64_t)task % column_blocks * RKB_COLUMNS_A_BLOCK;
      uint64_t row = (uint64_t)task / column_blocks % row_blocks * RKB_ROWS_A_BLOCK;
      uint64_t group = (uint64_t)task / column_blocks / row_blocks;
      int result = contract_block(reader, c, group, row, least(RKB_ROWS_A_BLOCK, c->rows - row), column,
                                  least(RKB_COLUMNS_A_BLOCK, c->columns - column), out);
      if (result != RKB_OK) {
#pragma omp atomic write
         status = result;
      }
   }
   return status;
}
