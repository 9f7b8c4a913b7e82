/* rkb.strategy.islands through its face, and the rules of one island, of cells and of credit by themselves.
 */
#include "strategy_fixture.h"
#include <math.h>
#include <string.h>
#include "base/random.h"
#include "islands/cells.h"
#include "islands/credit.h"
#include "islands/island.h"
#include "islands/niches.h"

static const rkb_operator_t OPERATORS[] = {{"tune", "rkb.mutator.tune", 1, RKB_MUTATOR, 0},
                                           {"edit", "rkb.mutator.edit", 1, RKB_MUTATOR, 0}};
static const rkb_setup_t SETUP = {
   .size = sizeof SETUP, .window = 4, .operators = OPERATORS, .operator_count = 2, .objective = "model.us"};
static const rkb_random_api_t RANDOM = {.size = sizeof RANDOM,
                                        .next = rkb_random_next,
                                        .below = rkb_random_below,
                                        .real = rkb_random_real,
                                        .normal = rkb_random_normal};

static individual_t individual(int64_t number, double objective) {
   return (individual_t){number, STANDING_ACCEPT, objective > 0, objective};
}

static void ranks_by_standing_then_objective(void **state) {
   (void)state;
   individual_t fast = individual(2, 1), slow = individual(1, 2), unmeasured = individual(3, 0),
                suspect = individual(4, 0.5);
   suspect.standing = STANDING_SUSPECT;
   assert_true(individual_compare(&fast, &slow) < 0);
   assert_true(individual_compare(&slow, &unmeasured) < 0);
   assert_true(individual_compare(&unmeasured, &suspect) < 0); /* any accept before any suspect */
   individual_t twin = individual(5, 1);
   assert_true(individual_compare(&fast, &twin) < 0); /* ties go to the lower number */
}

static void the_worst_or_the_oldest_leaves(void **state) {
   (void)state;
   for (int oldest = 0; oldest < 2; oldest++) {
      island_rules_t rules = {
         .size = 3, .elites = 1, .oldest_leaves = oldest == 1, .selection = SELECT_UNIFORM};
      island_t island;
      rkb_error_t err;
      assert_int_equal(island_init(&island, &rules, &err), RKB_OK);
      const double objectives[] = {1, 3, 2, 5, 4};
      for (int i = 0; i < 5; i++) {
         individual_t one = individual(i + 1, objectives[i]);
         island_add(&island, &rules, &one, 0);
         island_add(&island, &rules, &one, 0); /* a second time changes nothing */
      }
      assert_int_equal(island.count, 3);
      assert_int_equal(island.members[0].individual.number, 1); /* the elite stays, though it is the oldest */
      if (oldest) {                                             /* 2 and 3 left for their age */
         assert_int_equal(island.members[1].individual.number, 5);
         assert_int_equal(island.members[2].individual.number, 4);
      } else {
         assert_int_equal(island.members[1].individual.number, 3);
         assert_int_equal(island.members[2].individual.number, 2);
      }
      island_free(&island);
   }
}

static void a_cell_keeps_its_best(void **state) {
   (void)state;
   island_rules_t rules = {.size = 8, .one_per_cell = true};
   island_t island;
   rkb_error_t err;
   assert_int_equal(island_init(&island, &rules, &err), RKB_OK);
   individual_t a = individual(1, 5), better = individual(2, 4), worse = individual(3, 6),
                elsewhere = individual(4, 100);
   island_add(&island, &rules, &a, 7);
   island_add(&island, &rules, &worse, 7);
   island_add(&island, &rules, &elsewhere, 8);
   island_add(&island, &rules, &better, 7);
   assert_int_equal(island.count, 2);
   assert_int_equal(island.members[0].individual.number, 2);
   assert_int_equal(island.members[1].individual.number, 4);
   island_free(&island);
}

/* Share of draws that each rank of 4 gets: uniform 1/4; best of two 7/16, 5/16, 3/16, 1/16; power law with
 * exponent 1 in proportion to 12, 6, 4, 3. */
static void selection_follows_its_law(void **state) {
   (void)state;
   static const double expected[3][4] = {{7 / 16.0, 5 / 16.0, 3 / 16.0, 1 / 16.0},
                                         {12 / 25.0, 6 / 25.0, 4 / 25.0, 3 / 25.0},
                                         {.25, .25, .25, .25}};
   rkb_random_t stream = rkb_random_stream(1, "test", 0, 0);
   for (int law = 0; law < 3; law++) {
      island_rules_t rules = {.size = 4, .selection = (enum selection)law, .tournament = 2, .exponent = 1};
      island_t island;
      rkb_error_t err;
      uint32_t drawn[5] = {0};
      assert_int_equal(island_init(&island, &rules, &err), RKB_OK);
      for (int i = 1; i <= 4; i++) {
         individual_t one = individual(i, i);
         island_add(&island, &rules, &one, 0);
      }
      for (int i = 0; i < 20000; i++)
         drawn[island_select(&island, &rules, &RANDOM, &stream, 0)->number]++;
      for (int rank = 0; rank < 4; rank++) /* 5 standard deviations of 20,000 draws are below 0.018 */
         assert_true(fabs(drawn[rank + 1] / 20000.0 - expected[law][rank]) < 0.018);
      for (int i = 0; i < 100; i++)
         assert_int_not_equal(island_select(&island, &rules, &RANDOM, &stream, 1)->number, 1);
      island_free(&island);
   }
}

