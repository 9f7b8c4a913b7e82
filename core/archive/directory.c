/* The run directory: its name and the paths of its files.  Pure functions except rkb_run_directory_make; any thread. */
#include "archive/archive.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include "base/file.h"
#include "base/memory.h"

enum { MAX_NAME = 64, MAX_SAME_SECOND = 1000 };

/* Makes a pipeline's name fit for a directory name: keeps letters, digits, dots, dashes and underscores, and turns the rest into
 * dashes.  A leading dot also becomes a dash, because it would hide the directory. */
static void directory_name(const char *name, char out[MAX_NAME + 1]) {
   size_t length = strnlen(name, MAX_NAME);
   for (size_t i = 0; i < length; i++) {
      unsigned char c = (unsigned char)name[i];
      bool kept = isalnum(c) || c == '_' || c == '-' || (c == '.' && i > 0);
      out[i] = kept ? (char)c : '-';
   }
   out[length] = '\0';
   if (length == 0)
      strcpy(out, "run");
}

int rkb_run_directory_make(const char *parent, const char *name, char **directory, rkb_error_t *err) {
   char stamp[32], base[MAX_NAME + 1];
   struct tm utc;
   time_t now = time(NULL);
   int status = rkb_make_directories(parent, err);
   if (status != RKB_OK)
      return status;
   gmtime_r(&now, &utc);
   strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &utc);
   directory_name(name, base);
   for (int i = 1; i <= MAX_SAME_SECOND; i++) {
      char *path = i == 1 ? rkb_format("%s/%s-%s", parent, base, stamp)
                          : rkb_format("%s/%s-%s-%d", parent, base, stamp, i);
      if (mkdir(path, 0777) == 0) {
         *directory = path;
         return RKB_OK;
      }
      status =
         errno == EEXIST ? RKB_OK : rkb_fail(err, RKB_ERR_IO, "cannot make %s: %s", path, strerror(errno));
      free(path);
      if (status != RKB_OK)
         return status;
   }
   return rkb_fail(err, RKB_ERR_LIMIT, "%s holds too many runs named %s-%s: use --out", parent, base, stamp);
}

char *rkb_run_path_archive(const char *directory) {
   return rkb_path_join(directory, "run.sqlite");
}

char *rkb_run_path_pipeline(const char *directory) {
   return rkb_path_join(directory, "pipeline.yaml");
}

char *rkb_run_path_log(const char *directory) {
   return rkb_path_join(directory, "log.jsonl");
}

char *rkb_run_path_lock(const char *directory) {
   return rkb_path_join(directory, "lock");
}
