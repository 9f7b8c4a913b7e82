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
#define SEAL_BYTES 32

struct store {
   _Atomic uint64_t added; /* bytes since the folder was last looked through */
   const rkb_host_t *host;
   const rkb_task_api_t *task; /* seals with everything the values depend on: task, direction, and what computes them */
   char folder[3800];
   uint8_t key[SEAL_BYTES]; /* this user's */
};

/* Makes the folder and its parents. */
static bool make_folder(char *path) {
   for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
      *slash = '\0';
      mkdir(path, 0700);
      *slash = '/';
   }
   struct stat made;
   mkdir(path, 0700);
   return stat(path, &made) == 0 && S_ISDIR(made.st_mode) && made.st_uid == geteuid() &&
          ((made.st_mode & 022) == 0 || chmod(path, made.st_mode & 0755) == 0);
}

/* A regular file of this user that nobody else may write to, and no link to one; never waits.  -1 when there is none. */
static int open_own(const char *path, mode_t forbidden) {
   struct stat about;
   int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
   if (file >= 0 && (fstat(file, &about) != 0 || !S_ISREG(about.st_mode) || about.st_uid != geteuid() ||
                     (about.st_mode & forbidden) != 0)) {
      close(file);
      return -1;
   }
   return file;
}

static bool read_key(struct store *store) {
   char path[4096];
   snprintf(path, sizeof path, "%s/key", store->folder);
   for (int attempt = 0; attempt < 2; attempt++) {
      int file = open_own(path, 077);
      if (file >= 0) {
         ssize_t got = read(file, store->key, sizeof store->key);
         close(file);
         return got == (ssize_t)sizeof store->key;
      }
      char fresh[4096 + 16];
      snprintf(fresh, sizeof fresh, "%s.%d", path, (int)getpid());
      uint8_t drawn[SEAL_BYTES];
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

static bool seal_of(const store_t *store, const char *name, const void *data, size_t bytes,
                    uint8_t seal[SEAL_BYTES]) {
   rkb_error_t err = {0};
   return store->task->values_seal(store->host, store->key, name, data, bytes, seal, &err) == RKB_OK;
}

store_t *store_open(const rkb_host_t *host, const rkb_task_api_t *task) {
   const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
   bool known = task->size > offsetof(rkb_task_api_t, values_seal) && task->values_seal;
   struct store *store = known ? calloc(1, sizeof *store) : NULL;
   if (!store)
      return NULL;
   if (cache && cache[0] == '/')
      snprintf(store->folder, sizeof store->folder, "%s/rkb/expected", cache);
   else if (home && home[0] == '/')
      snprintf(store->folder, sizeof store->folder, "%s/.cache/rkb/expected", home);
   if (!store->folder[0] || !make_folder(store->folder) || !read_key(store)) {
      free(store);
      return NULL;
   }
   store->host = host;
   store->task = task;
   return store;
}

void store_close(store_t *store) {
   free(store);
}

uint64_t store_seed(const store_t *store, const char *case_name, uint64_t index) {
   uint8_t seal[SEAL_BYTES] = {0};
   uint64_t seed;
   seal_of(store, case_name, &index, sizeof index, seal);
   memcpy(&seed, seal, sizeof seed);
   return seed >> 1;
}

void store_name(const store_t *store, const char *key, uint64_t name[3]) {
   uint8_t seal[SEAL_BYTES] = {0};
   seal_of(store, key, NULL, 0, seal);
   memcpy(name, seal, 3 * sizeof name[0]);
}

static void path_of(const store_t *store, const char *key, char *path, size_t size) {
   uint64_t name[3];
   store_name(store, key, name);
   snprintf(path, size, "%s/%016llx%016llx", store->folder, (unsigned long long)name[0],
            (unsigned long long)name[1]);
}

/* One block for a file: the seal, the numbers, the flags. */
static uint8_t *make_block(size_t count, size_t bytes, size_t *size) {
   *size = SEAL_BYTES + count * sizeof(double) + bytes;
   return malloc(*size);
}

bool store_load(const store_t *store, const char *key, double *numbers, size_t count, uint8_t *flags,
                size_t bytes) {
   char path[4096];
   uint8_t seal[SEAL_BYTES], more;
   size_t size;
   if (!store)
      return false;
   path_of(store, key, path, sizeof path);
   int file = open_own(path, 022);
   if (file < 0)
      return false;
   uint8_t *block = make_block(count, bytes, &size);
   size_t at = 0;
   for (ssize_t got = 1; block && at < size && got > 0; at += got > 0 ? (size_t)got : 0)
      got = read(file, block + at, size - at);
   bool whole = block && at == size && read(file, &more, 1) == 0 &&
                seal_of(store, key, block + SEAL_BYTES, size - SEAL_BYTES, seal) &&
                memcmp(seal, block, SEAL_BYTES) == 0;
   close(file);
   if (whole && count)
      memcpy(numbers, block + SEAL_BYTES, count * sizeof *numbers);
   if (whole && bytes)
      memcpy(flags, block + size - bytes, bytes);
   free(block);
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
   size_t size_of_block;
   uint8_t *block = make_block(count, bytes, &size_of_block);
   if (block && count)
      memcpy(block + SEAL_BYTES, numbers, count * sizeof *numbers);
   if (block && bytes)
      memcpy(block + size_of_block - bytes, flags, bytes);
   int file = block && seal_of(store, key, block + SEAL_BYTES, size_of_block - SEAL_BYTES, block)
                 ? open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)
                 : -1;
   bool whole = file >= 0 && write(file, block, size_of_block) == (ssize_t)size_of_block;
   whole = file >= 0 && close(file) == 0 && whole;
   free(block);
   if (file >= 0 && (!whole || rename(fresh, path) != 0))
      unlink(fresh);
   if (!whole)
      return;
   _Atomic uint64_t *added =
      (_Atomic uint64_t *)(uintptr_t)&store->added; /* the part that is not immutable */
   const uint64_t size = count * sizeof *numbers + bytes + FILE_BYTES, before = atomic_fetch_add(added, size);
   if (before == 0 || before / ADDED_BYTES != (before + size) / ADDED_BYTES)
      trim(store);
}
