/* Correct but delicate kernels that must pass, and each one's broken twin that must not: every file of idioms/.  Without RKB_LONG a file has its
 * turn with one of the two, the next file with the other.  With arguments, runs those files alone and prints what was found. */
#include "machine_harness.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"

/* Whether what was found of a broken twin says all that witnesses.txt wants of the file. */
static bool says_all(const char *path, const char *text) {
   const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
   char *witnesses = harness_read_file(RKB_SOURCE_DIR "/tests/machine/witnesses.txt");
   bool all = witnesses != NULL;
   for (char *rest = witnesses, *line; all && (line = strsep(&rest, "\n")) != NULL;) {
      const size_t length = strlen(name);
      if (strncmp(line, name, length) != 0 || line[length] != ' ' ||
          (text && strstr(text, line + length + 1)))
         continue;
      print_error("%s: nothing found says '%s'\n%s", path, line + length + 1, text ? text : "");
      all = false;
   }
   free(witnesses);
   return all;
}

/* Whether what was found of an asynchronous operation, or of a race, has both sides: each with thread and line, and which of them came
 * first.  What has one side alone says why in place of the order. */
static bool has_both_sides(const char *path, const char *source, const char *text) {
   static const char *const reasons[] = {
      "race.shared",    "race.global",     "race.launch", "race.async",       "race.proxy",
      "race.register",  "sync.mbarrier",   "sync.phase",  "sync.wgmma_fence", "sync.wgmma_wait",
      "sync.warpgroup", "sync.setmaxnreg", "sync.cluster"};
   const char *other = strstr(text, "\n  other "), *thread = strstr(text, "  thread (");
   /* The run goes on after a race of two stores of one value, and is not executed again for its line.  A second execution finds the variables of the module
    * as the first one left them, and may meet another race first. */
   const bool kept = strstr(source, "\n__device__ unsigned ") && strncmp(text, "race.global", 11) == 0;
   bool asked = false;
   for (size_t n = 0; n < sizeof reasons / sizeof *reasons; n++)
      asked |= !kept && strncmp(text, reasons[n], strlen(reasons[n])) == 0 &&
               text[strlen(reasons[n])] == ':' && !strstr(text, "(both store the same value)");
   const bool whole =
      thread && strstr(text, "\n  source ") && strstr(text, "\n  order ") &&
      (!other || (strstr(other, "  line ") && strstr(other, "  line ") < strchr(other + 1, '\n')));
   if (asked && !whole)
      print_error("%s: both sides with thread, line and order are wanted of\n%s", path, text);
   return !asked || whole;
}

#define SHUFFLES 3u

static bool judge(const char *path, const char *source, bool broken, bool portable, bool verbose) {
   char message[2048] = "", verdict[128], *text;
   harness_t harness;
   char *ptx = harness_compile(source, broken ? "-DBROKEN" : NULL, message, sizeof message);
   if (!ptx) {
      print_error("%s: %s\n", path, message);
      return false;
   }
   bool right = false;
   if (!harness_open(&harness, source, ptx, message, sizeof message)) {
      print_error("%s: %s\n", path, message);
   } else {
      rkb_machine_options_t options = {.checks = RKB_MACHINE_RACES | RKB_MACHINE_SHADOW | RKB_MACHINE_TAINT,
                                       .thread_instructions = 1000000000,
                                       .hang_limit = 1000000,
                                       .portable = portable};
      const char *wanted = broken ? harness.broken : harness.expect;
      harness_judge(&harness, &options, verdict, sizeof verdict, &text);
      right = strcmp(verdict, wanted) == 0;
      if (!right || verbose)
         print_message("%s%s: found '%s', wanted '%s'\n%s", path, broken ? " (broken)" : "", verdict, wanted,
                       text ? text : "");
      right &= !broken || (says_all(path, text) && (!text || has_both_sides(path, source, text)));
      free(text);
      const bool any_order =
         !broken && strcmp(wanted, "pass") == 0 && !strstr(source, "\n// order: ascending\n");
      for (uint32_t n = 0; n < SHUFFLES && right && any_order; n++) {
         harness.order = RKB_MACHINE_SHUFFLED + 11 * n;
         harness_judge(&harness, &options, verdict, sizeof verdict, &text);
         right = strcmp(verdict, wanted) == 0;
         if (!right)
            print_message("%s: found '%s' in shuffled order %u\n%s", path, verdict, n, text ? text : "");
         free(text);
      }
   }
   harness_close(&harness);
   free(ptx);
   return right;
}

enum { RIGHT = 1, BROKEN = 2 };

/* which: the kernel, its twin or both; one that has no twin is judged in any case. */
static int judge_file(const char *path, int which, bool verbose) {
   char *source = harness_read_file(path);
   if (!source)
      return 1;
   int wrong = 0;
   const bool right = strstr(source, "// expect: "), broken = strstr(source, "// broken: ");
   if (right && (which & RIGHT || !broken))
      wrong += !judge(path, source, false, false, verbose);
   if (broken && (which & BROKEN || !right))
      wrong += !judge(path, source, true, false, verbose);
   free(source);
   return wrong;
}

static void every_idiom(void **state) {
   (void)state;
   char message[2048] = "";
   char *probe = harness_compile("extern \"C\" __global__ void k() {}", NULL, message, sizeof message);
   if (!probe)
      print_error("no kernel can be compiled: %s\n", message);
   assert_non_null(probe);
   free(probe);
   struct dirent **entries;
   int count = scandir(RKB_SOURCE_DIR "/tests/machine/idioms", &entries, NULL, alphasort), files = 0,
       wrong = 0;
   assert_true(count > 0);
   for (int n = 0; n < count; n++) {
      char path[1024];
      snprintf(path, sizeof path, RKB_SOURCE_DIR "/tests/machine/idioms/%s", entries[n]->d_name);
      if (strstr(entries[n]->d_name, ".cu")) {
         wrong += judge_file(path, rkb_long_tests() ? RIGHT | BROKEN : files % 2 ? BROKEN : RIGHT, false);
         files++;
      }
      free(entries[n]);
   }
   free(entries);
   assert_true(files > 0);
   assert_int_equal(wrong, 0);
}

int main(int count, char **arguments) {
   int wrong = 0;
   for (int n = 1; n < count; n++)
      wrong += judge_file(arguments[n], RIGHT | BROKEN, true);
   if (count > 1)
      return wrong != 0;
   const struct CMUnitTest tests[] = {cmocka_unit_test(every_idiom)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
