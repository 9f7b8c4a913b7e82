/* The C++ of single-element operations. */
#ifndef RKB_GENERATOR_MAP_TEXT_H
#define RKB_GENERATOR_MAP_TEXT_H

#include <stdbool.h>
#include <stdint.h>

/* An operation as an expression: $a $b $c are its operands, $0 $1 its numbers, $n a count.  Where it has #0 or #1, its numbers as
 * integers, the operands are integers too.  narrow: of a task whose precision class is bf16 or fp16.  NULL: there is none. */
const char *rkb_map_text(const char *operation, bool narrow);
/* The rounding that a graph asks for in its middle: one, to nearest even, or towards zero in an integer type.  NULL: there is none. */
const char *rkb_conversion_text(uint32_t dtype);

/* Device functions that such expressions call; each is written once into a kernel file that mentions it. */
typedef struct rkb_helper {
   const char *name, *text;
} rkb_helper_t;
const rkb_helper_t *
rkb_helper_at(uint32_t index); /* NULL past the end; a function comes after those it calls */

#endif
