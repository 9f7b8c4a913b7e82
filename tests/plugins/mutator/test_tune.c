/* rkb.mutator.tune: every mode stays inside the declared choices, describes its change, and repeats itself. */
#include "fake.h"
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const char SOURCE[] = "/* rkb-kernel: 1\n"
                             "task: task\n"
                             "direction: forward\n"
                             "tune:\n"
                             "  BLOCK: {default: 128, choices: [512, 64, 128, 256]}\n"
                             "  VEC: {default: 4, choices: [1, 2, 4]}\n"
                             "  FIXED: {default: 7, choices: [7]}\n"
                             "launches:\n"
                             "  - {kernel: k, grid: 1, block: BLOCK, args: x}\n"
                             "*/\n"
                             "__global__ void k(float *x) {}\n";

static int64_t value_of(const fake_t *fake, const char *name) {
   json_t *tune = json_loads(fake_json(fake, 0, "tune"), 0, NULL);
   int64_t value = json_integer_value(json_object_get(tune, name));
   json_decref(tune);
   return value;
}

static int run(fake_t *fake, int64_t number, const char *tune, const char *hints) {
   return fake_run_parent(fake, number, hints, SOURCE, tune);
}

static void start(fake_t *fake, const char *mode) {
   fake_open(fake, "mutator/tune");
   fake_start(fake, (const char *const[]){mode, NULL});
}

static void neighbour_moves_one_step(void **state) {
   (void)state;
   fake_t fake;
   start(&fake, "mode=neighbour");
   bool saw[4] = {false};
   for (int64_t number = 0; number < 100; number++) {
      assert_int_equal(run(&fake, number, "{}", NULL), RKB_OK);
      assert_int_equal(fake.emitted_count, 1);
      int64_t block = value_of(&fake, "BLOCK"), vec = value_of(&fake, "VEC");
      assert_int_equal(value_of(&fake, "FIXED"), 7);
      if (block == 128)
         assert_int_equal(vec, 2); /* 4 is the largest: the only way is down */
      else
         assert_true(vec == 4 && (block == 64 || block == 256));
      saw[block == 64 ? 0 : block == 256 ? 1 : 2] = true;
   }
   assert_true(saw[0] && saw[1] && saw[2]);
   fake_close(&fake);
}

static void notes_say_what_changed(void **state) {
   (void)state;
   fake_t fake;
   start(&fake, "mode=neighbour");
   assert_int_equal(run(&fake, 0, "{\"BLOCK\": 512, \"VEC\": 1}", NULL), RKB_OK);
   const char *note = fake_text(&fake, 0, "note");
   assert_true(strcmp(note, "neighbour: BLOCK 512 -> 256") == 0 ||
               strcmp(note, "neighbour: VEC 1 -> 2") == 0);
   assert_string_equal(fake_text(&fake, 0, "source"), SOURCE);
   fake_close(&fake);
}

static void random_never_stays(void **state) {
   (void)state;
   fake_t fake;
   start(&fake, "mode=random");
   uint32_t seen = 0;
   for (int64_t number = 0; number < 300; number++) {
      assert_int_equal(run(&fake, number, "{}", NULL), RKB_OK);
      int64_t block = value_of(&fake, "BLOCK"), vec = value_of(&fake, "VEC");
      assert_false(block == 128 && vec == 4);
      uint32_t index =
         (uint32_t)(block / 128 * 3 + vec / 2); /* 64, 128, 256, 512 and 1, 2, 4 are all different here */
      seen |= 1u << index;
   }
   assert_int_equal(__builtin_popcount(seen), 11); /* all but the starting point */
   fake_close(&fake);
}

static void repeats_itself(void **state) {
   (void)state;
   const char *modes[] = {"mode=neighbour", "mode=random", "mode=guided", "mode=wide"};
   for (int i = 0; i < 4; i++) {
      fake_t fake;
      char first[128];
      start(&fake, modes[i]);
      assert_int_equal(run(&fake, 42, "{}", NULL), RKB_OK);
      snprintf(first, sizeof first, "%s", fake_json(&fake, 0, "tune"));
      assert_int_equal(run(&fake, 42, "{}", NULL), RKB_OK);
      assert_string_equal(fake_json(&fake, 0, "tune"), first);
      fake_close(&fake);
   }
}

