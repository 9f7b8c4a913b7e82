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

/* out, or a new directory below runs/ that is called after name (out NULL).  made is to be freed, whatever is returned. */
int rkb_run_directory_new(const char *out, const char *name, rkb_run_directory_t *made, rkb_error_t *err);
/* Removes what was not there before the run: its files, then directories that hold nothing else. */
void rkb_run_directory_take_back(const rkb_run_directory_t *made);
void rkb_run_directory_free(rkb_run_directory_t *made);

#endif
