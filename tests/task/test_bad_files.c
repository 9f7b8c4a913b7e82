/* Messages about mistakes in task files: every line of bad.txt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/file.h"
#include "task_fixture.h"

/* Text with the first occurrence of old replaced; malloc'd. */
static char *replaced(const char *text, const char *old, const char *new) {
   const char *at = strstr(text, old);
   assert_non_null(at);
   char *out = malloc(strlen(text) + strlen(new) + 1);
   sprintf(out, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
   return out;
}

static char *source(const char *directory, const char *name) {
   char path[600], *data;
   size_t length;
   rkb_error_t err = {0};
   snprintf(path, sizeof path, "%s/%s/%s", RKB_SOURCE_DIR, directory, name);
   assert_int_equal(rkb_file_read(path, 1 << 20, &data, &length, &err), RKB_OK);
   return data;
}

/* list: the mistakes.  directory: the task whose files they are made in. */
static void try_mistakes(const char *list, const char *directory_of_task, int least) {
   FILE *file = fopen(list, "r");
   assert_non_null(file);
   char *task = source(directory_of_task, "task.yaml"),
        *graph = source(directory_of_task, "reference.graph.yaml"), *line;
   int wrong = 0, lines = 0;
   for (; (line = fixture_line(file)) != NULL; lines++) {
      char *parts[4];
      assert_int_equal(fixture_split(line, " @ ", parts, 4), 4);
      bool of_task = strcmp(parts[0], "task.yaml") == 0;
      char *changed = replaced(of_task ? task : graph, parts[1], parts[2]);
      char *directory = fixture_write("bad", of_task ? changed : task, of_task ? graph : changed);
      rkb_problems_t problems;
      rkb_text_t text;
      rkb_problems_init(&problems);
      rkb_text_init(&text, 1 << 16);
      rkb_task_t *loaded = rkb_task_load(directory, NULL, 0, &problems);
      rkb_problems_write(&problems, &text);
      if (loaded || !strstr(rkb_text_get(&text), parts[3])) {
         print_error("%s -> %s: wanted \"%s\", got:\n%s\n", parts[1], parts[2], parts[3],
                     loaded ? "no problem" : rkb_text_get(&text));
         wrong++;
      }
      rkb_task_free(loaded);
      rkb_text_free(&text);
      rkb_problems_free(&problems);
      free(directory);
      free(changed);
      free(line);
   }
   fclose(file);
   free(task);
   free(graph);
   assert_true(lines > least);
   assert_int_equal(wrong, 0);
}

static void test_messages(void **state) {
   (void)state;
   try_mistakes(RKB_SOURCE_DIR "/tests/task/bad.txt", "tests/task/data/rms_norm", 20);
}

static void test_narrow_types(void **state) {
   (void)state;
   try_mistakes(RKB_SOURCE_DIR "/tests/task/bad_types.txt", "tasks/fp8_gemm", 5);
}

static void test_missing_directory(void **state) {
   (void)state;
   rkb_problems_t problems;
   rkb_problems_init(&problems);
   assert_null(rkb_task_load("/nonexistent/task", NULL, 0, &problems));
   assert_true(problems.errors > 0);
   rkb_problems_free(&problems);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(test_messages), cmocka_unit_test(test_narrow_types),
                                      cmocka_unit_test(test_missing_directory)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
