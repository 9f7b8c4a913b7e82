/* Private folders of this user.  They are made, restricted and checked here, and so is the key that seals their files.  Any thread;
 * processes share the folders. */
#ifndef RKB_BASE_PRIVATE_FOLDER_H
#define RKB_BASE_PRIVATE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <rkb/plugin.h>
#include "base/hash.h"

/* The path of a cache: $XDG_CACHE_HOME/rkb/<name>, else $HOME/.cache/rkb/<name>; malloc'd.  RKB_ERR_UNAVAILABLE when neither is set to
 * an absolute path: a cache never goes to a folder that others share. */
int rkb_cache_path(const char *name, char **path, rkb_error_t *err);

/* Makes the folder and its parents and takes from others the right to write to it.  RKB_ERR_UNAVAILABLE when it belongs to somebody
 * else, or when others could put another in its place. */
int rkb_private_folder(const char *path, rkb_error_t *err);

/* The key of a private folder, drawn when the folder has none: the file "key" there, which only its owner can read. */
int rkb_private_key(const char *folder, unsigned char key[RKB_HASH_BYTES], rkb_error_t *err);

/* Opens a file of a private folder to read: a regular file of this user that nobody else may write to, and no link to one.  Never
 * waits.  -1 when there is no such file. */
int rkb_private_open(const char *path, size_t *bytes);

/* Reads size bytes, or says that they are not there. */
bool rkb_private_read(int file, void *data, size_t size);

#endif
