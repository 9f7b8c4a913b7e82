/* What tensor cores multiply, and the device functions that load fragments and multiply them (PTX ISA, "Warp-level Matrix
 * Instructions").
 *
 * All types have one geometry in bytes: an instruction multiplies 16 rows by 8 columns over 32 bytes of depth.  Constant tables. */
#ifndef RKB_GENERATOR_FRAGMENTS_H
#define RKB_GENERATOR_FRAGMENTS_H

#include "base/text.h"
#include "generator/graph.h"
#include "generator/target.h"

#define RKB_FRAGMENT_M 16
#define RKB_FRAGMENT_N 8
#define RKB_FRAGMENT_BYTES 32 /* of depth */

typedef struct rkb_fragment_type {
   const char *name;     /* of the decision's value */
   const char *storage;  /* C++ type of an element in shared memory */
   const char *sum;      /* C++ type of a sum */
   const char *multiply; /* the device function */
   const char *round;    /* makes an element of a float, with %s; NULL: elements are copied as they are stored */
   uint32_t dtype, bytes;
   const char *warpgroup; /* the types of a wgmma's sums and factors: ".f32.bf16.bf16"; NULL: warpgroups do not multiply it */
} rkb_fragment_type_t;

const rkb_fragment_type_t *rkb_fragment_type(int64_t path); /* fragment_types.c */
/* Whether the task's precision class lets both factors of a product go through these tensor cores.  fp8 and int8 need factors that are
 * stored so. */
bool rkb_fragment_is_legal(const rkb_graph_t *graph, uint32_t product, int64_t path);
/* Appends the device functions that a kernel file's code calls. */
void rkb_fragment_helpers(const char *code, rkb_text_t *out);
bool rkb_fragment_has_helper(const char *name);

#endif
