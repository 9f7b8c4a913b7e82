/* The worker's own kernels, executed by the checking machine.  They are otherwise used only where there is a
 * GPU, and a canary search that never finds anything would look like a kernel that damages nothing. */
#include "check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "device_values/value_staging.h"
#include "machine/machine_harness.h"
#include "gpu/worker/worker_kernels.h"
#include "mixed_pieces.h"

/* Runs one launch on buffers "from" and "to"; what they hold afterwards is the caller's to look at. */
static void execute(const char *directives, harness_t *harness) {
   const rkb_machine_options_t options = {
      .checks = RKB_MACHINE_RACES, .thread_instructions = 50000000, .hang_limit = 1000000};
   char message[2048] = "", verdict[128], *text = NULL;
   if (!harness_open(harness, directives, rkb_worker_kernels_ptx(), message, sizeof message))
      fail_msg("%s", message);
   assert_true(harness_judge(harness, &options, verdict, sizeof verdict, &text));
   if (strcmp(verdict, "pass") != 0)
      fail_msg("%s: %s", verdict, text ? text : "");
   free(text);
}

static const uint32_t *words(const harness_t *harness, uint32_t buffer) {
   return harness->data[buffer].data;
}

static void a_copy_copies(void **state) {
   (void)state;
   harness_t harness;
   execute(
      "// buffer: from in i32 4000 index\n// buffer: to out i32 4000\n"
      "// launch: rkb_copy grid=3,1,1 block=64,1,1 shared=0 args=from,to,1000,1000\n// expect: pass\n// runs: 1\n",
      &harness);
   assert_memory_equal(words(&harness, 0), words(&harness, 1), 4000 * sizeof(uint32_t));
   harness_close(&harness);
}

static void it_reads_more_than_it_writes(void **state) {
   (void)state;
   harness_t harness;
   execute(
      "// buffer: from in i32 4000 index\n// buffer: to out i32 40\n"
      "// launch: rkb_copy grid=3,1,1 block=64,1,1 shared=0 args=from,to,1000,10\n// expect: pass\n// runs: 1\n",
      &harness);
   assert_memory_equal(words(&harness, 0), words(&harness, 1), 40 * sizeof(uint32_t));
   harness_close(&harness);
}

static void it_writes_more_than_it_reads(void **state) {
   (void)state;
   harness_t harness;
   execute(
      "// buffer: from in i32 40 index\n// buffer: to out i32 4000\n"
      "// launch: rkb_copy grid=3,1,1 block=64,1,1 shared=0 args=from,to,10,1000\n// expect: pass\n// runs: 1\n",
      &harness);
   assert_memory_equal(words(&harness, 0), words(&harness, 1), 40 * sizeof(uint32_t));
   for (uint32_t i = 40; i < 4000; i++)
      assert_int_equal(words(&harness, 1)[i], 0);
   harness_close(&harness);
}

static void what_is_whole_raises_no_flag(void **state) {
   (void)state;
   harness_t harness;
   execute(
      "// buffer: from in i32 1000 zero\n// buffer: to inout i32 1 zero\n"
      "// launch: rkb_look grid=2,1,1 block=64,1,1 shared=0 args=from,4000,0,to\n// expect: pass\n// runs: 1\n",
      &harness);
   assert_int_equal(words(&harness, 1)[0], 0);
   harness_close(&harness);
}

static void one_damaged_byte_raises_it(void **state) {
   (void)state;
   harness_t harness;
   /* index: only the first word is zero, and the last byte looked at is the low one of word 1 */
   execute(
      "// buffer: from in i32 1000 index\n// buffer: to inout i32 1 zero\n"
      "// launch: rkb_look grid=2,1,1 block=64,1,1 shared=0 args=from,5,0,to\n// expect: pass\n// runs: 1\n",
      &harness);
   assert_int_equal(words(&harness, 1)[0], 1);
   harness_close(&harness);
}

/* Sums of the same bytes in both programs, with and without bytes after the last whole word; also so few
 * bytes that some warps and lanes have nothing to add. */
static void sums_are_those_of_the_program(void **state) {
   (void)state;
   static const uint64_t key = 0x123456789;
   static const uint32_t sizes[] = {1, 4, 127, 128, 3997, 3998, 3999, 4000};
   for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
      const uint32_t bytes = sizes[n];
      harness_t harness;
      char directives[512];
      uint64_t sum;
      snprintf(
         directives, sizeof directives,
         "// buffer: from in i32 1000 index\n// buffer: to inout i32 2 zero\n"
         "// launch: rkb_sum grid=3,1,1 block=64,1,1 shared=0 args=from,%u,%llu,to\n// expect: pass\n// runs: 1\n",
         bytes, (unsigned long long)key);
      execute(directives, &harness);
      memcpy(&sum, words(&harness, 1), sizeof sum);
      assert_true(sum == keyed_sum(key, 0, words(&harness, 0), bytes));
      harness_close(&harness);
   }
}

/* Every piece comes whole from the set that its hash names, also the last, shorter one.  Two shares and keys, and none of another set. */
static void a_mixture_takes_each_piece_from_one_set(void **state) {
   (void)state;
   static const uint32_t sizes[] = {1, 15, 16, 17, 3999, 4000}, shares[] = {0, 1u << 28, 1u << 31};
   uint32_t others = 0;
   for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++)
      for (size_t k = 0; k < sizeof shares / sizeof *shares; k++) {
         const uint32_t bytes = sizes[n], share = shares[k];
         const uint64_t key = 0x123456789abcdef + n;
         harness_t harness;
         char directives[512];
         snprintf(
            directives, sizeof directives,
            "// buffer: own in i32 1000 index\n// buffer: other in i32 1000 noise\n// buffer: to inout i32 1000 one\n"
            "// launch: rkb_mix grid=2,1,1 block=64,1,1 shared=0 args=own,other,to,%u,%u,%llu\n// expect: pass\n// runs: 1\n",
            bytes, share, (unsigned long long)key);
         execute(directives, &harness);
         const uint8_t *own = harness.data[0].data, *other = harness.data[1].data, *to = harness.data[2].data;
         for (uint32_t i = 0; i < bytes; i++) {
            const bool is_other = piece_is_other(i / MIXED_PIECE, key, share);
            others += is_other;
            assert_int_equal(to[i], (is_other ? other : own)[i]);
         }
         for (uint32_t i = bytes; i < 4000; i++)
            assert_int_equal(to[i], i % 4 == 0);
         harness_close(&harness);
      }
   assert_in_range(others, 4000, 6000); /* about half of 8,000 bytes, and a sixteenth */
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_copy_copies),
      cmocka_unit_test(it_reads_more_than_it_writes),
      cmocka_unit_test(it_writes_more_than_it_reads),
      cmocka_unit_test(what_is_whole_raises_no_flag),
      cmocka_unit_test(one_damaged_byte_raises_it),
      cmocka_unit_test(sums_are_those_of_the_program),
      cmocka_unit_test(a_mixture_takes_each_piece_from_one_set),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
