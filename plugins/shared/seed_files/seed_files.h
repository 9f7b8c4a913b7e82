/* Finds and reads the kernel files of a directory.  Blocks; no state; any worker. */
#ifndef SEED_FILES_H
#define SEED_FILES_H

#include <rkb/plugin.h>

enum { SEED_FILES_MAX = 64, SEED_FILE_BYTES = 256 * 1024 };

typedef struct seed_files {
   char *paths[SEED_FILES_MAX]; /* malloc'd, in order */
   uint32_t count;
} seed_files_t;

/* names: NULL-terminated; the files have their order, and relative ones are below directory.  NULL: every
 * *.cu of directory by name.  Neither the directory nor a folder "seeds" around it may be a link.  On failure *files is empty. */
int seed_files_find(const char *directory, const char *const *names, seed_files_t *files, rkb_error_t *err);
void seed_files_free(seed_files_t *files);

/* Reads one file's text, NUL-terminated; malloc'd. */
int seed_file_read(const char *path, char **text, rkb_error_t *err);

const char *seed_file_name(const char *path); /* what follows the last slash */

#endif
