/* Moves to values that need not be choices yet, guided by what is known of all texts with these parameters.
 *
 * A parameter's ladder has the values that were tried or are choices, half the least and twice the greatest.  Points up to three steps on ladders
 * away from the parent, from the best and from others with a result make a pool, and a Gaussian process says which of them promises most
 * (plugins/shared/tuner).  It sees the values and, for what else differs between two texts, their lengths: a text that an edit changed a little
 * learns from its parent, and a rewritten one less.  Requests that run side by side draw pools of their own, and so seldom ask for the same.
 * Pure; any thread. */
#ifndef TUNE_OFF_CHOICE_MOVES_H
#define TUNE_OFF_CHOICE_MOVES_H

#include <rkb/ext/kernel.h>
#include <rkb/ext/random.h>
#include "shared/assignment.h"

typedef struct wide_point {
   bool own;      /* of the parent's family (same_text_family.h); else of another text */
   double length; /* of the text, in bytes */
   int64_t value[ASSIGNMENT_MAX];
   double objective; /* NAN: rejected, unknown, or not measured */
} wide_point_t;

/* Chooses the next values of a text of this length from the parent's and replaces them; *moved is false when every point of the pool is known. */
int off_choice_move(const rkb_random_api_t *random, rkb_random_t *stream, const rkb_manifest_t *manifest,
                    const wide_point_t *points, uint32_t point_count, double length,
                    int64_t values[ASSIGNMENT_MAX], bool *moved, rkb_error_t *err);

#endif
