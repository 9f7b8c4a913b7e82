/* Reads and writes whole files, and finds the program's own data.  Any thread. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/memory.h"

#define FIRST_ROOM (16u << 10)

static int fail_errno(rkb_error_t *err, const char *what, const char *path) {
   int number = errno;
   return rkb_fail(err, number == ENOMEM ? RKB_ERR_NOMEM : RKB_ERR_IO, "cannot %s %s: %s", what, path,
                   strerror(number));
}

/* Reads the whole file.  The reported size is only a hint: the file may grow while it is read. */
static int read_whole(int file, const char *path, size_t limit, size_t expected, char **data, size_t *length,
                      rkb_error_t *err) {
   size_t room = expected < limit ? expected + 1 : FIRST_ROOM;
   size_t used = 0;
   char *bytes = rkb_try_uncleared(room + 1, 1, err);
   int status = bytes ? RKB_OK : RKB_ERR_NOMEM;
   while (status == RKB_OK) {
      if (used == room) {
         room = room > SIZE_MAX / 4 ? room : room * 2;
         char *more = rkb_try_grow(bytes, room + 1, 1, err);
         if (!more) {
            status = RKB_ERR_NOMEM;
            break;
         }
         bytes = more;
      }
      ssize_t got = read(file, bytes + used, room - used);
      if (got < 0 && errno == EINTR)
         continue;
      if (got < 0)
         status = fail_errno(err, "read", path);
      if (got <= 0)
         break;
      used += (size_t)got;
      if (used > limit)
         status = rkb_fail(err, RKB_ERR_LIMIT, "%s is larger than %zu bytes", path, limit);
   }
   if (status != RKB_OK) {
      free(bytes);
      return status;
   }
   bytes[used] = '\0';
   *data = bytes;
   *length = used;
   return RKB_OK;
}

int rkb_file_read(const char *path, size_t limit, char **data, size_t *length, rkb_error_t *err) {
   struct stat about;
   int status;
   /* Non-blocking: if the path is a pipe by mistake, opening it does not wait for a writer. */
   int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
   if (file < 0)
      return fail_errno(err, "open", path);
   if (fstat(file, &about) != 0)
      status = fail_errno(err, "read", path);
   else if (!S_ISREG(about.st_mode))
      status = rkb_fail(err, RKB_ERR_INVALID, "%s is %s", path,
                        S_ISDIR(about.st_mode) ? "a directory, and a file is wanted" : "not a regular file");
   else if ((uint64_t)about.st_size > limit)
      status = rkb_fail(err, RKB_ERR_LIMIT, "%s is larger than %zu bytes", path, limit);
   else
      status = read_whole(file, path, limit, (size_t)about.st_size, data, length, err);
   close(file);
   return status;
}

/* Creates a new file in path's folder.  mkostemp would make the file private to its owner, and rkb could not undo this: it would have to read the umask,
 * which is possible only by changing it for every thread. */
static int create_beside(const char *path, mode_t mode, char *temporary, size_t size) {
   for (unsigned attempt = 0; attempt < 1000; attempt++) {
      int written = snprintf(temporary, size, "%s.%d-%d-%u", path, (int)getpid(), (int)gettid(), attempt);
      if (written < 0 || (size_t)written >= size) {
         errno = ENAMETOOLONG;
         return -1;
      }
      int file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
      if (file >= 0 || errno != EEXIST)
         return file;
   }
   return -1;
}

static int write_whole(int file, const char *data, size_t length) {
   while (length) {
      ssize_t put = write(file, data, length);
      if (put < 0 && errno == EINTR)
         continue;
      if (put < 0)
         return -1;
      data += put;
      length -= (size_t)put;
   }
   return 0;
}

/* True for a device, a pipe or a link (/dev/stdout).  Such a path is written directly, because a rename would replace it by a
 * plain file. */
static bool is_written_into(const char *path) {
   struct stat about;
   return lstat(path, &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode);
}

