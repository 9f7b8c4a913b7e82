/* The build cache: one file an entry, DIRECTORY/ab/<key>, written beside and renamed, so that readers and
 * killed writers leave whole entries only; the checksum catches what a power cut or a full disk did.  Bounded
 * by sweeping the oldest (by time of last use, kept in mtime) when this process has written a share of the
 * limit.  Any thread; processes share the directory freely. */
#include "kernel/cache.h"
#include "base/file.h"
#include "base/hash.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { HEADER_BYTES = 24, MAX_ENTRY = 128 << 20, STALE_SECONDS = 3600, SWEEP_SHARE = 16 };
static const uint64_t default_limit = 2ull << 30, entry_magic = 0x3165686361436b72ull; /* "rkCache1" */

struct build_cache {
   char *directory;
   uint64_t limit;
   pthread_mutex_t mutex;
   uint64_t written;  /* since the last sweep */
   uint64_t sequence; /* of temporary names */
};

static char *default_directory(void) {
   const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
   if (cache && cache[0] == '/')
      return rkb_path_join(cache, "rkb/build");
   return rkb_path_join(home && *home ? home : "/tmp", ".cache/rkb/build");
}

int build_cache_open(const char *directory, uint64_t limit_bytes, build_cache_t **cache, rkb_error_t *err) {
   build_cache_t *made = calloc(1, sizeof *made);
   int status;
   *cache = NULL;
   if (made)
      made->directory = directory ? strdup(directory) : default_directory();
   if (!made || !made->directory) {
      free(made);
      *err = (rkb_error_t){.status = RKB_ERR_NOMEM, .message = "out of memory"};
      return RKB_ERR_NOMEM;
   }
   made->limit = limit_bytes ? limit_bytes : default_limit;
   made->written = made->limit; /* another process may have left it full: the first put sweeps */
   status = rkb_make_directories(made->directory, err);
   if (status != RKB_OK) {
      size_t length = strlen(err->message);
      snprintf(err->message + length, sizeof err->message - length,
               "; set XDG_CACHE_HOME to one for the build cache");
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

static bool read_whole(int file, void *data, size_t length) {
   size_t at = 0;
   while (at < length) {
      ssize_t got = read(file, (char *)data + at, length - at);
      if (got < 0 && errno == EINTR)
         continue;
      if (got <= 0)
         return false;
      at += (size_t)got;
   }
   return true;
}

static bool is_sound(const uint64_t header[3], const char *payload, size_t length) {
   return header[0] == entry_magic && header[1] == length &&
          header[2] == rkb_hash64(payload, length, entry_magic);
}

char *build_cache_get(build_cache_t *cache, const char *key, size_t *length) {
   char path[4096], *payload = NULL;
   uint64_t header[3];
   struct stat about;
   int file;
   entry_path(cache, key, path, sizeof path);
   file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
   if (file < 0)
      return NULL;
   if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode) || about.st_size < HEADER_BYTES ||
       about.st_size > MAX_ENTRY)
      goto miss;
   *length = (size_t)about.st_size - HEADER_BYTES;
   payload = malloc(*length + 1);
   if (!payload || !read_whole(file, header, sizeof header) || !read_whole(file, payload, *length) ||
       !is_sound(header, payload, *length))
      goto miss;
   payload[*length] = '\0';
   if (time(NULL) - about.st_mtime >
       STALE_SECONDS / 2) /* seldom: a write for each read would cost more than it tells */
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
   if (strchr(name, '.')) { /* a temporary file; an old one was left by a killed writer */
      if (time(NULL) - about.st_mtime > STALE_SECONDS)
         unlink(path);
      return;
   }
   if (entries->count == entries->room) {
      size_t room = entries->room ? entries->room * 2 : 1024;
      entry_t *list = realloc(entries->list, room * sizeof *list);
      if (!list)
         return;
      entries->list = list;
      entries->room = room;
   }
   entries->list[entries->count] = (entry_t){strdup(path), (uint64_t)about.st_size, about.st_mtime};
   if (entries->list[entries->count].path) {
      entries->bytes += (uint64_t)about.st_size;
      entries->count++;
   }
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

/* Down to nine tenths, so that the next entries need no sweep of their own. */
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

static bool write_whole(int file, const void *data, size_t length) {
   size_t at = 0;
   while (at < length) {
      ssize_t put = write(file, (const char *)data + at, length - at);
      if (put < 0 && errno == EINTR)
         continue;
      if (put <= 0)
         return false;
      at += (size_t)put;
   }
   return true;
}

void build_cache_put(build_cache_t *cache, const char *key, const void *payload, size_t length) {
   const uint64_t header[3] = {entry_magic, length, rkb_hash64(payload, length, entry_magic)};
   char path[4096], beside[4200];
   uint64_t sequence;
   bool full, written;
   int file;
   if (length > MAX_ENTRY - HEADER_BYTES)
      return;
   pthread_mutex_lock(&cache->mutex);
   sequence = cache->sequence++;
   cache->written += length + HEADER_BYTES;
   full = cache->written > cache->limit / SWEEP_SHARE;
   if (full)
      cache->written = 0;
   pthread_mutex_unlock(&cache->mutex);
   snprintf(path, sizeof path, "%s/%.2s", cache->directory, key);
   mkdir(path, 0777);
   entry_path(cache, key, path, sizeof path);
   snprintf(beside, sizeof beside, "%s.%d.%llu", path, (int)getpid(), (unsigned long long)sequence);
   file = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
   if (file >= 0) {
      written = write_whole(file, header, sizeof header) && write_whole(file, payload, length);
      if (close(file) != 0 || !written || rename(beside, path) != 0)
         unlink(beside);
   }
   if (full)
      sweep(cache);
}
