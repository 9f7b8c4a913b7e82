/* Surveys of many shapes at once: they tell what a survey of one shape after the other tells, at the same shapes.  Nothing compiles here. */
#include "kernel_fixture.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDS 400u
#define MOST_TOLD 200u

/* What one decision says at each of the shapes of a round. */
typedef struct told {
   const rkb_expression_t *expression;
   uint32_t at;
   bool is_value, divides;
   uint64_t shapes, outcomes;
   double distances[RKB_MANY];
} told_t;

typedef struct round {
   int64_t dims[RKB_MANY][3];
   uint32_t shape;
   uint32_t count;
   told_t told[MOST_TOLD];
} round_t;

/* M, N and K, and what a task may compute from them. */
static bool lookup(void *argument, const char *name, rkb_value_t *value) {
   const int64_t *dims = argument;
   *value = (rkb_value_t){0};
   if (strcmp(name, "share") == 0)
      *value = (rkb_value_t){.is_real = true, .real = 0.5 * (double)dims[0]};
   else if (strcmp(name, "groups") == 0)
      value->integer = dims[2] / 32;
   else if (strlen(name) == 1 && strchr("MNK", name[0]))
      value->integer = dims[strchr("MNK", name[0]) - "MNK"];
   else
      return false;
   return true;
}

/* Some shapes are not in the domain. */
static bool is_inside(const int64_t *dims) {
   return dims[1] % 11 != 5;
}

static told_t *told_of(round_t *round, const rkb_expression_t *expression, uint32_t at) {
   uint32_t n = 0;
   while (n < round->count && (round->told[n].expression != expression || round->told[n].at != at))
      n++;
   assert_true(n < MOST_TOLD);
   if (n == round->count)
      round->told[round->count++] = (told_t){.expression = expression, .at = at};
   return &round->told[n];
}

static void hear(void *argument, const rkb_expression_t *expression,
                 const rkb_expression_decision_t *decision) {
   round_t *round = argument;
   told_t *told = told_of(round, expression, decision->at);
   const uint64_t bit = UINT64_C(1) << round->shape;
   assert_false(told->shapes & bit);
   told->is_value = decision->is_value;
   told->divides = decision->divides;
   told->shapes |= bit;
   told->outcomes |= decision->outcome ? bit : 0;
   told->distances[round->shape] = decision->distance;
}

typedef struct setting {
   int64_t *dims; /* that lookup sees */
   round_t *round;
} setting_t;

static bool set(void *argument, uint32_t shape) {
   const setting_t *setting = argument;
   memcpy(setting->dims, setting->round->dims[shape], sizeof setting->round->dims[shape]);
   return is_inside(setting->dims);
}

static void decide_each(rkb_manifest_survey_t *survey, int64_t *dims, round_t *round) {
   const setting_t setting = {dims, round};
   round->count = 0;
   for (round->shape = 0; round->shape < RKB_MANY; round->shape++)
      if (set((void *)&setting, round->shape))
         rkb_manifest_survey_decide(survey, hear, round);
}

static void assert_same(round_t *expected, const rkb_many_decisions_t *decisions) {
   uint64_t told_many = 0, told_each = 0;
   for (uint32_t n = 0; n < expected->count; n++)
      told_each += (uint64_t)__builtin_popcountll(expected->told[n].shapes);
   for (uint32_t n = 0; n < decisions->count; n++) {
      const rkb_many_decision_t *one = &decisions->list[n];
      if (!one->places)
         continue;
      const told_t *told = told_of(expected, one->expression, one->at);
      told_many += (uint64_t)__builtin_popcountll(one->places);
      assert_int_equal(one->places, told->shapes);
      assert_int_equal(one->outcomes, told->outcomes);
      assert_int_equal(one->divides, told->divides);
      assert_int_equal(one->is_value, told->is_value);
      for (uint64_t left = one->places; left && !one->divides; left &= left - 1)
         assert_true(one->distances.at[__builtin_ctzll(left)] == told->distances[__builtin_ctzll(left)]);
   }
   assert_int_equal(told_many, told_each);
}

