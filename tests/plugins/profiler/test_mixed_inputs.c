/* Which inputs of timed runs are mixed half and half: those of which no kernel can see that they are. */
#include "check.h"
#include <string.h>
#include "sitting.h"

enum { N = 37 };
static const char *direction = "forward";
static rkb_error_t err;

static const rkb_task_info_t *info(const rkb_host_t *host) {
   static rkb_task_info_t answer;
   (void)host;
   answer.direction = direction;
   return &answer;
}

/* Element (row, column) of matrix t: 0 has all different, 1 is symmetric, 2 is diagonal, 3 is zero, 4 is lower triangular. */
static float element_of(uint32_t t, uint64_t row, uint64_t column) {
   const uint64_t low = row < column ? row : column, high = row < column ? column : row;
   const float values[] = {(float)(row * N + column + 1), (float)(low * N + high + 1), row == column ? 2 : 0,
                           0, row < column ? 0 : 3};
   return values[t];
}

static int inputs_fill(const rkb_inputs_t *inputs, uint32_t tensor, uint64_t first, uint64_t count, void *out,
                       rkb_error_t *e) {
   (void)inputs, (void)e;
   for (uint64_t i = first; i < first + count; i++)
      ((float *)out)[i - first] = element_of(tensor, i / N, i % N);
   return RKB_OK;
}

static uint32_t bits_of(const char *const *names, uint32_t count, const rkb_tensor_t *like) {
   const rkb_task_api_t task = {.size = sizeof task, .info = info, .inputs_fill = inputs_fill};
   const struct timer me = {.task = &task};
   rkb_tensor_t tensors[5];
   for (uint32_t t = 0; t < count; t++) {
      tensors[t] = *like;
      tensors[t].name = names[t];
   }
   const rkb_case_t the_case = {.tensor_count = count, .tensors = tensors};
   const struct subject subject = {.the_case = &the_case};
   uint32_t bits = 0;
   assert_int_equal(mixed_inputs(&me, &subject, &bits, &err), RKB_OK);
   assert_true(bits & RKB_FRESH_INPUTS);
   return bits & ~RKB_FRESH_INPUTS;
}

static const rkb_tensor_t matrix = {
   .role = RKB_IN, .dtype = RKB_F32, .rank = 2, .shape = {N, N}, .elements = N * N, .bytes = 4 * N * N};

static void all_but_symmetric_matrices_are(void **state) {
   (void)state;
   direction = "forward";
   assert_int_equal(
      bits_of((const char *const[]){"any", "symmetric", "diagonal", "zeros", "lower"}, 5, &matrix),
      1 | 4 | 8 | 16);
}

static void other_shapes_are(void **state) {
   (void)state;
   direction = "forward";
   const rkb_tensor_t row = {.role = RKB_IN, .rank = 1, .shape = {N}, .elements = N, .bytes = 4 * N},
                      one = {.role = RKB_INOUT, .elements = 1, .bytes = 4},
                      rectangle = {.role = RKB_IN, .rank = 2, .shape = {N, 1}, .elements = N, .bytes = 4 * N},
                      nothing = {.role = RKB_IN, .rank = 2, .shape = {0, 0}},
                      output = {.role = RKB_OUT, .elements = 1, .bytes = 4};
   const char *const name[] = {"x"};
   assert_int_equal(bits_of(name, 1, &row), 1);
   assert_int_equal(bits_of(name, 1, &one), 1);
   assert_int_equal(bits_of(name, 1, &rectangle), 1);
   assert_int_equal(bits_of(name, 1, &nothing), 0);
   assert_int_equal(bits_of(name, 1, &output), 0);
}

/* Other inputs of a backward direction may belong together: a stored result of the forward one, and what it was made from. */
static void of_a_backward_direction_the_gradients_are(void **state) {
   (void)state;
   direction = "backward";
   assert_int_equal(bits_of((const char *const[]){"grad_y", "x", "lse"}, 3, &matrix), 1);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_but_symmetric_matrices_are),
      cmocka_unit_test(other_shapes_are),
      cmocka_unit_test(of_a_backward_direction_the_gradients_are),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
