/* Every operation of docs/operations.md has a text, forward and backward: the tasks that tests/reference/test_functions.c wrote, one for
 * each line of functions.txt.  Nothing is compiled here. */
#include <glob.h>
#include <stdlib.h>
#include "check.h"
#include "generator/generator.h"

static const rkb_target_t target = {.multiprocessors = 132, .shared_bytes = 227 << 10, .tensor = {0, 2361, 2361, 393, 4723, 4723}};

/* Returns whether the task has the direction. */
static bool write_one(const char *directory, const char *direction) {
   rkb_problems_t problems;
   rkb_error_t err = {0};
   char *text = NULL;
   rkb_problems_init(&problems);
   rkb_task_t *task = rkb_task_load(directory, direction, 0, &problems);
   rkb_problems_free(&problems);
   if (!task)
      return false;
   const rkb_generator_t generator = {task, target};
   if (rkb_generator_start(&generator, "suited", &text, &err) != RKB_OK)
      fail_msg("%s %s: %s", directory, direction, err.message);
   free(text);
   rkb_task_free(task);
   return true;
}

static void test_each(void **state) {
   glob_t found;
   uint32_t directions = 0;
   (void)state;
   assert_int_equal(glob(MADE "/[0-9]*_*", 0, NULL, &found), 0);
   for (size_t i = 0; i < found.gl_pathc; i++)
      for (int d = 0; d < 2; d++)
         directions += write_one(found.gl_pathv[i], d ? "backward" : "forward");
   globfree(&found);
   assert_true(directions > 300);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(test_each)};
   return RUN_TESTS(tests);
}
