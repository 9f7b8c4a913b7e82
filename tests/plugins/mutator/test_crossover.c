/* rkb.mutator.crossover: each way on two parents that differ in one thing. */
#include "fake.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define HEAD(grid, choices)                                                                                  \
   "/* rkb-kernel: 1\n"                                                                                      \
   "task: task\n"                                                                                            \
   "direction: forward\n"                                                                                    \
   "tune:\n"                                                                                                 \
   "  BLOCK: {default: 128, choices: [" choices "]}\n"                                                       \
   "  VEC: {default: 1, choices: [1, 2, 4]}\n"                                                               \
   "  DEPTH: {default: 8, choices: [8, 16]}\n"                                                               \
   "launches:\n"                                                                                             \
   "  - kernel: k\n"                                                                                         \
   "    grid: " grid "\n"                                                                                    \
   "    block: BLOCK\n"                                                                                      \
   "    args: x, y, N\n"                                                                                     \
   "*/\n"
#define HELPER(body) "template <int n> __device__ float helper(float a) { return " body "; } // helper\n"
#define REST                                                                                                 \
   "__device__ float other(int a) { return a; }\n__global__ void k(const float *x, float *y, int n) { y[0] " \
   "= helper<1>(x[n]); }\n"

static const char PLAIN[] = HEAD("N", "64, 128, 256") HELPER("a + 1") REST;

/* Runs with two parents; true when there is a child. */
static bool run(fake_t *fake, int64_t number, const char *first, const char *first_tune, const char *second,
                const char *second_tune) {
   rkb_item_t *parents[] = {fake_candidate(fake, 1, first, first_tune),
                            fake_candidate(fake, 2, second, second_tune)};
   rkb_item_t *request = fake_request(fake, "search", number, NULL, parents, 2);
   assert_int_equal(fake_run(fake, request), RKB_OK);
   fake_drop(request);
   fake_drop(parents[0]);
   fake_drop(parents[1]);
   assert_true(fake->emitted_count <= 1);
   return fake->emitted_count == 1;
}

static void genes_mix_and_never_repeat_a_parent(void **state) {
   (void)state;
   fake_t fake;
   bool seen[8] = {false};
   fake_open(&fake, "mutator/crossover");
   fake_start(&fake, NULL);
   for (int64_t number = 0; number < 100; number++) {
      assert_true(run(&fake, number, PLAIN, "{}", PLAIN, "{\"BLOCK\": 256, \"VEC\": 4, \"DEPTH\": 16}"));
      json_t *tune = json_loads(fake_json(&fake, 0, "tune"), 0, NULL);
      int block = (int)json_integer_value(json_object_get(tune, "BLOCK")),
          vec = (int)json_integer_value(json_object_get(tune, "VEC"));
      int depth = (int)json_integer_value(json_object_get(tune, "DEPTH"));
      assert_true((block == 128 || block == 256) && (vec == 1 || vec == 4) && (depth == 8 || depth == 16));
      seen[(block == 256) * 4 + (vec == 4) * 2 + (depth == 16)] = true;
      json_decref(tune);
      assert_string_equal(fake_text(&fake, 0, "source"), PLAIN);
      assert_non_null(strstr(fake_text(&fake, 0, "note"), "genes of the second parent: "));
   }
   assert_false(seen[0] || seen[7]);
   for (int i = 1; i < 7; i++)
      assert_true(seen[i]);
   fake_close(&fake);
}

static void only_values_that_the_first_lists(void **state) {
   (void)state;
   static const char other[] =
      HEAD("N", "128, 512") HELPER("a + 1") REST; /* the texts differ, so one gene is enough */
   fake_t fake;
   fake_open(&fake, "mutator/crossover");
   fake_start(&fake, NULL);
   assert_false(run(&fake, 0, PLAIN, "{}", other, "{\"BLOCK\": 512}"));
   assert_true(run(&fake, 0, PLAIN, "{}", other, "{\"BLOCK\": 512, \"VEC\": 2}"));
   assert_string_equal(fake_json(&fake, 0, "tune"), "{\"BLOCK\":128,\"VEC\":2,\"DEPTH\":8}");
   fake_close(&fake);
}

