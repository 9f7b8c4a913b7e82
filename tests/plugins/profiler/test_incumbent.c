/* Which build is timed against which.  The first build becomes the incumbent; a later one becomes it only
 * from the build against which it was timed. */
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

static void propose(incumbent_holder_t *holder, const incumbent_t *against, const char *hash) {
   const rkb_build_t build = {.cubin = hash, .cubin_bytes = strlen(hash) + 1, .cubin_hash = hash};
   rkb_plan_t **plans = calloc(1, sizeof *plans);
   plans[0] = calloc(1, sizeof **plans);
   incumbent_replace(holder, against, &KERNEL, &build, false, plans, 1);
}

static void the_first_takes_an_empty_place(void **state) {
   (void)state;
   incumbent_holder_t *holder = incumbent_holder_new();
   assert_null(incumbent_hold(holder));
   propose(holder, NULL, "a");
   incumbent_t *held = incumbent_hold(holder);
   assert_string_equal(held->hash, "a");
   assert_string_equal(held->cubin, "a");
   incumbent_release(holder, held);
   incumbent_holder_free(holder);
}

static void a_stale_comparison_changes_nothing(void **state) {
   (void)state;
   incumbent_holder_t *holder = incumbent_holder_new();
   freed = 0;
   propose(holder, NULL, "a");
   incumbent_t *a = incumbent_hold(holder);
   propose(holder, a, "b");
   assert_int_equal(freed, 0); /* a is still held here */
   propose(holder, a, "c");    /* was timed against a, which has gone meanwhile */
   assert_int_equal(freed, 1);
   incumbent_t *now = incumbent_hold(holder);
   assert_string_equal(now->hash, "b");
   incumbent_release(holder, now);
   incumbent_release(holder, a);
   assert_int_equal(freed, 2);
   incumbent_holder_free(holder);
   assert_int_equal(freed, 3);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_first_takes_an_empty_place),
      cmocka_unit_test(a_stale_comparison_changes_nothing),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
