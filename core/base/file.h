/* Files, whole: read with a ceiling, written so that a reader sees the old or the new one and never half. */
#ifndef RKB_BASE_FILE_H
#define RKB_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <rkb/plugin.h>

/* malloc'd and NUL-terminated after *length bytes.  RKB_ERR_LIMIT past limit; only regular files are read. */
int rkb_file_read(const char *path, size_t limit, char **data, size_t *length, rkb_error_t *err);
/* Writes beside and renames.  Parent directories must exist. */
int rkb_file_write(const char *path, const void *data, size_t length, rkb_error_t *err);
int rkb_make_directories(const char *path, rkb_error_t *err); /* like mkdir -p, mode 0777 & ~umask */
bool rkb_path_exists(const char *path);
/* path against base's directory when relative; malloc'd, not resolved through links. */
char *rkb_path_join(const char *directory, const char *path);
char *rkb_path_directory(const char *path); /* malloc'd; "." when it has none */
/* The directory of the running executable's build or installation root, for finding plugins, tasks and profiles:
 * the nearest parent of /proc/self/exe that holds share/rkb or, in the build tree, the source tree recorded at build time.
 * malloc'd path of name below it, or NULL. */
char *rkb_find_data(const char *name);

#endif
