/* Files whole, paths, and where the program finds its own data: in the build tree and in an installation.  One thread. */
#include "check.h"
#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/rkb-file-XXXXXX";

static int make_folder(void **state) {
   (void)state;
   return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
   (void)state;
   char command[64];
   snprintf(command, sizeof command, "rm -r %s", folder);
   return system(command);
}

static void what_was_written_is_read(void **state) {
   (void)state;
   rkb_error_t err;
   char *data;
   size_t length;
   char *path = rkb_path_join(folder, "a");
   assert_int_equal(rkb_file_write(path, "x\0y", 3, &err), RKB_OK);
   assert_int_equal(rkb_file_write(path, "one\0two", 7, &err), RKB_OK);
   assert_int_equal(rkb_file_read(path, 7, &data, &length, &err), RKB_OK);
   assert_int_equal(length, 7);
   assert_memory_equal(data, "one\0two", 8);
   free(data);
   assert_int_equal(rkb_file_read(path, 6, &data, &length, &err), RKB_ERR_LIMIT);
   assert_int_equal(rkb_file_write(path, "", 0, &err), RKB_OK);
   assert_int_equal(rkb_file_read(path, 0, &data, &length, &err), RKB_OK);
   assert_int_equal(length, 0);
   assert_string_equal(data, "");
   free(data);
   free(path);
}

static void only_regular_files_are_read(void **state) {
   (void)state;
   rkb_error_t err;
   char *data;
   size_t length;
   char *pipe = rkb_path_join(folder, "pipe"), *missing = rkb_path_join(folder, "missing");
   assert_int_equal(mkfifo(pipe, 0600), 0);
   assert_int_equal(rkb_file_read(pipe, 10, &data, &length, &err), RKB_ERR_INVALID);
   assert_int_equal(rkb_file_read(folder, 10, &data, &length, &err), RKB_ERR_INVALID);
   assert_int_equal(rkb_file_read("/dev/zero", 10, &data, &length, &err), RKB_ERR_INVALID);
   assert_int_equal(rkb_file_read(missing, 10, &data, &length, &err), RKB_ERR_IO);
   assert_non_null(strstr(err.message, "No such file"));
   /* Files of /proc say size 0 and hold text nevertheless. */
   assert_int_equal(rkb_file_read("/proc/self/status", 1 << 20, &data, &length, &err), RKB_OK);
   assert_true(length > 100);
   free(data);
   free(pipe);
   free(missing);
}

static void a_failed_write_leaves_nothing_behind(void **state) {
   (void)state;
   rkb_error_t err;
   char *taken = rkb_path_join(folder, "taken");
   assert_int_equal(mkdir(taken, 0700), 0);
   assert_int_equal(rkb_file_write(taken, "x", 1, &err), RKB_ERR_IO); /* a directory cannot be replaced */
   assert_int_equal(rkb_file_write("/nowhere/at/all", "x", 1, &err), RKB_ERR_IO);
   char command[128];
   snprintf(command, sizeof command, "ls %s | grep -q '^taken[.]'", folder);
   assert_int_not_equal(system(command), 0);
   free(taken);
}

static void directories_are_made_to_any_depth(void **state) {
   (void)state;
   rkb_error_t err;
   char *deep = rkb_path_join(folder, "d/e//f/"), *file = rkb_path_join(folder, "file"), *below;
   assert_int_equal(rkb_make_directories(deep, &err), RKB_OK);
   assert_int_equal(rkb_make_directories(deep, &err), RKB_OK);
   assert_true(rkb_path_exists(deep));
   assert_int_equal(rkb_file_write(file, "", 0, &err), RKB_OK);
   below = rkb_path_join(file, "g");
   assert_int_equal(rkb_make_directories(below, &err), RKB_ERR_IO);
   free(deep);
   free(file);
   free(below);
}

static void paths_are_joined_and_split(void **state) {
   static const struct {
      const char *directory, *path, *joined;
   } joins[] = {{"a", "b", "a/b"}, {"a/", "b", "a/b"}, {"a", "/b", "/b"}, {"", "b", "b"}, {"/", "b", "/b"}};
   static const struct {
      const char *path, *directory;
   } splits[] = {{"a/b", "a"}, {"b", "."}, {"/b", "/"}, {"/a/b", "/a"}, {"a/b/", "a/b"}};
   (void)state;
   for (size_t i = 0; i < sizeof joins / sizeof joins[0]; i++) {
      char *joined = rkb_path_join(joins[i].directory, joins[i].path);
      assert_string_equal(joined, joins[i].joined);
      free(joined);
   }
   for (size_t i = 0; i < sizeof splits / sizeof splits[0]; i++) {
      char *directory = rkb_path_directory(splits[i].path);
      assert_string_equal(directory, splits[i].directory);
      free(directory);
   }
}

