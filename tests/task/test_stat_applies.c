/* On which shapes the statistical bound decides: not where the roundings of a product's results are equal and a later sum adds them up. */
#include <string.h>
#include "check.h"
#include "task_fixture.h"

static const struct {
   const char *task, *direction, *dims; /* of the case; its other dims are those of the first check case */
   bool applies;
} table[] = {
   {"gelu_mlp", "forward", "B 1, T 33, D 13, F 37", true},
   {"gelu_mlp", "forward", "B 2, T 8, D 32, F 64", false}, /* weights of ones */
   {"bf16_paged_decode", "forward", "B 1, H 1, K 1, D 64, G 4, P 1, N 1", true},
   {"bf16_paged_decode", "forward", "B 2, H 8, K 2, D 128, G 16, P 3, N 11", true},
   {"bf16_paged_decode", "forward", "B 3, H 3, K 3, D 64, G 4, P 5, N 7",
    false}, /* 15 pages of 7: some twice */
   {"bf16_paged_decode", "forward", "B 64, H 32, K 8, D 128, G 16, P 256, N 16384", true},
   {"bf16_grouped_gemm", "forward", NULL,
    true}, /* matrices of experts are gathered too, and meet no sum of their own results */
};

/* Whether the case's dims are these. */
static bool has_dims(const rkb_case_t *the_case, const char *dims) {
   char text[256] = "";
   for (uint32_t d = 0; d < the_case->dim_count; d++)
      snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s %lld", d ? ", " : "",
               the_case->dims[d].name, (long long)the_case->dims[d].value);
   return !dims || strcmp(text, dims) == 0;
}

static const rkb_case_t *find_case(const rkb_task_t *task, const char *dims) {
   for (uint32_t kind = RKB_CASE_CHECK; kind <= RKB_CASE_BENCH; kind++) {
      const rkb_case_t *the_case;
      for (uint32_t n = 0; (the_case = rkb_task_case(task, kind, n)) != NULL; n++)
         if (has_dims(the_case, dims))
            return the_case;
   }
   fail_msg("no case with the dims %s", dims);
   return NULL;
}

static void the_table_holds(void **state) {
   (void)state;
   for (uint32_t i = 0; i < sizeof table / sizeof *table; i++) {
      char directory[512];
      snprintf(directory, sizeof directory, RKB_SOURCE_DIR "/tasks/%s", table[i].task);
      rkb_task_t *task = fixture_load(directory, table[i].direction);
      const rkb_family_t *normal = rkb_task_family(task, find_case(task, table[i].dims), 0);
      assert_string_equal(normal->name, "normal");
      if (normal->stat != table[i].applies)
         fail_msg("%s, %s: the statistical bound %s", table[i].task, table[i].dims,
                  normal->stat ? "applies" : "does not apply");
      rkb_task_free(task);
   }
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(the_table_holds)};
   return RUN_TESTS(tests);
}