static bool is_directory(const char *path) {
   struct stat about;
   return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

static int fail_without_directory(rkb_error_t *err, const char *path) {
   char *directory = rkb_path_directory(path);
   int status = rkb_fail(err, RKB_ERR_IO, "cannot write %s: there is no directory %s", path, directory);
   free(directory);
   return status;
}

static int write_into(const char *path, const void *data, size_t length, rkb_error_t *err) {
   int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
   if (file < 0)
      return fail_errno(err, "open", path);
   int status = write_whole(file, data, length) == 0 ? RKB_OK : fail_errno(err, "write", path);
   if (close(file) != 0 && status == RKB_OK)
      status = fail_errno(err, "write", path);
   return status;
}

static int replace(const char *path, mode_t mode, const void *data, size_t length, rkb_error_t *err) {
   char temporary[PATH_MAX];
   int file = create_beside(path, mode, temporary, sizeof temporary);
   if (file < 0)
      return errno == ENOENT ? fail_without_directory(err, path) : fail_errno(err, "write", path);
   int status = RKB_OK;
   if (write_whole(file, data, length) != 0)
      status = fail_errno(err, "write", path);
   if (close(file) != 0 && status == RKB_OK)
      status = fail_errno(err, "write", path);
   if (status == RKB_OK && rename(temporary, path) != 0)
      status = fail_errno(err, "replace", path);
   if (status != RKB_OK)
      unlink(temporary);
   return status;
}

int rkb_file_write(const char *path, const void *data, size_t length, rkb_error_t *err) {
   if (is_written_into(path))
      return write_into(path, data, length, err);
   if (is_directory(path))
      return rkb_fail(err, RKB_ERR_IO, "cannot write %s: it is a directory; name a file", path);
   return replace(path, 0666, data, length, err);
}

int rkb_file_write_own(const char *path, const void *data, size_t length, rkb_error_t *err) {
   return replace(path, 0600, data, length, err);
}

static int make_one_directory(const char *path, rkb_error_t *err) {
   struct stat about;
   if (mkdir(path, 0777) == 0)
      return RKB_OK;
   if (errno != EEXIST)
      return fail_errno(err, "create the directory", path);
   if (stat(path, &about) == 0 && S_ISDIR(about.st_mode))
      return RKB_OK;
   return rkb_fail(err, RKB_ERR_IO, "cannot create the directory %s: something else has that name", path);
}

int rkb_make_directories(const char *path, rkb_error_t *err) {
   char *partial = rkb_duplicate(path);
   int status = RKB_OK;
   for (char *slash = partial; status == RKB_OK && slash;) {
      slash = strchr(slash + 1, '/');
      if (slash)
         *slash = '\0';
      if (partial[0])
         status = make_one_directory(partial, err);
      if (slash)
         *slash = '/';
   }
   free(partial);
   return status;
}

bool rkb_path_exists(const char *path) {
   return access(path, F_OK) == 0;
}

char *rkb_path_join(const char *directory, const char *path) {
   if (path[0] == '/' || directory[0] == '\0')
      return rkb_duplicate(path);
   bool slash = directory[strlen(directory) - 1] == '/';
   return rkb_format("%s%s%s", directory, slash ? "" : "/", path);
}

char *rkb_path_directory(const char *path) {
   const char *slash = strrchr(path, '/');
   if (!slash)
      return rkb_duplicate(".");
   return rkb_duplicate_part(path, slash == path ? 1 : (size_t)(slash - path));
}

static bool lies_below(const char *path, const char *directory) {
   size_t length = strlen(directory);
   return strncmp(path, directory, length) == 0 && path[length] == '/';
}

/* directory/between/name when it exists. */
static char *find_below(const char *directory, const char *between, const char *name) {
   char *path = rkb_format("%s/%s%s", directory, between, name);
   if (rkb_path_exists(path))
      return path;
   free(path);
   return NULL;
}

/* In a build tree, plugins come from the build; all other data comes from the source tree. */
static char *find_in_build(const char *build, const char *source, const char *name) {
   return find_below(strcmp(name, "plugins") == 0 ? build : source, "", name);
}

/* In a build tree that was copied or moved: looks in the source tree around it, if that was copied too. */
static char *find_in_copied_build(const char *build, const char *name) {
   char *around = rkb_path_directory(build);
   char *mark = find_below(around, "", "cmake/RkbPackage.cmake");
   char *found = find_in_build(build, mark ? around : RKB_SOURCE_DIR, name);
   free(mark);
   free(around);
   return found;
}

/* Whether a directory is a build tree that was copied or moved.  Only a build tree has both folders: an installation keeps its
 * plugins below the library directory, and a source tree has no libexec. */
static bool is_build(const char *directory) {
   char *programs = find_below(directory, "", "libexec/rkb"), *plugins = find_below(directory, "", "plugins");
   bool both = programs && plugins;
   free(programs);
   free(plugins);
   return both;
}

char *rkb_find_data(const char *name) {
   char executable[PATH_MAX];
   ssize_t length = readlink("/proc/self/exe", executable, sizeof executable - 1);
   if (length <= 0)
      return NULL;
   executable[length] = '\0';
   if (lies_below(executable, RKB_BINARY_DIR))
      return find_in_build(RKB_BINARY_DIR, RKB_SOURCE_DIR, name);
   const char *inside = strcmp(name, "plugins") == 0 ? RKB_LIBRARY_DIR "/rkb/" : "share/rkb/";
   for (char *slash = strrchr(executable, '/'); slash; slash = strrchr(executable, '/')) {
      *slash = '\0';
      char *found = find_below(executable, inside, name);
      if (found)
         return found;
      if (is_build(executable))
         return find_in_copied_build(executable, name);
   }
   return NULL;
}

char *rkb_find_shipped(const char *folder, const char *name) {
   if (name[0] == '\0' || name[0] == '.' || name[0] == '/' || strstr(name, "/."))
      return NULL;
   char *path = rkb_format("%s/%s.yaml", folder, name), *found = rkb_find_data(path);
   path[strlen(path) - strlen(".yaml")] = '\0';
   if (!found)
      found = rkb_find_data(path);
   free(path);
   return found;
}

char *rkb_find_named(const char *folder, const char *given) {
   char *found = rkb_path_exists(given) ? NULL : rkb_find_shipped(folder, given);
   return found ? found : rkb_duplicate(given);
}

char *rkb_find_program(const char *name) {
   char executable[PATH_MAX];
   ssize_t length = readlink("/proc/self/exe", executable, sizeof executable - 1);
   if (length <= 0)
      return NULL;
   executable[length] = '\0';
   char *slash = strrchr(executable, '/');
   *slash = '\0';
   char *found = find_below(executable, "", name);
   if (!found)
      found = find_below(executable, "../libexec/rkb/", name);
   if (!found && lies_below(executable, RKB_BINARY_DIR))
      found = find_below(RKB_BINARY_DIR, "libexec/rkb/", name); /* tests are elsewhere in the build tree */
   return found;
}
