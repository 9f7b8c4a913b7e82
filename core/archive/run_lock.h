/* The lock that allows one writer per run directory. */
#ifndef RKB_ARCHIVE_RUN_LOCK_H
#define RKB_ARCHIVE_RUN_LOCK_H

#include <rkb/plugin.h>

/* Takes the lock file at path.  *previous: the pid that a killed writer left in it, or 0.  RKB_ERR_UNAVAILABLE: locked; the message
 * names the holder's pid. */
int rkb_lock_take(const char *path, int *descriptor, int64_t *previous, rkb_error_t *err);
/* The pid of the process that holds the lock, 0 when nobody does or there is no such file; -1: held by a process that left no pid. */
int64_t rkb_lock_holder(const char *path);
/* Empties the file and releases the lock.  -1 is accepted. */
void rkb_lock_give(int descriptor);

#endif
