/* Plans: what a manifest means for a case, and what is refused and where.  The build is made
 * by hand, so nothing compiles here. */
#include "plan_fixture.h"

#include <stdlib.h>
#include <string.h>

typedef struct refused {
   const char *manifest, *reason, *text;
   uint32_t line, column;
} refused_t;

#define MAP(more) "maps:\n  m: {" more "}\n" LAUNCH("tiled", "grid: 1, block: 32, args: m")
#define PIXELS(lower, upper, channels, pixels)                                                               \
   MAP("buffer: s, dims: \"64, 16, 8\", lower: " lower ", upper: " upper ", channels: " channels             \
       ", pixels: " pixels)
#define ARGS "args: \"x, eps, D, D, x, 1\""

static void each_fault_is_a_finding(void **state) {
   static const refused_t cases[] = {
      {LAUNCH("k", "grid: 1, block: 32, args: x"), "plan.arguments",
       "1 arguments for 'k', which has 6 parameters", 5, 43},
      {LAUNCH("k", "grid: 1, block: 32, args: \"D, eps, D, D, x, 1\""), "plan.arguments", "is a pointer", 5,
       44},
      {LAUNCH("k", "grid: 1, block: 32, args: \"x, x, D, D, x, 1\""), "plan.arguments",
       "is a number, not a pointer", 5, 47},
      {LAUNCH("k", "grid: 1, block: 32, args: \"x, eps, x, D, x, 1\""), "plan.arguments",
       "is a number, not a pointer", 5, 52},
      {LAUNCH("k", "grid: 1, block: 32, args: \"x, eps, D, x, x, 1\""), "plan.arguments",
       "is a number, not a pointer", 0, 0},
      {LAUNCH("k", "grid: 1, block: 32, args: \"x, eps, null, D, x, 1\""), "plan.arguments",
       "is a number, not a pointer", 0, 0},
      {LAUNCH("k", "grid: 1, block: 32, args: \"x, eps, eps, D, x, 1\""), "plan.arguments", "a real number",
       0, 0},
      {LAUNCH("k", "grid: 1, block: 32, args: \"x, eps, D * 1000000000, D, x, 1\""), "plan.arguments",
       "37000000000 does not fit the kernel's 32-bit integer", 0, 0},
      {LAUNCH("k", "grid: 1, block: 32, args: \"x, eps, D, D, x, 256\""), "plan.arguments",
       "does not fit the kernel's 8-bit integer", 0, 0},
      {LAUNCH("k", "grid: 1, block: 32, args: \"x, 1.0 / 1e-39 * 10.0, D, D, x, 1\""), "plan.arguments",
       "overflows the parameter's float", 0, 0},
      {LAUNCH("k", "grid: 1, block: 32, args: \"x, 16777217, D, D, x, 1\""), "plan.arguments",
       "not a number of the parameter's float type", 0, 0},
      {LAUNCH("k", "grid: 1, block: 32, args: \"x + B * T * D + 1, eps, D, D, x, 1\""), "plan.arguments",
       "an offset of 556 elements lies outside 'x', which has 555", 0, 0},
      {LAUNCH("k", "grid: 1, block: 32, args: \"x + (0 - 1), eps, D, D, x, 1\""), "plan.arguments",
       "an offset of -1 elements", 0, 0},
      {LAUNCH("k", "grid: 1, block: 32, args: \"x * 2, eps, D, D, x, 1\""), "plan.arguments",
       "'name + elements'", 0, 0},
      {LAUNCH("k", "grid: 1, block: 32, args: \"nothing, eps, D, D, x, 1\""), "plan.", "", 0, 0},
      {LAUNCH("record", "grid: 1, block: 32, args: D"), "plan.arguments", "is a struct", 0, 0},
      {LAUNCH("record", "grid: 1, block: 32, args: \"struct(int32 D, int32 T)\""), "plan.arguments",
       "these members take 8 bytes, and the kernel's parameter has 16", 5, 49},
      {LAUNCH("record", "grid: 1, block: 32, args: \"struct(x, y, int8 D)\""), "plan.arguments",
       "at least 24 bytes", 0, 0},
      {LAUNCH("record", "grid: 1, block: 32, args: \"struct(x, y)\""), "plan.arguments", "aligned to less", 0,
       0},
      {LAUNCH("packed", "grid: 1, block: 32, args: \"struct(x, D, y, int64 D, int64 D)\""), "plan.arguments",
       "argument 1 (D): this parameter of the kernel is a pointer", 5, 59},
      {LAUNCH("packed", "grid: 1, block: 32, args: \"struct(x, int32 y, int32 D, int64 D, y, int64 D)\""),
       "plan.arguments", "argument 1 (y): this parameter of the kernel is a number", 0, 0},
      {LAUNCH("packed", "grid: 1, block: 32, args: \"struct(x, int32 eps, int32 D, int64 D, y, int64 D)\""),
       "plan.arguments", "a real number", 0, 0},
      {LAUNCH("packed", "grid: 1, block: 32, args: \"struct(x, int8 300, int32 D, int64 D, y, int64 D)\""),
       "plan.arguments", "300 does not fit", 0, 0},
      {LAUNCH("one", "grid: 1, block: 32, args: \"struct(int32 D, int32 D)\""), "plan.arguments",
       "is no struct", 0, 0},
      {LAUNCH("one", "grid: D / 0, block: 32, args: x"), "plan.expression", "zero", 5, 25},
      {LAUNCH("one", "grid: D * 9223372036854775807, block: 32, args: x"), "plan.expression", "overflow", 5,
       25},
      {LAUNCH("one", "grid: 1000000000000000000, block: 32, args: x"), "plan.grid",
       "grid.x is 1000000000000000000", 5, 25},
      {LAUNCH("one", "grid: \"1, 65536\", block: 32, args: x"), "plan.grid",
       "grid.y is 65536; h200 allows 0 to 65535", 5, 29},
      {LAUNCH("one", "grid: 0 - 1, block: 32, args: x"), "plan.grid", "grid.x is -1", 0, 0},
      {LAUNCH("one", "grid: 1, block: 0, args: x"), "plan.block", "no threads", 0, 0},
      {LAUNCH("one", "grid: 1, block: 1025, args: x"), "plan.block", "block.x is 1025", 0, 0},
      {LAUNCH("one", "grid: 1, block: \"1024, 2\", args: x"), "plan.block", "2048 threads", 0, 0},
      {LAUNCH("k", "grid: 1, block: 1024, " ARGS), "plan.block", "launch bounds allow 512", 0, 0},
      {LAUNCH("heavy", "grid: 1, block: 512, args: \"\""), "plan.registers", "255", 0, 0},
      {LAUNCH("k", "grid: 1, block: 32, shared: 232448, " ARGS), "plan.shared", "beside 2048 static ones", 0,
       0},
      {LAUNCH("one", "grid: 1, block: 32, shared: 0 - 1, args: x"), "plan.shared", "-1 bytes", 0, 0},
      {LAUNCH("one", "grid: 3, block: 32, cluster: 2, args: x"), "plan.cluster", "no multiple", 0, 0},
      {LAUNCH("one", "grid: 32, block: 32, cluster: 16, args: x"), "plan.cluster", "16", 0, 0},
      {LAUNCH("pair", "grid: 8, block: 32, cluster: 4, args: x"), "plan.cluster",
       "clusters of 2 x 1 x 1 blocks (__cluster_dims__), and this launch has 4 x 1 x 1", 5, 49},
      {LAUNCH("pair", "grid: \"8, 2\", block: 32, cluster: \"1, 2\", args: x"), "plan.cluster",
       "this launch has 1 x 2 x 1", 5, 55},
      {LAUNCH("pair", "grid: 8, block: 32, args: x"), "plan.cluster", "this launch has 1 x 1 x 1", 5, 5},
      {LAUNCH("bounded", "grid: 8, block: 64, cluster: 4, args: x"), "plan.cluster",
       "a cluster of 4 blocks; the launch bounds of 'bounded' allow 2", 5, 52},
      {LAUNCH("bounded", "grid: 8, block: 65, args: x"), "plan.block", "launch bounds allow 64", 5, 39},
      {LAUNCH("sized", "grid: 8, block: 64, args: x"), "plan.block",
       "blocks of 32 x 2 x 1 threads (__block_size__), and this launch has 64 x 1 x 1", 5, 37},
      {LAUNCH("sized", "grid: 8, block: \"32, 1\", args: x"), "plan.block", "this launch has 32 x 1 x 1", 5,
       38},
      {LAUNCH("one", "grid: 100000, block: 256, cooperative: true, args: x"), "plan.cooperative",
       "h200 holds", 0, 0},
      {LAUNCH("one", "when: D == 1, grid: 1, block: 1, args: x"), "plan.no_launch", "check/fixture", 0, 0},
      {LAUNCH("other", "grid: 1, block: 1, args: x"), "plan.kernel", "other", 0, 0},
      {LAUNCH("one", "grid: 1, block: 1, args: x, constants: {filter: weight}"), "plan.constant",
       "148 bytes and 'filter' holds 64", 0, 0},
      {LAUNCH("one", "grid: 1, block: 1, args: x, constants: {missing: weight}"), "plan.constant",
       "no __constant__ variable 'missing'", 0, 0},
      {LAUNCH("one", "grid: 1, block: 1, args: x, constants: {filter: y}"), "plan.constant", "not an input",
       0, 0},
      {"fill: {x: zero}\n" LAUNCH("one", "grid: 1, block: 1, args: x"), "plan.fill", "not an output", 4, 8},
      {"scratch:\n  s: {dtype: float64, shape: \"D * 1000000000, D * 1000000000\"}\n" LAUNCH(
          "one", "grid: 1, block: 1, args: s"),
       "plan.buffer", "", 0, 0},
      {"scratch:\n  s: {dtype: float64, shape: \"100000000000\"}\n" LAUNCH("one",
                                                                           "grid: 1, block: 1, args: s"),
       "plan.memory", "h200", 0, 0},
      {"scratch:\n  s: {dtype: float64, shape: \"0 - D\"}\n" LAUNCH("one", "grid: 1, block: 1, args: s"),
       "plan.buffer", "-37", 0, 0},
      {"scratch:\n  x: {dtype: float64, shape: \"1\"}\n" LAUNCH("one", "grid: 1, block: 1, args: x"),
       "plan.name_collision", "'x'", 0, 0},
      {"let:\n  D: 5\n" LAUNCH("one", "grid: 1, block: 1, args: x"), "plan.name_collision", "another value",
       5, 3},
      {"tune:\n  T: {default: 1, choices: [1]}\n" LAUNCH("one", "grid: 1, block: 1, args: x"),
       "plan.name_collision", "'T'", 5, 3},
      {WIDE MAP("buffer: nothing, dims: \"128, 64\", box: \"64, 8\""), "plan.map",
       "no tensor or scratch buffer", 7, 3},
      {WIDE MAP("buffer: s, dims: \"0, 64\", box: \"64, 8\""), "plan.map", "dimension 0 has 0 elements", 7,
       25},
      {WIDE MAP("buffer: s, dims: \"0 - 1, 64\", box: \"64, 8\""), "plan.map", "a dimension is -1", 7, 25},
      {WIDE MAP("buffer: s, dims: \"5000000000, 1\", box: \"64, 1\""), "plan.map", "1 to 2^32", 7, 25},
      {WIDE MAP("buffer: s, dims: \"120, 64\", strides: 124, box: \"64, 8\""), "plan.map",
       "stride of dimension 1 is 248 bytes; strides are multiples of 16 below 2^40", 7, 44},
      {WIDE MAP("buffer: s, dims: \"128, 2\", strides: 549755813888, box: \"64, 1\""), "plan.map",
       "below 2^40", 7, 43},
      {WIDE MAP("buffer: s, dims: \"128, 64\", box: \"64, 257\""), "plan.map",
       "257 elements in dimension 1; it has 1 to 256", 7, 45},
      {WIDE MAP("buffer: s, dims: \"128, 64\", box: \"64, 0\""), "plan.map", "0 elements in dimension 1", 7,
       45},
      {WIDE MAP("buffer: s, dims: \"128, 64\", box: \"63, 8\""), "plan.map",
       "126 bytes; rows are multiples of 16", 7, 41},
      {WIDE MAP("buffer: s, dims: \"128, 64\", box: \"128, 8\", swizzle: 128"), "plan.map",
       "256 bytes, more than its swizzle of 128", 7, 59},
      {WIDE MAP("buffer: s, dims: \"128, 64\", box: \"64, 8\", swizzle: 64"), "plan.map",
       "more than its swizzle of 64", 7, 58},
      {WIDE MAP("buffer: s, dims: \"128, 64\", box: \"32, 8\", swizzle: 32"), "plan.map",
       "more than its swizzle of 32", 7, 58},
      {WIDE MAP("buffer: s, dims: \"128, 64\", box: \"64, 8\", steps: \"1, 9\""), "plan.map",
       "element stride of dimension 1 is 9", 7, 60},
      {WIDE MAP("buffer: s, dims: \"128, 64\", box: \"64, 8\", steps: \"1, 0\""), "plan.map",
       "is 0; it is 1 to 8", 7, 60},
      {WIDE MAP("buffer: s, dims: \"128, 64\", box: \"64, 8\", interleave: 16"), "plan.map",
       "at least 3 dimensions", 7, 61},
      {WIDE MAP("buffer: s, dims: \"16, 16, 16\", box: \"16, 8, 8\", interleave: 32"), "plan.map",
       "needs swizzle 32", 7, 67},
      {WIDE MAP("buffer: s, dims: \"16, 4, 8\", box: \"4, 4, 8\", interleave: 16"), "plan.map",
       "8 bytes; rows are multiples of 16", 7, 42},
      {WIDE MAP("buffer: s, dims: \"16, 8, 9\", box: \"16, 8, 8\", interleave: 16"), "plan.map",
       "ends 18432 bytes into the buffer, which has 16384", 7, 32},
      {WIDE MAP(
          "buffer: s, dims: \"16, 4, 4\", strides: \"264, 1056\", box: \"16, 8, 8\", interleave: 32, swizzle: 32"),
       "plan.map", "strides are multiples of 32", 7, 46},
      {WIDE MAP("buffer: s, dtype: uint16, dims: \"128, 64\", box: \"64, 8\", fill: nan"), "plan.map",
       "for floating-point elements", 7, 70},
      {WIDE MAP("buffer: s, offset: 4, dims: \"120, 63\", strides: 128, box: \"64, 8\""), "plan.map",
       "first element does not lie at a multiple of 16", 7, 26},
      {WIDE MAP("buffer: s, dims: \"128, 65\", box: \"64, 8\""), "plan.map",
       "ends 16640 bytes into the buffer, which has 16384", 7, 30},
      {WIDE MAP("buffer: s, offset: 8, dims: \"128, 64\", box: \"64, 8\""), "plan.map", "ends 16400 bytes", 7,
       41},
      {WIDE PIXELS("0 - 32769", "0", "16", "64"), "plan.map",
       "lower corner of dimension 1 is -32769; with 3 dimensions it is -32768 to 32767", 7, 44},
      {WIDE PIXELS("0", "32768", "16", "64"), "plan.map", "upper corner of dimension 1 is 32768", 7, 54},
      {WIDE PIXELS("16", "0", "16", "64"), "plan.map", "from 16 to 15 in dimension 1: it has no pixels", 7,
       55},
      {WIDE PIXELS("0", "0", "257", "64"), "plan.map", "takes 257 channels; it takes 1 to 256", 7, 67},
      {WIDE PIXELS("0", "0", "16", "1025"), "plan.map", "takes 1025 pixels; it takes 1 to 1024", 7, 79},
      {WIDE PIXELS("0", "0", "12", "64"), "plan.map", "a pixel has 24 bytes; rows are multiples of 16", 7,
       67},
      {WIDE PIXELS("0", "0", "32", "64, swizzle: 32"), "plan.map",
       "a pixel has 64 bytes, more than its swizzle of 32", 7, 92},
      {WIDE "maps:\n  x: {buffer: s, dims: \"128, 64\", box: \"64, 8\"}\n" LAUNCH(
          "one", "grid: 1, block: 32, args: x"),
       "plan.name_collision", "the tensor map 'x'", 7, 3},
      {WIDE "maps:\n  m: {buffer: s, dims: \"128, 64\", box: \"64, 8\"}\n" LAUNCH(
          "one", "grid: 1, block: 32, args: m"),
       "plan.arguments", "needs a parameter of 128 bytes", 0, 0},
      {WIDE "maps:\n  m: {buffer: s, dims: \"128, 64\", box: \"64, 8\"}\n" LAUNCH(
          "tiled", "grid: 1, block: 32, args: m + 1"),
       "plan.arguments", "by its name alone", 0, 0},
      {"let:\n  a: b\n  b: 1\n" LAUNCH("one", "grid: 1, block: 1, args: x"), "plan.expression", "b", 5, 6},
   };
   fixture_case_t odd;
   uint32_t failed = 0;
   (void)state;
   fixture_rmsnorm(&odd, 3, 5, 37);
   for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
      rkb_finding_t finding = {0};
      rkb_plan_t *plan = plan_fixture_make(cases[i].manifest, NULL, &odd, &finding);
      if (plan || strncmp(finding.reason, cases[i].reason, strlen(cases[i].reason)) != 0 ||
          !strstr(finding.message, cases[i].text) ||
          (cases[i].line && (finding.line != cases[i].line || finding.column != cases[i].column))) {
         print_message("%swanted %s: %s (%u:%u), got %s: %s (%u:%u)\n", cases[i].manifest, cases[i].reason,
                       cases[i].text, cases[i].line, cases[i].column, finding.reason, finding.message,
                       finding.line, finding.column);
         failed++;
      }
      rkb_plan_free(plan);
   }
   assert_int_equal(failed, 0);
}