static void grid_counts_through(void **state) {
   (void)state;
   fake_t fake;
   start(&fake, "mode=grid");
   char seen[12][64];
   for (int i = 0; i < 12; i++) {
      char hints[32];
      snprintf(hints, sizeof hints, "{\"grid\": %d}", i);
      assert_int_equal(run(&fake, i, "{}", hints), RKB_OK);
      assert_int_equal(fake.emitted_count, 1);
      snprintf(seen[i], sizeof seen[i], "%s", fake_json(&fake, 0, "tune"));
      for (int j = 0; j < i; j++)
         assert_string_not_equal(seen[i], seen[j]);
   }
   assert_int_equal(run(&fake, 12, "{}", "{\"grid\": 12}"), RKB_OK);
   assert_int_equal(fake.emitted_count, 0); /* past the end: the strategy's sign to stop */
   assert_int_equal(run(&fake, 12, "{}", NULL), RKB_ERR_INVALID);
   assert_string_equal(fake.error.option, "mode");
   fake_close(&fake);
}

static void asked_is_given(void **state) {
   (void)state;
   fake_t fake;
   start(&fake, "mode=asked");
   assert_int_equal(run(&fake, 1, "{}", "{\"tune\": {\"BLOCK\": 512, \"VEC\": 4}}"), RKB_OK);
   assert_int_equal(fake.emitted_count, 1);
   assert_string_equal(fake_json(&fake, 0, "tune"), "{\"BLOCK\":512,\"VEC\":4,\"FIXED\":7}");
   assert_int_equal(run(&fake, 2, "{}", "{\"tune\": {\"BLOCK\": 513}}"), RKB_ERR_INVALID); /* no choice */
   assert_int_equal(run(&fake, 3, "{}", "{\"grid\": 1}"), RKB_ERR_INVALID);
   assert_string_equal(fake.error.option, "mode");
   fake_close(&fake);
}

/* Twelve points, every one but (256, 2) tried: guided must find the one that is left, and then nothing. */
static void guided_avoids_what_was_tried(void **state) {
   (void)state;
   fake_t fake;
   static const int64_t blocks[] = {64, 128, 256, 512}, vecs[] = {1, 2, 4};
   static char tunes[12][64];
   start(&fake, "mode=guided");
   for (int b = 0; b < 4; b++)
      for (int v = 0; v < 3; v++) {
         if (blocks[b] == 256 && vecs[v] == 2)
            continue;
         snprintf(tunes[fake.row_count], sizeof tunes[0], "{\"BLOCK\":%" PRId64 ",\"VEC\":%" PRId64 "}",
                  blocks[b], vecs[v]);
         fake.rows[fake.row_count] = (rkb_archive_row_t){.number = fake.row_count + 1,
                                                         .source = SOURCE,
                                                         .tune = tunes[fake.row_count],
                                                         .standing = "accept",
                                                         .has_objective = true,
                                                         .objective = 10.0 + b + v};
         fake.row_count++;
      }
   uint32_t found = 0;
   for (int64_t number = 0; number < 20; number++) {
      assert_int_equal(run(&fake, number, "{}", NULL), RKB_OK);
      if (fake.emitted_count == 0)
         continue; /* not among the points drawn */
      assert_int_equal(value_of(&fake, "BLOCK"), 256);
      assert_int_equal(value_of(&fake, "VEC"), 2);
      found++;
   }
   assert_true(found > 0);
   fake.rows[fake.row_count++] = (rkb_archive_row_t){
      .number = 12, .source = SOURCE, .tune = "{\"BLOCK\":256,\"VEC\":2}", .standing = "reject"};
   assert_int_equal(run(&fake, 21, "{}", NULL), RKB_OK);
   assert_int_equal(fake.emitted_count, 0);
   fake_close(&fake);
}

