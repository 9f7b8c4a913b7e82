/* Reading replies: kernels, edits, verdicts. */
#include "check.h"

#include <stdlib.h>
#include <math.h>
#include <string.h>
#include "llm/vote.h"
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

static void votes_are_read_and_counted(void **state) {
   static const struct {
      const char *reply;
      bool understood;
      uint32_t verdict;
   } CASES[] = {
      {"{\"verdict\": \"wrong\", \"confidence\": 0.9, \"line\": \"x = {1};\", \"why\": \"it is\"}", true,
       VOTE_WRONG},
      {"The body { ... } is fine.\n```json\n{\"verdict\": \"right\", \"confidence\": 1, \"line\": "
       "\"\"}\n```\nBye {}",
       true, VOTE_RIGHT},
      {"{\"verdict\": \"unsure\", \"confidence\": 0.1}", true, VOTE_ABSTAINS},
      {"{\"verdict\": \"maybe\", \"confidence\": 0.1}", false, VOTE_ABSTAINS},
      {"{\"verdict\": \"right\", \"confidence\": 7}", false, VOTE_ABSTAINS},
      {"It is right.", false, VOTE_ABSTAINS},
   };
   vote_t votes[3] = {{.verdict = VOTE_RIGHT, .confidence = 0.6, .weight = 1},
                      {.verdict = VOTE_RIGHT, .confidence = 0.6, .weight = 1},
                      {.verdict = VOTE_WRONG, .confidence = 0.9, .weight = 2}};
   vote_t vote = {0};
   (void)state;
   for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
      assert_int_equal(vote_read(CASES[i].reply, strlen(CASES[i].reply), &vote), CASES[i].understood);
      assert_int_equal(vote.verdict, CASES[i].verdict);
   }
   assert_int_equal(vote_count(votes, 3, false, 0.5).verdict, VOTE_RIGHT);
   assert_int_equal(vote_count(votes, 3, true, 0.5).verdict, VOTE_WRONG);
   assert_int_equal(vote_count(votes, 3, false, 0.8).verdict, VOTE_WRONG); /* the doubtful two abstain */
   assert_int_equal(vote_count(votes, 3, false, 0.95).verdict, VOTE_ABSTAINS);
   assert_int_equal(vote_count(votes + 1, 2, false, 0.5).verdict, VOTE_ABSTAINS); /* a draw */
   double probability = 0, severity = 0;
   assert_true(vote_numbers(votes, 3, &probability, &severity)); /* (0.6 + 0.6 + 2 * 0.1) / 4 */
   assert_true(fabs(probability - 0.35) < 1e-12 && severity == 0);
   votes[2].severity = 0.5;
   votes[0] = (vote_t){.weight = 0}; /* no answer */
   assert_true(vote_numbers(votes, 3, &probability, &severity));
   assert_true(fabs(probability - 0.8 / 3) < 1e-12 && fabs(severity - 1.0 / 3) < 1e-12);
   assert_false(vote_numbers(votes, 1, &probability, &severity));
   static const char named[] = "{\"verdict\": \"wrong\", \"confidence\": 1, \"severity\": 0.25}";
   assert_true(vote_read(named, strlen(named), &vote) && vote.severity == 0.25);
   assert_int_equal(vote_line("a\n  b = 1;\nc\n", " b = 1;\n"), 2);
   assert_int_equal(vote_line("a\n", "zzz"), 0);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(kernels_are_found),
      cmocka_unit_test(edits_apply_or_say_why),
      cmocka_unit_test(votes_are_read_and_counted),
   };
   return RUN_TESTS(tests);
}
