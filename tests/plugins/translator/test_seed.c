/* rkb.translator.seed: the files that it finds, their order, and failures. */
#include "fake.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *make_directory(void) {
   char *path = strdup("/tmp/rkb-seed-XXXXXX");
   assert_non_null(mkdtemp(path));
   return path;
}

static void write_file(const char *directory, const char *name, const char *text) {
   char path[512];
   snprintf(path, sizeof path, "%s/%s", directory, name);
   FILE *file = fopen(path, "w");
   assert_non_null(file);
   fputs(text, file);
   fclose(file);
}

static void remove_directory(char *directory) {
   char command[600];
   snprintf(command, sizeof command, "rm -r '%s'", directory);
   assert_int_equal(system(command), 0);
   free(directory);
}

static void gives_the_tasks_seeds(void **state) {
   (void)state;
   fake_t fake;
   fake_open(&fake, "translator/seed");
   fake_start(&fake, NULL);
   rkb_item_t *request = fake_request(&fake, "propose", 0, NULL, NULL, 0);
   assert_int_equal(fake_run(&fake, request), RKB_OK);
   assert_true(fake.emitted_count >= 2);
   assert_non_null(strstr(fake_text(&fake, 0, "source"), "rkb-kernel: 1"));
   assert_string_equal(fake_text(&fake, 0, "note"), "seed block_per_row.cu");
   assert_string_equal(fake_json(&fake, 0, "tune"), "{}");
   fake_drop(request);
   fake_close(&fake);
}

/* A link may lead to any of the user's files, and a pipe never ends.  Such a file is skipped and named, and other seeds are given.
 * If it is the only file in its directory, the request fails. */
static void files_that_are_no_text_are_left_out(void **state) {
   static const char *const commands[] = {"ln -s /etc/passwd %s/%s", "ln -s c.cu %s/%s", "mkfifo %s/%s", "mkdir %s/%s",
                                          "printf 'a\\0b' >%s/%s", "head -c 300000 /dev/zero >%s/%s"};
   static const char *const words[] = {"is a link", "is a link", "is not a regular file", "is not a regular file",
                                       "holds a NUL byte", "is larger than"};
   (void)state;
   for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
      fake_t fake;
      char *directory = make_directory(), option[600], command[600];
      const char *const name = i % 2 ? "a.cu" : "c.cu"; /* before the good one, and behind it */
      snprintf(command, sizeof command, commands[i], directory, name);
      assert_int_equal(system(command), 0);
      snprintf(option, sizeof option, "directory=%s", directory);
      fake_open(&fake, "translator/seed");
      fake_start(&fake, (const char *const[]){option, NULL});
      rkb_item_t *request = fake_request(&fake, "propose", 0, NULL, NULL, 0);
      assert_true(fake_run(&fake, request) < 0);
      assert_non_null(strstr(fake.error.message, words[i]));
      assert_non_null(strstr(fake.error.message, name));
      assert_int_equal(fake.emitted_count, 0);
      write_file(directory, "b.cu", "second");
      assert_int_equal(fake_run(&fake, request), RKB_OK);
      assert_int_equal(fake.emitted_count, 1);
      assert_string_equal(fake_text(&fake, 0, "source"), "second");
      assert_non_null(strstr(fake.logged, words[i]));
      assert_non_null(strstr(fake.logged, name));
      fake_drop(request);
      fake_close(&fake);
      remove_directory(directory);
   }
}

/* A folder that is a link may lead to any of the user's folders. */
static void folders_that_are_links_are_refused(void **state) {
   static const char *const links[] = {"seeds/forward", "seeds", "seeds/forward/"};
   (void)state;
   for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
      fake_t fake;
      char *directory = make_directory(), option[600], command[1200];
      snprintf(command, sizeof command,
               "mkdir -p %s/private/forward && echo text >%s/private/forward/a.cu && mkdir -p %s/seeds",
               directory, directory, directory);
      assert_int_equal(system(command), 0);
      if (i == 1)
         snprintf(command, sizeof command, "rmdir %s/seeds && ln -s private %s/seeds", directory, directory);
      else
         snprintf(command, sizeof command, "ln -s ../private/forward %s/seeds/forward", directory);
      assert_int_equal(system(command), 0);
      snprintf(option, sizeof option, "directory=%s/seeds/forward%s", directory, i == 2 ? "/" : "");
      fake_open(&fake, "translator/seed");
      fake_start(&fake, (const char *const[]){option, NULL});
      rkb_item_t *request = fake_request(&fake, "propose", 0, NULL, NULL, 0);
      assert_true(fake_run(&fake, request) < 0);
      if (!strstr(fake.error.message, "is a link"))
         fail_msg("%s: %s", links[i], fake.error.message);
      assert_int_equal(fake.emitted_count, 0);
      fake_drop(request);
      fake_close(&fake);
      remove_directory(directory);
   }
}

