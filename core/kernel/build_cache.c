/* The build cache.  Each entry is a file, DIRECTORY/ab/<key>.  It is written under a temporary name and then renamed, so readers
 * see only whole entries even if a writer is killed.  A seal detects damage by a power cut or a full disk, an entry under a wrong
 * name, and an entry that another user wrote.  When this process has written a certain share of the limit, it deletes the entries that
 * were used least recently (mtime holds the last use).  Any thread; several processes may share the directory. */
#include "kernel/build_cache.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/private_folder.h"

#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MAX_ENTRY = 128 << 20, STALE_SECONDS = 3600, SWEEP_SHARE = 16 };
static const uint64_t default_limit = 2ull << 30, entry_magic = 0x3265686361436b72ull; /* "rkCache2" */

typedef struct entry_header {
   uint64_t magic, length;
   unsigned char seal[RKB_HASH_BYTES]; /* over key and payload, with the owner's key */
} entry_header_t;
enum { HEADER_BYTES = sizeof(entry_header_t) };

struct build_cache {
   char *directory;
   uint64_t limit;
   unsigned char owner_key[RKB_HASH_BYTES];
   pthread_mutex_t mutex;
   uint64_t written; /* bytes written since the last sweep */
};

int build_cache_open(const char *directory, uint64_t limit_bytes, build_cache_t **cache, rkb_error_t *err) {
   build_cache_t *made = rkb_allocate(1, sizeof *made);
   int status = RKB_OK;
   *cache = NULL;
   if (directory)
      made->directory = rkb_duplicate(directory);
   else
      status = rkb_cache_path("build", &made->directory, err);
   made->limit = limit_bytes ? limit_bytes : default_limit;
   made->written = made->limit; /* another process may have filled the cache, so the first put sweeps */
   if (status == RKB_OK)
      status = rkb_private_folder(made->directory, err);
   if (status == RKB_OK)
      status = rkb_private_key(made->directory, made->owner_key, err);
   if (status != RKB_OK) {
      free(made->directory);
      free(made);
      return status;
   }
   pthread_mutex_init(&made->mutex, NULL);
   *cache = made;
   return RKB_OK;
}

void build_cache_close(build_cache_t *cache) {
   if (!cache)
      return;
   pthread_mutex_destroy(&cache->mutex);
   free(cache->directory);
   free(cache);
}

static void entry_path(const build_cache_t *cache, const char *key, char *path, size_t room) {
   snprintf(path, room, "%s/%.2s/%s", cache->directory, key, key);
}

static bool seal(const build_cache_t *cache, const char *key, const void *payload, size_t length,
                 unsigned char out[RKB_HASH_BYTES]) {
   char content[RKB_HASH_TEXT];
   rkb_hasher_t *hasher = rkb_hasher_new();
   if (!hasher)
      return false;
   rkb_hasher_add_text(hasher, key);
   rkb_hasher_add(hasher, payload, length);
   rkb_hasher_finish(hasher, content);
   rkb_hash_keyed(cache->owner_key, content, sizeof content, out);
   return true;
}

static bool is_sound(const build_cache_t *cache, const char *key, const entry_header_t *header,
                     const char *payload, size_t length) {
   unsigned char sealed[RKB_HASH_BYTES];
   return header->magic == entry_magic && header->length == length &&
          seal(cache, key, payload, length, sealed) && memcmp(sealed, header->seal, sizeof sealed) == 0;
}

char *build_cache_get(build_cache_t *cache, const char *key, size_t *length) {
   char path[4096], *payload = NULL;
   entry_header_t header;
   struct stat about;
   int file;
   entry_path(cache, key, path, sizeof path);
   file = rkb_private_open(path, NULL);
   if (file < 0)
      return NULL;
   if (fstat(file, &about) != 0 || about.st_size < HEADER_BYTES || about.st_size > MAX_ENTRY)
      goto miss;
   *length = (size_t)about.st_size - HEADER_BYTES;
   payload = rkb_try_uncleared(*length + 1, 1, NULL);
   if (!payload || !rkb_private_read(file, &header, sizeof header) ||
       !rkb_private_read(file, payload, *length) || !is_sound(cache, key, &header, payload, *length))
      goto miss;
   payload[*length] = '\0';
   if (time(NULL) - about.st_mtime >
       STALE_SECONDS / 2) /* not updated at each read, because a write for each read would be too expensive */
      futimens(file, NULL);
   close(file);
   return payload;
miss:
   free(payload);
   close(file);
   return NULL;
}