static void data_is_found_from_the_build_tree(void **state) {
   (void)state;
   char *docs = rkb_find_data("docs"), *plugins = rkb_find_data("plugins");
   assert_string_equal(docs, RKB_SOURCE_DIR "/docs");
   assert_string_equal(plugins, RKB_BINARY_DIR "/plugins");
   assert_null(rkb_find_data("no such thing"));
   free(docs);
   free(plugins);
}

static char *output_of(const char *command) {
   static char line[512];
   FILE *pipe = popen(command, "r");
   line[0] = '\0';
   if (!fgets(line, sizeof line, pipe))
      line[0] = '\0';
   pclose(pipe);
   line[strcspn(line, "\n")] = '\0';
   return line;
}

/* This program, copied out of the build tree, finds an installation around it and nothing of the build's. */
static void data_is_found_from_an_installation(void **state) {
   (void)state;
   char command[2048], expected[256];
   snprintf(command, sizeof command,
            "mkdir -p %s/bin %s/share/rkb/docs %s/%s/rkb/plugins && cp /proc/%d/exe %s/bin/program && "
            "%s/bin/program find docs",
            folder, folder, folder, RKB_TEST_LIBRARY_DIR, (int)getpid(), folder, folder);
   snprintf(expected, sizeof expected, "%s/share/rkb/docs", folder);
   assert_string_equal(output_of(command), expected);
   snprintf(command, sizeof command, "%s/bin/program find plugins", folder);
   snprintf(expected, sizeof expected, "%s/%s/rkb/plugins", folder, RKB_TEST_LIBRARY_DIR);
   assert_string_equal(output_of(command), expected);
   snprintf(command, sizeof command, "%s/bin/program find core", folder);
   assert_string_equal(output_of(command), "nothing");
}

/* This program, copied as a part of the build folder, uses what was copied with it. */
static void data_is_found_from_a_copied_build(void **state) {
   (void)state;
   char command[2048], expected[256];
   snprintf(command, sizeof command,
            "mkdir -p %s/tree/built/bin %s/tree/built/libexec/rkb %s/tree/built/plugins && "
            "cp /proc/%d/exe %s/tree/built/bin/program && %s/tree/built/bin/program find plugins",
            folder, folder, folder, (int)getpid(), folder, folder);
   snprintf(expected, sizeof expected, "%s/tree/built/plugins", folder);
   assert_string_equal(output_of(command), expected);
   /* Without a source tree around it, the one it was built from. */
   snprintf(command, sizeof command, "%s/tree/built/bin/program find docs", folder);
   assert_string_equal(output_of(command), RKB_SOURCE_DIR "/docs");
   snprintf(command, sizeof command,
            "mkdir -p %s/tree/docs %s/tree/cmake && touch %s/tree/cmake/RkbPackage.cmake && "
            "%s/tree/built/bin/program find docs",
            folder, folder, folder, folder);
   snprintf(expected, sizeof expected, "%s/tree/docs", folder);
   assert_string_equal(output_of(command), expected);
}

int main(int argc, char **argv) {
   if (argc == 3 && strcmp(argv[1], "find") == 0) {
      char *found = rkb_find_data(argv[2]);
      puts(found ? found : "nothing");
      free(found);
      return 0;
   }
   const struct CMUnitTest tests[] = {cmocka_unit_test(what_was_written_is_read),
                                      cmocka_unit_test(only_regular_files_are_read),
                                      cmocka_unit_test(a_failed_write_leaves_nothing_behind),
                                      cmocka_unit_test(directories_are_made_to_any_depth),
                                      cmocka_unit_test(paths_are_joined_and_split),
                                      cmocka_unit_test(data_is_found_from_the_build_tree),
                                      cmocka_unit_test(data_is_found_from_an_installation),
                                      cmocka_unit_test(data_is_found_from_a_copied_build)};
   return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