static void sorts_and_ignores_the_rest(void **state) {
   (void)state;
   fake_t fake;
   char *directory = make_directory(), option[600];
   write_file(directory, "b.cu", "second");
   write_file(directory, "a.cu", "first");
   write_file(directory, ".hidden.cu", "hidden");
   write_file(directory, "notes.txt", "notes");
   snprintf(option, sizeof option, "directory=%s", directory);
   fake_open(&fake, "translator/seed");
   fake_start(&fake, (const char *const[]){option, NULL});
   rkb_item_t *request = fake_request(&fake, "propose", 0, NULL, NULL, 0);
   assert_int_equal(fake_run(&fake, request), RKB_OK);
   assert_int_equal(fake.emitted_count, 2);
   assert_string_equal(fake_text(&fake, 0, "source"), "first");
   assert_string_equal(fake_text(&fake, 1, "source"), "second");
   fake_drop(request);

   request = fake_request(&fake, "search", 3, NULL, NULL, 0);
   assert_int_equal(fake_run(&fake, request), RKB_OK);
   assert_int_equal(fake.emitted_count, 1);
   assert_string_equal(fake_text(&fake, 0, "source"), "second");
   fake_drop(request);
   fake_close(&fake);
   remove_directory(directory);
}

/* An absent directory is no failure where the user says so; one without kernels is. */
static void optional_seeds_may_be_absent(void **state) {
   static const struct {
      const char *optional;
      bool stands;
      int status;
   } cases[] = {{"optional=true", false, RKB_OK},
                {"optional=true", true, RKB_ERR_INVALID},
                {"optional=false", false, RKB_ERR_INVALID},
                {"optional=false", true, RKB_ERR_INVALID}};
   (void)state;
   for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
      fake_t fake;
      char *directory = make_directory(), option[600];
      snprintf(option, sizeof option, "directory=%s%s", directory, cases[i].stands ? "" : "/none");
      fake_open(&fake, "translator/seed");
      fake_start(&fake, (const char *const[]){option, cases[i].optional, NULL});
      for (int search = 0; search < 2; search++) {
         rkb_item_t *request = fake_request(&fake, search ? "search" : "propose", search, NULL, NULL, 0);
         assert_int_equal(fake_run(&fake, request), cases[i].status);
         assert_int_equal(fake.emitted_count, 0);
         fake_drop(request);
      }
      fake_close(&fake);
      remove_directory(directory);
   }
}

static void names_what_is_wrong(void **state) {
   (void)state;
   fake_t fake;
   char *directory = make_directory(), option[600], path[600];
   snprintf(option, sizeof option, "directory=%s", directory);
   fake_open(&fake, "translator/seed");
   fake_start(&fake, (const char *const[]){option, NULL});
   rkb_item_t *request = fake_request(&fake, "propose", 0, NULL, NULL, 0);
   assert_int_equal(fake_run(&fake, request), RKB_ERR_INVALID); /* no kernel */
   assert_non_null(strstr(fake.error.message, directory));

   snprintf(path, sizeof path, "%s/big.cu", directory);
   FILE *file = fopen(path, "w");
   assert_int_equal(ftruncate(fileno(file), 300 * 1024), 0);
   fclose(file);
   assert_int_equal(fake_run(&fake, request), RKB_ERR_LIMIT); /* too large */
   assert_non_null(strstr(fake.error.message, "big.cu"));

   assert_int_equal(unlink(path), 0);
   assert_int_equal(mkdir(path, 0700), 0);
   assert_int_equal(fake_run(&fake, request), RKB_ERR_INVALID); /* a directory called .cu */
   assert_int_equal(rmdir(path), 0);

   for (int i = 0; i < 65; i++) {
      snprintf(path, sizeof path, "k%02d.cu", i);
      write_file(directory, path, "kernel");
   }
   assert_int_equal(fake_run(&fake, request), RKB_ERR_LIMIT); /* too many */
   fake_drop(request);
   fake_close(&fake);
   remove_directory(directory);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(gives_the_tasks_seeds),
      cmocka_unit_test(files_that_are_no_text_are_left_out),
      cmocka_unit_test(folders_that_are_links_are_refused),
      cmocka_unit_test(sorts_and_ignores_the_rest),
      cmocka_unit_test(optional_seeds_may_be_absent),
      cmocka_unit_test(names_what_is_wrong),
   };
   return RUN_TESTS(tests);
}
