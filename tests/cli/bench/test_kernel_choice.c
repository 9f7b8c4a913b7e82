/* Which of several kernels `rkb bench` publishes: the fastest by the quick measurement, and where that does
 * not decide, by the full one.  The kernels state their times themselves (plugins/stated.c). */
#include "check.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/file.h"
#include "cli/bench/bench.h"

typedef struct choice {
   uint32_t chosen;
   char in_full[32]; /* the numbers of the kernels that were measured in full */
} choice_t;

/* lines: the kernels' texts, ended by NULL. */
static choice_t choose_among(const char *const *lines) {
   static const rkb_cli_option_t options[] = {{.name = "plugin-path"}, {0}};
   static const char *paths[] = {RKB_TEST_PLUGINS, NULL}, **values[] = {paths, NULL};
   const rkb_command_t command = {.options = options};
   const rkb_arguments_t arguments = {.command = &command, .values = values};
   char folder[] = "/tmp/rkb-choice-XXXXXX", text[128], remove[64], name[16];
   choice_t choice = {0};
   rkb_problems_t problems;
   rkb_error_t err = {0};
   json_t *tried = NULL, *one;
   size_t i;
   rkb_bench_kernels_t kernels = {0};
   rkb_problems_init(&problems);
   rkb_bench_work_t work = {
      .directory = RKB_SOURCE_DIR "/tasks/mnist_pool", .name = "mnist_pool", .direction = "forward"};
   rkb_log_t *log;
   assert_int_equal(rkb_log_open(RKB_LOG_WARN, false, NULL, &log, &err), RKB_OK);
   const rkb_bench_t bench = {.log = log,
                              .arguments = &arguments,
                              .pipeline = RKB_SOURCE_DIR "/tests/cli/bench/stated.yaml",
                              .target = "h200"};
   assert_non_null(mkdtemp(folder));
   for (; lines[kernels.count]; kernels.count++) {
      snprintf(name, sizeof name, "%u.cu", kernels.count);
      snprintf(text, sizeof text, "// %s\n", lines[kernels.count]);
      kernels.list[kernels.count].path = rkb_path_join(folder, name);
      assert_int_equal(rkb_file_write(kernels.list[kernels.count].path, text, strlen(text), &err), RKB_OK);
   }
   if (rkb_bench_choose(&bench, &work, &kernels, &choice.chosen, &tried, &err) != RKB_OK)
      fail_msg("%s", err.message);
   json_array_foreach(tried, i, one) if (json_object_get(one, "full_us"))
      snprintf(choice.in_full + strlen(choice.in_full), 3, "%zu ", i);
   json_decref(tried);
   rkb_bench_kernels_free(&kernels);
   rkb_log_close(log);
   snprintf(remove, sizeof remove, "rm -r %s", folder);
   assert_int_equal(system(remove), 0);
   return choice;
}

#define CHOOSE(...) choose_among((const char *const[]){__VA_ARGS__, NULL})

static void check(choice_t choice, uint32_t chosen, const char *in_full) {
   assert_int_equal(choice.chosen, chosen);
   assert_string_equal(choice.in_full, in_full);
}

static void the_quick_gate_chooses_where_it_tells(void **state) {
   (void)state;
   check(CHOOSE("quick 20 full 1", "quick 10 full 9", "quick 11 full 1"), 1, "");
}

static void near_ones_are_measured_in_full(void **state) {
   (void)state;
   check(CHOOSE("quick 6.97 full 6.6", "quick 8.11 full 1", "quick 6.66 full 7.2"), 0, "0 2 ");
   check(CHOOSE("quick 100 full 90", "quick 102.4 full 80", "quick 102.6 full 70"), 1, "0 1 ");
}

static void of_many_near_ones_the_fastest_four(void **state) {
   (void)state;
   check(CHOOSE("quick 10.5 full 1", "quick 10.4 full 6", "quick 10.3 full 5", "quick 10.4 full 4",
                "quick 10 full 7"),
         3, "1 2 3 4 ");
}

static void long_ones_are_told_apart_by_one_sitting(void **state) {
   (void)state;
   check(CHOOSE("quick 1400 full 1", "quick 1399 full 1400"), 1, "");
}

static void only_an_accepted_one_is_chosen(void **state) {
   (void)state;
   check(CHOOSE("wrong quick 1 full 1", "quick 10 full 11", "quick 10.1 full 10"), 2, "1 2 ");
   check(CHOOSE("wrong quick 1 full 1", "wrong quick 2 full 1"), 0, "");
   check(CHOOSE("doubtful quick 1 full 1", "quick 10 full 1", "quick 20 full 1"), 1,
         ""); /* it is timed all the same */
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_quick_gate_chooses_where_it_tells),
      cmocka_unit_test(near_ones_are_measured_in_full),
      cmocka_unit_test(of_many_near_ones_the_fastest_four),
      cmocka_unit_test(long_ones_are_told_apart_by_one_sitting),
      cmocka_unit_test(only_an_accepted_one_is_chosen),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