static void a_plan_is_what_the_manifest_says(void **state) {
   fixture_case_t odd;
   rkb_finding_t finding = {0};
   rkb_plan_t *plan;
   (void)state;
   fixture_rmsnorm(&odd, 3, 5, 37);
   plan = plan_fixture_make(plan_fixture_whole, NULL, &odd, &finding);
   if (!plan)
      fail_msg("%s: %s", finding.reason, finding.message);
   assert_int_equal(plan->buffer_count, 4);
   assert_string_equal(plan->buffers[3].name, "partial");
   assert_int_equal(plan->buffers[3].role, 0);
   assert_int_equal(plan->buffers[3].tensor, UINT32_MAX);
   assert_int_equal(plan->buffers[3].bytes, 15 * 2 * 4);
   assert_int_equal(plan->buffers[3].fill, RKB_FILL_VALUE);
   assert_int_equal(plan->buffers[2].fill, RKB_FILL_VALUE);
   assert_float_equal(plan->buffers[2].fill_value, 1.5, 0);
   assert_int_equal(plan->buffers[0].fill, RKB_FILL_NONE);
   assert_int_equal(plan->launch_count, 2); /* the empty grid is left out */
   assert_int_equal(plan->launches[0].grid[1], 2);
   assert_int_equal(plan->launches[0].kernel, 2);
   assert_int_equal(plan->launches[0].arguments[0].value, 60);
   assert_int_equal(plan->launches[1].cluster[0], 2);
   assert_int_equal(plan->launches[1].dynamic_shared, 65536);
   assert_int_equal(plan->launches[1].arguments[2].value, (uint32_t)-37);
   assert_int_equal(plan->launches[1].arguments[3].value, 15);
   assert_int_equal(plan->launches[1].arguments[4].buffer, UINT32_MAX);
   assert_int_equal(plan->launches[1].parameter_bytes, 33);
   rkb_plan_free(plan);
}

