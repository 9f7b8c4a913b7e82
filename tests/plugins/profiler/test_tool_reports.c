/* Output of Nsight Compute and compute-sanitizer, as their versions 2025.3 wrote it on an H200, and damaged output. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "energy/energy_interval.h"
#include "ncu/ncu_report.h"
#include "sanitizer/sanitizer_report.h"

static const char *const names[] = {"dram__bytes.sum", "gpu__time_duration.sum", "no__such.sum"};
enum { NAMES = 3 };

static uint32_t read_table(const char *text, uint32_t launches, double *values) {
   return ncu_report_read(text, strlen(text), names, NAMES, launches, values);
}

static void a_row_for_each_launch(void **state) {
   static const char text[] =
      "==WARNING== Note: Running with unmodified GPU clocks.\n"
      "==PROF== Connected to process 5734 (/usr/libexec/rkb/rkb-worker)\n"
      "==PROF== Disconnected from process 5734\n"
      "\"ID\",\"Process ID\",\"Kernel Name\",\"gpu__time_duration.sum\",\"dram__bytes.sum\"\n"
      "\"\",\"\",\"\",\"ns\",\"byte\"\n"
      "\"0\",\"5734\",\"void scale<int, 4>(float *, \"\"x\"\")\",\"54,336\",\"131,487,000\"\n"
      "\"1\",\"5734\",\"two\nlines\",\"19,072.5\",\"n/a\"\n"
      "==PROF== the end\n";
   double values[2 * NAMES];
   (void)state;
   assert_int_equal(read_table(text, 2, values), 2);
   assert_true(values[0] == 131487000 && values[1] == 54336 && isnan(values[2]));
   assert_true(isnan(values[3]) && values[4] == 19072.5 && isnan(values[5]));
   /* More launches than there is room for are counted and left out; fewer leave NAN. */
   assert_int_equal(read_table(text, 1, values), 2);
   assert_int_equal(read_table("\"ID\",\"gpu__time_duration.sum\"\n\"0\",\"1\"", 2, values), 1);
   assert_true(values[1] == 1 && isnan(values[4]));
}

static void what_is_no_table_gives_no_rows(void **state) {
   static const char *const texts[] = {
      "", "\n", "\"ID\"", "\"ID\",", "\"ID\",\"dram__bytes.sum\"\n", "\"ID\",\"dram__bytes.sum\"\n\"\",\"byte\"\n",
      "no table\n\"0\",\"1\"\n", "\"ID\",\"dram__bytes.sum\"\n\"unit\",\"1\"\n\"", "\"",
   };
   double values[NAMES];
   (void)state;
   for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
      if (read_table(texts[i], 1, values) != 0 || !isnan(values[0]))
         fail_msg("'%s' has rows", texts[i]);
   /* A cell that is no number is none. */
   static const char *const cells[] = {"", "inf", "nan", "0x10", "1e999", "12 ns", "--1", "1,2,3e"};
   for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++) {
      char text[128];
      snprintf(text, sizeof text, "\"ID\",\"dram__bytes.sum\"\n\"0\",\"%s\"\n", cells[i]);
      assert_int_equal(read_table(text, 1, values), 1);
      if (!isnan(values[0]))
         fail_msg("'%s' is %g", cells[i], values[0]);
   }
}

static void the_first_error_is_told(void **state) {
   static const char text[] = "==PROF== Connected\n==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n==ERROR== more\n";
   char said[40];
   (void)state;
   ncu_report_error(text, strlen(text), said, sizeof said);
   assert_string_equal(said, "ERR_NVGPUCTRPERM - The user does not ha");
   ncu_report_error("==ERROR== ", 10, said, sizeof said);
   assert_string_equal(said, "");
}

typedef struct expected {
   const char *text;
   bool ended;
   uint64_t errors, warnings;
   uint32_t reports;
   const char *failure, *first;
} expected_t;

