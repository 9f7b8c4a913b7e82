/* The family `below`: what a softmax reads lies beyond the start values of kernels, whether it is a tensor, a tensor in another type, or a
 * product behind scales and masks. */
#include <string.h>
#include "check.h"
#include "task_fixture.h"

#define BEYOND -1e8 /* a start value that is often taken for an infinity */

static const struct {
   const char *task, *left, *right; /* right: NULL where the softmax reads a tensor */
   double times; /* depth of the product by the scale of the scores, in the first check case */
} table[] = {
   {"softmax", "x", NULL, 1},
   {"bf16_cross_entropy", "logits", NULL, 1},
   {"attention", "q", "k", 64 * 0.125},
   {"bf16_attention", "q", "k", 64 * 0.125},
   {"bf16_paged_decode", "q", "k_cache", 64 * 0.125},
};

static const rkb_family_t *find_family(const rkb_task_t *task, const rkb_case_t *the_case) {
   const rkb_family_t *family;
   for (uint32_t n = 0; (family = rkb_task_family(task, the_case, n)) != NULL; n++)
      if (strcmp(family->name, "below") == 0)
         return family;
   fail_msg("no family 'below' in case %s", the_case->name);
   return NULL;
}

static double first_number(const rkb_inputs_t *inputs, const rkb_case_t *the_case, const char *name) {
   uint32_t bits = 0;
   float number;
   rkb_error_t err = {0};
   for (uint32_t t = 0; t < the_case->tensor_count; t++)
      if (strcmp(the_case->tensors[t].name, name) == 0) {
         assert_int_equal(rkb_task_inputs_fill(inputs, t, 0, 1, &bits, &err), RKB_OK);
         bits <<= the_case->tensors[t].dtype == RKB_BF16 ? 16 : 0;
      }
   memcpy(&number, &bits, sizeof number);
   return number;
}

static void scores_lie_beyond_start_values(void **state) {
   (void)state;
   for (uint32_t i = 0; i < sizeof table / sizeof *table; i++) {
      char directory[512];
      snprintf(directory, sizeof directory, RKB_SOURCE_DIR "/tasks/%s", table[i].task);
      rkb_task_t *task = fixture_load(directory, "forward");
      const rkb_case_t *the_case = rkb_task_case(task, RKB_CASE_CHECK, 0);
      rkb_inputs_t *inputs = NULL;
      rkb_error_t err = {0};
      assert_int_equal(rkb_task_inputs_open(task, the_case, find_family(task, the_case), 1, &inputs, &err),
                       RKB_OK);
      const double left = first_number(inputs, the_case, table[i].left),
                   right = table[i].right ? first_number(inputs, the_case, table[i].right) : 1;
      if (!(left * right * table[i].times < BEYOND))
         fail_msg("%s: a score is about %g", table[i].task, left * right * table[i].times);
      rkb_task_inputs_free(inputs);
      rkb_task_free(task);
   }
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(scores_lie_beyond_start_values)};
   return RUN_TESTS(tests);
}