static void members_lie_where_cpp_puts_them(void **state) {
   static const uint32_t offsets[] = {0, 8, 16, 20, 24, 32}, bytes[] = {1, 8, 2, 4, 8, 8};
   fixture_case_t odd;
   rkb_finding_t finding = {0};
   (void)state;
   fixture_rmsnorm(&odd, 3, 5, 31);
   rkb_plan_t *plan = plan_fixture_make(plan_fixture_packed, NULL, &odd, &finding);
   if (!plan)
      fail_msg("%s: %s", finding.reason, finding.message);
   const rkb_plan_launch_t *launch = &plan->launches[0];
   assert_int_equal(launch->argument_count, 6);
   assert_int_equal(launch->parameter_bytes, 40);
   for (uint32_t i = 0; i < 6; i++) {
      assert_int_equal(launch->arguments[i].offset, offsets[i]);
      assert_int_equal(launch->arguments[i].bytes, bytes[i]);
   }
   assert_int_equal(launch->arguments[0].value, 31);
   assert_int_equal(launch->arguments[1].buffer, 0);
   assert_int_equal(launch->arguments[1].value, 31 * 4);
   assert_int_equal(launch->arguments[4].buffer, 2);
   assert_int_equal(launch->arguments[5].buffer, UINT32_MAX);
   rkb_plan_free(plan);
}

