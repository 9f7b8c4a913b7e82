/* Every folder of tasks/ holds a task and what the filter says of it: a line a check, "name result TEXT",
 * where the finding begins with TEXT. */
#include "check.h"
#include "base/file.h"
#include "task/filter.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER RKB_SOURCE_DIR "/tests/task/filter/tasks"

static const char *const results[] = {
   [RKB_FILTER_PASSED] = "passed", [RKB_FILTER_FAILED] = "failed", [RKB_FILTER_UNDECIDED] = "undecided"};

static uint32_t find_check(const char *name, size_t length) {
   uint32_t check = 0;
   while (check < RKB_FILTER_CHECKS && (strlen(rkb_filter_check_name(check)) != length ||
                                        strncmp(rkb_filter_check_name(check), name, length)))
      ++check;
   return check;
}

/* Returns how many of the lines of expected.txt do not hold, printing them. */
static int compare(const char *folder, char *expected, const rkb_filter_t *filter) {
   int wrong = 0, lines = 0;
   bool worth = true;
   char *rest = NULL;
   for (char *line = strtok_r(expected, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
      size_t name = strcspn(line, " "), result = strcspn(line + name + 1, " ");
      const char *text = line + name + 1 + result;
      text += *text == ' ';
      uint32_t check = find_check(line, name);
      assert_true(check < RKB_FILTER_CHECKS);
      const rkb_filter_finding_t *finding = &filter->findings[check];
      bool same = strlen(results[finding->result]) == result &&
                  strncmp(results[finding->result], line + name + 1, result) == 0 &&
                  strncmp(finding->what, text, strlen(text)) == 0;
      if (!same)
         print_error("%s: expected '%s', got '%s %s'\n", folder, line, results[finding->result],
                     finding->what);
      wrong += !same;
      worth = worth && strncmp(line + name + 1, "failed", 6) != 0;
      ++lines;
   }
   assert_int_equal(lines, RKB_FILTER_CHECKS);
   assert_int_equal(rkb_filter_worth(filter), worth);
   return wrong;
}

static int try_folder(const char *name) {
   char folder[1024], file[1100], *expected = NULL;
   size_t length = 0;
   rkb_filter_t filter;
   rkb_problems_t problems;
   rkb_error_t err = {0};
   snprintf(folder, sizeof folder, FOLDER "/%s", name);
   snprintf(file, sizeof file, "%s/expected.txt", folder);
   assert_int_equal(rkb_file_read(file, 1 << 16, &expected, &length, &err), RKB_OK);
   rkb_problems_init(&problems);
   if (rkb_task_filter(folder, &filter, &problems, &err) != RKB_OK)
      fail_msg("%s: %s", name, err.message);
   int wrong = compare(name, expected, &filter);
   rkb_problems_free(&problems);
   free(expected);
   return wrong;
}

static void each_task_is_judged_as_expected(void **state) {
   (void)state;
   DIR *stream = opendir(FOLDER);
   int wrong = 0, tried = 0;
   assert_non_null(stream);
   for (struct dirent *entry = readdir(stream); entry; entry = readdir(stream))
      if (entry->d_name[0] != '.') {
         wrong += try_folder(entry->d_name);
         ++tried;
      }
   closedir(stream);
   assert_true(tried >= 5);
   assert_int_equal(wrong, 0);
}

static void a_broken_task_is_a_problem_with_a_place(void **state) {
   (void)state;
   rkb_filter_t filter;
   rkb_problems_t problems;
   rkb_error_t err = {0};
   rkb_problems_init(&problems);
   assert_int_not_equal(rkb_task_filter(FOLDER "/no_such_task", &filter, &problems, &err), RKB_OK);
   assert_true(problems.errors > 0);
   rkb_problems_free(&problems);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_task_is_judged_as_expected),
      cmocka_unit_test(a_broken_task_is_a_problem_with_a_place),
   };
   return RUN_TESTS(tests);
}
