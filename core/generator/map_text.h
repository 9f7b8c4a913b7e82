/* The C++ of single-element operations. */
#ifndef RKB_GENERATOR_MAP_TEXT_H
#define RKB_GENERATOR_MAP_TEXT_H

#include <stdbool.h>
#include <stdint.h>

/* An operation as an expression: $a $b $c are its operands, $0 $1 its numbers, $n a count.  NULL: there is none. */
const char *rkb_map_text(const char *operation);

/* Device functions that such expressions call; each is written once into a kernel file that mentions it. */
typedef struct rkb_helper {
   const char *name, *text;
} rkb_helper_t;
const rkb_helper_t *
rkb_helper_at(uint32_t index); /* NULL past the end; a function comes after those it calls */

#endif
