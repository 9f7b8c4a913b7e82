/* From the hardware's counters to one sentence and two moves: a row is a kernel whose counters say one thing. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "shared/hardware_counters.h"

enum { MOST = 8 };

typedef struct reading {
   enum counter counter;
   double value;
} reading_t;

typedef struct expected {
   const char *what;
   reading_t readings[MOST]; /* the others were not read; ends with two zeros */
   double waves;
   const char *limiter, *bottleneck, *words; /* words: a part of the sentence */
} expected_t;

static const expected_t ROWS[] = {
   {"a copy at the memory's peak",
    {{COUNTER_TIME, 54336}, {COUNTER_DRAM, 92}, {COUNTER_L2, 70}, {COUNTER_WARPS, 88}},
    32,
    "global memory",
    "memory bandwidth, nearly reached",
    "global memory, 92 % of peak"},
   {"loads a line apart",
    {{COUNTER_TIME, 90000}, {COUNTER_DRAM, 85}, {COUNTER_LOAD_SECTORS, 1000}, {COUNTER_LOAD_USED, 25}},
    32,
    "global memory",
    "uncoalesced access",
    "75 % of sectors wasted"},
   {"a product on tensor cores",
    {{COUNTER_TIME, 80000}, {COUNTER_TENSOR, 91}, {COUNTER_DRAM, 20}, {COUNTER_FMA, 5}},
    8,
    "tensor cores",
    "tensor cores",
    "tensor cores, 91 % of peak"},
   {"a product without them", {{COUNTER_TIME, 80000}, {COUNTER_FMA, 85}}, 8, "fp32 units", "fp32 arithmetic", "fp32 units, 85 % of peak"},
   {"bank conflicts",
    {{COUNTER_TIME, 80000}, {COUNTER_SHARED, 95}, {COUNTER_WAVEFRONTS, 3200}, {COUNTER_CONFLICTS, 2800}},
    8,
    "shared memory",
    "bank conflicts",
    "bank conflicts make 8.0 wavefronts of one"},
   {"too few blocks", {{COUNTER_TIME, 20000}, {COUNTER_DRAM, 10}, {COUNTER_WARPS, 30}}, 0.2, "latency", "too few blocks", "no unit above 10 %"},
   {"few warps", {{COUNTER_TIME, 20000}, {COUNTER_DRAM, 10}, {COUNTER_WARPS, 12}}, 9, "latency", "low occupancy", "12 % of the warps resident"},
   {"blocks that wait for each other's warps",
    {{COUNTER_TIME, 20000}, {COUNTER_ISSUE, 30}, {COUNTER_WARPS, 70}, {COUNTER_ACTIVE, 10}, {COUNTER_WAIT_BARRIER, 6}},
    9,
    "latency",
    "barriers",
    "warps wait 60 % of their time for barriers"},
   {"loads that are used at once",
    {{COUNTER_TIME, 20000}, {COUNTER_DRAM, 40}, {COUNTER_WARPS, 70}, {COUNTER_ACTIVE, 10}, {COUNTER_WAIT_MEMORY, 8}},
    9,
    "latency",
    "waiting for global memory",
    "warps wait 80 % of their time for global memory"},
   {"one product after the other",
    {{COUNTER_TIME, 20000}, {COUNTER_TENSOR, 40}, {COUNTER_WARPS, 70}, {COUNTER_ACTIVE, 4}, {COUNTER_WAIT_GMMA, 2}},
    9,
    "latency",
    "waiting for matrix instructions",
    "for matrix instructions"},
   {"full queues",
    {{COUNTER_TIME, 20000}, {COUNTER_WARPS, 70}, {COUNTER_ACTIVE, 10}, {COUNTER_WAIT_LG, 2}, {COUNTER_WAIT_MIO, 2}},
    9,
    "latency",
    "full load and store queues",
    "room in the load and store queues"},
   {"a last wave that is nearly empty",
    {{COUNTER_TIME, 20000}, {COUNTER_DRAM, 50}, {COUNTER_WARPS, 70}},
    1.1,
    "latency",
    "tail effect",
    "1.1 waves"},
   {"an empty kernel", {{COUNTER_TIME, 1200}}, 9, "latency", "launch overhead", "no unit above 0 %"},
};

static void each_kernel_gets_its_sentence(void **state) {
   (void)state;
   for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
      const expected_t *row = &ROWS[i];
      double values[COUNTER_COUNT];
      for (int c = 0; c < COUNTER_COUNT; c++)
         values[c] = NAN;
      for (int r = 0; r < MOST && row->readings[r].value > 0; r++)
         values[row->readings[r].counter] = row->readings[r].value;
      const counted_launch_t launch = {
         .values = values, .kernel = "k", .waves = row->waves, .occupancy_by = "registers", .empty_launch_s = 1.2e-6};
      json_t *json = counted_launch_json(&launch), *advice = json_object_get(json, "advice");
      assert_non_null(json);
      const char *limiter = json_string_value(json_object_get(json, "limiter")),
                 *sentence = json_string_value(json_object_get(json, "sentence")),
                 *bottleneck = json_string_value(json_object_get(advice, "bottleneck"));
      const double share = json_number_value(json_object_get(advice, "share"));
      if (strcmp(limiter, row->limiter) != 0 || !bottleneck || strcmp(bottleneck, row->bottleneck) != 0 ||
          !strstr(sentence, row->words) || share < 0 || share > 1 || json_array_size(json_object_get(advice, "moves")) != 2)
         fail_msg("%s: %s, %s, share %g: %s", row->what, limiter, bottleneck ? bottleneck : "no advice", share, sentence);
      assert_true(json_number_value(json_object_get(json, "us")) * 1000 == values[COUNTER_TIME]);
      json_decref(json);
   }
}

/* A metric that this file lists twice, or not at all, would be read into the wrong place. */
static void every_counter_has_a_name_of_its_own(void **state) {
   (void)state;
   for (int i = 0; i < COUNTER_COUNT; i++) {
      assert_non_null(COUNTER_NAMES[i]);
      for (int k = 0; k < i; k++)
         assert_string_not_equal(COUNTER_NAMES[i], COUNTER_NAMES[k]);
   }
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_kernel_gets_its_sentence),
      cmocka_unit_test(every_counter_has_a_name_of_its_own),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
