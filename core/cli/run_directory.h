/* The directory of a run: chosen and made before the run, and removed again when the run is refused before its first request. */
#ifndef RKB_CLI_RUN_DIRECTORY_H
#define RKB_CLI_RUN_DIRECTORY_H

#include <stdbool.h>
#include <rkb/plugin.h>

enum { RKB_RUN_FILES = 6 }; /* files that a run may write before its first request */

typedef struct rkb_run_directory {
   char *path;                 /* owned */
   char *kept;                 /* owned: the part of path that existed before; "" if none did */
   bool before[RKB_RUN_FILES]; /* which files existed before */
} rkb_run_directory_t;

/* Makes the directory `out`, or with out NULL a new directory below runs/ whose name begins with `name`.
 * Free made, whatever is returned. */
int rkb_run_directory_new(const char *out, const char *name, rkb_run_directory_t *made, rkb_error_t *err);
/* Removes the files that did not exist before the run, then the directories that became empty. */
void rkb_run_directory_take_back(const rkb_run_directory_t *made);
void rkb_run_directory_free(rkb_run_directory_t *made);

#endif
