/* Panels: some lines of an operand over part of the depth, and the sums that a contraction needs of two of them.  What whole
 * blocks (contraction.c) and points (contraction_points.c) share; nobody else includes this. */
#ifndef RKB_REFERENCE_CONTRACTION_PANEL_H
#define RKB_REFERENCE_CONTRACTION_PANEL_H

#include "reference/contraction.h"

#define RKB_ROWS_A_BLOCK 128u
#define RKB_COLUMNS_A_BLOCK 512u

/* The sums of one output: the value, |ab|, (ab)^2, the count of non-zero terms, and the operands' own bounds. */
enum { VALUE, ABSOLUTE, SQUARES, NONZERO, HARD, VARIANCE, SUMS };

/* Arrays of lines x depth, the depth running fastest. */
typedef struct rkb_panel {
   uint64_t lines, depth, room;
   int64_t *index; /* filled by the caller before rkb_panel_read */
   rkb_block_t
      block; /* what was read; hard and variance with the operand's own rounding, where products round them */
   bool zeros, exact; /* some values are 0; all bounds are */
   uint8_t *line_flags;
   /* Made of the block by rkb_panel_derive; |x|, x^2, x != 0, and the bounds with what they belong to. */
   double *derived, *size, *square, *nonzero, *hard_total, *variance_total;
} rkb_panel_t;

bool rkb_panel_new(rkb_panel_t *panel, uint64_t lines,
                   uint64_t depth); /* false: memory is out, nothing held */
void rkb_panel_free(rkb_panel_t *panel);
int rkb_panel_read(rkb_reader_t *reader, rkb_panel_t *panel, uint32_t value, uint64_t lines, uint64_t depth);

/* What rkb_panels_multiply needs besides.  False: memory is out. */
bool rkb_panel_derive(rkb_panel_t *panel);

/* Lines first .. first+lines-1 of a panel that was derived. */
typedef struct rkb_panel_part {
   const rkb_panel_t *panel;
   uint64_t first, lines;
} rkb_panel_part_t;

/* Adds the products of two parts to six matrices of left.lines rows that lie stride apart, the calling thread's alone. */
void rkb_panels_multiply(rkb_panel_part_t left, rkb_panel_part_t right, uint64_t stride,
                         double *const sums[SUMS]);

/* Adds the products of one line with another to six numbers. */
void rkb_panel_lines_multiply(const rkb_panel_t *left, uint64_t row, const rkb_panel_t *right,
                              uint64_t column, double sums[SUMS]);

/* Turns the sums of the terms' hard bounds and variances into the outputs' own, once all of the depth was added. */
void rkb_contraction_conclude(const rkb_precision_t *precision, uint64_t count, uint64_t depth,
                              double *const sums[SUMS]);

/* The point of a concluded output. */
static inline rkb_point_t rkb_contraction_point(const rkb_precision_t *precision, double *const sums[SUMS],
                                                uint64_t i, uint32_t flags) {
   const bool overflows = !(sums[ABSOLUTE][i] + sums[HARD][i] < precision->largest);
   return (rkb_point_t){sums[VALUE][i], sums[HARD][i], sums[VARIANCE][i],
                        flags | (overflows ? RKB_POINT_DONT_CARE : 0)};
}

#endif
