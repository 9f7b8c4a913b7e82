/* Lists a folder of kernels as a table (labelled_folder.h). */
#include "cli/judge/labelled_folder.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/file.h"
#include "base/folder_names.h"
#include "base/memory.h"
#include "base/problems.h"
#include "base/text.h"
#include "kernel/kernel.h"

enum { MAX_TABLE = 64 << 20, MAX_KERNEL = 256 << 10 };

bool rkb_labelled_folder_is(const char *path) {
   struct stat found;
   return stat(path, &found) == 0 && S_ISDIR(found.st_mode);
}

static bool is_kernel(const char *name) {
   const size_t length = strlen(name);
   return length > 3 && strcmp(name + length - 3, ".cu") == 0;
}

/* A row for one kernel, whose name is relative to the folder. */
static int add_row(const char *path, const char *name, const char *label, const char *kind, rkb_text_t *table,
                   rkb_error_t *err) {
   char *source = NULL;
   size_t length = 0;
   rkb_problems_t problems;
   rkb_manifest_t *manifest = NULL;
   if (strpbrk(name, "\t\n"))
      return rkb_fail(err, RKB_ERR_INVALID, "%.200s: a name with a tab or a line's end cannot be in a table",
                      path);
   int status = rkb_file_read(path, MAX_KERNEL, &source, &length, err);
   rkb_problems_init(&problems);
   if (status == RKB_OK) {
      manifest = rkb_manifest_parse(path, source, length, &problems);
      status = rkb_problems_error(&problems, err);
   }
   if (status == RKB_OK)
      rkb_text_format(table, "%s\t%s\t%s\t%s\t%s\n", name, label, manifest->task, manifest->direction, kind);
   rkb_manifest_free(manifest);
   rkb_problems_free(&problems);
   free(source);
   return status == RKB_OK ? RKB_OK : RKB_ERR_INVALID;
}

/* Adds the kernels of path/name, in the order of their names; kinds: its folders are kinds of fault. */
static int add_folder(const char *path, const char *name, const char *label, const char *kind, bool kinds,
                      rkb_text_t *table, rkb_error_t *err) {
   char *folder = rkb_path_join(path, name);
   char **names = rkb_folder_names(folder, NULL);
   int status = RKB_OK;
   for (char **entry = names; entry && *entry && status == RKB_OK; entry++) {
      char *inner = rkb_path_join(name, *entry), *whole = rkb_path_join(path, inner);
      if (is_kernel(*entry))
         status = add_row(whole, inner, label, kind, table, err);
      else if (kinds && rkb_labelled_folder_is(whole))
         status = add_folder(path, inner, label, *entry, false, table, err);
      free(whole);
      free(inner);
   }
   rkb_folder_names_free(names);
   free(folder);
   return status;
}

int rkb_labelled_folder_table(const char *path, char **table, rkb_error_t *err) {
   rkb_text_t text;
   rkb_text_init(&text, MAX_TABLE);
   rkb_text_add(&text, "file\tlabel\ttask\tdirection\tkind\n");
   const size_t empty = text.length;
   int status = add_folder(path, "right", "right", "", false, &text, err);
   if (status == RKB_OK)
      status = add_folder(path, "wrong", "wrong", "", true, &text, err);
   if (status == RKB_OK && text.length == empty)
      status = rkb_fail(err, RKB_ERR_INVALID, "%.200s has no kernels in right/ and wrong/ (*.cu)", path);
   if (status == RKB_OK && text.cut)
      status = rkb_fail(err, RKB_ERR_LIMIT, "%.200s: its table takes more than 64 MiB", path);
   *table = status == RKB_OK ? rkb_duplicate(rkb_text_get(&text)) : NULL;
   rkb_text_free(&text);
   return status;
}
