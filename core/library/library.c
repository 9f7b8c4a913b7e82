/* A library's folder (library.h). */
#include "library/library.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/private_folder.h"
#include "base/trusted_path.h"
#include "library/retrieval.h"

#define SUFFIX ".json"
enum { DIGITS = RKB_HASH_TEXT - 1, NAME = DIGITS + sizeof SUFFIX - 1 };

/* Whether a file's name is one that entries have: 64 digits and the suffix. */
static bool is_entry_name(const char *name) {
   return strlen(name) == NAME && strspn(name, "0123456789abcdef") == DIGITS && strcmp(name + DIGITS, SUFFIX) == 0;
}

static int compare_names(const void *first, const void *second) {
   return strcmp(first, second);
}

typedef char entry_name_t[NAME + 1];

/* The names of the entries, sorted: a folder lists them as it likes.  Owned. */
static int list_names(const char *folder, entry_name_t **names, uint32_t *count, rkb_error_t *err) {
   DIR *directory = opendir(folder);
   uint32_t room = 0;
   int status = RKB_OK;
   *names = NULL;
   *count = 0;
   if (!directory)
      return rkb_fail(err, RKB_ERR_INVALID, "cannot read the library %.200s: %s", folder, strerror(errno));
   for (struct dirent *entry = readdir(directory); entry && status == RKB_OK; entry = readdir(directory)) {
      if (!is_entry_name(entry->d_name))
         continue;
      if (*count == RKB_LIBRARY_MOST_ENTRIES) {
         status = rkb_fail(err, RKB_ERR_INVALID, "the library %.200s holds more than %d entries; remove some", folder, RKB_LIBRARY_MOST_ENTRIES);
         break;
      }
      if (*count == room) {
         room = room ? 2 * room : 64;
         *names = rkb_grow(*names, room, sizeof **names);
      }
      memcpy((*names)[(*count)++], entry->d_name, sizeof **names);
   }
   closedir(directory);
   if (status != RKB_OK) {
      free(*names);
      *names = NULL;
   } else if (*count) {
      qsort(*names, *count, sizeof **names, compare_names);
   }
   return status;
}

/* The reason why an open entry is refused, or NULL. */
static const char *distrust(int file, struct stat *about) {
   if (fstat(file, about) != 0 || !S_ISREG(about->st_mode))
      return "it is no file";
   if (!rkb_owner_trusted(about->st_uid))
      return "it belongs to somebody else";
   if (about->st_mode & (S_IWGRP | S_IWOTH))
      return "others can write to it";
   if (about->st_nlink != 1)
      return "it has other names";
   if (about->st_size > RKB_ELITE_MOST_BYTES)
      return "it is too large";
   return NULL;
}

static int read_entry(const char *folder, const char *name, rkb_elite_t *elite, rkb_error_t *err) {
   char identity[RKB_HASH_TEXT], *path = rkb_path_join(folder, name), *text = NULL;
   struct stat about;
   int status = RKB_ERR_INVALID;
   memcpy(identity, name, DIGITS);
   identity[DIGITS] = '\0';
   int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
   const char *wrong = file < 0 ? (errno == ELOOP ? "it is a link" : strerror(errno)) : distrust(file, &about);
   if (wrong) {
      rkb_fail(err, status, "%s", wrong);
   } else {
      text = rkb_try_uncleared((size_t)about.st_size + 1, 1, err);
      if (!text || !rkb_private_read(file, text, (size_t)about.st_size))
         rkb_fail(err, status, "it cannot be read");
      else
         status = rkb_elite_read(text, (size_t)about.st_size, identity, elite, err);
   }
   if (file >= 0)
      close(file);
   free(text);
   free(path);
   return status;
}

/* The folder must not be a link; otherwise the checked folder and the one that is read could differ. */
static int check_folder(const char *folder, rkb_error_t *err) {
   struct stat about;
   char why[400];
   if (lstat(folder, &about) != 0)
      return rkb_fail(err, RKB_ERR_INVALID, "cannot read the library %.200s: %s", folder, strerror(errno));
   if (!S_ISDIR(about.st_mode))
      return rkb_fail(err, RKB_ERR_INVALID, "the library %.200s is no folder", folder);
   if (!rkb_path_trusted(folder, why, sizeof why))
      return rkb_fail(err, RKB_ERR_INVALID, "the library %.200s cannot be trusted: %.250s", folder, why);
   if (about.st_mode & S_IWOTH) /* a folder with the sticky bit is no danger to a path, but anybody may add entries to it */
      return rkb_fail(err, RKB_ERR_INVALID, "everybody can write to the library %.200s; give a folder of your own", folder);
   return RKB_OK;
}

