/* docs/ptx-coverage.md is what opcodes.def says.  With an argument, writes the page. */
#include "check.h"

#include <stdbool.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE RKB_SOURCE_DIR "/docs/ptx-coverage.md"

/* The section headings of opcodes.def are its comments; the keys are read from the text, so that their order and grouping
 * are those of the list itself. */
static char *make_page(void) {
   char *page = NULL, line[1024];
   size_t length = 0;
   FILE *out = open_memstream(&page, &length),
        *in = fopen(RKB_SOURCE_DIR "/core/machine/decode/opcodes.def", "r");
   unsigned count = 0;
   bool heading = false, any = false;
   assert_non_null(in);
   fputs(
      "# PTX that the checking machine executes\n\nMade from `core/machine/decode/opcodes.def`. The lists leave out modifiers that change no "
      "result (cache and eviction hints, `.uni`, `.rn`). If an instruction has `.ftz`, `.sat`, `.relu` or one of the roundings "
      "`.rz .rm .rp`, the machine applies it; a `+` marks such a form. `setp` and `set` take every comparison and combination, "
      "`ld` and `st` every space, width and vector, `cvt` every two scalar types, `atom` and `red` every operation.\n\n"
      "Control flow: `bra`, `brx.idx`, `call`, `ret`, `exit`, `trap`, `bar` and `barrier` with counts, `.arrive` and `.red`. "
      "Without effect: `prefetch`, `nanosleep`, `griddepcontrol.launch_dependents`, `discard`, `applypriority`, "
      "`pmevent`. For any other instruction the verdict is `unknown unsupported.<opcode>`, with its line: `tcgen05`, sparse and "
      "scaled `mma`, `multimem` and registers of 128 bits among them. `tests/machine/tensor_instructions.txt` has 221 forms of the "
      "matrix, copy, mbarrier and cluster instructions of sm_90, each as the assembler takes it and with what becomes of it; "
      "`tests/conformance` holds what they compute to an H200. Clusters with a loop that may wait for what another block writes are "
      "`unknown unsupported.clusters_that_wait_for_others`.\n",
      out);
   while (fgets(line, sizeof line, in)) {
      if (strncmp(line, "/* ", 3) == 0 && strstr(line, " */")) {
         *strstr(line, " */") = '\0';
         heading = strncmp(line, "/* What has no", 14) != 0;
         if (heading)
            fprintf(out, "\n\n## %s\n\n", line + 3);
         any = false;
      } else if (heading && strncmp(line, "MACHINE_ROW(\"", 13) == 0) {
         char *key = line + 13;
         *strchr(key, '"') = '\0';
         fprintf(out, "%s`%s`", any ? " " : "", key);
         any = true;
         count++;
      } else if (strncmp(line, "/* What has no", 14) == 0) {
         heading = false;
      }
   }
   fprintf(out, "\n\n%u forms in all.\n", count);
   fclose(in);
   fclose(out);
   return page;
}

static void page_is_current(void **state) {
   (void)state;
   char *page = make_page(), *text = calloc(1, 1 << 20);
   FILE *file = fopen(PAGE, "r");
   assert_non_null(file);
   text[fread(text, 1, (1 << 20) - 1, file)] = '\0';
   fclose(file);
   assert_string_equal(text, page);
   free(text);
   free(page);
}

int main(int count, char **arguments) {
   (void)arguments;
   if (count > 1) {
      char *page = make_page();
      FILE *file = fopen(PAGE, "w");
      if (!file || fputs(page, file) < 0 || fclose(file) != 0)
         return 1;
      free(page);
      return 0;
   }
   const struct CMUnitTest tests[] = {cmocka_unit_test(page_is_current)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
