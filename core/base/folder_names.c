/* Lists the names of a folder's entries (folder_names.h). */
#include "base/folder_names.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"

static int visible(const struct dirent *entry) {
   return entry->d_name[0] != '.';
}

static int by_bytes(const struct dirent **left, const struct dirent **right) {
   return strcmp((*left)->d_name, (*right)->d_name);
}

static bool ends_so(const char *name, const char *ending) {
   const size_t length = strlen(name), tail = ending ? strlen(ending) : 0;
   return !ending || (length > tail && strcmp(name + length - tail, ending) == 0);
}

char **rkb_folder_names(const char *folder, const char *ending) {
   struct dirent **entries = NULL;
   const int found = scandir(folder, &entries, visible, by_bytes);
   char **names = found < 0 ? NULL : rkb_allocate((size_t)found + 1, sizeof *names);
   size_t count = 0;
   for (int i = 0; i < found; i++) {
      if (ends_so(entries[i]->d_name, ending))
         names[count++] = rkb_duplicate(entries[i]->d_name);
      free(entries[i]);
   }
   free(entries);
   return names;
}

void rkb_folder_names_free(char **names) {
   for (char **name = names; name && *name; name++)
      free(*name);
   free(names);
}
