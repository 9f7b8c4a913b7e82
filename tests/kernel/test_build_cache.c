/* The build cache between processes: kills in the middle of writing, torn files, the bound on its size. */
#include "kernel_fixture.h"
#include "kernel/build_cache.h"
#include "base/hash.h"

#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static build_cache_t *open_cache(const char *directory, uint64_t limit) {
   build_cache_t *cache = NULL;
   rkb_error_t err;
   if (build_cache_open(directory, limit, &cache, &err) != RKB_OK)
      fail_msg("%s", err.message);
   return cache;
}

/* The payload of a key is made of the key, so that any reader can tell a whole one. */
static size_t make_payload(uint32_t number, char key[RKB_HASH_TEXT], char *payload) {
   size_t length = 1000 + (number % 64) * 997;
   rkb_hash_text(&number, sizeof number, key);
   for (size_t i = 0; i < length; i++)
      payload[i] = key[i % (RKB_HASH_TEXT - 1)];
   return length;
}

static void what_is_put_is_got(void **state) {
   char *directory = fixture_directory(), key[RKB_HASH_TEXT], payload[65536], *got;
   build_cache_t *cache = open_cache(directory, 0);
   size_t length, got_length;
   (void)state;
   length = make_payload(7, key, payload);
   assert_null(build_cache_get(cache, key, &got_length));
   build_cache_put(cache, key, payload, length);
   got = build_cache_get(cache, key, &got_length);
   assert_non_null(got);
   assert_int_equal(got_length, length);
   assert_memory_equal(got, payload, length);
   free(got);
   build_cache_close(cache);
   fixture_remove(directory);
   free(directory);
}

static void damage_is_a_miss(void **state) {
   char *directory = fixture_directory(), key[RKB_HASH_TEXT], payload[65536], path[512];
   build_cache_t *cache = open_cache(directory, 0);
   size_t length = make_payload(9, key, payload), got_length;
   (void)state;
   snprintf(path, sizeof path, "%s/%.2s/%s", directory, key, key);
   for (int damage = 0; damage < 4; damage++) {
      FILE *file;
      build_cache_put(cache, key, payload, length);
      switch (damage) {
      case 0:
         assert_int_equal(truncate(path, (off_t)length / 2), 0);
         break;
      case 1:
         assert_int_equal(truncate(path, 5), 0);
         break;
      case 2:
         file = fopen(path, "r+");
         fseek(file, 100, SEEK_SET);
         fputc('?', file);
         fclose(file);
         break;
      default:
         unlink(path);
         assert_int_equal(symlink("/etc/passwd", path), 0);
      }
      assert_null(build_cache_get(cache, key, &got_length));
   }
   build_cache_close(cache);
   fixture_remove(directory);
   free(directory);
}

/* What another entry, another owner's key or another hand left under a name. */
static void foreign_entries_are_misses(void **state) {
   enum { COPIED, RESEALED, FIFO, DIRECTORY, OPEN_MODE, LINKED, KINDS };
   (void)state;
   for (int kind = 0; kind < KINDS; kind++) {
      char *directory = fixture_directory(), *elsewhere = fixture_directory(), command[2048];
      char key[RKB_HASH_TEXT], other[RKB_HASH_TEXT], payload[65536], path[512];
      build_cache_t *cache = open_cache(directory, 0), *foreign = open_cache(elsewhere, 0);
      size_t length = make_payload(3, key, payload), got_length;
      build_cache_put(cache, key, payload, length);
      build_cache_put(foreign, key, payload, length);
      make_payload(4, other, payload);
      build_cache_put(cache, other, payload, length);
      char *got = build_cache_get(cache, key, &got_length);
      assert_non_null(got);
      free(got);
      snprintf(path, sizeof path, "%s/%.2s/%s", directory, key, key);
      switch (kind) {
      case COPIED: /* the other entry, whole and sealed, under this name */
         snprintf(command, sizeof command, "cp %s/%.2s/%s %s", directory, other, other, path);
         break;
      case RESEALED: /* the same entry, sealed by another cache's owner */
         snprintf(command, sizeof command, "cp %s/%.2s/%s %s", elsewhere, key, key, path);
         break;
      case FIFO:
         snprintf(command, sizeof command, "rm %s && mkfifo %s", path, path);
         break;
      case DIRECTORY:
         snprintf(command, sizeof command, "rm %s && mkdir %s", path, path);
         break;
      case OPEN_MODE:
         snprintf(command, sizeof command, "chmod 0666 %s", path);
         break;
      default: /* the right entry, through a link */
         snprintf(command, sizeof command, "mv %s %s/moved && ln -s %s/moved %s", path, directory, directory, path);
      }
      assert_int_equal(system(command), 0);
      assert_null(build_cache_get(cache, key, &got_length));
      build_cache_close(cache);
      build_cache_close(foreign);
      fixture_remove(directory);
      fixture_remove(elsewhere);
      free(directory);
      free(elsewhere);
   }
}

