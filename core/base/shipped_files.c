/* Lists the files that ship with the program and finds the one nearest to a mistyped name (shipped_files.h).  Any thread. */
#include "base/shipped_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "base/folder_names.h"
#include "base/memory.h"
#include "base/nearest_name.h"
#include "base/text.h"

#define MAX_NAMES 4096 /* most entries of one directory that are read */
#define MAX_LIST 4096  /* bytes of a list */

static size_t stem_length(const char *name) {
   static const char *const suffixes[] = {".yaml", ".yml"};
   size_t length = strlen(name);
   for (int i = 0; i < 2; i++) {
      size_t suffix = strlen(suffixes[i]);
      if (length > suffix && strcmp(name + length - suffix, suffixes[i]) == 0)
         return length - suffix;
   }
   return length;
}

static bool holds(const char *directory, const char *entry, const char *file) {
   char *below = rkb_format("%s/%s/%s", directory, entry, file);
   bool there = rkb_path_exists(below);
   free(below);
   return there;
}

/* Whether a directory entry is of the kind wanted.  A task or a run is a directory with a certain file in it. */
static bool is_one_of(const char *folder, const char *directory, const char *entry) {
   if (!folder)
      return true;
   if (strcmp(folder, "tasks") == 0)
      return holds(directory, entry, "task.yaml");
   if (strcmp(folder, "runs") == 0)
      return holds(directory, entry, "pipeline.yaml");
   return entry[stem_length(entry)] != '\0';
}

/* The names in a directory that are of a folder's kind, with or without the suffix, except the name `except`.  NULL-terminated and in
 * order; NULL when the directory cannot be read. */
static char **names_in(const char *directory, const char *folder, bool with_suffix, const char *except) {
   char **names = directory ? rkb_folder_names(directory, NULL) : NULL;
   size_t used = 0;
   for (size_t i = 0; names && names[i]; i++) {
      char *entry = names[i];
      names[i] = NULL;
      if (used < MAX_NAMES && is_one_of(folder, directory, entry) && (!except || strcmp(entry, except) != 0))
         names[used++] = rkb_duplicate_part(entry, with_suffix ? SIZE_MAX : stem_length(entry));
      free(entry);
   }
   return names;
}

static char *nearest_of(char **names, const char *written) {
   const char *near = names ? rkb_nearest(written, (const char *const *)names) : NULL;
   return near ? rkb_duplicate(near) : NULL;
}

/* Finds a near name in the directory of the given path.  Tries the written name also with ".yaml" added, because many people leave
 * the suffix away: "stok" is near to "stock.yaml". */
static char *nearest_beside(const char *folder, const char *given, const char *name) {
   char *directory = rkb_path_directory(given), *near = NULL, *path = NULL;
   char **names = names_in(directory, folder, true, name), *with_suffix = NULL;
   near = nearest_of(names, name);
   if (!near) {
      with_suffix = rkb_format("%s.yaml", name);
      near = nearest_of(names, with_suffix);
   }
   if (near)
      path = rkb_format("%.*s%s", (int)(name - given), given, near);
   free(with_suffix);
   free(near);
   rkb_folder_names_free(names);
   free(directory);
   return path;
}

static char *nearest_shipped(const char *folder, const char *name) {
   char *directory = rkb_find_data(folder), *stem = rkb_duplicate_part(name, stem_length(name));
   char **names = names_in(directory, folder, false, NULL);
   char *near = nearest_of(names, stem);
   rkb_folder_names_free(names);
   free(stem);
   free(directory);
   return near;
}

char *rkb_shipped_nearest(const char *folder, const char *given) {
   char *written = rkb_duplicate(given), *found = NULL;
   for (size_t end = strlen(written); end > 1 && written[end - 1] == '/'; end--) /* "tasks/softmx/" */
      written[end - 1] = '\0';
   const char *slash = strrchr(written, '/'), *name = slash ? slash + 1 : written;
   if (*name)
      found = nearest_beside(folder, written, name);
   if (*name && !found && folder && strcmp(folder, "runs") != 0)
      found = nearest_shipped(folder, name);
   free(written);
   return found;
}

char *rkb_shipped_hint(const char *folder, const char *given) {
   char *near = rkb_shipped_nearest(folder, given);
   if (!near)
      return rkb_duplicate("");
   char *hint = rkb_format("; did you mean '%s'?", near);
   free(near);
   return hint;
}

char *rkb_shipped_list(const char *folder) {
   char *directory = rkb_find_data(folder);
   char **names = names_in(directory, folder, false, NULL);
   rkb_text_t list;
   rkb_text_init(&list, MAX_LIST);
   for (char **name = names; name && *name; name++)
      rkb_text_format(&list, "%s%s", name == names ? "" : name[1] ? ", " : " and ", *name);
   rkb_folder_names_free(names);
   free(directory);
   if (list.length)
      return rkb_text_take(&list);
   rkb_text_free(&list);
   return NULL;
}
