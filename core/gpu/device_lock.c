/* Locks files in a folder of this user's through their descriptors, so that the lock of a killed program is free.  The folder is not in /tmp: there
 * anybody could hold a lock for ever, or own a file that others cannot open.  So two users of one GPU do not wait for each other, and each disturbs the
 * other's times.  Owns the turnstile's file while it waits. */
#include "gpu/device_lock.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>
#include "base/private_folder.h"
#include "system/loop.h"

enum { WAIT_MS = 5 };

/* Opens a file that every program of this user may lock, and waits for its lock.  If *file is not -1, the
 * caller closes it, whatever is returned. */
static int lock_file(const char *path, const rkb_patience_t *patience, int *file, rkb_error_t *err) {
   *file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
   if (*file < 0)
      return rkb_fail(err, RKB_ERR_IO, "cannot open %s, which keeps programs from using one GPU at once: %s",
                      path, strerror(errno));
   while (flock(*file, LOCK_EX | LOCK_NB) != 0) {
      if (patience->cancelled && patience->cancelled(patience->argument))
         return rkb_fail(err, RKB_ERR_CANCELLED, "cancelled");
      if (patience->deadline_ns && rkb_now_ns() > patience->deadline_ns)
         return rkb_fail(err, RKB_ERR_TIMEOUT, "another program held the GPU (%s) until the deadline", path);
      nanosleep(&(struct timespec){0, WAIT_MS * 1000000}, NULL);
   }
   return RKB_OK;
}

/* Locks a file named after the device's place on the bus.  Waiters queue on a second lock, the turnstile.  So
 * a program that releases the device and wants it again at once comes after the programs that have waited
 * (core/tools/baseline/timing_protocol.py does the same). */
int rkb_device_lock(const char *greeting, const char *place, const rkb_patience_t *patience, int *file,
                    rkb_error_t *err) {
   char *folder = NULL, path[4096], next[sizeof path + 8], bus[40] = "0";
   const char *named = strstr(greeting, "bus=");
   int turnstile = -1;
   if (named)
      sscanf(named, "bus=%39[0-9A-Fa-f:.]", bus);
   int status = rkb_cache_path("locks", &folder, err);
   if (status == RKB_OK)
      status = rkb_private_folder(folder, err);
   snprintf(path, sizeof path, "%s/gpu-%s%s%s.lock", folder ? folder : "", place, place[0] ? "-" : "", bus);
   snprintf(next, sizeof next, "%s.next", path);
   free(folder);
   if (status == RKB_OK)
      status = lock_file(next, patience, &turnstile, err);
   if (status == RKB_OK)
      status = lock_file(path, patience, file, err);
   if (turnstile >= 0)
      close(turnstile); /* also releases its lock */
   return status;
}
