/* Differences between two texts, line by line.  Pure functions; any thread. */
#ifndef RKB_BASE_LINE_DIFFERENCE_H
#define RKB_BASE_LINE_DIFFERENCE_H

#include <stdbool.h>
#include "base/text.h"

/* Appends hunks as diff -u writes them, three equal lines around each change; nothing when the texts are equal.  A difference over too long
 * a stretch (more than 4 million pairs of lines) is written as one replacement, which is correct and not the shortest. */
void rkb_line_difference(const char *before, const char *after, rkb_text_t *out);

#endif
