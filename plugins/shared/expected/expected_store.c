/* Files of expected values.  Each is written under another name and moved into place, so that programs side by side never
 * read half of one.  Owns the folder's size: the oldest files go when it passes its bound. */
#include "expected_store.h"
#include <dirent.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_BYTES (UINT64_C(1) << 30)
/* What a file takes besides its bytes, so that many small ones are not nothing. */
#define FILE_BYTES 4096

struct store {
   _Atomic uint64_t added; /* bytes since the folder was last looked through */
   char folder[3800];
   uint64_t secret[2];
   /* of everything the values depend on: task, direction, and what computes them */
   uint64_t task;
};

/* FNV-1a (Fowler, Noll, Vo; IETF draft-eastlake-fnv), finished with the mixer of SplitMix64. */
static uint64_t mix(uint64_t state, const void *data, size_t bytes) {
   for (const uint8_t *at = data; bytes > 0; bytes--)
      state = (state ^ *at++) * 0x100000001b3u;
   state = (state ^ state >> 30) * 0xbf58476d1ce4e5b9u;
   state = (state ^ state >> 27) * 0x94d049bb133111ebu;
   return state ^ state >> 31;
}

static uint64_t mix_text(uint64_t state, const char *text) {
   return mix(state, text, strlen(text) + 1);
}

/* Makes the folder and its parents. */
static bool make_folder(char *path) {
   for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
      *slash = '\0';
      mkdir(path, 0700);
      *slash = '/';
   }
   struct stat made;
   mkdir(path, 0700);
   return stat(path, &made) == 0 && S_ISDIR(made.st_mode) && made.st_uid == geteuid();
}

static bool read_secret(struct store *store) {
   char path[4096];
   snprintf(path, sizeof path, "%s/secret", store->folder);
   for (int attempt = 0; attempt < 2; attempt++) {
      int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
      if (file >= 0) {
         ssize_t got = read(file, store->secret, sizeof store->secret);
         close(file);
         return got == (ssize_t)sizeof store->secret;
      }
      char fresh[4096 + 16];
      snprintf(fresh, sizeof fresh, "%s.%d", path, (int)getpid());
      uint64_t drawn[2];
      file = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
      if (file < 0 || getrandom(drawn, sizeof drawn, 0) != (ssize_t)sizeof drawn ||
          write(file, drawn, sizeof drawn) != (ssize_t)sizeof drawn) {
         if (file >= 0)
            close(file);
         return false;
      }
      close(file);
      if (link(fresh, path) != 0) { /* another program was first: its number counts */
      }
      unlink(fresh);
   }
   return false;
}

store_t *store_open(const rkb_host_t *host, const rkb_task_api_t *task) {
   const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
   bool known = task->size > offsetof(rkb_task_api_t, values_identity) && task->values_identity;
   struct store *store = known ? calloc(1, sizeof *store) : NULL;
   if (!store)
      return NULL;
   if (cache && cache[0] == '/')
      snprintf(store->folder, sizeof store->folder, "%s/rkb/expected", cache);
   else if (home && home[0] == '/')
      snprintf(store->folder, sizeof store->folder, "%s/.cache/rkb/expected", home);
   if (!store->folder[0] || !make_folder(store->folder) || !read_secret(store)) {
      free(store);
      return NULL;
   }
   store->task = mix_text(0xcbf29ce484222325u, task->values_identity(host));
   return store;
}

void store_close(store_t *store) {
   free(store);
}

uint64_t store_seed(const store_t *store, const char *case_name, uint64_t index) {
   uint64_t state = mix(mix_text(mix(store->secret[0], &store->secret[1], sizeof(uint64_t)), case_name),
                        &index, sizeof index);
   return state >> 1;
}

void store_name(const store_t *store, const char *key, uint64_t name[3]) {
   name[0] = mix_text(store->task, key);
   name[1] = mix_text(~store->task, key);
   name[2] = mix(mix_text(store->secret[1], key), &store->secret[0], sizeof store->secret[0]);
}

static void path_of(const store_t *store, const char *key, char *path, size_t size) {
   uint64_t name[3];
   store_name(store, key, name);
   snprintf(path, size, "%s/%016llx%016llx", store->folder, (unsigned long long)name[0],
            (unsigned long long)name[1]);
}

bool store_load(const store_t *store, const char *key, double *numbers, size_t count, uint8_t *flags,
                size_t bytes) {
   char path[4096];
   if (!store)
      return false;
   path_of(store, key, path, sizeof path);
   FILE *file = fopen(path, "rb");
   if (!file)
      return false;
   bool whole = (count == 0 || fread(numbers, sizeof *numbers, count, file) == count) &&
                fread(flags, 1, bytes, file) == bytes && fgetc(file) == EOF;
   fclose(file);
   return whole;
}

struct kept {
   char name[64];
   uint64_t bytes;
   time_t written;
};

static int by_age(const void *a, const void *b) {
   const struct kept *left = a, *right = b;
   return (left->written > right->written) - (left->written < right->written);
}

/* What may be added before the folder is looked through again: that takes as long as it has files. */
#define ADDED_BYTES (MOST_BYTES / 16)

/* The oldest files go until half of the bound is free. */
static void trim(const store_t *store) {
   enum { MOST_FILES = 65536 };
   struct kept *list = calloc(MOST_FILES, sizeof *list);
   DIR *folder = list ? opendir(store->folder) : NULL;
   const struct dirent *entry;
   char path[4096];
   uint64_t bytes = 0;
   size_t count = 0;
   while (folder && count < MOST_FILES && (entry = readdir(folder)) != NULL) {
      struct stat info;
      if (strlen(entry->d_name) != 32)
         continue;
      snprintf(path, sizeof path, "%s/%.32s", store->folder, entry->d_name);
      if (stat(path, &info) != 0)
         continue;
      snprintf(list[count].name, sizeof list[count].name, "%.32s", entry->d_name);
      list[count].bytes = (uint64_t)info.st_size;
      list[count].written = info.st_mtime;
      bytes += list[count++].bytes;
   }
   if (folder)
      closedir(folder);
   if (bytes > MOST_BYTES)
      qsort(list, count, sizeof *list, by_age);
   for (size_t i = 0, least = bytes > MOST_BYTES ? MOST_BYTES / 2 : bytes; i < count && bytes > least; i++) {
      snprintf(path, sizeof path, "%s/%s", store->folder, list[i].name);
      if (unlink(path) == 0)
         bytes -= list[i].bytes;
   }
   free(list);
}

void store_save(const store_t *store, const char *key, const double *numbers, size_t count,
                const uint8_t *flags, size_t bytes) {
   char path[4096], fresh[4096 + 32];
   if (!store)
      return;
   path_of(store, key, path, sizeof path);
   snprintf(fresh, sizeof fresh, "%s.%d.%lx", path, (int)getpid(), (unsigned long)(uintptr_t)flags);
   FILE *file = fopen(fresh, "wbx");
   if (!file)
      return;
   bool whole = (count == 0 || fwrite(numbers, sizeof *numbers, count, file) == count) &&
                fwrite(flags, 1, bytes, file) == bytes;
   whole = fclose(file) == 0 && whole;
   if (!whole || rename(fresh, path) != 0)
      unlink(fresh);
   _Atomic uint64_t *added =
      (_Atomic uint64_t *)(uintptr_t)&store->added; /* the part that is not immutable */
   const uint64_t size = count * sizeof *numbers + bytes + FILE_BYTES, before = atomic_fetch_add(added, size);
   if (before == 0 || before / ADDED_BYTES != (before + size) / ADDED_BYTES)
      trim(store);
}
