/* The plans of one build: a shape's plan is made once, however many cases have the shape and however many threads ask for it; a full cache still gives
 * plans; what was taken stays. */
#include "kernel_fixture.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 8, SHAPES = 300 };

static const char source[] = "/* rkb-kernel: 1\ntask: llama_rmsnorm\ndirection: forward\nlaunches:\n"
                             "  - {kernel: one, when: T < 10000, grid: \"B, T\", block: 32, args: x}\n*/\n";
static const rkb_parameter_t parameters[] = {{0, 8, 8, RKB_PARAMETER_POINTER, "u64"}};
static const rkb_built_kernel_t kernels[] = {
   {.expression = "one", .entry = "_Z3one", .registers = 32, .parameter_count = 1, .parameters = parameters}};
static const rkb_build_t build = {.ptx = "", .kernel_count = 1, .kernels = kernels};
static rkb_manifest_t *manifest;

static rkb_plan_t *take(rkb_plan_cache_t *cache, fixture_case_t *of, rkb_finding_t *finding) {
   rkb_plan_t *plan;
   rkb_error_t err = {0};
   if (rkb_plan_cache_take(cache, manifest, NULL, &build, fixture_device("h200"), &of->of, fixture_lookup, of,
                           &plan, finding, &err) != RKB_OK)
      fail_msg("%s", err.message);
   return plan;
}

/* The plan of a shape.  The caller does not hold it, the cache does. */
static const rkb_plan_t *look(rkb_plan_cache_t *cache, int64_t batch, int64_t time) {
   fixture_case_t of;
   rkb_finding_t finding = {0};
   fixture_rmsnorm(&of, batch, time, 8);
   rkb_plan_t *plan = take(cache, &of, &finding);
   assert_string_equal(finding.reason, "");
   assert_non_null(plan);
   assert_int_equal(plan->launches[0].grid[0], batch);
   assert_int_equal(plan->launches[0].grid[1], time);
   rkb_plan_free(plan);
   return plan;
}

static void a_shape_has_one_plan(void **state) {
   (void)state;
   rkb_plan_cache_t *cache = rkb_plan_cache_new();
   fixture_case_t of;
   rkb_finding_t finding = {0};
   const rkb_plan_t *first = look(cache, 2, 3);
   assert_ptr_equal(first, look(cache, 2, 3)); /* of another case */
   assert_ptr_not_equal(first, look(cache, 3, 2));
   /* An attribute counts. */
   fixture_rmsnorm(&of, 2, 3, 8);
   const rkb_named_real_t other[] = {{of.attributes[0].name, 2 * of.attributes[0].value}};
   of.of.attributes = of.attributes = other;
   rkb_plan_t *own = take(cache, &of, &finding), *held = take(cache, &of, &finding);
   assert_non_null(own);
   assert_ptr_not_equal(own, first);
   assert_ptr_equal(own, held);
   rkb_plan_free(own);
   rkb_plan_cache_free(cache);
   assert_int_equal(held->launches[0].grid[1], 3); /* what was taken stays */
   rkb_plan_free(held);
   rkb_plan_cache_free(NULL);
}

/* Whoever asks hears why there is none, with the name of the case. */
static void no_plan_is_not_kept(void **state) {
   (void)state;
   rkb_plan_cache_t *cache = rkb_plan_cache_new();
   for (uint32_t n = 0; n < 2; n++) {
      fixture_case_t of;
      rkb_finding_t finding = {0};
      fixture_rmsnorm(&of, 1, 10000, 8);
      of.of.name = n ? "check/second" : "check/first";
      assert_null(take(cache, &of, &finding));
      assert_string_equal(finding.reason, "plan.no_launch");
      assert_non_null(strstr(finding.message, of.of.name));
   }
   rkb_plan_cache_free(cache);
}

static void a_full_cache_gives_plans(void **state) {
   (void)state;
   rkb_plan_cache_t *cache = rkb_plan_cache_new();
   const rkb_plan_t *first = look(cache, 1, 1);
   for (int64_t n = 2; n < 5000; n++)
      (void)look(cache, 1, n);
   assert_ptr_equal(first, look(cache, 1, 1));
   rkb_plan_cache_free(cache);
}

typedef struct asking {
   rkb_plan_cache_t *cache;
   const rkb_plan_t *plans[SHAPES];
} asking_t;

static void *ask(void *argument) {
   asking_t *asking = argument;
   for (int64_t n = 0; n < SHAPES; n++)
      asking->plans[n] = look(asking->cache, 1 + n, 7);
   return NULL;
}

static void any_thread_may_ask(void **state) {
   (void)state;
   rkb_plan_cache_t *cache = rkb_plan_cache_new();
   pthread_t threads[THREADS];
   asking_t asking[THREADS];
   for (uint32_t n = 0; n < THREADS; n++) {
      asking[n].cache = cache;
      assert_int_equal(pthread_create(&threads[n], NULL, ask, &asking[n]), 0);
   }
   for (uint32_t n = 0; n < THREADS; n++) {
      assert_int_equal(pthread_join(threads[n], NULL), 0);
      assert_memory_equal(asking[n].plans, asking[0].plans, sizeof asking[0].plans);
   }
   rkb_plan_cache_free(cache);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_shape_has_one_plan),
      cmocka_unit_test(no_plan_is_not_kept),
      cmocka_unit_test(a_full_cache_gives_plans),
      cmocka_unit_test(any_thread_may_ask),
   };
   rkb_problems_t problems;
   rkb_problems_init(&problems);
   manifest = rkb_manifest_parse("plans.cu", source, strlen(source), &problems);
   if (!manifest) {
      print_error("%s\n", problems.list[0].message);
      return 1;
   }
   const int failed = cmocka_run_group_tests(tests, NULL, NULL);
   rkb_manifest_free(manifest);
   rkb_problems_free(&problems);
   return failed;
}
