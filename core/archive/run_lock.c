/* The lock of a run directory: flock on the file `lock`, which contains the writer's pid for people and messages.  The kernel releases
 * an flock with its process, so the lock of a killed writer is free; only the text is stale.  Nothing depends on that pid, so it
 * does no harm when another program gets the same pid. */
#include "archive/run_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOMENTS = 100 };

static int64_t read_pid(int descriptor) {
   char text[32] = "";
   ssize_t got = pread(descriptor, text, sizeof text - 1, 0);
   return got > 0 ? strtoll(text, NULL, 10) : 0;
}

static int write_pid(int descriptor, const char *path, rkb_error_t *err) {
   char text[32];
   int length = snprintf(text, sizeof text, "%lld\n", (long long)getpid());
   if (ftruncate(descriptor, 0) != 0 || pwrite(descriptor, text, (size_t)length, 0) != length)
      return rkb_fail(err, RKB_ERR_IO, "cannot write %s: %s", path, strerror(errno));
   return RKB_OK;
}

/* Whether the holder is dead.  Preserves errno, because the caller still needs the reason why it could not lock. */
static bool is_gone(int64_t holder) {
   int saved = errno;
   bool gone = holder > 0 && kill((pid_t)holder, 0) != 0 && errno == ESRCH;
   errno = saved;
   return gone;
}

/* A writer that was killed while it started a child leaves the lock's descriptor with the child until the child runs its program or
 * ends.  That takes a moment.  So if the holder named in the file is dead, tries again for a short time. */
static int lock_patiently(int descriptor) {
   const struct timespec moment = {.tv_nsec = 20000000};
   int result = flock(descriptor, LOCK_EX | LOCK_NB);
   for (int i = 0; i < MOMENTS && result != 0 && errno == EWOULDBLOCK && is_gone(read_pid(descriptor)); i++) {
      nanosleep(&moment, NULL);
      result = flock(descriptor, LOCK_EX | LOCK_NB);
   }
   return result;
}

/* Whether the file is a plain lock file.  A run's folder may come from another person, and through a link there another file of the user would be emptied.
 * */
static bool is_lock_file(int descriptor) {
   struct stat about;
   return fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode) && about.st_nlink == 1;
}

int rkb_lock_take(const char *path, int *descriptor, int64_t *previous, rkb_error_t *err) {
   int status = RKB_OK;
   int opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
   if (opened < 0)
      return rkb_fail(err, RKB_ERR_IO, "cannot open %s: %s", path, strerror(errno));
   if (!is_lock_file(opened)) {
      status = rkb_fail(err, RKB_ERR_INVALID, "%s is no file of this folder alone: remove it", path);
      goto close_file;
   }
   if (lock_patiently(opened) != 0) {
      int reason = errno;
      int64_t holder = read_pid(opened);
      if (reason != EWOULDBLOCK)
         status = rkb_fail(err, RKB_ERR_IO, "cannot lock %s: %s", path, strerror(reason));
      else if (holder > 0)
         status = rkb_fail(err, RKB_ERR_UNAVAILABLE,
                           "the run is being written by process %lld (%s): wait for it or stop it",
                           (long long)holder, path);
      else
         status = rkb_fail(err, RKB_ERR_UNAVAILABLE,
                           "the run is being written by another process (%s): wait for it or stop it", path);
      goto close_file;
   }
   *previous = read_pid(opened);
   status = write_pid(opened, path, err);
   if (status != RKB_OK)
      goto close_file;
   *descriptor = opened;
   return RKB_OK;

close_file:
   close(opened);
   return status;
}

int64_t rkb_lock_holder(const char *path) {
   int64_t holder = 0;
   int opened = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
   if (opened < 0)
      return 0;
   if (flock(opened, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      holder = read_pid(opened);
      if (holder == 0)
         holder = -1;
   }
   close(opened);
   return holder;
}

void rkb_lock_give(int descriptor) {
   if (descriptor < 0)
      return;
   /* An empty file means a clean end.  A failure only leaves a stale pid, which does no harm. */
   int ignored = ftruncate(descriptor, 0);
   (void)ignored;
   close(descriptor);
}