static void a_plan_has_its_maps(void **state) {
   fixture_case_t odd;
   rkb_finding_t finding = {0};
   (void)state;
   fixture_rmsnorm(&odd, 3, 5, 31);
   rkb_plan_t *plan = plan_fixture_make(plan_fixture_mapped, NULL, &odd, &finding);
   if (!plan)
      fail_msg("%s: %s", finding.reason, finding.message);
   assert_int_equal(plan->map_count, 1);
   const rkb_plan_map_t *map = &plan->maps[0];
   assert_int_equal(map->type, RKB_MAP_BF16);
   assert_int_equal(map->rank, 3);
   assert_int_equal(map->offset, 512);
   assert_int_equal(map->dims[1], 31);
   assert_int_equal(map->strides[0], 512);
   assert_int_equal(map->strides[1], 1024 * 31);
   assert_int_equal(map->box[0], 64);
   assert_int_equal(map->element_strides[1], 2);
   assert_int_equal(map->swizzle, RKB_MAP_SWIZZLE_128B);
   assert_int_equal(map->fill, RKB_MAP_FILL_NAN);
   assert_int_equal(plan->launches[0].arguments[0].map, 1);
   assert_int_equal(plan->launches[0].arguments[0].bytes, RKB_MAP_BYTES);
   assert_int_equal(plan->launches[0].arguments[0].buffer, 3);
   rkb_plan_free(plan);
}

