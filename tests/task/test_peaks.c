/* The family "peaks": rows that a softmax reads have their largest element where loops over a row begin and end, or anywhere, far above all others.  Tasks without a softmax over
 * an input have the family "large" in its place. */
#include <math.h>
#include <string.h>
#include "check.h"
#include "task_fixture.h"

#define SEEDS 400u
#define LENGTH 1031u /* of the rows of mnist_cross_entropy's case check/wide */
#define ROWS 3u

static const rkb_family_t *family_named(const rkb_task_t *task, const rkb_case_t *the_case,
                                        const char *name) {
   const rkb_family_t *family;
   for (uint32_t n = 0; (family = rkb_task_family(task, the_case, n)) != NULL; n++)
      if (strcmp(family->name, name) == 0)
         return family;
   return NULL;
}

static void tasks_have_one_or_the_other(void **state) {
   (void)state;
   static const struct {
      const char *task, *direction;
      bool peaks;
   } table[] = {{"softmax", "forward", true},
                {"softmax", "backward", true},
                {"mnist_cross_entropy", "backward", true},
                {"bf16_cross_entropy", "forward", true}, /* behind a conversion */
                {"attention", "forward", false},         /* the scores are computed */
                {"llama_rmsnorm", "forward", false}};
   for (uint32_t i = 0; i < sizeof table / sizeof *table; i++) {
      char directory[512];
      snprintf(directory, sizeof directory, RKB_SOURCE_DIR "/tasks/%s", table[i].task);
      rkb_task_t *task = fixture_load(directory, table[i].direction);
      const rkb_case_t *the_case = rkb_task_case(task, RKB_CASE_CHECK, 1);
      if ((family_named(task, the_case, "peaks") != NULL) != table[i].peaks ||
          (family_named(task, the_case, "large") != NULL) == table[i].peaks)
         fail_msg("%s %s has the other family", table[i].task, table[i].direction);
      rkb_task_free(task);
   }
}

/* Notes where each row has its largest, which must be far above the others. */
static void note_rows(const float *numbers, uint32_t *found) {
   for (uint32_t row = 0; row < ROWS; row++) {
      const float *of = numbers + row * LENGTH;
      uint32_t at = 0;
      float other = 0;
      for (uint32_t n = 1; n < LENGTH; n++)
         at = of[n] > of[at] ? n : at;
      for (uint32_t n = 0; n < LENGTH; n++)
         other = n != at && of[n] > other ? of[n] : other;
      assert_true(of[at] > other + 0x1p18f);
      found[at]++;
   }
}

static void rows_have_their_largest_where_loops_meet(void **state) {
   (void)state;
   rkb_task_t *task = fixture_load(RKB_SOURCE_DIR "/tasks/mnist_cross_entropy", "forward");
   const rkb_case_t *wide = NULL, *the_case;
   uint32_t found[LENGTH] = {0}, others = 0;
   static float numbers[ROWS * LENGTH];
   for (uint32_t n = 0; (the_case = rkb_task_case(task, RKB_CASE_CHECK, n)) != NULL; n++)
      if (strcmp(the_case->name, "check/wide") == 0)
         wide = the_case;
   assert_non_null(wide);
   assert_int_equal(wide->tensors[0].elements, ROWS * LENGTH);
   for (uint64_t seed = 1; seed <= SEEDS; seed++) {
      rkb_inputs_t *inputs = NULL;
      rkb_error_t err = {0};
      assert_int_equal(
         rkb_task_inputs_open(task, wide, family_named(task, wide, "peaks"), seed, &inputs, &err), RKB_OK);
      assert_int_equal(rkb_task_inputs_fill(inputs, 0, 0, ROWS * LENGTH, numbers, &err), RKB_OK);
      note_rows(numbers, found);
      rkb_task_inputs_free(inputs);
   }
   /* 1,200 rows: 300 at the end, 300 at the six powers of two from 32 on, the others anywhere. */
   assert_in_range(found[LENGTH - 1] + found[LENGTH - 2], 220, 380);
   for (uint32_t power = 32; power < LENGTH; power *= 2)
      assert_in_range(found[power], 20, 90);
   for (uint32_t n = 0; n < LENGTH - 2; n++)
      others += n < 32 || (n & (n - 1)) ? found[n] : 0;
   assert_in_range(others, 480, 720);
   rkb_task_free(task);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(tasks_have_one_or_the_other),
                                      cmocka_unit_test(rows_have_their_largest_where_loops_meet)};
   return RUN_TESTS(tests);
}
