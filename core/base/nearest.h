/* "did you mean ...?": the candidate name closest to what a person wrote (Damerau-Levenshtein). */
#ifndef RKB_BASE_NEAREST_H
#define RKB_BASE_NEAREST_H

#include <stddef.h>

/* NULL-terminated names.  NULL when none is near (distance over a third of the longer name, at least 1, at most 3) or
 * nothing is in common.  Of equally near ones the first.  Names over 64 bytes are not compared. */
const char *rkb_nearest(const char *written, const char *const *names);

#endif