static void reports_and_summaries(void **state) {
   static const expected_t rows[] = {
      {"========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n", true, 0, 0, 0, "", NULL},
      {"========= COMPUTE-SANITIZER\nthe program's own words\n========= Invalid __global__ write of size 4 bytes\n=========     at "
       "bad+0x80\n=========     Saved host backtrace up to driver entry point at kernel launch time\n=========         Host Frame: main in "
       "distinct_sizes.c:94 [0x4893] in probe\n========= \n========= ERROR SUMMARY: 257 errors\n========= ERROR SUMMARY: 254 errors were not printed. "
       "Use --print-limit option\n",
       true, 257, 0, 1, "", "Invalid __global__ write of size 4 bytes; at bad+0x80"},
      {"========= RACECHECK SUMMARY: 3 hazards displayed (2 errors, 1 warning)\n", true, 2, 1, 0, "", NULL},
      {"========= Error: Race reported between Write access at a and Read access at b [16 hazards]\n========= RACECHECK SUMMARY: 1 hazard "
       "displayed (1 error, 0 warnings)\n",
       true, 1, 0, 1, "", "Error: Race reported between Write access at a and Read access at b [16 hazards]"},
      {"========= Error: Device not supported. Please refer\n========= ERROR SUMMARY: 0 errors\n", true, 0, 0,
       0, "Error: Device not supported. Please refer", NULL},
      {"========= COMPUTE-SANITIZER\n", false, 0, 0, 0, "", NULL},
      {"========= ERROR SUMMARY: many errors\n", false, 0, 0, 0, "", NULL},
      {"=========", false, 0, 0, 0, "", NULL},
      {"", false, 0, 0, 0, "", NULL},
   };
   (void)state;
   for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
      sanitizer_summary_t got;
      sanitizer_report_read(rows[i].text, strlen(rows[i].text), &got);
      if (got.ended != rows[i].ended || got.errors != rows[i].errors || got.warnings != rows[i].warnings ||
          got.report_count != rows[i].reports || strcmp(got.failure, rows[i].failure) != 0 ||
          (rows[i].first && strcmp(got.reports[0], rows[i].first) != 0))
         fail_msg("%s\nended %d, %llu errors, %llu warnings, %u reports, '%s', '%s'", rows[i].text, got.ended,
                  (unsigned long long)got.errors, (unsigned long long)got.warnings, got.report_count, got.failure, got.reports[0]);
   }
}

static void many_reports_are_cut(void **state) {
   char text[8192] = "";
   sanitizer_summary_t got;
   (void)state;
   for (int i = 0; i < 20; i++)
      strcat(text, "========= Invalid write\n=========     one\n=========     two\n=========     three\n=========     four\n=========     five\n");
   sanitizer_report_read(text, strlen(text), &got);
   assert_int_equal(got.report_count, SANITIZER_MOST_REPORTS);
   assert_string_equal(got.reports[3], "Invalid write; one; two; three; four");
}

static void joules_have_an_interval(void **state) {
   const rkb_energy_spent_t same[] = {{200, 400000000, 100}, {400, 800000000, 200}};
   const rkb_energy_spent_t apart[] = {{100, 400000000, 100}, {300, 400000000, 100}};
   (void)state;
   energy_estimate_t e = energy_of(same, 2);
   assert_true(fabs(e.joules - 0.002) < 1e-12 && fabs(e.watts - 0.5) < 1e-9 && e.half < 1e-9 && fabs(e.seconds - 0.004) < 1e-12);
   /* Two rounds, 1 and 3 mJ a run: 2 mJ, and t of one degree of freedom (12.706) times their standard error of 1 mJ. */
   e = energy_of(apart, 2);
   assert_true(fabs(e.joules - 0.002) < 1e-12 && fabs(e.half - 0.012706) < 1e-6);
   assert_true(isnan(energy_of(apart, 1).half));
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_row_for_each_launch),     cmocka_unit_test(what_is_no_table_gives_no_rows),
      cmocka_unit_test(the_first_error_is_told),   cmocka_unit_test(reports_and_summaries),
      cmocka_unit_test(many_reports_are_cut),      cmocka_unit_test(joules_have_an_interval),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
