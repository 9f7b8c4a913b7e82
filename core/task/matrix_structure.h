/* Structure of the matrices in an input's last two dims: triangles, a diagonal, symmetry.  Every family keeps it.  Pure functions. */
#ifndef RKB_TASK_MATRIX_STRUCTURE_H
#define RKB_TASK_MATRIX_STRUCTURE_H

#include <stdbool.h>

#include <rkb/ext/task.h>

#include "base/random.h"

enum rkb_structure {
   RKB_STRUCTURE_NONE = 0,
   RKB_STRUCTURE_UPPER, /* zero below the diagonal */
   RKB_STRUCTURE_LOWER, /* zero above it */
   RKB_STRUCTURE_DIAGONAL,
   RKB_STRUCTURE_SYMMETRIC
};
#define RKB_STRUCTURE_NAMES "upper, lower, diagonal or symmetric"

bool rkb_structure_parse(const char *name, uint32_t *structure);

/* The element whose draw decides an element's number: the element itself, except below the diagonal of a
 * symmetric matrix, where it is the mirror image. */
uint64_t rkb_structure_source(uint32_t structure, const rkb_tensor_t *tensor, uint64_t element);
/* What the stream draws for `count` elements from `first` on. */
void rkb_structure_draw(uint32_t structure, const rkb_tensor_t *tensor, const rkb_random_t *stream,
                        uint64_t first, uint64_t count, uint64_t *bits);
/* Sets the elements to zero that the structure defines as zero. */
void rkb_structure_clear(uint32_t structure, const rkb_tensor_t *tensor, uint64_t first, uint64_t count,
                         double *numbers);

#endif
