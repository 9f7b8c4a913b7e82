/* The wgmma.mma_async of the conformance set (tensor_vectors.h): one line a form.
 *
 *    wgmma SHAPE.D.A.B [KEY=VALUE ...]
 *
 * a and b are images of shared memory, filled with elements of their types; descriptors say which bytes of them are read.  Keys: an, bn
 * (bytes of the images), as, bs (start), al, bl (leading offset), at, bt (stride offset), ao, bo (base offset), aw, bw (swizzle: 0,
 * 32, 64, 128), ax, bx (1: elements side by side differ in their row or column), am, bm (-1: negated), add (0: not added to c),
 * sat (1: saturated), reg (1: a from registers). */
#ifndef CONFORMANCE_WARPGROUP_VECTORS_H
#define CONFORMANCE_WARPGROUP_VECTORS_H

#include "tensor_vectors.h"

bool warpgroup_parse(const char *rest, tensor_form_t *out, const char **message);
size_t warpgroup_ptx(const tensor_form_t *form, char *out, size_t size);

#endif
