/* Texts for Slurm and for a shell, and squeue's output: states, rows without information, lists of elements, quoted words. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "executor/executor.h"
#include "executor/shell_words.h"
#include "executor/slurm_queue.h"

static void row_of(char *out, size_t size, const char *name, const char *index, const char *array,
                   const char *state, const char *code, const char *node, const char *reason) {
   snprintf(out, size, "%-48s%-12s%-16s%-24s%-12s%-64s%-64s\n", name, index, array, state, code, node,
            reason);
}

static rkb_slurm_row_t read_one(const char *state, const char *code, const char *reason) {
   char text[512];
   const char *at = text;
   rkb_slurm_row_t row;
   row_of(text, sizeof text, "rkb-a-2", "17", "4711", state, code, "n3", reason);
   assert_true(rkb_slurm_next_row(&at, "rkb-a", &row));
   assert_string_equal(at, "");
   return row;
}

static void test_rows(void **state) {
   static const struct {
      const char *word, *code, *reason;
      uint32_t state;
      int exit_code;
   } cases[] = {{"PENDING", "0", "Resources", RKB_SLURM_WAITS, 0},
                {"REQUEUED", "0", "None", RKB_SLURM_WAITS, 0},
                {"PENDING", "0", "JobHeldUser", RKB_SLURM_HELD, 0},
                {"PENDING", "0", "launch failed requeued held", RKB_SLURM_STUCK, 0},
                {"RUNNING", "0", "None", RKB_SLURM_RUNS, 0},
                {"FAILED", "768", "NonZeroExitCode", RKB_SLURM_EXITED, 768},
                {"NODE_FAIL", "", "NodeDown", RKB_SLURM_ENDED, -1},
                {"TIMEOUT", "0", "TimeLimit", RKB_SLURM_ENDED, 0},
                {"CANCELLED", "0", "None", RKB_SLURM_REMOVED, 0},
                {"A_STATE_OF_A_LATER_SLURM", "0", "None", RKB_SLURM_WAITS, 0}};
   (void)state;
   for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
      const rkb_slurm_row_t row = read_one(cases[i].word, cases[i].code, cases[i].reason);
      assert_int_equal(row.state, cases[i].state);
      assert_int_equal(row.exit_code, cases[i].exit_code);
      assert_int_equal(row.chunk, 2);
      assert_int_equal(row.index, 17);
      assert_int_equal(row.array, 4711);
      assert_string_equal(row.node, "n3");
   }
}

static void test_rows_passed_over(void **state) {
   static const char *const names[] = {"rkb-b-0",        "rkb-a",    "rkb-a-", "rkb-a-x",
                                       "rkb-a-99999999", "xrkb-a-0", ""};
   char text[8192] = "\nno row\n";
   const char *at = text;
   rkb_slurm_row_t row;
   (void)state;
   for (size_t i = 0; i < sizeof names / sizeof *names; i++)
      row_of(text + strlen(text), 512, names[i], "1", "5", "RUNNING", "0", "n", "None");
   row_of(text + strlen(text), 512, "rkb-a-0", "1000", "5", "RUNNING", "0", "n",
          "None"); /* no element of ours */
   row_of(text + strlen(text), 512, "rkb-a-0", "-1", "5", "RUNNING", "0", "n", "None");
   row_of(text + strlen(text), 512, "rkb-a-0", "1", "x", "RUNNING", "0", "n", "None");
   row_of(text + strlen(text), 512, "rkb-a-0", "N/A", "6", "CANCELLED", "0", "", "None");
   assert_true(rkb_slurm_next_row(&at, "rkb-a", &row));
   assert_int_equal(row.index, RKB_SLURM_NO_INDEX);
   assert_int_equal(row.array, 6);
   assert_false(rkb_slurm_next_row(&at, "rkb-a", &row));
}

static void test_elements(void **state) {
   bool wanted[12] = {true, true, true, false, true, false, false, false, false, true, true, true};
   rkb_text_t text;
   (void)state;
   rkb_text_init(&text, 1000);
   rkb_slurm_elements(&text, wanted, 12);
   assert_string_equal(rkb_text_get(&text), "0-2,4,9-11");
   rkb_text_free(&text);
   rkb_slurm_elements(&text, wanted + 5, 4);
   assert_string_equal(rkb_text_get(&text), "");
   rkb_text_free(&text);
}

/* A shell reads exactly the words that were given. */
static void test_shell_words(void **state) {
   const char *const words[] = {"printf", "%s|",        "it's", "", "a b", "$HOME `x` \\ \" * ~",
                                "-n",     "two\nlines", NULL};
   char answer[200] = "";
   rkb_text_t text;
   (void)state;
   rkb_text_init(&text, 1000);
   rkb_shell_words(&text, words);
   FILE *shell = popen(rkb_text_get(&text), "r");
   assert_non_null(shell);
   answer[fread(answer, 1, sizeof answer - 1, shell)] = '\0';
   assert_int_equal(pclose(shell), 0);
   assert_string_equal(answer, "it's||a b|$HOME `x` \\ \" * ~|-n|two\nlines|");
   rkb_text_free(&text);
}

static void test_destinations(void **state) {
   static const char *const wrong[] = {"", "Slurm", "ssh", "ssh:", "ssh:a,", "ssh:-v", "ssh:a b", "local:2"};
   rkb_destination_t destination;
   rkb_error_t err;
   (void)state;
   for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
      assert_int_equal(rkb_destination_read(wrong[i], &destination, &err), RKB_ERR_INVALID);
   assert_int_equal(rkb_destination_read(NULL, &destination, &err), RKB_OK);
   assert_true(destination.operations->here);
   assert_int_equal(rkb_destination_read("slurm", &destination, &err), RKB_OK);
   assert_true(destination.operations->queues);
   assert_int_equal(rkb_destination_read("ssh:one,user@two.example", &destination, &err), RKB_OK);
   assert_string_equal(destination.hosts[0], "one");
   assert_string_equal(destination.hosts[1], "user@two.example");
   assert_null(destination.hosts[2]);
   rkb_destination_free(&destination);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_rows_passed_over),
                                      cmocka_unit_test(test_elements), cmocka_unit_test(test_shell_words),
                                      cmocka_unit_test(test_destinations)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
