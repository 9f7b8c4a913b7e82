/* The files that ship with the program, by their names alone, for messages about a file that is not there. */
#ifndef RKB_BASE_SHIPPED_H
#define RKB_BASE_SHIPPED_H

#include <stdbool.h>

/* folder is "pipelines", "tasks" or "devices".  The name nearest to what a person gave as a file or directory that is not
 * there: one of the shipped ones, or a file beside the path that was given, written as that path.  malloc'd; NULL when
 * nothing is near.  "runs": runs ship nowhere, only those beside it; NULL: any file beside it. */
char *rkb_shipped_nearest(const char *folder, const char *given);
/* "; did you mean 'stock'?" or "".  malloc'd, never NULL. */
char *rkb_shipped_hint(const char *folder, const char *given);
/* Every shipped name: "a100, b200 and h100".  malloc'd; NULL when there is none. */
char *rkb_shipped_list(const char *folder);

#endif
