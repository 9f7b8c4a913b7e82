/* Collected problems: their order, the cap, and bytes that could drive a terminal.  One thread. */
#include "check.h"
#include "base/problems.h"

static const rkb_place_t b9 = {"b.yaml", 9, 1}, b2c5 = {"b.yaml", 2, 5}, b2c3 = {"b.yaml", 2, 3},
                         a1 = {"a.yaml", 1, 1};

static void they_come_in_file_order(void **state) {
   (void)state;
   rkb_problems_t problems;
   rkb_text_t out;
   rkb_problems_init(&problems);
   rkb_text_init(&out, 4096);
   rkb_problem(&problems, b9, "ninth, first said");
   rkb_problem(&problems, a1, "another file");
   rkb_problem(&problems, b2c5, "fifth of %d", 2);
   rkb_problem_warning(&problems, b2c3, "third");
   rkb_problem(&problems, b2c5, "said later");
   rkb_problem(&problems, (rkb_place_t){"c.yaml", 0, 0}, "no line");
   rkb_problem(&problems, (rkb_place_t){0}, "no file");
   rkb_problems_write(&problems, &out);
   assert_string_equal(rkb_text_get(&out), "b.yaml:2:3: warning: third\n"
                                           "b.yaml:2:5: fifth of 2\n"
                                           "b.yaml:2:5: said later\n"
                                           "b.yaml:9:1: ninth, first said\n"
                                           "a.yaml:1:1: another file\n"
                                           "c.yaml: no line\n"
                                           "no file\n");
   assert_int_equal(problems.errors, 6);
   assert_int_equal(problems.warnings, 1);
   rkb_text_free(&out);
   rkb_problems_free(&problems);
}

static void past_the_cap_they_are_counted(void **state) {
   (void)state;
   rkb_problems_t problems;
   rkb_text_t out;
   rkb_problems_init(&problems);
   rkb_text_init(&out, 1 << 16);
   for (uint32_t i = 0; i < 1234; i++)
      rkb_problem(&problems, (rkb_place_t){"f", i + 1, 1}, "bad");
   rkb_problems_write(&problems, &out);
   assert_int_equal(problems.count, RKB_PROBLEMS_KEPT);
   assert_int_equal(problems.errors, 1234);
   assert_string_equal(rkb_text_get(&out) + out.length - 14, "and 1034 more\n");
   rkb_text_free(&out);
   rkb_problems_free(&problems);
}

static void the_first_error_skips_warnings(void **state) {
   (void)state;
   rkb_problems_t problems;
   rkb_error_t err;
   rkb_problems_init(&problems);
   rkb_problem_warning(&problems, b2c3, "only a warning");
   assert_int_equal(rkb_problems_error(&problems, &err), RKB_OK);
   rkb_problem(&problems, b9, "later");
   rkb_problem(&problems, b2c5, "sooner");
   assert_int_equal(rkb_problems_error(&problems, &err), RKB_ERR_INVALID);
   assert_string_equal(err.message, "b.yaml:2:5: sooner");
   rkb_problems_free(&problems);
}

static void quoted_bytes_cannot_drive_a_terminal(void **state) {
   (void)state;
   rkb_problems_t problems;
   rkb_problems_init(&problems);
   rkb_problem(&problems, b9, "unknown '%s'", "\x1b[2J\n\xc2\x9b");
   assert_string_equal(problems.list[0].message, "unknown '?[2J??\x9b'");
   rkb_problems_free(&problems);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(they_come_in_file_order),
                                      cmocka_unit_test(past_the_cap_they_are_counted),
                                      cmocka_unit_test(the_first_error_skips_warnings),
                                      cmocka_unit_test(quoted_bytes_cannot_drive_a_terminal)};
   return RUN_TESTS(tests);
}
