/* Expected values that are evaluated ahead of their use: a program finds what another one evaluated for the
 * pool, and an evaluation that was stopped continues where it was. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "check.h"
#include "task/expected/expected_store.h"
#include "task/expected/staged_values.h"
#include "task/expected/value_pool.h"
#include "task_fixture.h"

enum { FAMILIES = 2, SEEDS = 4, OUTPUTS = 2 /* cases */ * FAMILIES * SEEDS };

typedef struct place {
   char folder[64];
   rkb_task_t *task;
   rkb_store_t *store;
   uint32_t evaluated, found, lost, most; /* outputs; lost: not stored; after most of them it is over */
} place_t;

static bool is_over(void *argument) {
   const place_t *p = argument;
   return p->evaluated + p->found >= p->most;
}

static void told(void *argument, const rkb_sample_t *sample, enum rkb_sample_source source) {
   place_t *p = argument;
   assert_true(sample->points.count > 0);
   if (source == RKB_SAMPLE_STORED)
      p->evaluated++;
   else if (source == RKB_SAMPLE_FOUND)
      p->found++;
   else
      p->lost++;
}

static rkb_store_t *open_store(const rkb_task_t *task) {
   rkb_store_t *store;
   rkb_error_t err = {0};
   assert_int_equal(rkb_store_open(rkb_task_values_identity(task), &store, &err), RKB_OK);
   return store;
}

static int open_place(void **state) {
   place_t *p = calloc(1, sizeof *p);
   strcpy(p->folder, "/tmp/rkb-pool-XXXXXX");
   if (!mkdtemp(p->folder) || setenv("XDG_CACHE_HOME", p->folder, 1) != 0)
      return -1;
   p->task = fixture_load(RKB_SOURCE_DIR "/tests/task/data/rms_norm", "forward");
   p->store = open_store(p->task);
   *state = p;
   return 0;
}

static int close_place(void **state) {
   place_t *p = *state;
   char command[128];
   snprintf(command, sizeof command, "rm -r '%s'", p->folder);
   rkb_store_close(p->store);
   rkb_task_free(p->task);
   free(p);
   return system(command);
}

static rkb_sampling_t sampling_of(place_t *p) {
   p->evaluated = p->found = p->lost = 0;
   return (rkb_sampling_t){.task = p->task,
                           .store = p->store,
                           .points = 1024,
                           .budget_ns = 1000000000,
                           .is_over = is_over,
                           .told = told,
                           .argument = p};
}

static int evaluate(place_t *p, uint32_t most) {
   const rkb_value_pool_t pool = {
      .sampling = sampling_of(p), .families = FAMILIES, .bench_families = FAMILIES, .seeds = SEEDS};
   rkb_error_t err = {0};
   p->most = most;
   assert_int_equal(rkb_value_pool_outputs(&pool), OUTPUTS);
   return rkb_value_pool_evaluate(&pool, &err);
}

static void nothing_is_evaluated_twice(void **state) {
   place_t *p = *state;
   assert_int_equal(evaluate(p, OUTPUTS + 1), RKB_OK);
   assert_int_equal(p->evaluated, OUTPUTS);
   assert_int_equal(evaluate(p, OUTPUTS + 1), RKB_OK);
   assert_int_equal(p->evaluated, 0);
   assert_int_equal(p->found, OUTPUTS);
}

static void an_evaluation_that_was_ended_goes_on(void **state) {
   place_t *p = *state;
   assert_int_equal(evaluate(p, 5), RKB_ERR_CANCELLED);
   assert_int_equal(p->evaluated, 5);
   assert_int_equal(evaluate(p, OUTPUTS + 1), RKB_OK);
   assert_int_equal(p->found, 5);
   assert_int_equal(p->evaluated, OUTPUTS - 5);
}

/* A store that went away while values were evaluated. */
static void what_cannot_be_stored_is_told(void **state) {
   place_t *p = *state;
   char command[128];
   snprintf(command, sizeof command, "rm -r '%s/rkb'", p->folder);
   assert_int_equal(system(command), 0);
   assert_int_equal(evaluate(p, OUTPUTS + 1), RKB_OK);
   assert_int_equal(p->lost, OUTPUTS);
}

