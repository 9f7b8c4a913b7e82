/* What language models answer as judges: how a vote is read, and what several of them decide.  One thread. */
#include "check.h"

#include <math.h>
#include <string.h>
#include "llm/vote.h"

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
   const struct CMUnitTest tests[] = {cmocka_unit_test(votes_are_read_and_counted)};
   return RUN_TESTS(tests);
}
