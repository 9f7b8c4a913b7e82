/* Whole files.  A read has a size limit.  A write is atomic: a reader sees the old file or the new file, never half. */
#ifndef RKB_BASE_FILE_H
#define RKB_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <rkb/plugin.h>

/* Reads a regular file.  *data is malloc'd and has a NUL after *length bytes.  RKB_ERR_LIMIT when the file is larger than limit. */
int rkb_file_read(const char *path, size_t limit, char **data, size_t *length, rkb_error_t *err);
/* Writes a new file beside path and renames it onto path.  If path is a link, a device or a pipe, writes into it directly.
 * Parent directories must exist.  There is no fsync: after a power cut the file may be empty. */
int rkb_file_write(const char *path, const void *data, size_t length, rkb_error_t *err);
/* The same for a file that only this user may read.  A link, device or pipe at path is replaced by a plain file, not written into. */
int rkb_file_write_own(const char *path, const void *data, size_t length, rkb_error_t *err);
int rkb_make_directories(const char *path, rkb_error_t *err); /* like mkdir -p, mode 0777 & ~umask */
bool rkb_path_exists(const char *path);
/* directory/path, or path itself when it is absolute.  malloc'd.  Links are not resolved. */
char *rkb_path_join(const char *directory, const char *path);
char *rkb_path_directory(const char *path); /* malloc'd; "." when it has none */
/* Finds a part of the program's own data: "tasks", "pipelines", "devices" or "plugins".  An executable in a build tree, also one
 * that was moved or copied, uses that tree's plugins and the source tree around it; failing that, the tree it was built from.
 * Any other executable looks for share/rkb/ (plugins: rkb/ in the library directory) below the parents of /proc/self/exe,
 * nearest first.  malloc'd; NULL when not found. */
char *rkb_find_data(const char *name);
/* The shipped task or pipeline with this name: folder/name or folder/name.yaml; name may have folders of its own,
 * as in "experiments/profile".  NULL when there is none, or when a part of name begins with a dot or it is absolute.
 * malloc'd. */
char *rkb_find_shipped(const char *folder, const char *name);
/* Resolves what a person typed: given itself if it exists, else the shipped file of that name, else given.  malloc'd. */
char *rkb_find_named(const char *folder, const char *given);
/* Finds one of the program's helpers ("rkb-compiler"): beside the running program, or in libexec/rkb of its build or
 * installation.  malloc'd, or NULL. */
char *rkb_find_program(const char *name);

#endif
