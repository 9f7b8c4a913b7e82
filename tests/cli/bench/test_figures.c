/* figures.tsv: what is written is read again, and a file that is wrong is refused with its line. */
#include "check.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/bench/bench.h"

#define HEADER "task\tdirection\tcase\tsubject\tus\tlow_us\thigh_us\tmore\n"

/* Two cases: one with everything a line may hold, one that was not measured. */
static json_t *lines_new(void) {
   json_error_t where;
   json_t *lines = json_loads(
      "[{\"task\": \"t\", \"direction\": \"forward\", \"case\": \"bench/a\", \"kernel\": \"a b.cu\", \"tune\": {\"N\": 3},"
      "  \"evidence\": {\"text\": \"tab\\tand\\nline\"}, \"other_conditions\": true, \"speedup\": 2.5,"
      "  \"ours\": {\"us\": 1.25, \"low_us\": 1.0, \"high_us\": 1.5, \"state\": \"clock=1\\n\", \"copy\": {\"us\": 0.5}},"
      "  \"record\": {\"torch\": \"2\", \"baselines\": {\"eager\": {\"us\": 2.0, \"tuning\": \"old\"},"
      "               \"compile\": {\"error\": \"no\\ttime\"}}}},"
      " {\"task\": \"t\", \"direction\": \"forward\", \"case\": \"bench/b\", \"least_us\": 0.1}]",
      0, &where);
   assert_non_null(lines);
   return lines;
}

static void what_is_written_is_read_again(void **state) {
   (void)state;
   json_t *lines = lines_new(), *again = NULL;
   rkb_text_t text;
   rkb_error_t err;
   rkb_text_init(&text, 1 << 20);
   rkb_bench_figures_write(lines, &text);
   if (rkb_bench_figures_read("f", rkb_text_get(&text), &again, &err) != RKB_OK)
      fail_msg("%s", err.message);
   assert_true(json_equal(lines, again));
   json_decref(again);
   json_decref(lines);
   rkb_text_free(&text);
}

/* Samples are what makes records large, and no figure of the table. */
static void samples_are_left_out(void **state) {
   (void)state;
   json_t *lines = lines_new();
   rkb_text_t text;
   rkb_text_init(&text, 1 << 20);
   json_object_set_new(json_object_get(json_array_get(lines, 0), "record"), "parts",
                       json_pack("[{s:[f]}]", "samples_ms", 0.125));
   rkb_bench_figures_write(lines, &text);
   assert_null(strstr(rkb_text_get(&text), "samples_ms"));
   json_decref(lines);
   rkb_text_free(&text);
}

static void what_is_wrong_is_said_with_its_line(void **state) {
   (void)state;
   static const struct {
      const char *text, *message;
   } wrong[] = {
      {"", "f:1: this is not a file of figures"},
      {"task\tdirection\n", "f:1: this is not a file of figures"},
      {HEADER "t\tforward\tbench/a\trow\t\t\t{}\n", "f:2: 7 fields between tabs, not 8"},
      {HEADER "t\tforward\tbench/a\trow\t\t\t\t{}\t\n", "f:2: 9 fields between tabs, not 8"},
      {HEADER "t\tforward\tbench/a\trow\t\t\t\t{}\n\n", "f:3: 1 fields between tabs, not 8"},
      {HEADER "t\tforward\tbench/a\teagre\t\t\t\t{}\n", "f:2: 'eagre' is not a subject"},
      {HEADER "t\tforward\tbench/a\trow\t\t\t\t{}\nt\tforward\tbench/a\teager\t1\tx\t2\t{}\n",
       "f:3: low_us is a number, not 'x'"},
      {HEADER "t\tforward\tbench/a\teager\tinf\t\t\t{}\n", "f:2: us is a number, not 'inf'"},
      {HEADER "t\tforward\tbench/\xff\teager\t1\t1\t1\t{}\n", "f:2: there is a byte that is no UTF-8"},
      {HEADER "t\tforward\tbench/a\teager\t1\t1\t1\t[]\n", "f:2: the last field is not a JSON object"},
      {HEADER "t\tforward\tbench/a\teager\t1\t1\t1\t\n", "f:2: the last field is not a JSON object"},
   };
   for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
      json_t *lines = NULL;
      rkb_error_t err = {0};
      assert_int_equal(rkb_bench_figures_read("f", wrong[i].text, &lines, &err), RKB_ERR_INVALID);
      assert_null(lines);
      if (!strstr(err.message, wrong[i].message))
         fail_msg("for %s: %s", wrong[i].text, err.message);
   }
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_written_is_read_again),
      cmocka_unit_test(samples_are_left_out),
      cmocka_unit_test(what_is_wrong_is_said_with_its_line),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
