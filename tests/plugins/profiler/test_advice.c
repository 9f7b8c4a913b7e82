/* The table of bottlenecks: every limiter has a rule, and the special cases come before the general ones. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "model/roofline.h"
#include "shared/advice.h"

/* Nothing known but what limits the launch. */
static launch_figures_t only(const char *resource) {
   return (launch_figures_t){.resource = resource,
                             .fixed_share = NAN,
                             .wasted_sectors = NAN,
                             .memory_share = NAN,
                             .wavefronts = NAN,
                             .occupancy = NAN,
                             .waves = NAN,
                             .tensor_share = NAN};
}

static void every_limiter_of_the_model_has_a_rule(void **state) {
   (void)state;
   for (int i = 0; i < LIMIT_COUNT; i++) {
      launch_figures_t figures = only(limiter_name((enum limiter)i));
      const advice_t *advice = advice_for(&figures);
      if (!advice)
         fail_msg("no rule for \"%s\"", figures.resource);
      assert_true(advice->moves[0][0] && advice->moves[1][0] && advice->source[0]);
   }
   launch_figures_t unknown = only("the moon");
   assert_null(advice_for(&unknown));
   assert_null(advice_json(&unknown));
}

typedef struct expected {
   const char *resource, *bottleneck;
   size_t figure;
   double value;
} expected_t;

#define OF(member) offsetof(launch_figures_t, member)

static void figures_decide_within_a_resource(void **state) {
   static const expected_t rows[] = {
      {"fp32 units", "launch overhead", OF(fixed_share), 0.6},
      {"global memory", "uncoalesced access", OF(wasted_sectors), 0.5},
      {"global memory", "memory bandwidth, nearly reached", OF(memory_share), 0.9},
      {"global memory", "memory bandwidth, not reached", OF(memory_share), 0.5},
      {"L2 cache", "L2 traffic", OF(wasted_sectors), 0.1},
      {"L2 cache", "uncoalesced access served by L2", OF(wasted_sectors), 0.9},
      {"shared memory", "bank conflicts", OF(wavefronts), 8},
      {"shared memory", "shared-memory bandwidth", OF(wavefronts), 1},
      {"fp32 units", "fp32 arithmetic", OF(tensor_share), 0},
      {"fp32 units", "fp32 arithmetic beside tensor cores", OF(tensor_share), 0.9},
      {"latency", "too few blocks", OF(waves), 0.3},
      {"latency", "tail effect", OF(waves), 1.2},
      {"latency", "low occupancy", OF(occupancy), 0.1},
      {"latency", "dependent loads and barriers", OF(waves), 12},
   };
   (void)state;
   for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
      launch_figures_t figures = only(rows[i].resource);
      memcpy((char *)&figures + rows[i].figure, &rows[i].value, sizeof rows[i].value);
      assert_string_equal(advice_for(&figures)->bottleneck, rows[i].bottleneck);
   }
}

static void the_line_and_the_limit_of_occupancy_are_named(void **state) {
   (void)state;
   launch_figures_t figures = only("global memory");
   figures.wasted_sectors = 0.75;
   figures.line = 41;
   json_t *advice = advice_json(&figures);
   const char *move = json_string_value(json_array_get(json_object_get(advice, "moves"), 0));
   assert_non_null(strstr(move, "line 41"));
   json_decref(advice);
   figures = only("latency");
   figures.occupancy = 0.1;
   figures.occupancy_by = "registers";
   advice = advice_json(&figures);
   move = json_string_value(json_array_get(json_object_get(advice, "moves"), 0));
   assert_non_null(strstr(move, "registers limit it"));
   json_decref(advice);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_limiter_of_the_model_has_a_rule),
      cmocka_unit_test(figures_decide_within_a_resource),
      cmocka_unit_test(the_line_and_the_limit_of_occupancy_are_named),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
