/* Whether a path can be relied on: who owns it and who may write to it or to any folder on the way to it.  Any thread. */
#ifndef RKB_BASE_TRUSTED_PATH_H
#define RKB_BASE_TRUSTED_PATH_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Whether an owner is trusted: root, this process's user, and the owner of the running program, who could have changed the program itself. */
bool rkb_owner_trusted(uid_t owner);

/* Whether the file at path, and every folder from it to the root (links followed), has a trusted owner and is not writable by
 * others: not by everybody, and not by a group other than root's and the user's private one.  A folder with the sticky bit may be writable, because nobody can replace another user's files in it.  why gets the reason. */
bool rkb_path_trusted(const char *path, char *why, size_t size);

/* Whether an open file is a regular file of this process's user that nobody else may write to. */
bool rkb_file_is_own(int file, struct stat *about);

#endif
