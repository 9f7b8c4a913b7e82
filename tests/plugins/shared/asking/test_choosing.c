/* Choosing a model: what an archive's notes say about each model, and how the two bandits choose from that
 * over a few hundred tries. */
#include "check.h"

#include <math.h>
#include <string.h>
#include "asking/model_choice.h"
#include "base/random.h"

/* An archive of notes ------------------------------------------------------------------------------------------------ */

static const rkb_archive_row_t *rows;
static uint32_t row_count;

static uint32_t rows_count(const rkb_archive_rows_t *ignored) {
   (void)ignored;
   return row_count;
}

static const rkb_archive_row_t *rows_at(const rkb_archive_rows_t *ignored, uint32_t index) {
   (void)ignored;
   return &rows[index];
}

static const rkb_archive_api_t ARCHIVE = {
   .size = sizeof ARCHIVE, .rows_count = rows_count, .rows_at = rows_at};
static const rkb_random_api_t RANDOM = {.size = sizeof RANDOM,
                                        .next = rkb_random_next,
                                        .below = rkb_random_below,
                                        .real = rkb_random_real,
                                        .normal = rkb_random_normal};
static const context_services_t SERVICES = {.archive = &ARCHIVE, .random = &RANDOM};
static const choice_model_t MODELS[] = {{.model = "cheap", .weight = 3}, {.model = "dear", .weight = 1}};

static context_t *open_context(const rkb_archive_row_t *list, uint32_t count) {
   static context_t context;
   rows = list;
   row_count = count;
   memset(&context, 0, sizeof context);
   context.services = &SERVICES;
   context.rows = (rkb_archive_rows_t *)&context; /* not NULL; the functions above look elsewhere */
   return &context;
}

static rkb_archive_row_t row(const char *note, const char *standing, double objective) {
   return (rkb_archive_row_t){
      .note = note, .standing = standing, .has_objective = objective > 0, .objective = objective};
}

/* Costs are the recorded prices of replies, so a reply from the cache counts like a bought one.  Gain is
 * relative to the best kernel that was known; a correct kernel that is no faster counts 0.05. */
static void notes_are_read(void **state) {
   const rkb_archive_row_t list[] = {
      row("model cheap, $0.010000; translation", RKB_ACCEPT, 100),
      row("model dear, $0.200000; improve", RKB_ACCEPT, 50),
      row("model cheap, $0.020000; fix; the reply cannot be used: no kernel", RKB_REJECT, 0),
      row("BLOCK 64 -> 128", RKB_ACCEPT, 25), /* not a model's, and yet the best from here on */
      row("model cheap, $0.010000; improve\nlessons of generation 4 (model dear, $9.000000):\n- x",
          RKB_ACCEPT, 40),
      row("model cheaper, $5.000000; improve", RKB_ACCEPT, 1),
      row(NULL, RKB_ACCEPT, 1),
   };
   bandit_arm_t arms[2] = {{0}};
   (void)state;
   bandit_read(open_context(list, sizeof list / sizeof list[0]), MODELS, 2, arms);
   assert_int_equal(arms[0].tries, 3);
   assert_int_equal(arms[1].tries, 1);
   assert_true(fabs(arms[0].cost - 0.04) < 1e-12);
   assert_true(fabs(arms[1].cost - 0.2) < 1e-12);
   assert_true(fabs(arms[0].gain - 0.1) < 1e-12);
   assert_true(fabs(arms[1].gain - (0.05 + log(2))) < 1e-12);
}

static void weights_are_kept(void **state) {
   rkb_random_t stream = rkb_random_stream(1, "weights", 0, 0);
   int cheap = 0;
   (void)state;
   for (int i = 0; i < 4000; i++)
      cheap += choice_make(open_context(NULL, 0), "weights", MODELS, 2, &stream) == 0;
   assert_in_range(cheap, 2900, 3100); /* 3 of 4 */
}

typedef uint32_t (*chooser_t)(const bandit_arm_t *arms, uint32_t count, rkb_random_t *stream);