typedef struct entry {
   char *path;
   uint64_t bytes;
   time_t used;
} entry_t;

typedef struct entries {
   entry_t *list;
   size_t count, room;
   uint64_t bytes;
} entries_t;

static void note_entry(entries_t *entries, const char *directory, const char *name) {
   char path[4096];
   struct stat about;
   snprintf(path, sizeof path, "%s/%s", directory, name);
   if (lstat(path, &about) != 0 || !S_ISREG(about.st_mode))
      return;
   if (strchr(name, '.')) { /* a temporary file; if it is old, its writer was killed */
      if (time(NULL) - about.st_mtime > STALE_SECONDS)
         unlink(path);
      return;
   }
   if (entries->count == entries->room) {
      size_t room = entries->room ? entries->room * 2 : 1024;
      entries->list = rkb_grow(entries->list, room, sizeof *entries->list);
      entries->room = room;
   }
   entries->list[entries->count++] = (entry_t){rkb_duplicate(path), (uint64_t)about.st_size, about.st_mtime};
   entries->bytes += (uint64_t)about.st_size;
}

static int older(const void *left, const void *right) {
   const entry_t *a = left, *b = right;
   return (a->used > b->used) - (a->used < b->used);
}

static void list_entries(const build_cache_t *cache, entries_t *entries) {
   for (unsigned i = 0; i < 256; i++) {
      char path[4096];
      struct dirent *found;
      DIR *directory;
      snprintf(path, sizeof path, "%s/%02x", cache->directory, i);
      directory = opendir(path);
      while (directory && (found = readdir(directory)) != NULL)
         note_entry(entries, path, found->d_name);
      if (directory)
         closedir(directory);
   }
}

/* Sweeps down to nine tenths of the limit, so that the next entries need no sweep. */
static void sweep(const build_cache_t *cache) {
   entries_t entries = {NULL, 0, 0, 0};
   list_entries(cache, &entries);
   if (entries.bytes > cache->limit) {
      qsort(entries.list, entries.count, sizeof *entries.list, older);
      for (size_t i = 0; i < entries.count && entries.bytes > cache->limit / 10 * 9; i++) {
         unlink(entries.list[i].path);
         entries.bytes -= entries.list[i].bytes;
      }
   }
   for (size_t i = 0; i < entries.count; i++)
      free(entries.list[i].path);
   free(entries.list);
}

/* Header and payload in one block; NULL when it cannot be made. */
static char *make_entry(const build_cache_t *cache, const char *key, const void *payload, size_t length) {
   entry_header_t header = {.magic = entry_magic, .length = length};
   char *entry = rkb_try_uncleared(HEADER_BYTES + length, 1, NULL);
   if (!entry || !seal(cache, key, payload, length, header.seal)) {
      free(entry);
      return NULL;
   }
   memcpy(entry, &header, HEADER_BYTES);
   memcpy(entry + HEADER_BYTES, payload, length);
   return entry;
}

void build_cache_put(build_cache_t *cache, const char *key, const void *payload, size_t length) {
   char path[4096], *entry;
   rkb_error_t err;
   bool full;
   if (length > MAX_ENTRY - HEADER_BYTES)
      return;
   pthread_mutex_lock(&cache->mutex);
   cache->written += length + HEADER_BYTES;
   full = cache->written > cache->limit / SWEEP_SHARE;
   if (full)
      cache->written = 0;
   pthread_mutex_unlock(&cache->mutex);
   snprintf(path, sizeof path, "%s/%.2s", cache->directory, key);
   mkdir(path, 0700);
   entry_path(cache, key, path, sizeof path);
   entry = make_entry(cache, key, payload, length);
   if (entry)
      rkb_file_write_own(path, entry, HEADER_BYTES + length, &err);
   free(entry);
   if (full)
      sweep(cache);
}