int rkb_library_read(const char *folder, void (*say)(void *, const char *), void *argument, rkb_library_t *library,
                     rkb_error_t *err) {
   entry_name_t *names;
   uint32_t count;
   char sentence[600];
   memset(library, 0, sizeof *library);
   int status = check_folder(folder, err);
   if (status == RKB_OK)
      status = list_names(folder, &names, &count, err);
   if (status != RKB_OK)
      return status;
   library->elites = rkb_allocate(count ? count : 1, sizeof *library->elites);
   for (uint32_t i = 0; i < count; i++) {
      rkb_error_t why;
      if (read_entry(folder, names[i], &library->elites[library->count], &why) == RKB_OK) {
         library->count++;
         continue;
      }
      library->left_out++;
      snprintf(sentence, sizeof sentence, "left out of the library: %s: %.400s", names[i], why.message);
      if (say)
         say(argument, sentence);
   }
   free(names);
   return RKB_OK;
}

void rkb_library_free(rkb_library_t *library) {
   for (uint32_t i = 0; i < library->count; i++)
      rkb_elite_free(&library->elites[i]);
   free(library->elites);
   memset(library, 0, sizeof *library);
}

int rkb_library_make(const char *folder, rkb_error_t *err) {
   if (mkdir(folder, 0755) != 0 && errno != EEXIST)
      return rkb_fail(err, RKB_ERR_INVALID, "cannot make the library %.200s: %s", folder, strerror(errno));
   return check_folder(folder, err);
}

int rkb_library_add(const char *folder, const rkb_elite_t *elite, char identity[RKB_HASH_TEXT], rkb_error_t *err) {
   entry_name_t *names = NULL;
   uint32_t count = 0;
   char *text = NULL, *path = NULL;
   int status = check_folder(folder, err);
   if (status == RKB_OK)
      status = list_names(folder, &names, &count, err);
   if (status == RKB_OK)
      status = rkb_elite_write(elite, &text, err);
   if (status == RKB_OK) {
      rkb_hash_text(text, strlen(text), identity);
      path = rkb_format("%s/%s" SUFFIX, folder, identity);
      if (!rkb_path_exists(path))
         status = count < RKB_LIBRARY_MOST_ENTRIES
                     ? rkb_file_write_own(path, text, strlen(text), err)
                     : rkb_fail(err, RKB_ERR_LIMIT, "the library %.200s is full: it holds %d entries", folder, RKB_LIBRARY_MOST_ENTRIES);
   }
   free(path);
   free(text);
   free(names);
   return status;
}

static int compare_nearness(const void *first, const void *second, void *like) {
   return rkb_elite_compare(like, first, second);
}

void rkb_library_keep_nearest(rkb_library_t *library, const rkb_elite_t *like, uint32_t count, size_t bytes) {
   rkb_elite_t wanted = *like;
   uint32_t kept = 0;
   size_t used = 0;
   if (library->count)
      qsort_r(library->elites, library->count, sizeof *library->elites, compare_nearness, &wanted);
   for (uint32_t i = 0; i < library->count; i++) {
      rkb_elite_t *elite = &library->elites[i];
      const size_t size = strlen(elite->source);
      if (kept < count && used + size <= bytes && rkb_elite_likeness(like, elite) > 0) {
         used += size;
         library->elites[kept++] = *elite;
      } else {
         rkb_elite_free(elite);
      }
   }
   library->count = kept;
}

char *rkb_library_to_text(const rkb_library_t *library) {
   json_t *list = json_array();
   for (uint32_t i = 0; i < library->count; i++)
      json_array_append(list, library->elites[i].owner);
   char *text = rkb_json_canonical(list);
   json_decref(list);
   return text;
}

int rkb_library_from_text(const char *text, rkb_library_t *library, rkb_error_t *err) {
   json_t *list = rkb_json_parse(text, strlen(text), err);
   const json_t *entry;
   size_t index;
   int status = json_is_array(list) && json_array_size(list) <= RKB_LIBRARY_MOST_ENTRIES ? RKB_OK : RKB_ERR_INVALID;
   memset(library, 0, sizeof *library);
   if (status == RKB_OK)
      library->elites = rkb_allocate(json_array_size(list) + 1, sizeof *library->elites);
   else
      rkb_fail(err, status, "the archive's list of elites cannot be read");
   json_array_foreach(list, index, entry) {
      char *one = status == RKB_OK ? rkb_json_canonical(entry) : NULL;
      if (one)
         status = rkb_elite_read(one, strlen(one), NULL, &library->elites[library->count], err);
      library->count += one && status == RKB_OK;
      free(one);
   }
   if (status != RKB_OK)
      rkb_library_free(library);
   json_decref(list);
   return status;
}
