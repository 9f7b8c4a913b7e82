/* Files of expected values.  Each file is written under another name and moved into place, so that parallel
 * programs never read half of one.  It begins with a seal over its name and its content.  The store keeps the
 * folder below a size limit and deletes the oldest files first. */
#include "task/expected/expected_store.h"

#include <dirent.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/private_folder.h"

#define MOST_BYTES (UINT64_C(1) << 30)
/* Counted for each file in addition to its bytes, so that many small files count too. */
#define FILE_BYTES 4096
#define NAME_DIGITS 32

struct rkb_store {
   _Atomic uint64_t added;            /* bytes written since the folder's size was last measured */
   char *folder, *identity;           /* owned; identity covers everything that the values depend on */
   unsigned char key[RKB_HASH_BYTES]; /* this user's secret key */
};

static bool seal_of(const rkb_store_t *store, const char *name, const void *data, size_t bytes,
                    unsigned char seal[RKB_HASH_BYTES]) {
   char content[RKB_HASH_TEXT];
   rkb_hasher_t *hasher = rkb_hasher_new();
   if (!hasher)
      return false;
   rkb_hasher_add_text(hasher, store->identity);
   rkb_hasher_add_text(hasher, name);
   rkb_hasher_add(hasher, data, bytes);
   rkb_hasher_finish(hasher, content);
   rkb_hash_keyed(store->key, content, sizeof content, seal);
   return true;
}

int rkb_store_open(const char *identity, rkb_store_t **out, rkb_error_t *err) {
   *out = NULL;
   rkb_store_t *store = rkb_allocate(1, sizeof *store);
   store->identity = rkb_duplicate(identity);
   int status = rkb_cache_path("expected", &store->folder, err);
   if (status == RKB_OK)
      status = rkb_private_folder(store->folder, err);
   if (status == RKB_OK)
      status = rkb_private_key(store->folder, store->key, err);
   if (status != RKB_OK) {
      rkb_store_close(store);
      return status;
   }
   *out = store;
   return RKB_OK;
}

void rkb_store_close(rkb_store_t *store) {
   if (!store)
      return;
   free(store->folder);
   free(store->identity);
   free(store);
}

uint64_t rkb_store_seed(const rkb_store_t *store, const char *case_name, uint64_t index) {
   unsigned char seal[RKB_HASH_BYTES] = {0};
   uint64_t seed;
   seal_of(store, case_name, &index, sizeof index, seal);
   memcpy(&seed, seal, sizeof seed);
   return seed >> 1;
}

void rkb_store_name(const rkb_store_t *store, const char *key, uint64_t name[3]) {
   unsigned char seal[RKB_HASH_BYTES] = {0};
   seal_of(store, key, NULL, 0, seal);
   memcpy(name, seal, 3 * sizeof name[0]);
}

static void path_of(const rkb_store_t *store, const char *key, char *path, size_t size) {
   uint64_t name[3];
   rkb_store_name(store, key, name);
   snprintf(path, size, "%s/%016llx%016llx", store->folder, (unsigned long long)name[0],
            (unsigned long long)name[1]);
}

/* One block for a file: the seal, the numbers, the flags. */
static unsigned char *make_block(size_t count, size_t bytes, size_t *size) {
   *size = RKB_HASH_BYTES + count * sizeof(double) + bytes;
   return rkb_try_uncleared(*size, 1, NULL);
}

bool rkb_store_load(const rkb_store_t *store, const char *key, double *numbers, size_t count, uint8_t *flags,
                    size_t bytes) {
   char path[4096];
   unsigned char seal[RKB_HASH_BYTES];
   size_t size, there = 0;
   if (!store)
      return false;
   path_of(store, key, path, sizeof path);
   int file = rkb_private_open(path, &there);
   if (file < 0)
      return false;
   unsigned char *block = make_block(count, bytes, &size);
   bool whole = block && there == size && rkb_private_read(file, block, size) &&
                seal_of(store, key, block + RKB_HASH_BYTES, size - RKB_HASH_BYTES, seal) &&
                memcmp(seal, block, RKB_HASH_BYTES) == 0;
   close(file);
   if (whole && count)
      memcpy(numbers, block + RKB_HASH_BYTES, count * sizeof *numbers);
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

/* This many bytes may be written before the folder's size is measured again, because measuring takes time for
 * every file. */
#define ADDED_BYTES (MOST_BYTES / 16)

/* Deletes the oldest files until half of the size limit is free. */
static void trim(const rkb_store_t *store) {
   enum { MOST_FILES = 65536 };
   struct kept *list = rkb_try_allocate(MOST_FILES, sizeof *list, NULL);
   DIR *folder = list ? opendir(store->folder) : NULL;
   const struct dirent *entry;
   char path[4096];
   uint64_t bytes = 0;
   size_t count = 0;
   while (folder && count < MOST_FILES && (entry = readdir(folder)) != NULL) {
      struct stat info;
      if (strlen(entry->d_name) != NAME_DIGITS)
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

bool rkb_store_save(const rkb_store_t *store, const char *key, const double *numbers, size_t count,
                    const uint8_t *flags, size_t bytes) {
   char path[4096];
   size_t size;
   rkb_error_t err;
   if (!store)
      return false;
   path_of(store, key, path, sizeof path);
   unsigned char *block = make_block(count, bytes, &size);
   if (block && count)
      memcpy(block + RKB_HASH_BYTES, numbers, count * sizeof *numbers);
   if (block && bytes)
      memcpy(block + size - bytes, flags, bytes);
   bool whole = block && seal_of(store, key, block + RKB_HASH_BYTES, size - RKB_HASH_BYTES, block) &&
                rkb_file_write_own(path, block, size, &err) == RKB_OK;
   free(block);
   if (!whole)
      return false;
   _Atomic uint64_t *added =
      (_Atomic uint64_t *)(uintptr_t)&store->added; /* the only mutable part of an immutable store */
   const uint64_t before = atomic_fetch_add(added, size + FILE_BYTES);
   if (before == 0 || before / ADDED_BYTES != (before + size + FILE_BYTES) / ADDED_BYTES)
      trim(store);
   return true;
}
