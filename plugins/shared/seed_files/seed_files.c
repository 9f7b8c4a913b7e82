/* Finds and reads kernel files.  The order of a directory differs between machines, so names are sorted by
 * their bytes. */
#include "seed_files.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int add_path(seed_files_t *files, const char *directory, const char *name, rkb_error_t *err) {
   if (files->count == SEED_FILES_MAX)
      return rkb_fail(err, RKB_ERR_LIMIT,
                      "more than %d kernel files in '%s': name the ones to use with 'files'", SEED_FILES_MAX,
                      directory);
   char *path = NULL;
   int length = name[0] == '/' ? asprintf(&path, "%s", name) : asprintf(&path, "%s/%s", directory, name);
   if (length < 0)
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate a path");
   files->paths[files->count++] = path;
   return RKB_OK;
}

static int compare_paths(const void *left, const void *right) {
   return strcmp(*(char *const *)left, *(char *const *)right);
}

static bool is_kernel(const char *name) {
   size_t length = strlen(name);
   return name[0] != '.' && length > 3 && strcmp(name + length - 3, ".cu") == 0;
}

/* A task without seeds is usual: it was just imported. */
static const char first_kernel[] =
   "; put a first kernel there (docs/kernel-format.md), or name one in the option files";

static int list_directory(const char *directory, seed_files_t *files, rkb_error_t *err) {
   DIR *handle = opendir(directory);
   if (!handle)
      return rkb_fail(err, RKB_ERR_INVALID, "cannot read the seed directory '%s': %s%s", directory,
                      strerror(errno), errno == ENOENT ? first_kernel : "");
   int status = RKB_OK;
   struct dirent *entry = readdir(handle);
   while (entry && status == RKB_OK) {
      if (is_kernel(entry->d_name))
         status = add_path(files, directory, entry->d_name, err);
      entry = readdir(handle);
   }
   closedir(handle);
   if (status == RKB_OK && files->count == 0)
      status =
         rkb_fail(err, RKB_ERR_INVALID, "no *.cu file in the seed directory '%s'%s", directory, first_kernel);
   qsort(files->paths, files->count, sizeof files->paths[0], compare_paths);
   return status;
}

/* Refuses a link in the place of the directory, or of the task's folder "seeds" around it, for the same reason as in the place of a file. */
static int refuse_links(const char *directory, rkb_error_t *err) {
   char path[PATH_MAX];
   struct stat about;
   size_t length = (size_t)snprintf(path, sizeof path, "%s", directory);
   if (length >= sizeof path)
      return rkb_fail(err, RKB_ERR_INVALID, "the path of the seed directory is too long");
   for (int level = 0; level < 2; level++) {
      while (length > 1 && path[length - 1] == '/') /* with a slash at its end lstat would follow a link */
         path[--length] = '\0';
      if ((level == 0 || strcmp(seed_file_name(path), "seeds") == 0) && lstat(path, &about) == 0 &&
          S_ISLNK(about.st_mode))
         return rkb_fail(
            err, RKB_ERR_INVALID,
            "'%s' is a link: put the seed files themselves there, or name the directory it leads to", path);
      while (length > 0 && path[length - 1] != '/')
         path[--length] = '\0';
   }
   return RKB_OK;
}

int seed_files_find(const char *directory, const char *const *names, seed_files_t *files, rkb_error_t *err) {
   int status = refuse_links(directory, err);
   *files = (seed_files_t){0};
   if (status != RKB_OK)
      return status;
   if (names && names[0])
      for (uint32_t i = 0; names[i] && status == RKB_OK; i++)
         status = add_path(files, directory, names[i], err);
   else
      status = list_directory(directory, files, err);
   if (status != RKB_OK)
      seed_files_free(files);
   return status;
}

void seed_files_free(seed_files_t *files) {
   for (uint32_t i = 0; i < files->count; i++)
      free(files->paths[i]);
   *files = (seed_files_t){0};
}

int seed_file_read(const char *path, char **text, rkb_error_t *err) {
   *text = NULL;
   /* A link could lead to any file of this user, which would then go to models and into the archive; a pipe
    * would block. */
   int opened = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
   if (opened < 0 && errno == ELOOP)
      return rkb_fail(err, RKB_ERR_INVALID, "the seed '%s' is a link: put the file itself there, or name the file it leads to", path);
   FILE *file = opened >= 0 ? fdopen(opened, "rb") : NULL;
   if (!file) {
      const int why = errno;
      if (opened >= 0)
         close(opened);
      return rkb_fail(err, RKB_ERR_INVALID, "cannot read the seed '%s': %s", path, strerror(why));
   }
   int status = RKB_OK;
   char *data = NULL;
   size_t bytes = 0;
   struct stat about;
   if (fstat(fileno(file), &about) != 0 || !S_ISREG(about.st_mode)) {
      status = rkb_fail(err, RKB_ERR_INVALID, "the seed '%s' is not a regular file", path);
      goto close;
   }
   data = malloc(SEED_FILE_BYTES + 1);
   if (!data) {
      status = rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate %d bytes", SEED_FILE_BYTES);
      goto close;
   }
   bytes = fread(data, 1, SEED_FILE_BYTES + 1, file);
   if (ferror(file))
      status = rkb_fail(err, RKB_ERR_IO, "cannot read the seed '%s'", path);
   else if (bytes > SEED_FILE_BYTES)
      status =
         rkb_fail(err, RKB_ERR_LIMIT, "the seed '%s' is larger than %d KiB", path, SEED_FILE_BYTES / 1024);
   else if (memchr(data, '\0', bytes))
      status = rkb_fail(err, RKB_ERR_INVALID, "the seed '%s' holds a NUL byte: it is not a text", path);
   if (status != RKB_OK) {
      free(data);
      goto close;
   }
   data[bytes] = '\0';
   *text = data;
close:
   fclose(file);
   return status;
}

const char *seed_file_name(const char *path) {
   const char *slash = strrchr(path, '/');
   return slash ? slash + 1 : path;
}
