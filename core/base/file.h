/* Files, whole: read with a ceiling, written so that a reader sees the old or the new one and never half. */
#ifndef RKB_BASE_FILE_H
#define RKB_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <rkb/plugin.h>

/* malloc'd and NUL-terminated after *length bytes.  RKB_ERR_LIMIT past limit; only regular files are read. */
int rkb_file_read(const char *path, size_t limit, char **data, size_t *length, rkb_error_t *err);
/* Writes beside and renames; through a link, into a device or a pipe it writes directly.  Parent directories must exist.  Not synced: after a power cut the file may be empty. */
int rkb_file_write(const char *path, const void *data, size_t length, rkb_error_t *err);
/* The same for a file that this user alone may read, and always a plain one: what lies at path is replaced, not written into. */
int rkb_file_write_own(const char *path, const void *data, size_t length, rkb_error_t *err);
int rkb_make_directories(const char *path, rkb_error_t *err); /* like mkdir -p, mode 0777 & ~umask */
bool rkb_path_exists(const char *path);
/* path below directory, or path itself when it is absolute; malloc'd, not resolved through links. */
char *rkb_path_join(const char *directory, const char *path);
char *rkb_path_directory(const char *path); /* malloc'd; "." when it has none */
/* A part of the program's own data: "tasks", "pipelines", "devices", "plugins".  An executable in the build tree, wherever
 * that was moved or copied, uses the plugins beside it and the source tree around it, or else the one it was built from; any
 * other looks in share/rkb/ (plugins: the library directory's rkb/) below the nearest parent of /proc/self/exe that has it.
 * malloc'd, or NULL. */
char *rkb_find_data(const char *name);
/* The program's own task or pipeline of a name, folder/name or folder/name.yaml; NULL when there is none or name is a path.  malloc'd. */
char *rkb_find_shipped(const char *folder, const char *name);
/* What a person named: given itself when it is there, else the program's own one, else given.  malloc'd. */
char *rkb_find_named(const char *folder, const char *given);
/* A helper program of ours ("rkb-compiler"): beside the running one, or in libexec/rkb of its build or installation.  malloc'd,
 * or NULL. */
char *rkb_find_program(const char *name);

#endif
