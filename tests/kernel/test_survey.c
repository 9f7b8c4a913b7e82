/* Surveys: what a manifest's expressions decide, shape by shape.  Nothing compiles here. */
#include "kernel_fixture.h"

#include <stdlib.h>
#include <string.h>

/* More launches, and more mentions of names, than a survey's tables have places at first. */
#define LAUNCHES 300u

typedef struct shape {
   int64_t rows, columns;
} shape_t;

static bool lookup(void *argument, const char *name, rkb_value_t *value) {
   const shape_t *shape = argument;
   *value = (rkb_value_t){.integer = strcmp(name, "M") == 0 ? shape->rows : shape->columns};
   return strcmp(name, "M") == 0 || strcmp(name, "N") == 0;
}

typedef struct heard {
   uint32_t count, remainders; /* decisions; divisions by 128 */
   bool leaves;                /* whether the last of these left a remainder */
} heard_t;

static void hear(void *argument, const rkb_expression_t *expression,
                 const rkb_expression_decision_t *decision) {
   heard_t *heard = argument;
   (void)expression;
   heard->count++;
   if (!decision->divides || decision->right != 128)
      return;
   heard->remainders++;
   heard->leaves = decision->outcome;
}

static heard_t decide(rkb_manifest_survey_t *survey) {
   heard_t heard = {0};
   rkb_manifest_survey_decide(survey, hear, &heard);
   return heard;
}

/* launch: the same line for each of them. */
static rkb_manifest_survey_t *survey_of(const char *launch, shape_t *shape, rkb_manifest_t **manifest) {
   const size_t room = 512 + LAUNCHES * (strlen(launch) + 1);
   char *source = malloc(room);
   rkb_problems_t problems;
   rkb_manifest_survey_t *survey;
   rkb_error_t err = {0};
   size_t length = (size_t)snprintf(source, room,
                                    "/* rkb-kernel: 1\ntask: llama_rmsnorm\ndirection: forward\n"
                                    "let: {HALF: \"M / 2\"}\nlaunches:\n");
   for (uint32_t i = 0; i < LAUNCHES; i++)
      length += (size_t)snprintf(source + length, room - length, "%s\n", launch);
   length += (size_t)snprintf(source + length, room - length, "*/\n");
   rkb_problems_init(&problems);
   *manifest = rkb_manifest_parse("survey.cu", source, length, &problems);
   if (!*manifest)
      fail_msg("%u:%u: %s", problems.list[0].line, problems.list[0].column, problems.list[0].message);
   rkb_problems_free(&problems);
   free(source);
   assert_int_equal(
      rkb_manifest_survey_new(*manifest, NULL, fixture_device("h200"), lookup, shape, &survey, &err), RKB_OK);
   return survey;
}

static void launches_that_repeat_a_text_tell_it_once(void **state) {
   shape_t shape = {64, 200};
   rkb_manifest_t *manifest;
   (void)state;
   rkb_manifest_survey_t *survey = survey_of(
      "  - {kernel: k, grid: \"ceildiv(N, 128)\", block: 128, args: \"x, y, M, N, HALF, M * HALF\"}", &shape,
      &manifest);
   heard_t heard = decide(survey);
   assert_int_equal(heard.remainders, 1);
   assert_true(heard.leaves);
   shape.columns = 256;
   heard = decide(survey);
   assert_int_equal(heard.remainders, 1);
   assert_int_equal(heard.count, 1); /* nothing that names M alone tells again */
   assert_false(heard.leaves);
   assert_int_equal(decide(survey).count, 0);
   shape.rows = 100;
   heard = decide(survey);
   assert_true(heard.count > 0);
   assert_int_equal(heard.remainders, 0);
   rkb_manifest_survey_free(survey);
   rkb_manifest_free(manifest);
}

/* A text of a launch with a condition is told for that launch, wherever else it stands. */
static void launches_with_a_condition_tell_their_own(void **state) {
   shape_t shape = {64, 200};
   rkb_manifest_t *manifest;
   (void)state;
   rkb_manifest_survey_t *survey = survey_of(
      "  - {kernel: k, when: \"M < 128\", grid: \"ceildiv(N, 128)\", block: 128, args: \"x, y, M, N, HALF\"}",
      &shape, &manifest);
   assert_int_equal(decide(survey).remainders, LAUNCHES);
   shape.columns = 256;
   assert_int_equal(decide(survey).remainders, LAUNCHES);
   shape.rows = 200; /* none runs */
   shape.columns = 300;
   assert_int_equal(decide(survey).remainders, 0);
   shape.rows = 64;
   assert_int_equal(decide(survey).remainders, LAUNCHES);
   rkb_manifest_survey_free(survey);
   rkb_manifest_free(manifest);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(launches_that_repeat_a_text_tell_it_once),
      cmocka_unit_test(launches_with_a_condition_tell_their_own),
   };
   return RUN_TESTS(tests);
}
