/* Panels.  A panel holds some lines of an operand over part of the depth.  Two panels give the sums that a contraction needs.
 * Shared by whole blocks (contraction.c) and points (contraction_points.c); nobody else includes this file. */
#ifndef RKB_REFERENCE_OPERATIONS_CONTRACTION_PANEL_H
#define RKB_REFERENCE_OPERATIONS_CONTRACTION_PANEL_H

#include "reference/operations/contraction.h"

#define RKB_ROWS_A_BLOCK 128u
#define RKB_COLUMNS_A_BLOCK 512u

/* The sums kept for one output: the value, |ab|, (ab)^2, the count of non-zero terms, and the sums of the operands' bounds.  The count is
 * NaN where a NaN among the terms meets a number that is surely not 0. */
enum { VALUE, ABSOLUTE, SQUARES, NONZERO, HARD, VARIANCE, SUMS };

/* Flags besides those of enum rkb_point_flags.  Of a line: some element of the line is NaN.  Of an addend: the addend is NaN, and so is
 * the sum. */
#define RKB_LINE_NAN 0x80u
#define RKB_ADDEND_NAN 0x40u

/* Arrays of lines x depth, the depth running fastest. */
typedef struct rkb_panel {
   uint64_t lines, depth, room;
   int64_t *index;    /* filled by the caller before rkb_panel_read */
   rkb_block_t block; /* the elements; where products are rounded, hard and variance include that rounding */
   bool zeros, exact,
      not_a_number; /* zeros: some values are 0; exact: all bounds are 0; not_a_number: some are NaN */
   uint8_t *line_flags;
   /* Derived from block by rkb_panel_derive: |x|, x^2, x != 0, and the bounds multiplied for the sums. */
   double *derived, *size, *square, *nonzero, *hard_total, *variance_total;
} rkb_panel_t;

bool rkb_panel_new(rkb_panel_t *panel, uint64_t lines,
                   uint64_t depth); /* false: memory is out, and the panel holds nothing */
void rkb_panel_free(rkb_panel_t *panel);
int rkb_panel_read(rkb_reader_t *reader, rkb_panel_t *panel, uint32_t value, uint64_t lines, uint64_t depth);

/* Computes the derived arrays that rkb_panels_multiply needs.  False: memory is out. */
bool rkb_panel_derive(rkb_panel_t *panel);

/* Lines first .. first+lines-1 of a derived panel. */
typedef struct rkb_panel_part {
   const rkb_panel_t *panel;
   uint64_t first, lines;
} rkb_panel_part_t;

/* Adds the products of two parts to six matrices, one per sum, of left.lines rows that lie stride apart.  Uses one thread. */
void rkb_panels_multiply(rkb_panel_part_t left, rkb_panel_part_t right, uint64_t stride,
                         double *const sums[SUMS]);

/* Whether a NaN of either line meets a number of the other that is surely not 0. */
bool rkb_panel_lines_have_nan(const rkb_panel_t *left, uint64_t row, const rkb_panel_t *right,
                              uint64_t column);

/* Adds the products of one line with another to six numbers. */
void rkb_panel_lines_multiply(const rkb_panel_t *left, uint64_t row, const rkb_panel_t *right,
                              uint64_t column, double sums[SUMS]);

/* The precision of a sum of products of two values: that of the class, except that two 8-bit floats use the
 * accumulator of the tensor cores. */
rkb_precision_t rkb_contraction_precision(const rkb_reader_t *reader, uint32_t left, uint32_t right);

/* Call it after the whole depth was added.  It adds the addend (NULL: none), and turns the sums over the
 * terms' bounds and variances into those of the outputs. */
void rkb_contraction_conclude(const rkb_precision_t *precision, uint64_t count, uint64_t depth,
                              const rkb_block_t *addend, double *const sums[SUMS]);

/* The flags of an addend, in the form of a line's flags; addend may hold nothing. */
static inline uint32_t rkb_addend_flags(const rkb_block_t *addend, uint64_t i) {
   if (!addend->value)
      return 0;
   return rkb_point_is_nan(rkb_block_get(addend, i)) ? RKB_ADDEND_NAN : addend->flags[i];
}

/* The point of an output after rkb_contraction_conclude; flags are those of its two lines and its addend.  NaN times an exact 0, such as
 * padding, a masked weight or a gradient that a pool gave to another element, is NaN where a kernel multiplies and nothing where it
 * leaves the term out. */
static inline rkb_point_t rkb_contraction_point(const rkb_precision_t *precision, double *const sums[SUMS],
                                                uint64_t i, uint32_t flags) {
   if ((flags & RKB_ADDEND_NAN) || ((flags & RKB_LINE_NAN) && isnan(sums[NONZERO][i])))
      return rkb_point_nan();
   if (flags & RKB_LINE_NAN)
      return (rkb_point_t){NAN, 0, 0, RKB_POINT_DONT_CARE};
   /* ABSOLUTE includes the addend */
   const bool overflows = !(sums[ABSOLUTE][i] + sums[HARD][i] < precision->largest);
   return (rkb_point_t){sums[VALUE][i], sums[HARD][i], sums[VARIANCE][i],
                        flags | (overflows ? RKB_POINT_DONT_CARE : 0)};
}

#endif
