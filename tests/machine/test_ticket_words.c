/* Words from which blocks draw numbers (memory/ticket_words.h): which words count, and what blocks find where the words are moved on for blocks that are not
 * executed. */
#include "check.h"
#include "machine_harness.h"

#include <stdlib.h>
#include <string.h>

#define SAMPLED 3u
#define GRID 64u

/* counter: what blocks draw from, a sum and a word that the blocks read. */
static const char source[] = "// buffer: counter scratch i32 4\n// buffer: y out i32 64\n"
                             "// launch: k grid=64,1,1 block=1,1,1 shared=0 args=counter,y\n";
static const char begin[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                            ".visible .entry k(.param .u64 pc, .param .u64 py)\n{\n"
                            " .reg .pred %p<3>;\n .reg .b32 %r<5>;\n .reg .b64 %d<5>;\n"
                            " ld.param.u64 %d0, [pc];\n cvta.to.global.u64 %d0, %d0;\n"
                            " ld.param.u64 %d1, [py];\n cvta.to.global.u64 %d1, %d1;\n"
                            " mov.u32 %r0, %ctaid.x;\n";
static const char draws[] = " atom.global.add.u32 %r1, [%d0], 1;\n";
static const char draws_as_many_as_its_place[] = " add.u32 %r2, %r0, 1;\n atom.global.add.u32 %r1, [%d0], %r2;\n";
static const char swaps[] =
   " ld.volatile.global.u32 %r1, [%d0];\n add.u32 %r2, %r1, 1;\n atom.global.cas.b32 %r1, [%d0], %r1, %r2;\n";
static const char swaps_its_place[] = " mov.u32 %r1, 0;\n atom.global.cas.b32 %r1, [%d0], %r1, %r0;\n"
                                      " atom.global.cas.b32 %r1, [%d0], %r1, %r0;\n";
static const char waits_for_all[] =
   "wait:\n ld.volatile.global.u32 %r3, [%d0];\n setp.lt.u32 %p1, %r3, 64;\n @%p1 bra wait;\n";
static const char counts_too[] = " red.global.add.u32 [%d0+4], %r1;\n";
static const char reads_the_sum[] = " ld.global.u32 %r3, [%d0+4];\n setp.eq.u32 %p1, %r3, 77;\n @%p1 ret;\n";
static const char end[] = " mul.wide.u32 %d2, %r1, 4;\n add.s64 %d2, %d1, %d2;\n st.global.u32 [%d2], %r0;\n ret;\n}\n";

static int make_zeros(void *argument, uint32_t buffer, uint64_t first, uint64_t bytes, void *out) {
   (void)argument, (void)buffer, (void)first;
   memset(out, 0, bytes);
   return RKB_OK;
}

typedef struct run {
   harness_t harness;
   rkb_machine_t *machine;
   rkb_machine_report_t report;
} run_t;

/* moved: NULL, or what is moved on. */
static void open_run(run_t *run, const char *first, const char *second, const rkb_machine_moved_t *moved) {
   static const uint64_t numbers[SAMPLED] = {5, 9, 40}, stores[] = {3};
   const rkb_machine_blocks_t blocks = {.numbers = numbers, .count = SAMPLED, .least = SAMPLED};
   const rkb_machine_options_t options = {
      .sample = &blocks, .fetch = make_zeros, .given = 1, .stores = stores, .moved = moved};
   char message[256] = "", ptx[2048];
   rkb_error_t err;
   snprintf(ptx, sizeof ptx, "%s%s%s%s", begin, first, second, end);
   *run = (run_t){.machine = NULL};
   if (!harness_open(&run->harness, source, ptx, message, sizeof message))
      fail_msg("%s", message);
   run->harness.data[0].defined = run->harness.data[1].defined = false;
   assert_int_equal(rkb_machine_open(run->harness.module, &run->harness.plan, &options, &run->machine, &err), RKB_OK);
   assert_int_equal(rkb_machine_run(run->machine, run->harness.data, &err), RKB_OK);
   rkb_machine_report(run->machine, &run->report);
}

static void close_run(run_t *run) {
   rkb_machine_close(run->machine);
   harness_close(&run->harness);
}

static void blocks_that_add_as_much_tell_of_a_word(void **state) {
   (void)state;
   run_t run;
   rkb_machine_ticket_t words[RKB_MACHINE_TICKETS];
   bool others;
   open_run(&run, draws, "", NULL);
   assert_int_equal(rkb_machine_tickets(run.machine, 0, words, &others), 1);
   assert_false(others);
   assert_true(words[0].region == 0 && words[0].offset == 0 && words[0].bytes == 4 &&
               words[0].added == SAMPLED && words[0].blocks == SAMPLED && words[0].even && !words[0].wraps);
   for (uint64_t n = 0; n < SAMPLED; n++) /* they draw the first numbers */
      assert_true(rkb_machine_holds(run.machine, 1, 4 * n, 4));
   close_run(&run);
}

static void blocks_that_add_unlike_numbers_tell_of_their_mean(void **state) {
   (void)state;
   run_t run;
   rkb_machine_ticket_t words[RKB_MACHINE_TICKETS];
   bool others;
   open_run(&run, draws_as_many_as_its_place, "", NULL);
   assert_int_equal(rkb_machine_tickets(run.machine, 0, words, &others), 1);
   assert_false(others || words[0].even);
   assert_true(words[0].added == 6 + 10 + 41 && words[0].blocks == SAMPLED);
   close_run(&run);
}

static void swaps_that_add_as_much_tell_of_a_word(void **state) {
   (void)state;
   run_t run;
   rkb_machine_ticket_t words[RKB_MACHINE_TICKETS];
   bool others;
   open_run(&run, swaps, "", NULL);
   assert_int_equal(rkb_machine_tickets(run.machine, 0, words, &others), 1);
   assert_true(words[0].even && words[0].once == 1 && words[0].added == SAMPLED);
   for (uint64_t n = 0; n < SAMPLED; n++)
      assert_true(rkb_machine_holds(run.machine, 1, 4 * n, 4));
   close_run(&run);
}

/* A word that blocks swap for whatever they like is no number of draws. */
static void swaps_of_unlike_numbers_tell_of_none(void **state) {
   (void)state;
   run_t run;
   rkb_machine_ticket_t words[RKB_MACHINE_TICKETS];
   bool others;
   open_run(&run, swaps_its_place, "", NULL);
   assert_int_equal(rkb_machine_tickets(run.machine, 0, words, &others), 0);
   assert_false(others);
   close_run(&run);
}

/* Blocks that are not executed would end the wait, so the block has no end here, and no fault. */
static void a_block_that_waits_for_swaps_finds_no_value(void **state) {
   (void)state;
   run_t run;
   open_run(&run, swaps, waits_for_all, NULL);
   assert_true(run.report.finding_count > 0);
   for (uint32_t n = 0; n < run.report.finding_count; n++)
      assert_string_equal(run.report.findings[n].reason, "memory.uninitialised");
   close_run(&run);
}

static void open_moved(run_t *run, const char *first, const char *second) {
   const rkb_machine_ticket_t word = {
      .region = 0, .bytes = 4, .once = first == swaps, .added = 3, .blocks = 3, .even = true};
   static const uint64_t places[SAMPLED] = {7, 30, GRID - 1};
   const rkb_machine_moved_t moved = {.words = &word, .count = 1, .places = places};
   open_run(run, first, second, &moved);
   for (uint64_t n = 0; n < GRID && !run->report.finding_count; n++)
      assert_int_equal(rkb_machine_holds(run->machine, 1, 4 * n, 4), n == 7 || n == 30 || n == GRID - 1);
}

static void blocks_find_numbers_behind_others(void **state) {
   (void)state;
   run_t run;
   open_moved(&run, draws, "");
   assert_int_equal(run.report.finding_count, 0);
   close_run(&run);
}

static void swaps_find_numbers_behind_others(void **state) {
   (void)state;
   run_t run;
   open_moved(&run, swaps, "");
   assert_int_equal(run.report.finding_count, 0);
   close_run(&run);
}

/* The mean of six, ten and forty-one is nineteen. */
static void words_of_unlike_numbers_are_moved_on_by_the_mean(void **state) {
   (void)state;
   run_t run;
   static const rkb_machine_ticket_t word = {.region = 0, .bytes = 4, .added = 57, .blocks = 3};
   static const uint64_t places[SAMPLED] = {1, 2, 3};
   const rkb_machine_moved_t moved = {.words = &word, .count = 1, .places = places};
   open_run(&run, draws_as_many_as_its_place, "", &moved);
   for (uint64_t n = 0; n < GRID; n++)
      assert_int_equal(rkb_machine_holds(run.machine, 1, 4 * n, 4),
                       n == 19 || n == 19 + 6 || n == 19 + 6 + 10);
   close_run(&run);
}

/* A sum that nobody reads does not matter. */
static void a_sum_of_all_blocks_may_be_added_to(void **state) {
   (void)state;
   run_t run;
   open_moved(&run, draws, counts_too);
   assert_int_equal(run.report.finding_count, 0);
   close_run(&run);
}

/* What the other blocks added is not known. */
static void a_sum_of_all_blocks_has_no_value(void **state) {
   (void)state;
   run_t run;
   open_moved(&run, draws, reads_the_sum);
   assert_int_equal(run.report.finding_count, 1);
   assert_string_equal(run.report.findings[0].reason, "memory.uninitialised");
   for (uint64_t n = 0; n < GRID; n++)
      assert_false(rkb_machine_holds(run.machine, 1, 4 * n, 4));
   close_run(&run);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(blocks_that_add_as_much_tell_of_a_word),
                                      cmocka_unit_test(blocks_that_add_unlike_numbers_tell_of_their_mean),
                                      cmocka_unit_test(swaps_that_add_as_much_tell_of_a_word),
                                      cmocka_unit_test(swaps_of_unlike_numbers_tell_of_none),
                                      cmocka_unit_test(a_block_that_waits_for_swaps_finds_no_value),
                                      cmocka_unit_test(swaps_find_numbers_behind_others),
                                      cmocka_unit_test(words_of_unlike_numbers_are_moved_on_by_the_mean),
                                      cmocka_unit_test(blocks_find_numbers_behind_others),
                                      cmocka_unit_test(a_sum_of_all_blocks_may_be_added_to),
                                      cmocka_unit_test(a_sum_of_all_blocks_has_no_value)};
   return RUN_TESTS(tests);
}
