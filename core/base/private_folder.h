/* Private folders of this user: makes, restricts and checks them, and the key that seals their files.  Any thread; processes share the folders. */
#ifndef RKB_BASE_PRIVATE_FOLDER_H
#define RKB_BASE_PRIVATE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <rkb/plugin.h>
#include "base/hash.h"

/* The path of a cache: $XDG_CACHE_HOME/rkb/<name>, else $HOME/.cache/rkb/<name>; malloc'd.  RKB_ERR_UNAVAILABLE when neither is set to
 * an absolute path: a cache never goes to a folder that others share. */
int rkb_cache_path(const char *name, char **path, rkb_error_t *err);

/* Makes the folder and its parents, and removes the right of others to write to it.  RKB_ERR_UNAVAILABLE: it belongs to another user, or others could replace
 * it. */
int rkb_private_folder(const char *path, rkb_error_t *err);

/* The key of a private folder, drawn when the folder has none: the file "key" there, which only its owner can read. */
int rkb_private_key(const char *folder, unsigned char key[RKB_HASH_BYTES], rkb_error_t *err);

/* Opens a file of a private folder for reading.  The file must be a regular file of this user that nobody else may write to, and no link.  Never waits.  -1:
 * there is no such file. */
int rkb_private_open(const char *path, size_t *bytes);

/* Reads exactly size bytes; false: the file has fewer. */
bool rkb_private_read(int file, void *data, size_t size);

#endif