static uint32_t ucb(const bandit_arm_t *arms, uint32_t count, rkb_random_t *stream) {
   (void)stream;
   return bandit_ucb(arms, count);
}

static uint32_t thompson(const bandit_arm_t *arms, uint32_t count, rkb_random_t *stream) {
   return bandit_thompson(arms, count, &RANDOM, stream);
}

/* What a model costs a question, how often it helps, and how much then. */
typedef struct truth {
   double cost, chance, gain;
} truth_t;

/* How often arm 0 is chosen in so many tries. */
static int play(chooser_t choose, const truth_t *truth, uint32_t count, int tries, uint64_t seed) {
   bandit_arm_t arms[CHOICE_MOST] = {{0}};
   rkb_random_t stream = rkb_random_stream(seed, "bandit", 0, 0);
   int first = 0;
   for (int i = 0; i < tries; i++) {
      uint32_t arm = choose(arms, count, &stream);
      assert_true(arm < count);
      arms[arm].tries++;
      arms[arm].cost += truth[arm].cost;
      if (rkb_random_real(&stream) < truth[arm].chance)
         arms[arm].gain += truth[arm].gain;
      first += arm == 0;
   }
   return first;
}

typedef struct game {
   truth_t truth[3];
   uint32_t count;
   int least, most; /* of 300 tries for arm 0 */
} game_t;

static void bandits_find_what_pays(void **state) {
   static const game_t GAMES[] = {
      /* Equal help, a tenth of the cost: the first; and the other way round. */
      {{{0.01, 0.5, 0.1}, {0.1, 0.5, 0.1}}, 2, 200, 299},
      {{{0.1, 0.5, 0.1}, {0.01, 0.5, 0.1}}, 2, 1, 100},
      /* Three times the help at ten times the cost does not pay; twenty times the help does. */
      {{{0.01, 0.3, 0.1}, {0.1, 0.9, 0.1}}, 2, 190, 299},
      {{{0.1, 1, 0.4}, {0.01, 0.2, 0.01}}, 2, 190, 299},
      /* One that never helps is tried, and left. */
      {{{0.01, 0.5, 0.1}, {0.01, 0, 0}, {0.01, 0, 0}}, 3, 180, 298},
      /* A free model that helps is worth any number of paid ones. */
      {{{0, 0.2, 0.05}, {0.01, 1, 0.1}}, 2, 200, 299},
   };
   (void)state;
   for (size_t i = 0; i < sizeof GAMES / sizeof GAMES[0]; i++) {
      const chooser_t choosers[] = {ucb, thompson};
      for (int j = 0; j < 2; j++) {
         int first = play(choosers[j], GAMES[i].truth, GAMES[i].count, 300, 7);
         if (first < GAMES[i].least || first > GAMES[i].most)
            fail_msg("game %zu, %s: %d of 300", i, j ? "thompson" : "ucb", first);
         assert_int_equal(first,
                          play(choosers[j], GAMES[i].truth, GAMES[i].count, 300, 7)); /* the same seed */
      }
   }
}

/* Nothing known: ucb takes each once, in their order; thompson draws. */
static void the_unknown_is_tried(void **state) {
   bandit_arm_t arms[3] = {{0}};
   rkb_random_t stream = rkb_random_stream(3, "bandit", 0, 0);
   bool drawn[3] = {false};
   (void)state;
   for (uint32_t i = 0; i < 3; i++) {
      assert_int_equal(bandit_ucb(arms, 3), i);
      arms[i] = (bandit_arm_t){.tries = 1, .cost = 0.01};
   }
   memset(arms, 0, sizeof arms);
   for (int i = 0; i < 60; i++)
      drawn[bandit_thompson(arms, 3, &RANDOM, &stream)] = true;
   assert_true(drawn[0] && drawn[1] && drawn[2]);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(notes_are_read), cmocka_unit_test(weights_are_kept),
                                      cmocka_unit_test(bandits_find_what_pays),
                                      cmocka_unit_test(the_unknown_is_tried)};
   return RUN_TESTS(tests);
}
