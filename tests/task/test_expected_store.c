/* Expected values kept between runs: what was saved comes back, for the same task alone, and seeds are this machine's own. */
#include "check.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "task/expected/expected_sample.h"
#include "task/expected/expected_store.h"

static const char shown[] = "softmax forward";

static rkb_store_t *open_store(const char *identity) {
   rkb_store_t *store;
   rkb_error_t err = {0};
   assert_int_equal(rkb_store_open(identity, &store, &err), RKB_OK);
   return store;
}

static int use_a_folder(void **state) {
   static char folder[] = "/tmp/rkb-store-XXXXXX";
   *state = mkdtemp(folder);
   return *state && setenv("XDG_CACHE_HOME", folder, 1) == 0 ? 0 : -1;
}

static int remove_folder(void **state) {
   char command[128];
   snprintf(command, sizeof command, "rm -r '%s'", (const char *)*state);
   return system(command);
}

static void saved_values_come_back(void **state) {
   (void)state;
   double out[3], in[3] = {1, 2, 3};
   uint8_t flags_out[2], flags_in[2] = {0, 1};
   rkb_store_t *store = open_store(shown);
   assert_false(rkb_store_load(store, "a", out, 3, flags_out, 2));
   rkb_store_save(store, "a", in, 3, flags_in, 2);
   assert_true(rkb_store_load(store, "a", out, 3, flags_out, 2));
   assert_memory_equal(out, in, sizeof in);
   assert_memory_equal(flags_out, flags_in, sizeof flags_in);
   /* Another length means another question. */
   assert_false(rkb_store_load(store, "a", out, 2, flags_out, 2));
   assert_false(rkb_store_load(store, "b", out, 3, flags_out, 2));
   rkb_store_close(store);
}

static void another_task_sees_nothing_of_it(void **state) {
   (void)state;
   double number = 1;
   uint8_t flag = 0;
   rkb_store_t *store = open_store(shown);
   rkb_store_save(store, "k", &number, 1, &flag, 1);
   rkb_store_close(store);
   store = open_store("softmax backward");
   assert_false(rkb_store_load(store, "k", &number, 1, &flag, 1));
   rkb_store_close(store);
}

/* The only file of a store with one entry, apart from its key. */
static void only_entry(const char *folder, char *path, size_t size) {
   char command[512];
   snprintf(command, sizeof command, "find %s/rkb/expected -type f ! -name key", folder);
   FILE *names = popen(command, "r");
   assert_non_null(names);
   assert_non_null(fgets(path, (int)size, names));
   path[strcspn(path, "\n")] = '\0';
   pclose(names);
}

/* A changed value, a renamed one, one that other users could have written, a link and a pipe. */
static void foreign_values_are_not_taken(void **state) {
   static const char *const changes[] = {
      "printf X | dd of=%1$s bs=1 seek=40 conv=notrunc status=none", "cp %2$s %1$s", "chmod o+w %1$s",
      "mv %1$s %1$s.moved && ln -s %1$s.moved %1$s", "rm %1$s && mkfifo %1$s"};
   for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
      char command[2048], path[512], other[512] = "";
      double in = 1, out = 0;
      uint8_t flag = 0;
      snprintf(command, sizeof command, "rm -rf %s/rkb", (const char *)*state);
      assert_int_equal(system(command), 0);
      rkb_store_t *store = open_store(shown);
      rkb_store_save(store, "other", &in, 1, &flag, 1);
      only_entry(*state, other, sizeof other);
      snprintf(command, sizeof command, "mv %s %s/kept", other, (const char *)*state);
      assert_int_equal(system(command), 0);
      snprintf(other, sizeof other, "%s/kept", (const char *)*state);
      rkb_store_save(store, "this", &in, 1, &flag, 1);
      assert_true(rkb_store_load(store, "this", &out, 1, &flag, 1));
      only_entry(*state, path, sizeof path);
      snprintf(command, sizeof command, changes[i], path, other);
      assert_int_equal(system(command), 0);
      assert_false(rkb_store_load(store, "this", &out, 1, &flag, 1));
      rkb_store_close(store);
   }
}

static void seeds_stay_and_differ(void **state) {
   struct stat secret;
   char path[256];
   rkb_store_t *first = open_store(shown), *second = open_store(shown);
   assert_true(rkb_store_seed(first, "bench/0", 0) == rkb_store_seed(second, "bench/0", 0));
   assert_true(rkb_store_seed(first, "bench/0", 0) != rkb_store_seed(first, "bench/0", 1));
   assert_true(rkb_store_seed(first, "bench/0", 0) != rkb_store_seed(first, "bench/1", 0));
   rkb_store_close(first);
   rkb_store_close(second);
   snprintf(path, sizeof path, "%s/rkb/expected/key", (const char *)*state);
   assert_int_equal(stat(path, &secret), 0);
   assert_int_equal(secret.st_mode & 077, 0); /* only the owner may read it */
}

static void large_and_costly_cases_have_two_seeds(void **state) {
   (void)state;
   assert_int_equal(rkb_sample_pool(&(rkb_case_t){.operations = 1e6, .bytes = 1e6}, 4), 4);
   assert_int_equal(rkb_sample_pool(&(rkb_case_t){.operations = 1e10, .bytes = 1e6}, 4), 2);
   assert_int_equal(rkb_sample_pool(&(rkb_case_t){.operations = 1e6, .bytes = 1e8}, 4), 2);
   assert_int_equal(rkb_sample_pool(&(rkb_case_t){.operations = 1e6, .bytes = 1e8}, 1), 1);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(saved_values_come_back),
      cmocka_unit_test(another_task_sees_nothing_of_it),
      cmocka_unit_test(foreign_values_are_not_taken),
      cmocka_unit_test(seeds_stay_and_differ),
      cmocka_unit_test(large_and_costly_cases_have_two_seeds),
   };
   return cmocka_run_group_tests(tests, use_a_folder, remove_folder);
}