/* Large BLOCK values were always bad and small ones good: guided prefers small ones. */
static void guided_learns(void **state) {
   (void)state;
   fake_t fake;
   start(&fake, "mode=guided");
   static const struct {
      const char *tune;
      double objective;
   } known[] = {{"{\"BLOCK\":512,\"VEC\":4}", 100}, {"{\"BLOCK\":512,\"VEC\":1}", 110},
                {"{\"BLOCK\":256,\"VEC\":4}", 90},  {"{\"BLOCK\":256,\"VEC\":1}", 95},
                {"{\"BLOCK\":64,\"VEC\":4}", 10},   {"{\"BLOCK\":128,\"VEC\":4}", 50}};
   for (uint32_t i = 0; i < 6; i++)
      fake.rows[i] = (rkb_archive_row_t){.number = i + 1,
                                         .source = SOURCE,
                                         .tune = known[i].tune,
                                         .standing = "accept",
                                         .has_objective = true,
                                         .objective = known[i].objective};
   fake.row_count = 6;
   uint32_t small = 0;
   for (int64_t number = 0; number < 50; number++) {
      assert_int_equal(run(&fake, number, "{}", NULL), RKB_OK);
      assert_int_equal(fake.emitted_count, 1);
      small += value_of(&fake, "BLOCK") == 64;
   }
   assert_true(small >= 30); /* blind moves would give 2 of 11 */
   fake_close(&fake);
}

/* A text of the same family whose BLOCK has one choice more. */
static const char WIDER[] = "/* rkb-kernel: 1\n"
                            "task: task\n"
                            "direction: forward\n"
                            "tune:\n"
                            "  BLOCK: {default: 128, choices: [512, 64, 128, 256, 1024]}\n"
                            "  VEC: {default: 4, choices: [1, 2, 4]}\n"
                            "  FIXED: {default: 7, choices: [7]}\n"
                            "launches:\n"
                            "  - {kernel: k, grid: 1, block: BLOCK, args: x}\n"
                            "*/\n"
                            "__global__ void k(float *x) {}\n";

static void know(fake_t *fake, const char *source, const char *tune, double objective) {
   fake->rows[fake->row_count] = (rkb_archive_row_t){.number = fake->row_count + 1,
                                                     .source = source,
                                                     .tune = tune,
                                                     .standing = "accept",
                                                     .has_objective = true,
                                                     .objective = objective};
   fake->row_count++;
}

/* Fewer threads are better here, down to the least choice.  The values that are asked for go on below it, and
 * become choices of the text. */
static void wide_goes_past_the_choices(void **state) {
   (void)state;
   fake_t fake;
   start(&fake, "mode=wide");
   know(&fake, SOURCE, "{\"BLOCK\":512,\"VEC\":4,\"FIXED\":7}", 100);
   know(&fake, SOURCE, "{\"BLOCK\":256,\"VEC\":4,\"FIXED\":7}", 50);
   know(&fake, SOURCE, "{\"BLOCK\":128,\"VEC\":4,\"FIXED\":7}", 25);
   know(&fake, SOURCE, "{\"BLOCK\":64,\"VEC\":4,\"FIXED\":7}", 12);
   know(&fake, WIDER, "{\"BLOCK\":1024,\"VEC\":4,\"FIXED\":7}", 200); /* the same text but for its choices */
   know(&fake, SOURCE, "{\"BLOCK\":256,\"VEC\":2,\"FIXED\":7}", 51);
   know(&fake, SOURCE, "{\"BLOCK\":64,\"VEC\":1,\"FIXED\":7}", 13);
   uint32_t beyond = 0;
   for (int64_t number = 0; number < 40; number++) {
      char added[32];
      assert_int_equal(run(&fake, number, "{\"BLOCK\": 64, \"VEC\": 4}", NULL), RKB_OK);
      assert_int_equal(fake.emitted_count, 1);
      const int64_t block = value_of(&fake, "BLOCK"), vec = value_of(&fake, "VEC");
      assert_int_equal(value_of(&fake, "FIXED"), 7);
      assert_true(block >= 32 && block % 32 == 0 && block <= 1024);
      assert_true(vec >= 1 && vec <= 8);
      assert_false(vec == 4 && block != 32); /* those are known, one of them from the other text */
      if (block == 32) {
         assert_non_null(strstr(fake_text(&fake, 0, "source"), "choices: [512, 64, 128, 256, 32]"));
         beyond++;
      }
      snprintf(added, sizeof added, "[1, 2, 4%s]", vec == 8 ? ", 8" : "");
      assert_non_null(strstr(fake_text(&fake, 0, "source"), added));
   }
   assert_true(beyond >= 20);
   fake_close(&fake);
}