/* As a stage asks for it: any seed of the pool, any of the families, through a store of its own. */
static void a_stage_finds_what_the_reference_says(void **state) {
   place_t *p = *state;
   rkb_error_t err = {0};
   assert_int_equal(evaluate(p, OUTPUTS + 1), RKB_OK);
   rkb_store_t *own = open_store(p->task);
   rkb_sampling_t sampling = sampling_of(p);
   sampling.store = own;
   const rkb_case_t *c = rkb_task_case(p->task, RKB_CASE_CHECK, 1);
   rkb_sample_t samples[3] = {0};
   const rkb_wanted_t wanted = {.the_case = c,
                                .family = rkb_task_family(p->task, c, 1),
                                .seed = rkb_store_seed(own, c->name, SEEDS - 1),
                                .stored = true,
                                .samples = samples};
   assert_int_equal(c->tensor_count, 3);
   assert_int_equal(rkb_samples_open(&sampling, &wanted, 1, &err), RKB_OK);
   assert_int_equal(p->found, 1);
   rkb_inputs_t *inputs = NULL;
   rkb_expected_t *expected = NULL;
   assert_int_equal(rkb_task_inputs_open(p->task, c, wanted.family, wanted.seed, &inputs, &err), RKB_OK);
   assert_int_equal(rkb_task_expect(inputs, &expected, &err), RKB_OK);
   const rkb_points_t points = rkb_task_expected_points(expected, 2), *kept = &samples[2].points;
   assert_int_equal(kept->count, points.count);
   assert_memory_equal(kept->value, points.value, points.count * sizeof *points.value);
   assert_memory_equal(kept->hard, points.hard, points.count * sizeof *points.hard);
   assert_memory_equal(kept->stat, points.stat, points.count * sizeof *points.stat);
   assert_memory_equal(kept->flags, points.flags, points.count);
   for (uint32_t t = 0; t < 3; t++)
      rkb_sample_close(&samples[t]);
   rkb_task_expected_free(expected);
   rkb_task_inputs_free(inputs);
   rkb_store_close(own);
}

/* Whatever the budget, one run of neighbours is evaluated, and so many are found again. */
static void a_budget_leaves_fewer_elements(void **state) {
   place_t *p = *state;
   rkb_error_t err = {0};
   rkb_task_t *task = fixture_load(RKB_SOURCE_DIR "/tasks/llama_rmsnorm", "forward");
   const rkb_case_t *c = rkb_task_case(task, RKB_CASE_BENCH, 0);
   uint32_t output = 0;
   while (c->tensors[output].role != RKB_OUT)
      output++;
   for (int again = 0; again < 2; again++) {
      rkb_sampling_t sampling = sampling_of(p);
      sampling.task = task;
      sampling.points = 64;
      sampling.budget_ns = 0;
      p->most = 2;
      rkb_sample_t *samples = calloc(c->tensor_count, sizeof *samples);
      const rkb_wanted_t wanted = {
         .the_case = c, .family = rkb_task_family(task, c, 0), .seed = 1, .stored = true, .samples = samples};
      assert_int_equal(rkb_samples_open(&sampling, &wanted, 1, &err), RKB_OK);
      assert_int_equal(p->evaluated, !again);
      const rkb_sample_t *sample = &samples[output];
      assert_int_equal(sample->wanted, 64);
      assert_int_equal(sample->points.count, 32);
      assert_true(sample->elements[31] == 31);
      assert_true(sample->elements[63] == c->tensors[output].elements - 1);
      for (uint32_t t = 0; t < c->tensor_count; t++)
         rkb_sample_close(&samples[t]);
      free(samples);
   }
   rkb_task_free(task);
}

static void staged_values_have_a_name_and_a_sum(void **state) {
   const place_t *p = *state;
   const rkb_case_t *c = rkb_task_case(p->task, RKB_CASE_CHECK, 0);
   const rkb_family_t *family = rkb_task_family(p->task, c, 0);
   uint64_t name[3], other[3], sum = 0;
   assert_false(rkb_staged_find(p->store, c, family, 1, 0, name, &sum));
   rkb_staged_keep(p->store, c, family, 1, 0, 17);
   assert_true(rkb_staged_find(p->store, c, family, 1, 0, other, &sum));
   assert_memory_equal(name, other, sizeof name);
   assert_true(sum == 17);
   assert_false(rkb_staged_find(p->store, c, family, 2, 0, other, &sum));
   assert_true(memcmp(name, other, sizeof name) != 0);
}

#define PLACED(test) cmocka_unit_test_setup_teardown(test, open_place, close_place)

int main(void) {
   const struct CMUnitTest tests[] = {
      PLACED(nothing_is_evaluated_twice),     PLACED(an_evaluation_that_was_ended_goes_on),
      PLACED(what_cannot_be_stored_is_told),  PLACED(a_stage_finds_what_the_reference_says),
      PLACED(a_budget_leaves_fewer_elements), PLACED(staged_values_have_a_name_and_a_sum),
   };
   return RUN_TESTS(tests);
}
