/* The C++ of single-element operations. */
#ifndef RKB_GENERATOR_MAP_TEXT_H
#define RKB_GENERATOR_MAP_TEXT_H

#include <stdbool.h>
#include <stdint.h>

/* An operation as an expression.  $a $b $c are its operands, $0 $1 its numbers, $n a count.  #0 and #1 are its
 * numbers as integers; in an expression with one of these the operands are integers too.  narrow: for a task
 * whose precision class is bf16 or fp16.  NULL: there is no text. */
const char *rkb_map_text(const char *operation, bool narrow);
/* The conversion to another type that a graph asks for: to nearest even, or towards zero for an integer type.
 * NULL: there is no text. */
const char *rkb_conversion_text(uint32_t dtype);

/* Device functions that the expressions of operations call.  A kernel file has the text of each called function once. */
typedef struct rkb_helper {
   const char *name, *text;
} rkb_helper_t;
const rkb_helper_t *
rkb_helper_at(uint32_t index); /* NULL past the end; a function comes after those it calls */

#endif
