/* The features of a shape that other shapes did not have: for each dim the octave and the residues of its size, and for each pair
 * of modes (dims with few small values, such as a stride) their pair of values.  One thread. */
#ifndef MACHINE_SHAPE_FEATURES_H
#define MACHINE_SHAPE_FEATURES_H

#include "verifier.h"

#define FEATURE_PLACES 16384u

struct shape_features {
   uint64_t seen[FEATURE_PLACES]; /* a hash table; 0: free */
   uint32_t count;
   uint64_t modes; /* a bit for each dim that is a mode */
};

/* Takes the modes from the task's cases, and what its check cases show. */
void shape_features_open(struct shape_features *features, const struct verifier *verifier);
/* How much a case shows that was not seen before; note: it is seen now. */
uint32_t shape_features_new(struct shape_features *features, const rkb_case_t *the_case, bool note);
/* Whether this feature of another kind is new; the number says what it is. */
bool shape_features_take(struct shape_features *features, uint64_t feature, bool note);

#endif
