/* Tensors that the task calls masked: the family "strong" draws minus infinity in most rows, never in a whole row, so that the reference is defined.  Other tensors are finite in every
 * family. */
#include <math.h>
#include <string.h>
#include "check.h"
#include "task_fixture.h"

#define MOST 8192u /* elements of a check case */

/* How many elements are infinite.  No row may be so as a whole. */
static uint32_t count_infinite(const float *numbers, uint64_t elements, uint64_t length) {
   uint32_t all = 0;
   for (uint64_t row = 0; row < elements / length; row++) {
      uint32_t infinite = 0;
      for (uint64_t n = 0; n < length; n++)
         infinite += isinf(numbers[row * length + n]) != 0;
      assert_true(infinite < length);
      all += infinite;
   }
   return all;
}

/* How many elements of the tensor are infinite in a family, over all check cases and some seeds. */
static uint32_t infinite_of(const rkb_task_t *task, uint32_t tensor, const char *only, const char *but) {
   static float numbers[MOST];
   const rkb_case_t *the_case;
   const rkb_family_t *family;
   uint32_t all = 0;
   for (uint32_t c = 0; (the_case = rkb_task_case(task, RKB_CASE_CHECK, c)) != NULL; c++)
      for (uint32_t f = 0; (family = rkb_task_family(task, the_case, f)) != NULL; f++) {
         const rkb_tensor_t *view = &the_case->tensors[tensor];
         rkb_error_t err = {0};
         if ((only && strcmp(family->name, only) != 0) || (but && strcmp(family->name, but) == 0))
            continue;
         assert_true(view->elements <= MOST);
         for (uint64_t seed = 1; seed <= 20; seed++) {
            rkb_inputs_t *inputs = NULL;
            assert_int_equal(rkb_task_inputs_open(task, the_case, family, seed, &inputs, &err), RKB_OK);
            assert_int_equal(rkb_task_inputs_fill(inputs, tensor, 0, view->elements, numbers, &err), RKB_OK);
            all += count_infinite(numbers, view->elements, (uint64_t)view->shape[view->rank - 1]);
            rkb_task_inputs_free(inputs);
         }
      }
   return all;
}

static void only_masked_tensors_have_infinities(void **state) {
   (void)state;
   rkb_task_t *masked = fixture_load(RKB_SOURCE_DIR "/tests/generator/tasks/masked", "forward");
   assert_true(infinite_of(masked, 0, "strong", NULL) > 10000);
   assert_int_equal(infinite_of(masked, 0, NULL, "strong"), 0);
   rkb_task_free(masked);
   rkb_task_t *backward = fixture_load(RKB_SOURCE_DIR "/tests/generator/tasks/masked", "backward");
   assert_int_equal(infinite_of(backward, 0, NULL, NULL), 0); /* the gradient of the output */
   assert_true(infinite_of(backward, 1, "strong", NULL) > 10000);
   rkb_task_free(backward);
   rkb_task_t *other = fixture_load(RKB_SOURCE_DIR "/tasks/softmax", "forward");
   assert_int_equal(infinite_of(other, 0, NULL, NULL), 0);
   rkb_task_free(other);
}

/* Some threads must have no number at all: places that are a multiple of 64 apart are masked together. */
static void places_of_a_thread_are_masked_together(void **state) {
   (void)state;
   static float numbers[MOST];
   rkb_task_t *task = fixture_load(RKB_SOURCE_DIR "/tests/generator/tasks/masked", "forward");
   const rkb_case_t *the_case = rkb_task_case(task, RKB_CASE_CHECK, 4);
   const uint64_t length = (uint64_t)the_case->tensors[0].shape[1], elements = the_case->tensors[0].elements;
   const rkb_family_t *family = NULL;
   for (uint32_t n = 0; (family = rkb_task_family(task, the_case, n)) && strcmp(family->name, "strong") != 0;
        n++)
      ;
   uint32_t rows_with_such[2] = {0}; /* with few, with many such threads */
   for (uint64_t seed = 1; seed <= 20; seed++) {
      rkb_inputs_t *inputs = NULL;
      rkb_error_t err = {0};
      assert_int_equal(rkb_task_inputs_open(task, the_case, family, seed, &inputs, &err), RKB_OK);
      assert_int_equal(rkb_task_inputs_fill(inputs, 0, 0, elements, numbers, &err), RKB_OK);
      for (uint64_t row = 0; row < elements / length; row++) {
         uint32_t threads = 0;
         for (uint64_t thread = 0; thread < 64; thread++) {
            bool all = true;
            for (uint64_t n = thread; n < length; n += 64)
               all &= isinf(numbers[row * length + n]) != 0;
            threads += all;
         }
         rows_with_such[threads > 8]++;
      }
      rkb_task_inputs_free(inputs);
   }
   assert_in_range(rows_with_such[1], 20, 80); /* a quarter of 160 rows */
   rkb_task_free(task);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(only_masked_tensors_have_infinities),
                                      cmocka_unit_test(places_of_a_thread_are_masked_together)};
   return RUN_TESTS(tests);
}
