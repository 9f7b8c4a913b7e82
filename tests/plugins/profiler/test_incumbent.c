/* Who is timed against whom: the first build becomes the incumbent, a later one only from the one it was timed against. */
#include "check.h"
#include <stdlib.h>
#include <string.h>
#include "incumbent.h"

static int freed;

static void plan_free(rkb_plan_t *plan) {
   freed += plan != NULL;
   free(plan);
}

static const rkb_kernel_api_t KERNEL = {.size = sizeof KERNEL, .plan_free = plan_free};

static void propose(throne_t *throne, const incumbent_t *against, const char *hash) {
   const rkb_build_t build = {.cubin = hash, .cubin_bytes = strlen(hash) + 1, .cubin_hash = hash};
   rkb_plan_t **plans = calloc(1, sizeof *plans);
   plans[0] = calloc(1, sizeof **plans);
   throne_take(throne, against, &KERNEL, &build, false, plans, 1);
}

static void the_first_takes_an_empty_place(void **state) {
   (void)state;
   throne_t *throne = throne_new();
   assert_null(throne_hold(throne));
   propose(throne, NULL, "a");
   incumbent_t *held = throne_hold(throne);
   assert_string_equal(held->hash, "a");
   assert_string_equal(held->cubin, "a");
   incumbent_release(throne, held);
   throne_free(throne);
}

static void a_stale_comparison_changes_nothing(void **state) {
   (void)state;
   throne_t *throne = throne_new();
   freed = 0;
   propose(throne, NULL, "a");
   incumbent_t *a = throne_hold(throne);
   propose(throne, a, "b");
   assert_int_equal(freed, 0); /* a is still held here */
   propose(throne, a, "c");    /* was timed against a, which has gone meanwhile */
   assert_int_equal(freed, 1);
   incumbent_t *now = throne_hold(throne);
   assert_string_equal(now->hash, "b");
   incumbent_release(throne, now);
   incumbent_release(throne, a);
   assert_int_equal(freed, 2);
   throne_free(throne);
   assert_int_equal(freed, 3);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_first_takes_an_empty_place),
      cmocka_unit_test(a_stale_comparison_changes_nothing),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
