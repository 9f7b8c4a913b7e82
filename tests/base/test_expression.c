/* Every line of expression.cases is parsed and evaluated; its limits, lists and names are tested here. */
#include "check.h"
#include "base/expression.h"
#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const rkb_place_t here = {"f", 3, 10};

static const char *const fault_names[] = {"none", "unknown_name", "overflow", "division", "type"};

static bool look_up(void *argument, const char *name, rkb_value_t *value) {
   static const struct {
      const char *name;
      rkb_value_t value;
   } known[] = {{"B", {false, 4, 0}},
                {"T", {false, 7, 0}},
                {"D", {false, 4096, 0}},
                {"big", {false, INT64_C(1) << 40, 0}},
                {"least", {false, INT64_MIN, 0}},
                {"eps", {true, 0, 1e-6}},
                {"device.warp_size", {false, 32, 0}},
                {"a_name_that_starts_with_and", {false, 9, 0}}};
   (void)argument;
   for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
      if (strcmp(known[i].name, name) == 0) {
         *value = known[i].value;
         return true;
      }
   }
   return false;
}

/* What expression.cases writes behind "=>". */
static void outcome(const char *text, size_t length, char *out, size_t size) {
   rkb_arena_t *arena = rkb_arena_new(0);
   rkb_problems_t problems;
   rkb_value_t value;
   char message[512];
   rkb_problems_init(&problems);
   rkb_expression_t *expression = rkb_expression_parse(arena, text, length, here, &problems);
   if (!expression) {
      assert_int_equal(problems.errors, 1);
      snprintf(out, size, "%u: %s", problems.list[0].column, problems.list[0].message);
   } else {
      enum rkb_fault fault =
         rkb_expression_evaluate(expression, look_up, NULL, &value, message, sizeof message);
      if (fault != RKB_FAULT_NONE)
         snprintf(out, size, "%s: %s", fault_names[fault], message);
      else if (value.is_real)
         snprintf(out, size, "%.12g real", value.real);
      else
         snprintf(out, size, "%lld", (long long)value.integer);
   }
   rkb_problems_free(&problems);
   rkb_arena_free(arena);
}

static void cases_give_what_they_say(void **state) {
   (void)state;
   rkb_error_t err;
   char *cases, got[600];
   size_t length;
   unsigned count = 0;
   assert_int_equal(
      rkb_file_read(RKB_SOURCE_DIR "/tests/base/expression.cases", 1 << 20, &cases, &length, &err), RKB_OK);
   for (char *line = strtok(cases, "\n"); line; line = strtok(NULL, "\n")) {
      if (line[0] == '#')
         continue;
      char *arrow = strstr(line, " => ");
      assert_non_null(arrow);
      outcome(line, (size_t)(arrow - line), got, sizeof got);
      if (strcmp(got, arrow + 4) != 0)
         print_message("%.*s\n", (int)(arrow - line), line);
      assert_string_equal(got, arrow + 4);
      count++;
   }
   assert_true(count > 100);
   free(cases);
}

/* before, then count times unit, then after. */
static char *repeat(const char *before, const char *unit, unsigned count, const char *after) {
   rkb_text_t text;
   rkb_text_init(&text, 1 << 20);
   rkb_text_add(&text, before);
   for (unsigned i = 0; i < count; i++)
      rkb_text_add(&text, unit);
   rkb_text_add(&text, after);
   return rkb_text_take(&text);
}

static void limits_are_kept(void **state) {
   static const struct {
      const char *before, *unit;
      unsigned count;
      const char *after, *expected;
   } cases[] = {
      {"", "(", 64, "", "74: a value is missing at the end"},
      {"", "(", 65, "", "75: nested deeper than 64 levels; name a part of it in a 'let'"},
      {"", "- ", 64, "1", "1"},
      {"", "- ", 65, "1", "139: nested deeper than 64 levels; name a part of it in a 'let'"},
      {"", "not ", 65, "1", "269: nested deeper than 64 levels; name a part of it in a 'let'"},
      {"1", "+1", 127, "", "128"},
      {"1", "+1", 128, "", "10: an expression has at most 256 parts; name some of them in a 'let'"},
      {"", "1234567", 10, "", "10: a number has at most 64 characters"},
      {"", "abcdefg", 10, "", "10: a name has at most 64 characters"},
      {"1", " ", 4096, "", "1"}, /* trimmed */
      {"1", " ", 4095, "1", "10: an expression has at most 4096 bytes; name a part of it in a 'let'"},
      {"min(1", ",1", 64, ")", "142: min takes 64 operands"},
   };
   (void)state;
   char got[600];
   for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
      char *text = repeat(cases[i].before, cases[i].unit, cases[i].count, cases[i].after);
      outcome(text, strlen(text), got, sizeof got);
      assert_string_equal(got, cases[i].expected);
      free(text);
   }
   outcome("1\0", 2, got, sizeof got);
   assert_string_equal(got, "10: an expression holds no NUL byte");
}

