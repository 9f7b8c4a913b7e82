/* The lock that allows one writer per run directory. */
#ifndef RKB_ARCHIVE_RUN_LOCK_H
#define RKB_ARCHIVE_RUN_LOCK_H

#include <rkb/plugin.h>

/* Takes the lock file at path.  *previous: the pid that a killed writer left in it, or 0.  RKB_ERR_UNAVAILABLE: locked; the message
 * names the holder's pid. */
int rkb_lock_take(const char *path, int *descriptor, int64_t *previous, rkb_error_t *err);
/* Empties the file and releases the lock.  -1 is accepted. */
void rkb_lock_give(int descriptor);

#endif
