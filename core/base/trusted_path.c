/* Owners and modes, from the file to the root (trusted_path.h).  Owns nothing. */
#include "base/trusted_path.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool rkb_owner_trusted(uid_t owner) {
   struct stat program;
   return owner == 0 || owner == geteuid() ||
          (stat("/proc/self/exe", &program) == 0 && owner == program.st_uid);
}

/* Whether others may write to a file.  Any member of a group may have written, except of the user's private group, which has the user's number and no
 * other member, and of root's. */
static bool others_write(const struct stat *about) {
   const bool is_private = about->st_gid == 0 || about->st_gid == (gid_t)geteuid();
   return (about->st_mode & S_IWOTH) || ((about->st_mode & S_IWGRP) && !is_private);
}

static bool one_trusted(const char *path, char *why, size_t size) {
   struct stat about;
   if (lstat(path, &about) != 0) {
      snprintf(why, size, "%s: %s", path, strerror(errno));
      return false;
   }
   if (!rkb_owner_trusted(about.st_uid)) {
      snprintf(why, size, "%s belongs to user %lu, who is neither you nor root nor the owner of this program", path,
               (unsigned long)about.st_uid);
      return false;
   }
   if (others_write(&about) && !(S_ISDIR(about.st_mode) && (about.st_mode & S_ISVTX))) {
      snprintf(why, size, "%s can be written to by %s: chmod go-w %s", path,
               about.st_mode & S_IWOTH ? "others" : "its group, which is not yours alone", path);
      return false;
   }
   return true;
}

bool rkb_path_trusted(const char *path, char *why, size_t size) {
   char whole[PATH_MAX];
   if (!realpath(path, whole)) {
      snprintf(why, size, "%s: %s", path, strerror(errno));
      return false;
   }
   for (;;) {
      if (!one_trusted(whole[0] ? whole : "/", why, size))
         return false;
      if (!whole[0] || strcmp(whole, "/") == 0)
         return true;
      *strrchr(whole, '/') = '\0'; /* a path of realpath begins with '/' */
   }
}

bool rkb_file_is_own(int file, struct stat *about) {
   return fstat(file, about) == 0 && S_ISREG(about->st_mode) && about->st_uid == geteuid() &&
          (about->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}