static void lists_split_outside_parentheses(void **state) {
   (void)state;
   rkb_arena_t *arena = rkb_arena_new(0);
   rkb_problems_t problems;
   rkb_expression_t **list;
   uint32_t count;
   rkb_problems_init(&problems);
   const char text[] = "rows, min(a, b) ,1";
   assert_true(rkb_expression_list(arena, text, strlen(text), here, &list, &count, &problems));
   assert_int_equal(count, 3);
   assert_string_equal(rkb_expression_text(list[1]), "min(a, b)");
   assert_int_equal(rkb_expression_place(list[1]).column, 16);
   assert_string_equal(rkb_expression_text(list[2]), "1");
   assert_true(rkb_expression_list(arena, " \n", 2, here, &list, &count, &problems));
   assert_int_equal(count, 0);
   assert_int_equal(problems.errors, 0);
   rkb_problems_free(&problems);
   rkb_arena_free(arena);
}

static void every_bad_part_of_a_list_is_reported(void **state) {
   (void)state;
   rkb_arena_t *arena = rkb_arena_new(0);
   rkb_problems_t problems;
   rkb_expression_t **list;
   rkb_text_t out;
   uint32_t count;
   rkb_problems_init(&problems);
   rkb_text_init(&out, 4096);
   const char text[] = "!a, 1,, b &&c,";
   assert_false(rkb_expression_list(arena, text, strlen(text), here, &list, &count, &problems));
   rkb_problems_write(&problems, &out);
   assert_string_equal(rkb_text_get(&out), "f:3:10: write 'not a', not '!a'\n"
                                           "f:3:16: an expression is missing before this comma\n"
                                           "f:3:20: write 'a and b', not 'a && b'\n"
                                           "f:3:24: an expression is missing after the comma\n");
   char *many = repeat("1", ",1", 64, "");
   assert_false(rkb_expression_list(arena, many, strlen(many), here, &list, &count, &problems));
   free(many);
   rkb_text_free(&out);
   rkb_problems_free(&problems);
   rkb_arena_free(arena);
}

static void append_name(void *out, const char *name) {
   rkb_text_format(out, "%s ", name);
}

static void names_come_once_in_order(void **state) {
   (void)state;
   rkb_arena_t *arena = rkb_arena_new(0);
   rkb_problems_t problems;
   rkb_text_t out;
   rkb_problems_init(&problems);
   rkb_text_init(&out, 4096);
   const char text[] = " if(T, B * device.x, min(T, A)) + B ";
   rkb_expression_t *expression = rkb_expression_parse(arena, text, strlen(text), here, &problems);
   rkb_expression_names(expression, append_name, &out);
   assert_string_equal(rkb_text_get(&out), "T B device.x A ");
   assert_string_equal(rkb_expression_text(expression), "if(T, B * device.x, min(T, A)) + B");
   rkb_text_free(&out);
   rkb_problems_free(&problems);
   rkb_arena_free(arena);
}

static void a_real_is_no_integer(void **state) {
   (void)state;
   rkb_arena_t *arena = rkb_arena_new(0);
   rkb_problems_t problems;
   char message[256];
   int64_t value;
   rkb_problems_init(&problems);
   rkb_expression_t *expression = rkb_expression_parse(arena, "1.5 * 2", 7, here, &problems);
   assert_int_equal(rkb_expression_integer(expression, NULL, NULL, &value, message, sizeof message),
                    RKB_FAULT_TYPE);
   assert_string_equal(message, "1.5 * 2 is a real number (3) where an integer belongs");
   expression = rkb_expression_parse(arena, "6 / 4", 5, here, &problems);
   assert_int_equal(rkb_expression_integer(expression, NULL, NULL, &value, message, sizeof message),
                    RKB_FAULT_NONE);
   assert_int_equal(value, 1);
   rkb_arena_free(arena);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(cases_give_what_they_say),
                                      cmocka_unit_test(limits_are_kept),
                                      cmocka_unit_test(lists_split_outside_parentheses),
                                      cmocka_unit_test(every_bad_part_of_a_list_is_reported),
                                      cmocka_unit_test(names_come_once_in_order),
                                      cmocka_unit_test(a_real_is_no_integer)};
   return RUN_TESTS(tests);
}