/* Along one dim from a drawn shape, or drawn shapes. */
static void draw(round_t *round, uint64_t *state) {
   static const uint32_t most[] = {300, 4000, 1000000};
   uint32_t drawn[4];
   for (uint32_t n = 0; n < RKB_MANY; n++) {
      for (uint32_t k = 0; k < 4; k++)
         drawn[k] = (uint32_t)((*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407) >> 33);
      if (n == 0)
         round->shape = drawn[3] % 5; /* 3 and 4: each shape is drawn */
      for (uint32_t d = 0; d < 3; d++)
         round->dims[n][d] = n && round->shape < 3 ? round->dims[n - 1][d] + (d == round->shape)
                                                   : 1 + drawn[d] % most[drawn[3] / 8 % 3];
   }
}

static rkb_manifest_t *manifest_of(const char *text) {
   char source[4096];
   rkb_problems_t problems;
   const int length = snprintf(source, sizeof source,
                               "/* rkb-kernel: 1\ntask: llama_rmsnorm\ndirection: forward\n%s*/\n", text);
   assert_true(length > 0 && (size_t)length < sizeof source);
   rkb_problems_init(&problems);
   rkb_manifest_t *manifest = rkb_manifest_parse("survey.cu", source, (size_t)length, &problems);
   if (!manifest)
      fail_msg("%u:%u: %s", problems.list[0].line, problems.list[0].column, problems.list[0].message);
   rkb_problems_free(&problems);
   return manifest;
}

static rkb_manifest_survey_t *survey_of(const rkb_manifest_t *manifest, int64_t *dims) {
   rkb_manifest_survey_t *survey;
   rkb_error_t err = {0};
   assert_int_equal(
      rkb_manifest_survey_new(manifest, NULL, fixture_device("h200"), lookup, dims, &survey, &err), RKB_OK);
   assert_non_null(survey);
   return survey;
}

/* Returns in how many rounds the shapes were surveyed at once. */
static uint32_t compare(const char *text) {
   int64_t dims[3] = {64, 64, 64};
   rkb_manifest_t *manifest = manifest_of(text);
   rkb_manifest_survey_t *each = survey_of(manifest, dims), *many = survey_of(manifest, dims);
   round_t *round = calloc(1, sizeof *round), *expected = calloc(1, sizeof *expected);
   uint64_t state = 1;
   uint32_t taken = 0;
   for (uint32_t n = 0; n < ROUNDS; n++) {
      const rkb_many_decisions_t *decisions;
      draw(round, &state);
      memcpy(expected->dims, round->dims, sizeof round->dims);
      decide_each(each, dims, expected);
      setting_t setting = {dims, round};
      const bool found = rkb_manifest_survey_many(many, RKB_MANY, set, &setting, &decisions);
      if (found)
         assert_same(expected, decisions);
      if (found && state >> 62) {
         rkb_manifest_survey_take(many);
         taken += expected->count > 0;
         continue;
      }
      decide_each(many, dims, round); /* what was not taken has changed nothing */
      assert_int_equal(round->count, expected->count);
      for (uint32_t k = 0; k < round->count; k++) {
         const told_t *told = told_of(expected, round->told[k].expression, round->told[k].at);
         assert_int_equal(round->told[k].shapes, told->shapes);
         assert_int_equal(round->told[k].outcomes, told->outcomes);
      }
   }
   rkb_manifest_survey_free(each);
   rkb_manifest_survey_free(many);
   rkb_manifest_free(manifest);
   free(expected);
   free(round);
   return taken;
}

static void operators(void **state) {
   (void)state;
   assert_true(
      compare(
         "launches:\n"
         "  - {kernel: k, grid: \"ceildiv(M * N, 128), min(K, 7, N)\", block: 128,\n"
         "     args: \"x, M / 3 * (N / 20), max(M - N, 1) % 5, (M == N) + (M != K) + (N >= 70) + (N <= K) + (M > 9), -K + if(not (M < 4), 1, 3) % 2\"}\n") >
      ROUNDS / 2);
}

