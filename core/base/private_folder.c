/* Private folders (private_folder.h): checked by owner and mode, sealed with a key that only the owner can read. */
#include "base/private_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/file.h"
#include "base/trusted_path.h"

int rkb_cache_path(const char *name, char **path, rkb_error_t *err) {
   const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
   char below[256];
   *path = NULL;
   snprintf(below, sizeof below, "%srkb/%s", cache && cache[0] == '/' ? "" : ".cache/", name);
   if (cache && cache[0] == '/')
      *path = rkb_path_join(cache, below);
   else if (home && home[0] == '/')
      *path = rkb_path_join(home, below);
   else
      return rkb_fail(err, RKB_ERR_UNAVAILABLE,
                      "there is no place for a cache: set XDG_CACHE_HOME to a folder of your own (HOME is not set either)");
   return *path ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
}

/* Makes the parents with the modes of rkb_make_directories, and the folder itself for its owner alone. */
static int make_folder(const char *path, rkb_error_t *err) {
   char *parent = rkb_path_directory(path);
   int status = parent ? rkb_make_directories(parent, err) : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   free(parent);
   if (status == RKB_OK && mkdir(path, 0700) != 0 && errno != EEXIST)
      status = rkb_fail(err, RKB_ERR_IO, "cannot make %s: %s", path, strerror(errno));
   return status;
}

int rkb_private_folder(const char *path, rkb_error_t *err) {
   struct stat about;
   char why[400];
   int status = make_folder(path, err);
   if (status != RKB_OK) {
      const size_t length = strlen(err->message);
      snprintf(err->message + length, sizeof err->message - length, "; set XDG_CACHE_HOME to a folder of your own");
      return status;
   }
   int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
   if (folder < 0 || fstat(folder, &about) != 0)
      status = rkb_fail(err, RKB_ERR_IO, "cannot open %s: %s", path, strerror(errno));
   else if (about.st_uid != geteuid())
      status = rkb_fail(err, RKB_ERR_UNAVAILABLE, "%s belongs to user %lu: set XDG_CACHE_HOME to a folder of your own",
                        path, (unsigned long)about.st_uid);
   else if ((about.st_mode & (S_IWGRP | S_IWOTH)) && fchmod(folder, about.st_mode & 0755) != 0)
      status = rkb_fail(err, RKB_ERR_UNAVAILABLE, "others can write to %s: %s", path, strerror(errno));
   if (folder >= 0)
      close(folder);
   if (status == RKB_OK && !rkb_path_trusted(path, why, sizeof why))
      status = rkb_fail(err, RKB_ERR_UNAVAILABLE, "%s; set XDG_CACHE_HOME to a folder of your own", why);
   return status;
}

int rkb_private_open(const char *path, size_t *bytes) {
   struct stat about;
   int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
   if (file >= 0 && !rkb_file_is_own(file, &about)) {
      close(file);
      return -1;
   }
   if (file >= 0 && bytes)
      *bytes = (size_t)about.st_size;
   return file;
}

bool rkb_private_read(int file, void *data, size_t size) {
   for (size_t at = 0; at < size;) {
      ssize_t got = read(file, (char *)data + at, size - at);
      if (got < 0 && errno == EINTR)
         continue;
      if (got <= 0)
         return false;
      at += (size_t)got;
   }
   return true;
}

static bool read_key(const char *path, unsigned char key[RKB_HASH_BYTES]) {
   size_t bytes = 0;
   struct stat about;
   int file = rkb_private_open(path, &bytes);
   bool whole = file >= 0 && bytes == RKB_HASH_BYTES && fstat(file, &about) == 0 &&
                (about.st_mode & (S_IRGRP | S_IROTH)) == 0 && rkb_private_read(file, key, RKB_HASH_BYTES);
   if (file >= 0)
      close(file);
   return whole;
}

/* Draws a key, writes it under another name and links that file into place.  If two processes draw at the same time, both use the key that was linked first.
 * False: a key file exists now and must be read. */
static bool draw_key(const char *path, unsigned char key[RKB_HASH_BYTES], bool *drawn) {
   char fresh[4200];
   *drawn = getrandom(key, RKB_HASH_BYTES, 0) == RKB_HASH_BYTES;
   snprintf(fresh, sizeof fresh, "%s.%d.%d", path, (int)getpid(), (int)gettid());
   unlink(fresh); /* a killed process of that number may have left it */
   int file = *drawn ? open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;
   bool written = file >= 0 && write(file, key, RKB_HASH_BYTES) == RKB_HASH_BYTES;
   if (file >= 0)
      written = close(file) == 0 && written;
   bool there = written && link(fresh, path) != 0 && errno == EEXIST;
   unlink(fresh);
   return !there;
}

int rkb_private_key(const char *folder, unsigned char key[RKB_HASH_BYTES], rkb_error_t *err) {
   char path[4096];
   struct stat about;
   bool drawn = false;
   snprintf(path, sizeof path, "%s/key", folder);
   /* If nothing can be written here, the drawn key serves for this process alone.  No file that it seals can be written either. */
   if (read_key(path, key) ||
       (lstat(path, &about) != 0 && errno == ENOENT && ((draw_key(path, key, &drawn) && drawn) || read_key(path, key))))
      return RKB_OK;
   return rkb_fail(err, RKB_ERR_UNAVAILABLE,
                   "%s is not a key that only you can read: remove it, and what was kept with it is made again", path);
}