/* Values that another text showed to be good are tried with this one. */
static void wide_learns_from_other_texts(void **state) {
   (void)state;
   fake_t fake;
   static char other[sizeof SOURCE + 32];
   start(&fake, "mode=wide");
   snprintf(other, sizeof other, "%s// unlike\n", SOURCE);
   know(&fake, other, "{\"BLOCK\":512,\"VEC\":4}", 100);
   know(&fake, other, "{\"BLOCK\":256,\"VEC\":2}", 90);
   know(&fake, other, "{\"BLOCK\":256,\"VEC\":4}", 91);
   know(&fake, other, "{\"BLOCK\":128,\"VEC\":4}", 70);
   know(&fake, other, "{\"BLOCK\":128,\"VEC\":1}", 71);
   know(&fake, other, "{\"BLOCK\":64,\"VEC\":1}", 10);
   know(&fake, SOURCE, "{\"BLOCK\":128,\"VEC\":4}", 69);
   uint32_t good = 0;
   for (int64_t number = 0; number < 40; number++) {
      assert_int_equal(run(&fake, number, "{}", NULL), RKB_OK);
      assert_int_equal(fake.emitted_count, 1);
      good += value_of(&fake, "BLOCK") <= 64;
   }
   assert_true(good >= 20); /* from 128, blind moves go there with less than every third */
   fake_close(&fake);
}

/* A switch is no size: its choices stay what they are. */
static void wide_leaves_switches(void **state) {
   (void)state;
   static const char SWITCH[] = "/* rkb-kernel: 1\n"
                                "task: task\n"
                                "direction: forward\n"
                                "tune:\n"
                                "  TURNED: {default: 0, choices: [0, 1]}\n"
                                "  WAY: {default: 1, choices: [1, 2, 3]}\n"
                                "launches:\n"
                                "  - {kernel: k, grid: 1, block: 32, args: x}\n"
                                "*/\n"
                                "__global__ void k(float *x) {}\n";
   fake_t fake;
   start(&fake, "mode=wide");
   for (int64_t number = 0; number < 40; number++) {
      assert_int_equal(fake_run_parent(&fake, number, NULL, SWITCH, "{}"), RKB_OK);
      assert_int_equal(fake.emitted_count, 1);
      assert_string_equal(fake_text(&fake, 0, "source"), SWITCH);
   }
   fake_close(&fake);
}

static void refuses_what_it_cannot_move(void **state) {
   (void)state;
   fake_t fake;
   start(&fake, "mode=neighbour");
   assert_int_equal(run(&fake, 0, "{\"BLOCK\": 100}", NULL), RKB_ERR_INVALID); /* not a choice */
   assert_int_equal(run(&fake, 0, "{\"OTHER\": 1}", NULL), RKB_ERR_INVALID);
   rkb_item_t *request = fake_request(&fake, "search", 0, NULL, NULL, 0);
   assert_int_equal(fake_run(&fake, request), RKB_ERR_INVALID); /* no parent */
   fake_drop(request);

   rkb_item_t *parent = fake_candidate(&fake, 1, "__global__ void k() {}", "{}");
   request = fake_request(&fake, "search", 0, NULL, &parent, 1);
   assert_int_equal(fake_run(&fake, request), RKB_OK); /* no manifest: nothing to move, no failure */
   assert_int_equal(fake.emitted_count, 0);
   fake_drop(request);
   fake_drop(parent);
   fake_close(&fake);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(neighbour_moves_one_step),     cmocka_unit_test(notes_say_what_changed),
      cmocka_unit_test(random_never_stays),           cmocka_unit_test(repeats_itself),
      cmocka_unit_test(grid_counts_through),          cmocka_unit_test(asked_is_given),
      cmocka_unit_test(guided_avoids_what_was_tried), cmocka_unit_test(guided_learns),
      cmocka_unit_test(wide_goes_past_the_choices),   cmocka_unit_test(wide_learns_from_other_texts),
      cmocka_unit_test(wide_leaves_switches),         cmocka_unit_test(refuses_what_it_cannot_move),
   };
   return RUN_TESTS(tests);
}