static void cells_cut_measurements(void **state) {
   (void)state;
   const cell_feature_t features[] = {{"build.shared_bytes", "log2", 1}, {"model.launches", "linear", 2}};
   const char *names[] = {"model.launches", "build.shared_bytes"};
   double values[] = {3, 0};
   rkb_told_t told = {.measurement_count = 2, .measurement_names = names, .measurement_values = values};
   uint32_t none = cell_of(features, 2, &told);
   values[1] = 4096;
   uint32_t some = cell_of(features, 2, &told);
   values[1] = 5000; /* the same doubling */
   assert_int_equal(cell_of(features, 2, &told), some);
   assert_int_not_equal(none, some);
   values[0] = 2; /* the same step of 2 */
   assert_int_equal(cell_of(features, 2, &told), some);
   values[0] = 4;
   assert_int_not_equal(cell_of(features, 2, &told), some);
   told.measurement_count = 1;
   assert_int_not_equal(cell_of(features, 2, &told), none);
   assert_int_equal(cell_of(features, 0, &told), 0);
   assert_int_equal(cell_step(&features[0], NAN), 0);
   assert_int_equal(cell_step(&features[1], 1e300), CELL_STEPS - 2);
}

static void credit_follows_gain(void **state) {
   (void)state;
   credit_t credit = {.count = 2};
   const double weights[] = {1, 3};
   double chances[2];
   credit_chances(&credit, weights, 0.1, chances);
   assert_true(chances[0] == 1 && chances[1] == 3); /* nobody earned anything */
   credit_reward(&credit, 0, 0.5, 0.9);
   credit_chances(&credit, weights, 0.1, chances);
   assert_true(fabs(chances[0] - 1.1) < 1e-12 && fabs(chances[1] - 0.3) < 1e-12);
}

static void children_stay_home_until_migration(void **state) {
   (void)state;
   fake_t fake;
   rkb_request_t request;
   fake_open(&fake, "strategy/islands");
   fake_start_strategy(
      &fake, (const char *const[]){"islands=2", "size=1", "elites=1", "migrate_every=1", NULL}, &SETUP);
   tell_one(&fake, -1, 1, "accept", 10);
   for (int i = 0; i < 4; i++) {
      assert_int_equal(ask(&fake, &request), RKB_ASK_OK);
      assert_int_equal(request.parents[0], 1);
      assert_int_equal(request.parent_count, 1); /* nobody else to mate with */
   }
   tell_one(&fake, 0, 2, "accept", 5);                 /* island 0 */
   assert_int_equal(ask(&fake, &request), RKB_ASK_OK); /* request 4: island 0 */
   assert_int_equal(request.parents[0], 2);
   assert_int_equal(ask(&fake, &request), RKB_ASK_OK); /* request 5: island 1 */
   assert_int_equal(request.parents[0], 1);
   tell_none(&fake, 1);
   tell_one(&fake, 2, 3, "reject", 0);
   tell_one(&fake, 3, 4, "suspect",
            1); /* island 1: no match for an accept; then 4 results were told: migration */
   assert_int_equal(ask(&fake, &request), RKB_ASK_OK);
   assert_int_equal(request.parents[0], 2);
   assert_int_equal(ask(&fake, &request), RKB_ASK_OK);
   assert_int_equal(request.parents[0], 2); /* island 1 has the migrant */
   fake_close(&fake);
}

static void bandit_prefers_what_gains(void **state) {
   (void)state;
   fake_t fake;
   rkb_request_t request;
   uint32_t used[2] = {0};
   fake_open(&fake, "strategy/islands");
   fake_start_strategy(&fake, (const char *const[]){"islands=1", "size=1", "elites=1", "credit=bandit", NULL},
                       &SETUP);
   tell_one(&fake, -1, 1, "accept", 1000);
   for (int i = 0; i < 400; i++) {
      assert_int_equal(ask(&fake, &request), RKB_ASK_OK);
      if (i >= 100)
         used[request.operator_index]++;
      if (request.operator_index == 1)
         tell_one(&fake, i, 2 + i, "accept", 999.0 - i); /* always a little better */
      else
         tell_none(&fake, i);
   }
   assert_true(used[1] > 4 * used[0]);
   assert_true(used[0] > 0); /* the floor */
   fake_close(&fake);
}

static void waits_without_parents(void **state) {
   (void)state;
   fake_t fake;
   rkb_request_t request;
   fake_open(&fake, "strategy/islands");
   fake_start_strategy(&fake, NULL, &SETUP);
   tell_one(&fake, -1, 1, "reject", 0);
   assert_int_equal(ask(&fake, &request), RKB_ASK_WAIT);
   fake_close(&fake);
}

