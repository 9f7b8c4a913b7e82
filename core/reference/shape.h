/* Extents of a tensor and the arithmetic of its element numbers (row-major: the last dim is fastest).  Pure functions. */
#ifndef RKB_REFERENCE_SHAPE_H
#define RKB_REFERENCE_SHAPE_H

#include <rkb/ext/task.h>
#include "base/text.h"

typedef struct rkb_shape {
   uint32_t rank;
   int64_t size[RKB_MAX_RANK];
} rkb_shape_t;

/* The product of the sizes; false when it passes 2^48 elements, more than any buffer here can hold. */
bool rkb_shape_elements(const rkb_shape_t *shape, uint64_t *elements);
bool rkb_shape_equal(const rkb_shape_t *a, const rkb_shape_t *b);
/* "2 x 3 x 5", or "scalar". */
void rkb_shape_text(const rkb_shape_t *shape, char *out, size_t size);
/* Two shapes, for a message that names both. */
typedef struct rkb_shape_texts {
   char left[96], right[96];
} rkb_shape_texts_t;
rkb_shape_texts_t rkb_shape_texts(const rkb_shape_t *left, const rkb_shape_t *right);
/* Converts a dim from -rank .. rank-1 to 0 .. rank-1; false outside that range. */
bool rkb_shape_dim(const rkb_shape_t *shape, int64_t written, uint32_t *dim);
/* Broadcasts two shapes by NumPy's rule: aligned at the last dim, a size of 1 stretches.  False when two sizes disagree. */
bool rkb_shape_broadcast(const rkb_shape_t *a, const rkb_shape_t *b, rkb_shape_t *out);
/* Product of the sizes of dims first .. last-1. */
uint64_t rkb_shape_product(const rkb_shape_t *shape, uint32_t first, uint32_t last);
/* Converts an element number to coordinates, and back. */
void rkb_shape_split(const rkb_shape_t *shape, uint64_t element, int64_t *at);
uint64_t rkb_shape_join(const rkb_shape_t *shape, const int64_t *at);
/* The strides, in elements, with which an operand is read when it is broadcast to out; 0 for stretched dims. */
void rkb_shape_broadcast_strides(const rkb_shape_t *operand, const rkb_shape_t *out, int64_t *strides);

#endif