static void a_map_may_be_of_pixels(void **state) {
   fixture_case_t odd;
   rkb_finding_t finding = {0};
   (void)state;
   fixture_rmsnorm(&odd, 3, 5, 31);
   rkb_plan_t *plan = plan_fixture_make(plan_fixture_pixels, NULL, &odd, &finding);
   if (!plan)
      fail_msg("%s: %s", finding.reason, finding.message);
   const rkb_plan_map_t *map = &plan->maps[0];
   assert_int_equal(map->im2col, 1);
   assert_int_equal(map->lower[0], -1);
   assert_int_equal(map->lower[1], -2);
   assert_int_equal(map->upper[0], -1);
   assert_int_equal(map->upper[1], 3);
   assert_int_equal(map->channels, 16);
   assert_int_equal(map->pixels, 31);
   assert_int_equal(map->element_strides[1], 2);
   assert_int_equal(plan->launches[0].dependent, 0);
   assert_int_equal(plan->launches[1].dependent, 1);
   rkb_plan_free(plan);
}

/* Where the launch in front is left out there is nothing to depend on. */
static void the_first_launch_depends_on_none(void **state) {
   fixture_case_t odd;
   rkb_finding_t finding = {0};
   (void)state;
   fixture_rmsnorm(&odd, 3, 5, 31);
   rkb_plan_t *plan =
      plan_fixture_make("launches:\n  - {kernel: one, when: D == 1, grid: 1, block: 1, args: x}\n"
                        "  - {kernel: one, grid: 1, block: 1, dependent: true, args: x}\n"
                        "  - {kernel: one, grid: 1, block: 1, dependent: true, args: x}\n",
                        NULL, &odd, &finding);
   if (!plan)
      fail_msg("%s: %s", finding.reason, finding.message);
   assert_int_equal(plan->launch_count, 2);
   assert_int_equal(plan->launches[0].dependent, 0);
   assert_int_equal(plan->launches[1].dependent, 1);
   rkb_plan_free(plan);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_fault_is_a_finding),         cmocka_unit_test(a_plan_is_what_the_manifest_says),
      cmocka_unit_test(members_lie_where_cpp_puts_them), cmocka_unit_test(a_plan_has_its_maps),
      cmocka_unit_test(a_map_may_be_of_pixels),          cmocka_unit_test(the_first_launch_depends_on_none),
   };
   return RUN_TESTS(tests);
}
