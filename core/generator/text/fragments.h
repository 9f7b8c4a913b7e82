/* The operands of tensor cores, and the device functions that load and multiply fragments (PTX ISA, "Warp-level Matrix Instructions").
 *
 * All types have one geometry in bytes: an instruction multiplies 16 rows by 8 columns over 32 bytes of
 * depth.  Constant tables. */
#ifndef RKB_GENERATOR_FRAGMENTS_H
#define RKB_GENERATOR_FRAGMENTS_H

#include "base/text.h"
#include "generator/graph/graph.h"
#include "generator/graph/target.h"

#define RKB_FRAGMENT_M 16
#define RKB_FRAGMENT_N 8
#define RKB_FRAGMENT_BYTES 32 /* of depth */

typedef struct rkb_fragment_type {
   const char *name;     /* the value's name in a schedule */
   const char *storage;  /* C++ type of an element in shared memory */
   const char *sum;      /* C++ type of a sum */
   const char *multiply; /* the device function that multiplies */
   /* The text that makes an element from a float, with %s; NULL: elements are copied as they are stored. */
   const char *round;
   uint32_t dtype, bytes;
   const char *warpgroup; /* the types of a wgmma's sums and factors: ".f32.bf16.bf16"; NULL: warpgroups do not multiply this type */
} rkb_fragment_type_t;

const rkb_fragment_type_t *rkb_fragment_type(int64_t path); /* fragment_types.c */
/* Whether the task's precision class allows these tensor cores for both factors of a product.  fp8 and int8
 * need factors that are stored in these types. */
bool rkb_fragment_is_legal(const rkb_graph_t *graph, uint32_t product, int64_t path);
/* Appends the device functions that a kernel file's code calls. */
void rkb_fragment_helpers(const char *code, rkb_text_t *out);
bool rkb_fragment_has_helper(const char *name);

#endif