static void conditions(void **state) {
   (void)state;
   assert_true(
      compare(
         "launches:\n"
         "  - {kernel: k, when: \"M % 4 == 0 and N < 200 or K == 65\", grid: \"ceildiv(N, 128)\", block: 128, args: \"x, M / 4\"}\n"
         "  - {else: , kernel: k, when: \"if(M < 150, N % 3, K % 5) == 1\", grid: \"ceildiv(N * K, 64)\", block: 128, args: \"x, M * N\"}\n"
         "  - {else: , kernel: k, grid: \"ceildiv(M, 32)\", block: 128, args: \"x, if(M < 150, N / 3, K % 5), groups / 3\"}\n"
         "  - {kernel: k, grid: \"ceildiv(M, 32)\", block: 128, args: \"x, groups / 5, groups % 7\"}\n") >
      ROUNDS / 3);
}

static void names(void **state) {
   (void)state;
   assert_true(
      compare(
         "let: {HALF: \"M / 2\", N: \"if(K < 99, N, HALF)\", WIDE: \"N * multiprocessors\"}\nlaunches:\n"
         "  - {kernel: k, when: \"groups > 3 or HALF % 2 == 0\", grid: \"ceildiv(N, 16)\", block: 128, args: \"x, WIDE / 3, groups / 2\"}\n"
         "  - {kernel: k, grid: \"ceildiv(HALF, 16)\", block: 128, args: \"x, max(N, groups), if(groups < 20, K / 3, N / 4)\"}\n") >
      ROUNDS / 3);
}

static void hear_left(void *argument, const rkb_expression_t *expression,
                      const rkb_expression_decision_t *decision) {
   (void)expression;
   *(int64_t *)argument = decision->divides && decision->right == 2 ? decision->left : *(int64_t *)argument;
}

/* Before the let, the name means the dim, at the second shape too. */
static void a_let_may_have_the_name_of_a_dim(void **state) {
   int64_t dims[3] = {64, 256, 64}, left = 0;
   (void)state;
   rkb_manifest_t *manifest =
      manifest_of("let: {N: \"N / 2\"}\nlaunches:\n  - {kernel: k, grid: \"N\", block: 128, args: \"x\"}\n");
   rkb_manifest_survey_t *survey = survey_of(manifest, dims);
   rkb_manifest_survey_decide(survey, hear_left, &left);
   assert_int_equal(left, 256);
   dims[1] = 300;
   rkb_manifest_survey_decide(survey, hear_left, &left);
   assert_int_equal(left, 300);
   rkb_manifest_survey_free(survey);
   rkb_manifest_free(manifest);
}

/* Real numbers, faults and large values are left to surveys of one shape after the other; where an operand is not evaluated it does no harm. */
static void others(void **state) {
   (void)state;
   assert_int_equal(
      compare("launches:\n  - {kernel: k, grid: \"M\", block: 128, args: \"x, share * 2 < N\"}\n"), 0);
   assert_int_equal(
      compare(
         "launches:\n  - {kernel: k, grid: \"M\", block: 128, args: \"x, (M - M) * 5 / (N - N), K / 2\"}\n"),
      0);
   (void)compare(
      "launches:\n  - {kernel: k, grid: \"M\", block: 128, args: \"x, M * N * K * 4096 * 4096 * 64 / 3, (M - N) / 7, K / (M - 9)\"}\n");
   assert_true(
      compare(
         "launches:\n  - {kernel: k, grid: \"M\", block: 128, args: \"x, if(M > N, N / (M - N), (N - M) / 3)\"}\n") >
      ROUNDS / 3);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(operators), cmocka_unit_test(conditions),
      cmocka_unit_test(names),     cmocka_unit_test(a_let_may_have_the_name_of_a_dim),
      cmocka_unit_test(others),
   };
   return RUN_TESTS(tests);
}
