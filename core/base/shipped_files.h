/* Names of the files that ship with the program, for messages about a file that does not exist. */
#ifndef RKB_BASE_SHIPPED_FILES_H
#define RKB_BASE_SHIPPED_FILES_H

#include <stdbool.h>

/* Finds the name nearest to a file or directory that does not exist: a shipped name, or a file beside the given path (then returned
 * as a path).  folder is "pipelines", "tasks" or "devices"; "runs", for which only the given path's directory is searched; or
 * NULL: any file in that directory.  malloc'd; NULL when nothing is near. */
char *rkb_shipped_nearest(const char *folder, const char *given);
/* "; did you mean 'stock'?" or "".  malloc'd, never NULL. */
char *rkb_shipped_hint(const char *folder, const char *given);
/* Lists all shipped names of a folder: "a100, b200 and h100".  malloc'd; NULL when there are none. */
char *rkb_shipped_list(const char *folder);

#endif