static void functions_with_one_signature_change_bodies(void **state) {
   (void)state;
   static const char other[] = HEAD("N", "64, 128, 256") HELPER("2 * a /* twice */") REST;
   fake_t fake;
   fake_open(&fake, "mutator/crossover");
   fake_start(&fake, NULL);
   assert_true(run(&fake, 0, PLAIN, "{}", other, "{}"));
   assert_string_equal(fake_text(&fake, 0, "source"), other);
   assert_string_equal(fake_text(&fake, 0, "note"), "the body of helper from the second parent");

   char *renamed = strdup(other); /* another parameter type: no longer the same signature */
   memcpy(strstr(renamed, "helper(float a)"), "helper(doubl a)", 15);
   assert_false(run(&fake, 0, PLAIN, "{}", renamed, "{}"));
   free(renamed);
   fake_close(&fake);
}

static void launches_change_their_shape(void **state) {
   (void)state;
   static const char other[] = HEAD("ceildiv(N, 2)", "64, 128, 256") HELPER("a + 1") REST;
   fake_t fake;
   fake_open(&fake, "mutator/crossover");
   fake_start(&fake, NULL);
   assert_true(run(&fake, 0, PLAIN, "{}", other, "{}"));
   assert_string_equal(fake_text(&fake, 0, "source"), other);
   assert_string_equal(fake_text(&fake, 0, "note"),
                       "launch 1 with grid ceildiv(N, 2) and block BLOCK of the second parent");
   fake_close(&fake);
}

/* The second parent's bounded grid belongs to its loop over the grid. */
static void a_bounded_grid_stays_with_its_loop(void **state) {
   (void)state;
   static const char strided[] = HEAD("min(N, 2048)", "64, 128, 256") HELPER(
      "a + 1") "__device__ float other(int a) { return a; }\n__global__ void k(const float *x, float *y, int n) {\n"
               "for (int i = blockIdx.x; i < n; i += gridDim.x) y[i] = helper<1>(x[i]); }\n";
   fake_t fake;
   fake_open(&fake, "mutator/crossover");
   fake_start(&fake, NULL);
   for (int64_t number = 0; number < 20; number++) {
      assert_false(run(&fake, number, PLAIN, "{}", strided, "{}"));
      assert_false(run(&fake, number, strided, "{}", PLAIN, "{}"));
   }
   fake_close(&fake);
}

/* A kernel with launch bounds has no plan for blocks of more threads. */
static void a_block_stays_with_its_launch_bounds(void **state) {
   (void)state;
#define BOUNDED(threads)                                                                                     \
   "/* rkb-kernel: 1\ntask: task\ndirection: forward\nlaunches:\n  - kernel: k\n    grid: N\n"               \
   "    block: " threads "\n    args: x, y, N\n*/\n"
#define KERNEL(bounds) "__global__ void " bounds "k(const float *x, float *y, int n) { y[0] = x[n]; }\n"
   static const char few[] = BOUNDED("256") KERNEL("__launch_bounds__(256) "),
                     many[] = BOUNDED("1024") KERNEL("__launch_bounds__(1024) "),
                     fewer_of_many[] = BOUNDED("512") KERNEL("__launch_bounds__(1024) "),
                     any[] = BOUNDED("1024") KERNEL("");
   fake_t fake;
   fake_open(&fake, "mutator/crossover");
   fake_start(&fake, NULL);
   for (int64_t number = 0; number < 3; number++) {
      assert_false(run(&fake, number, few, "{}", many, "{}"));
      assert_false(run(&fake, number, many, "{}", few, "{}"));
      assert_false(run(&fake, number, few, "{}", any, "{}"));
   }
   assert_true(run(&fake, 0, fewer_of_many, "{}", many, "{}"));
   assert_string_equal(fake_text(&fake, 0, "source"), many);
   fake_close(&fake);
}

