/* "did you mean ...?": the candidate name closest to what a person wrote (Damerau-Levenshtein). */
#ifndef RKB_BASE_NEAREST_NAME_H
#define RKB_BASE_NEAREST_NAME_H

#include <stddef.h>

/* Finds the nearest of names (NULL-terminated).  A name is near when its distance is at most a third of the longer name's length
 * (but at least 1 and at most 3) and the two have something in common.  The first of equally near names wins.  NULL when no
 * name is near.  Names over 64 bytes are not compared. */
const char *rkb_nearest(const char *written, const char *const *names);

#endif