static unsigned mode_of(const char *directory, const char *name) {
   char path[512];
   struct stat about;
   snprintf(path, sizeof path, "%s/%s", directory, name);
   assert_int_equal(stat(path, &about), 0);
   return about.st_mode & 0777;
}

static void its_folder_is_its_owners_alone(void **state) {
   char *directory = fixture_directory(), path[512];
   build_cache_t *cache = NULL;
   rkb_error_t err = {0};
   (void)state;
   chmod(directory, 0777);
   build_cache_close(open_cache(directory, 0));
   assert_int_equal(mode_of(directory, ".") & 022, 0);
   assert_int_equal(mode_of(directory, "key"), 0600);
   /* A key that others can read seals nothing. */
   snprintf(path, sizeof path, "%s/key", directory);
   chmod(path, 0644);
   assert_int_equal(build_cache_open(directory, 0, &cache, &err), RKB_ERR_UNAVAILABLE);
   assert_non_null(strstr(err.message, "only you can read"));
   unlink(path);
   /* A folder below one that anybody may write to could be another tomorrow. */
   snprintf(path, sizeof path, "%s/open/cache", directory);
   build_cache_close(open_cache(path, 0));
   snprintf(path, sizeof path, "%s/open", directory);
   chmod(path, 0777);
   snprintf(path, sizeof path, "%s/open/cache", directory);
   assert_int_equal(build_cache_open(path, 0, &cache, &err), RKB_ERR_UNAVAILABLE);
   assert_non_null(strstr(err.message, "can be written to by others"));
   if (geteuid() == 0) {
      snprintf(path, sizeof path, "%s/theirs", directory);
      mkdir(path, 0755);
      assert_int_equal(chown(path, 65534, 65534), 0);
      assert_int_equal(build_cache_open(path, 0, &cache, &err), RKB_ERR_UNAVAILABLE);
      assert_non_null(strstr(err.message, "belongs to user 65534"));
   }
   fixture_remove(directory);
   free(directory);
}

static void without_a_place_there_is_no_cache(void **state) {
   build_cache_t *cache = NULL;
   rkb_error_t err = {0};
   char *home = getenv("HOME") ? strdup(getenv("HOME")) : NULL;
   char *folder = getenv("XDG_CACHE_HOME") ? strdup(getenv("XDG_CACHE_HOME")) : NULL;
   (void)state;
   unsetenv("HOME");
   unsetenv("XDG_CACHE_HOME");
   assert_int_equal(build_cache_open(NULL, 0, &cache, &err), RKB_ERR_UNAVAILABLE);
   assert_non_null(strstr(err.message, "set XDG_CACHE_HOME"));
   setenv("XDG_CACHE_HOME", "relative", 1);
   assert_int_equal(build_cache_open(NULL, 0, &cache, &err), RKB_ERR_UNAVAILABLE);
   unsetenv("XDG_CACHE_HOME");
   if (home)
      setenv("HOME", home, 1);
   if (folder)
      setenv("XDG_CACHE_HOME", folder, 1);
   free(home);
   free(folder);
}