/* Two instances that are told the same answer the same: what resuming relies on. */
static void repeats_itself(void **state) {
   (void)state;
   fake_t one, two;
   rkb_request_t first, second;
   fake_open(&one, "strategy/islands");
   fake_open(&two, "strategy/islands");
   fake_start_strategy(&one, (const char *const[]){"selection=power_law", "credit=bandit", NULL}, &SETUP);
   fake_start_strategy(&two, (const char *const[]){"selection=power_law", "credit=bandit", NULL}, &SETUP);
   for (int i = 1; i <= 3; i++) {
      tell_one(&one, -i, i, "accept", 10.0 + i);
      tell_one(&two, -i, i, "accept", 10.0 + i);
   }
   for (int i = 0; i < 200; i++) {
      assert_int_equal(ask(&one, &first), ask(&two, &second));
      assert_memory_equal(&first, &second, sizeof first);
      tell_one(&one, i, 10 + i, i % 3 ? "accept" : "reject", 10.0 - i % 7);
      tell_one(&two, i, 10 + i, i % 3 ? "accept" : "reject", 10.0 - i % 7);
   }
   fake_close(&one);
   fake_close(&two);
}

/* Equal values share an island, whatever came first; a new kind takes the place of the worst only if it is better than that. */
static void equal_values_share_a_niche(void **state) {
   (void)state;
   static const char *const names[] = {"structure.plan", "structure.staging", NULL};
   double values[] = {7, 0};
   const rkb_told_t told = {.measurement_count = 2, .measurement_names = names, .measurement_values = values};
   rkb_told_t fewer = told;
   island_rules_t rules = {.size = 4};
   island_t islands[2];
   niches_t niches = {.count = 0};
   rkb_error_t err;
   individual_t first = individual(1, 10), second = individual(2, 20), slow = individual(3, 30), fast = individual(4, 15);
   for (int i = 0; i < 2; i++)
      assert_int_equal(island_init(&islands[i], &rules, &err), RKB_OK);
   const uint64_t key = niche_key(names, &told);
   values[1] = 1;
   const uint64_t other = niche_key(names, &told);
   fewer.measurement_count = 1;
   const uint64_t missing = niche_key(names, &fewer);
   assert_true(key != other && key != missing && other != missing);
   assert_int_equal(niche_of(&niches, key, islands, 2, &first), 0);
   island_add(&islands[0], &rules, &first, 0);
   assert_int_equal(niche_of(&niches, other, islands, 2, &second), 1);
   island_add(&islands[1], &rules, &second, 0);
   assert_int_equal(niche_of(&niches, key, islands, 2, &slow), 0);
   assert_int_equal(niche_of(&niches, missing, islands, 2, &slow), NICHE_NONE);
   assert_int_equal(niche_of(&niches, missing, islands, 2, &fast), 1);
   assert_int_equal(islands[1].count, 0);
   assert_int_equal(niche_of(&niches, other, islands, 2, &slow), 1); /* whose island is empty now */
   for (int i = 0; i < 2; i++)
      island_free(&islands[i]);
}

/* Every child goes to the island of its kind; parents are of one kind, and mates may be guests of another after a migration. */
static void niches_breed_apart(void **state) {
   (void)state;
   static const char *const names[] = {"structure.plan"};
   fake_t fake;
   rkb_request_t request;
   uint32_t mixed = 0, first = 0;
   fake_open(&fake, "strategy/islands");
   fake_start_strategy(&fake, (const char *const[]){"niches=structure.plan", "islands=4", "migrate_every=2", NULL}, &SETUP);
   for (int n = 1; n <= 4; n++) /* odd numbers are of plan 1 */
      tell_measured(&fake, -n, n, 10.0 + n, names, (const double[]){n % 2}, 1);
   for (int n = 0; n < 400; n++) {
      assert_int_equal(ask(&fake, &request), RKB_ASK_OK);
      assert_int_equal(request.parent_count, 2);
      first += request.parents[0] % 2 == 1;
      if (request.parents[0] % 2 != request.parents[1] % 2) {
         assert_true(n >= 8); /* two generations */
         mixed++;
      }
      tell_measured(&fake, n, 5 + n, 100.0 + n, names, (const double[]){(5 + n) % 2}, 1);
   }
   assert_true(mixed > 100 && mixed < 300); /* half of the mates */
   assert_true(first > 200 && first < 330); /* the better kind twice as often: 267 of 400, and 6 standard deviations */
   fake_close(&fake);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(ranks_by_standing_then_objective),
      cmocka_unit_test(the_worst_or_the_oldest_leaves),
      cmocka_unit_test(a_cell_keeps_its_best),
      cmocka_unit_test(selection_follows_its_law),
      cmocka_unit_test(cells_cut_measurements),
      cmocka_unit_test(credit_follows_gain),
      cmocka_unit_test(children_stay_home_until_migration),
      cmocka_unit_test(bandit_prefers_what_gains),
      cmocka_unit_test(waits_without_parents),
      cmocka_unit_test(repeats_itself),
      cmocka_unit_test(equal_values_share_a_niche),
      cmocka_unit_test(niches_breed_apart),
   };
   return RUN_TESTS(tests);
}
