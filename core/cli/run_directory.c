/* Makes a run's directory and remembers which parts of it existed before (run_directory.h).  Only the main
 * thread. */
#include "cli/run_directory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "archive/archive.h"
#include "base/file.h"
#include "base/memory.h"

/* SQLite keeps its log and index beside the archive until the archive is closed. */
static const char *const files[RKB_RUN_FILES] = {"pipeline.yaml",  "log.jsonl", "run.sqlite-wal",
                                                 "run.sqlite-shm", "lock",      "run.sqlite"};

/* The part of path that exists already; "" when not even its first directory does.  malloc'd. */
static char *part_that_exists(const char *path) {
   char *part = rkb_duplicate(path);
   while (*part && !rkb_path_exists(part)) {
      char *slash = strrchr(part, '/');
      if (slash == part)
         slash++; /* "/" always exists */
      *(slash ? slash : part) = '\0';
   }
   return part;
}

static void remember_files(rkb_run_directory_t *made) {
   for (int i = 0; made->path && i < RKB_RUN_FILES; i++) {
      char *file = rkb_path_join(made->path, files[i]);
      made->before[i] = !file || rkb_path_exists(file);
      free(file);
   }
}

int rkb_run_directory_new(const char *out, const char *name, rkb_run_directory_t *made, rkb_error_t *err) {
   *made = (rkb_run_directory_t){.kept = part_that_exists(out ? out : "runs")};
   int status;
   if (out) {
      made->path = rkb_duplicate(out);
      status = rkb_make_directories(out, err);
   } else {
      status = rkb_run_directory_make("runs", name, &made->path, err);
   }
   remember_files(made);
   return status;
}

void rkb_run_directory_take_back(const rkb_run_directory_t *made) {
   char *path = made->path ? rkb_duplicate(made->path) : NULL;
   for (int i = 0; path && i < RKB_RUN_FILES; i++) {
      char *file = made->before[i] ? NULL : rkb_path_join(path, files[i]);
      if (file)
         unlink(file);
      free(file);
   }
   /* rmdir fails on a directory that holds other files.  "a/b/" names the same directory as "a/b", so the
    * second removal finds it gone. */
   while (path && strlen(path) > strlen(made->kept) && (rmdir(path) == 0 || errno == ENOENT)) {
      char *slash = strrchr(path, '/');
      *(slash ? slash : path) = '\0';
   }
   free(path);
}

void rkb_run_directory_free(rkb_run_directory_t *made) {
   free(made->path);
   free(made->kept);
}
