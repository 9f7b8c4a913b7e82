/* Edits of a text that a model wrote as pairs of what to search and what to put there:
 *
 *    <<<<<<< SEARCH
 *    lines as they are in the text
 *    =======
 *    lines to put there
 *    >>>>>>> REPLACE
 *
 * Pure; any thread. */
#ifndef PLUGIN_REPLY_EDITS_H
#define PLUGIN_REPLY_EDITS_H

#include <rkb/plugin.h>

#define EDITS_MOST 64

bool edits_present(const char *reply, size_t bytes);

/* Applies all edits of the reply in order, each to what the edits before it left.  The searched lines must be
 * there exactly once; blanks at the ends of lines do not matter.  *edited is malloc'd.  RKB_ERR_INVALID:
 * err->message says which edit does not apply and why, with line numbers. */
int edits_apply(const char *text, const char *reply, size_t bytes, char **edited, uint32_t *count,
                rkb_error_t *err);

#endif
