/* Faults of kernels for tensor cores that the machine must reject, with the reason that names them: each line of tensor_faults.tsv changes
 * one place of a correct kernel.  With an argument, judges the lines that contain it and prints what was found. */
#include "machine_harness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define FOLDER RKB_SOURCE_DIR "/tests/machine/"

/* The text in which one occurrence of `from` is replaced: the first, or a later one, one further for each
 * leading "+".  NULL where there is none. */
static char *change(const char *text, const char *from, const char *to) {
   uint32_t skip = 0;
   for (; *from == '+'; from++)
      skip++;
   const char *at = strstr(text, "extern \"C\""); /* not in the directives */
   for (at = at ? strstr(at, from) : NULL; at && skip; skip--)
      at = strstr(at + 1, from);
   if (!at)
      return NULL;
   const size_t bytes = strlen(text) + strlen(to) + 1;
   char *changed = malloc(bytes);
   assert_non_null(changed);
   snprintf(changed, bytes, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
   return changed;
}

/* What the machine finds in a text; "" where it cannot be compiled. */
static void find(const char *text, char *verdict, size_t size) {
   char message[2048] = "", *said = NULL, *ptx = harness_compile(text, NULL, message, sizeof message);
   harness_t harness;
   verdict[0] = '\0';
   if (!ptx) {
      print_error("%s\n", message);
      return;
   }
   if (harness_open(&harness, text, ptx, message, sizeof message)) {
      rkb_machine_options_t options = {.checks = RKB_MACHINE_RACES | RKB_MACHINE_SHADOW | RKB_MACHINE_TAINT,
                                       .thread_instructions = 200000000,
                                       .hang_limit = 1000000};
      harness_judge(&harness, &options, verdict, size, &said);
      free(said);
   }
   harness_close(&harness);
   free(ptx);
}

/* kernel, operator, what is replaced, by what, reasons between blanks. */
static bool judge(char *line, bool verbose) {
   char *next = line, *part[5], path[512], verdict[128], wanted[128];
   for (int n = 0; n < 5; n++)
      assert_non_null(part[n] = strsep(&next, "\t"));
   snprintf(path, sizeof path, FOLDER "%s", part[0]);
   char *text = harness_read_file(path), *changed = text ? change(text, part[2], part[3]) : NULL;
   bool right = false;
   if (!changed) {
      print_error("%s: '%s' is not in it\n", part[0], part[2]);
   } else {
      find(changed, verdict, sizeof verdict);
      snprintf(wanted, sizeof wanted, " %s ", strncmp(verdict, "reject ", 7) == 0 ? verdict + 7 : "?");
      char reasons[256];
      snprintf(reasons, sizeof reasons, " %s ", part[4]);
      right = strstr(reasons, wanted) != NULL;
      if (!right || verbose)
         print_message("%s %s: found '%s', wanted '%s'\n", part[0], part[1], verdict, part[4]);
   }
   free(changed);
   free(text);
   return right;
}

static uint32_t judge_all(const char *only, uint32_t *wrong) {
   FILE *in = fopen(FOLDER "tensor_faults.tsv", "r");
   char line[1024];
   uint32_t count = 0;
   assert_non_null(in);
   for (*wrong = 0; fgets(line, sizeof line, in);) {
      line[strcspn(line, "\n")] = '\0';
      if (line[0] == '#' || !line[0] || (only && !strstr(line, only)))
         continue;
      count++;
      *wrong += !judge(line, only != NULL);
   }
   fclose(in);
   return count;
}

static void every_fault(void **state) {
   (void)state;
   uint32_t wrong;
   assert_true(judge_all(NULL, &wrong) >= 25);
   assert_int_equal(wrong, 0);
}

int main(int count, char **arguments) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(every_fault)};
   uint32_t wrong = 0;
   if (count > 1)
      return judge_all(arguments[1], &wrong) == 0 || wrong;
   return cmocka_run_group_tests(tests, NULL, NULL);
}
