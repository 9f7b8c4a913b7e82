/* Reading replies: the kernels and the edits in them.  One thread. */
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include "reply/reply_edits.h"
#include "reply/extract.h"

#define MANIFEST "/* rkb-kernel: 1\ntask: t\nlaunches:\n  - {kernel: k}\n*/\n"
#define CODE "__global__ void k() {\n}\n"

typedef struct extraction {
   const char *reply, *source, *says; /* one of the two is NULL */
} extraction_t;

static void kernels_are_found(void **state) {
   static const extraction_t CASES[] = {
      {"Here:\n```cuda\n" MANIFEST CODE "```\nDone.", MANIFEST CODE, NULL},
      {"~~~~c++\n" MANIFEST CODE "~~~~", MANIFEST CODE, NULL},
      {"````\n" MANIFEST "// ```\n" CODE "````\n", MANIFEST "// ```\n" CODE, NULL},
      {MANIFEST CODE, MANIFEST CODE, NULL},
      {"Sure. The kernel is\n" MANIFEST CODE "I hope that it helps", MANIFEST "__global__ void k() {\n}\n",
       NULL},
      {"```\n" MANIFEST "int old;\n" CODE "```\nBetter:\n```\n" MANIFEST CODE "```\n", MANIFEST CODE, NULL},
      {"Manifest:\n```yaml\nrkb-kernel: 1\ntask: t\nlaunches: []\n```\nCode:\n```cpp\n" CODE "```",
       "/* rkb-kernel: 1\ntask: t\nlaunches: []\n*/\n" CODE, NULL},
      {"```yaml\ntask: t\nlaunches: []\n```\n```cpp\n" CODE "```",
       "/* rkb-kernel: 1\ntask: t\nlaunches: []\n*/\n" CODE, NULL},
      {"```\n" MANIFEST "```\n```\n" CODE "```", MANIFEST "\n" CODE, NULL},
      {"```cuda\n" CODE "```", NULL, "no manifest"},
      {"```\n" MANIFEST "```", NULL, "no kernel"},
      {"```cuda\n" MANIFEST "__global__ void k() {", NULL, "cut off"},
      {"I would rather not.", NULL, "holds no kernel"},
      {"", NULL, "holds no kernel"},
   };
   (void)state;
   for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
      rkb_error_t err = {0};
      char *source = NULL;
      int status = extract_kernel(CASES[i].reply, strlen(CASES[i].reply), &source, &err);
      if (CASES[i].source) {
         if (status != RKB_OK)
            fail_msg("case %zu: %s", i, err.message);
         assert_string_equal(source, CASES[i].source);
      } else {
         assert_int_equal(status, RKB_ERR_INVALID);
         if (!strstr(err.message, CASES[i].says))
            fail_msg("case %zu says: %s", i, err.message);
      }
      free(source);
   }
}

#define EDIT(search, replace) "<<<<<<< SEARCH\n" search "=======\n" replace ">>>>>>> REPLACE\n"

static void edits_apply_or_say_why(void **state) {
   static const char TEXT[] = "one\n  two  \nthree\ntwo\nfour\n  five\n";
   static const extraction_t CASES[] = {
      {EDIT("three\n", "3\n"), "one\n  two  \n3\ntwo\nfour\n  five\n", NULL},
      {"First this:\n" EDIT("one\n", "1\n") "and then\n" EDIT("four\n", "") "done",
       "1\n  two  \nthree\ntwo\n  five\n", NULL},
      {EDIT("  two\nthree\n", "2\n"), "one\n2\ntwo\nfour\n  five\n", NULL},
      {EDIT("  five\n", "5\n6\n"), "one\n  two  \nthree\ntwo\nfour\n5\n6\n", NULL},
      {EDIT("one\n", "two\n") EDIT("two\n", "x\n"), NULL,
       "edit 2: what it searches stands 2 times in the kernel (lines 1, 4)"},
      {EDIT("five\n", "5\n"), NULL, "its first line is like line 6"},
      {EDIT("nine\n", "9\n"), NULL, "edit 1: what it searches is not in the kernel, beginning with 'nine'"},
      {EDIT("\n", "9\n"), NULL, "searches for nothing"},
      {"<<<<<<< SEARCH\none\n=======\n1\n", NULL, "edit 1 is broken"},
      {"<<<<<<< SEARCH\none\n<<<<<<< SEARCH\n=======\n1\n>>>>>>> REPLACE\n", NULL, "edit 1 is broken"},
      {"nothing", NULL, "holds no edit"},
   };
   (void)state;
   for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
      rkb_error_t err = {0};
      char *edited = NULL;
      uint32_t count;
      int status = edits_apply(TEXT, CASES[i].reply, strlen(CASES[i].reply), &edited, &count, &err);
      if (CASES[i].source) {
         if (status != RKB_OK)
            fail_msg("case %zu: %s", i, err.message);
         assert_string_equal(edited, CASES[i].source);
      } else {
         assert_int_equal(status, RKB_ERR_INVALID);
         if (!strstr(err.message, CASES[i].says))
            fail_msg("case %zu says: %s", i, err.message);
      }
      free(edited);
   }
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(kernels_are_found),
      cmocka_unit_test(edits_apply_or_say_why),
   };
   return RUN_TESTS(tests);
}