/* A function that gives each thread its part is written for the grid and block of its launches. */
static void a_part_of_a_thread_stays_with_its_launches(void **state) {
   (void)state;
#define PARTS(grid, threads, body)                                                                           \
   "/* rkb-kernel: 1\ntask: task\ndirection: forward\nlaunches:\n  - kernel: k\n    grid: " grid "\n"        \
   "    block: " threads "\n    args: x, y, N\n*/\n"                                                         \
   "__device__ void part(const float *x, float *y, int n) { " body " }\n"                                    \
   "__device__ void parts(const float *x, float *y, int n) { part(x, y, n); }\n"                             \
   "__global__ void __launch_bounds__(" threads ") k(const float *x, float *y, int n) { parts(x, y, n); }\n"
#define OF_FOUR "int i = 4 * blockIdx.x + threadIdx.x / 32; if (i < n) y[i] = x[i];"
#define OF_EIGHT "int i = 8 * blockIdx.x + threadIdx.x / 32; if (i < n) y[i] = x[i];"
   static const char four[] = PARTS("ceildiv(N, 4)", "128", OF_FOUR),
                     eight[] = PARTS("ceildiv(N, 8)", "256", OF_EIGHT),
                     doubled[] =
                        PARTS("ceildiv(N, 4)", "128",
                              "int i = 4 * blockIdx.x + threadIdx.x / 32; if (i < n) y[i] = 2 * x[i];"),
                     all[] = PARTS("ceildiv(N, 4)", "128", "for (int i = 0; i < n; i++) y[i] = x[i];"),
                     all_twice[] =
                        PARTS("ceildiv(N, 8)", "256", "for (int i = 0; i < n; i++) y[i] = 2 * x[i];");
   fake_t fake;
   fake_open(&fake, "mutator/crossover");
   fake_start(&fake, NULL);
   for (int64_t number = 0; number < 3; number++) {
      assert_false(run(&fake, number, four, "{}", eight, "{}"));
      assert_false(run(&fake, number, eight, "{}", four, "{}"));
   }
   assert_true(run(&fake, 0, four, "{}", doubled, "{}"));
   assert_string_equal(fake_text(&fake, 0, "source"), doubled);
   assert_true(run(&fake, 0, all, "{}", all_twice, "{}"));
   assert_string_equal(fake_text(&fake, 0, "note"), "the body of part from the second parent");
   fake_close(&fake);
}

static void nothing_from_nothing(void **state) {
   (void)state;
   fake_t fake;
   fake_open(&fake, "mutator/crossover");
   fake_start(&fake, NULL);
   assert_false(run(&fake, 0, PLAIN, "{}", PLAIN, "{}"));
   assert_false(
      run(&fake, 0, PLAIN, "{}", PLAIN, "{\"VEC\": 2}")); /* the only child would be the second parent */
   assert_false(run(&fake, 0, PLAIN, "{}", "no manifest", "{}"));
   rkb_item_t *parent = fake_candidate(&fake, 1, PLAIN, "{}");
   rkb_item_t *request = fake_request(&fake, "search", 0, NULL, &parent, 1);
   assert_int_equal(fake_run(&fake, request), RKB_OK); /* one parent */
   assert_int_equal(fake.emitted_count, 0);
   fake_drop(request);
   fake_drop(parent);
   fake_close(&fake);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(genes_mix_and_never_repeat_a_parent),
      cmocka_unit_test(only_values_that_the_first_lists),
      cmocka_unit_test(functions_with_one_signature_change_bodies),
      cmocka_unit_test(launches_change_their_shape),
      cmocka_unit_test(a_bounded_grid_stays_with_its_loop),
      cmocka_unit_test(a_block_stays_with_its_launch_bounds),
      cmocka_unit_test(a_part_of_a_thread_stays_with_its_launches),
      cmocka_unit_test(nothing_from_nothing),
   };
   return RUN_TESTS(tests);
}