/* Tells of each entry that it has written. */
static void write_forever(const char *directory, uint32_t seed, int told) {
   char key[RKB_HASH_TEXT], payload[65536];
   build_cache_t *cache = open_cache(directory, 0);
   for (uint32_t i = seed;; i++) {
      size_t length = make_payload(i % 50, key, payload);
      build_cache_put(cache, key, payload, length);
      if (write(told, "!", 1) != 1)
         _exit(1);
   }
}

static void killed_writers_leave_whole_entries(void **state) {
   char *directory = fixture_directory(), key[RKB_HASH_TEXT], payload[65536];
   build_cache_t *cache = open_cache(directory, 0);
   uint32_t found = 0;
   (void)state;
   for (uint32_t round = 0; round < 20; round++) {
      pid_t writers[3];
      int told[2];
      char byte;
      assert_int_equal(pipe(told), 0);
      for (uint32_t i = 0; i < 3; i++) {
         writers[i] = fork();
         if (writers[i] == 0)
            write_forever(directory, round * 7 + i * 17, told[1]);
      }
      for (uint32_t entries = 0; entries < 10 + round; entries++)
         assert_int_equal(read(told[0], &byte, 1), 1);
      for (uint32_t i = 0; i < 3; i++)
         kill(writers[i], SIGKILL);
      for (uint32_t i = 0; i < 3; i++)
         waitpid(writers[i], NULL, 0);
      close(told[0]);
      close(told[1]);
      for (uint32_t i = 0; i < 50; i++) {
         size_t length = make_payload(i, key, payload), got_length;
         char *got = build_cache_get(cache, key, &got_length);
         if (!got)
            continue;
         found++;
         assert_int_equal(got_length, length);
         assert_memory_equal(got, payload, length);
         free(got);
      }
   }
   assert_true(found > 100);
   build_cache_close(cache);
   fixture_remove(directory);
   free(directory);
}

static uint64_t total_bytes(const char *directory) {
   char pattern[512];
   struct stat about;
   uint64_t total = 0;
   glob_t found;
   snprintf(pattern, sizeof pattern, "%s/*/*", directory);
   if (glob(pattern, 0, NULL, &found) != 0)
      return 0;
   for (size_t i = 0; i < found.gl_pathc; i++)
      if (stat(found.gl_pathv[i], &about) == 0)
         total += (uint64_t)about.st_size;
   globfree(&found);
   return total;
}

static void its_size_is_bounded_and_the_oldest_go_first(void **state) {
   const uint64_t limit = 1u << 20;
   char *directory = fixture_directory(), key[RKB_HASH_TEXT], payload[65536], path[512], *got;
   build_cache_t *cache = open_cache(directory, limit);
   const struct timespec old[2] = {{1000000000, 0}, {1000000000, 0}};
   size_t length, got_length;
   (void)state;
   for (uint32_t i = 0; i < 400; i++) {
      length = make_payload(i, key, payload);
      build_cache_put(cache, key, payload, length);
      if (i == 0) { /* the first entry is used all the time, the second was used long ago */
         continue;
      }
      snprintf(path, sizeof path, "%s/%.2s/%s", directory, key, key);
      utimensat(AT_FDCWD, path, old, 0);
   }
   assert_true(total_bytes(directory) <= limit + limit / 8);
   length = make_payload(0, key, payload);
   got = build_cache_get(cache, key, &got_length);
   assert_non_null(got);
   free(got);
   build_cache_close(cache);
   fixture_remove(directory);
   free(directory);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_put_is_got),
      cmocka_unit_test(damage_is_a_miss),
      cmocka_unit_test(foreign_entries_are_misses),
      cmocka_unit_test(its_folder_is_its_owners_alone),
      cmocka_unit_test(without_a_place_there_is_no_cache),
      cmocka_unit_test(killed_writers_leave_whole_entries),
      cmocka_unit_test(its_size_is_bounded_and_the_oldest_go_first),
   };
   return RUN_TESTS(tests);
}
