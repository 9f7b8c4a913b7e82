/* rkb.mutator.edit: each kind on a text with one place for it, and every kind on the seeds. */
#include "fake.h"
#include <glob.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "base/problems.h"
#include "kernel/kernel.h"

static const char SOURCE[] = "/* rkb-kernel: 1\n"
                             "task: task\n"
                             "direction: forward\n"
                             "tune:\n"
                             "  BLOCK: {default: 128, choices: [64, 128]}\n"
                             "launches:\n"
                             "  - kernel: k\n"
                             "    grid: ceildiv(N, BLOCK)\n"
                             "    block: BLOCK\n"
                             "    args: x, y, N\n"
                             "*/\n"
                             "__global__ void k(const float *x, float *y, int n) {\n"
                             "   const int i = blockIdx.x * BLOCK + threadIdx.x;\n"
                             "   if (i >= n)\n"
                             "      return;\n"
                             "   float sum = 0;\n"
                             "   for (int k = 0; k < 4; k++)\n"
                             "      sum += x[i];\n"
                             "   y[i] = sum;\n"
                             "}\n";

static void start(fake_t *fake, const char *kind) {
   fake_open(fake, "mutator/edit");
   fake_start(fake, (const char *const[]){kind, NULL});
}

static int run(fake_t *fake, int64_t number, const char *source, const char *tune) {
   return fake_run_parent(fake, number, NULL, source, tune);
}

/* Runs the kind on a text; what came out, which must have the words. */
static char *edited(const char *kind, int64_t number, const char *source, const char *words) {
   fake_t fake;
   start(&fake, kind);
   assert_int_equal(run(&fake, number, source, "{}"), RKB_OK);
   if (fake.emitted_count == 0)
      fail_msg("%s gave nothing", kind);
   char *text = strdup(fake_text(&fake, 0, "source"));
   if (!strstr(text, words))
      fail_msg("%s: no '%s' in\n%s", kind, words, text);
   fake_close(&fake);
   return text;
}

static void unroll_comes_changes_and_goes(void **state) {
   (void)state;
   char *with = edited("kind=unroll", 0, SOURCE, "#pragma unroll");
   assert_non_null(strstr(with, "\n   for (int k"));
   bool gone = false, changed = false;
   for (int64_t number = 0; number < 40; number++) {
      fake_t fake;
      start(&fake, "kind=unroll");
      assert_int_equal(run(&fake, number, with, "{}"), RKB_OK);
      if (fake.emitted_count == 1) {
         bool has = strstr(fake_text(&fake, 0, "source"), "#pragma unroll") != NULL;
         gone = gone || !has;
         changed = changed || has;
      }
      fake_close(&fake);
   }
   assert_true(gone && changed);
   free(with);
}

static void launch_bounds_come_from_the_manifest(void **state) {
   (void)state;
   char *with = edited("kind=launch_bounds", 0, SOURCE, "__global__ void __launch_bounds__((BLOCK), ");
   char *again = edited("kind=launch_bounds", 3, with, "__launch_bounds__((BLOCK), ");
   assert_null(
      strstr(strstr(again, "__launch_bounds__") + 5, "__launch_bounds__")); /* changed, not added again */
   free(with);
   free(again);
}

static void restrict_comes_and_goes(void **state) {
   (void)state;
   char *with = edited("kind=restrict", 0, SOURCE, "const float *__restrict__ x, float *__restrict__ y");
   char *without = edited("kind=restrict", 1, with, "const float * x");
   assert_null(strstr(without, "__restrict__"));
   free(with);
   free(without);
}

static void restrict_is_not_promised_of_aliases(void **state) {
   (void)state;
   fake_t fake;
   char *source = strdup(SOURCE);
   memcpy(strstr(source, "args: x, y"), "args: y, y", 10);
   start(&fake, "kind=restrict");
   assert_int_equal(run(&fake, 0, source, "{}"), RKB_OK);
   assert_int_equal(fake.emitted_count, 0);
   fake_close(&fake);
   free(source);
}

static void ldg_comes_and_goes(void **state) {
   (void)state;
   char *with = edited("kind=ldg", 0, SOURCE, "sum += __ldg(&x[i]);");
   char *without = edited("kind=ldg", 1, with, "sum += x[i];");
   assert_string_equal(without, SOURCE);
   free(with);
   free(without);
}

/* Runs block_shape on a kernel with two choices; the value that it takes, or 0 when it makes nothing. */
static int64_t new_block_value(int64_t number, const char *source) {
   fake_t fake;
   rkb_problems_t problems;
   int64_t taken = 0;
   start(&fake, "kind=block_shape");
   assert_int_equal(run(&fake, number, source, "{\"BLOCK\": 64}"), RKB_OK);
   if (fake.emitted_count == 1) {
      const char *text = fake_text(&fake, 0, "source");
      rkb_problems_init(&problems);
      rkb_manifest_t *manifest = rkb_manifest_parse("test.cu", text, strlen(text), &problems);
      assert_non_null(manifest);
      assert_int_equal(manifest->tune[0].choice_count, 3);
      json_t *tune = json_loads(fake_json(&fake, 0, "tune"), 0, NULL);
      taken = json_integer_value(json_object_get(tune, "BLOCK"));
      assert_int_equal(taken, manifest->tune[0].choices[2]);
      assert_true(taken != manifest->tune[0].choices[0] && taken != manifest->tune[0].choices[1]);
      json_decref(tune);
      rkb_manifest_free(manifest);
      rkb_problems_free(&problems);
   }
   fake_close(&fake);
   return taken;
}

static void block_shape_adds_a_choice_and_takes_it(void **state) {
   (void)state;
   for (int64_t number = 0; number < 20; number++) {
      const int64_t taken = new_block_value(number, SOURCE);
      assert_true(taken > 0);
      assert_int_equal(taken % 32, 0);
   }
}

/* A count of threads stays a multiple of a warp.  The side of a tile may become shorter than one. */
static void block_shape_halves_a_side_below_a_warp(void **state) {
   (void)state;
   char *threads = rkb_duplicate(SOURCE), *side = rkb_duplicate(SOURCE);
   bool shorter = false;
   memcpy(strstr(threads, "64, 128"), "32, 128", 7);
   memcpy(strstr(side, "64, 128"), "32, 128", 7);
   memcpy(strstr(side, "block: BLOCK\n    args: x, y, N"), "block: BLOCK*4\n    args: x,y,N ", 31);
   for (int64_t number = 0; number < 20; number++) {
      assert_int_equal(new_block_value(number, threads) % 32, 0);
      shorter = shorter || new_block_value(number, side) == 16;
   }
   assert_true(shorter);
   free(threads);
   free(side);
}

static void a_barrier_goes_where_it_is_a_statement(void **state) {
   (void)state;
   char *source = strdup(SOURCE);
   memcpy(strstr(source, "float sum = 0;"), "__syncwarp() ;", 14);
   char *without = edited("kind=barrier", 0, source, "      return;\n   ;\n");
   assert_null(strstr(without, "__sync"));
   fake_t fake;
   start(&fake, "kind=barrier");
   assert_int_equal(run(&fake, 0, without, "{}"), RKB_OK);
   assert_int_equal(fake.emitted_count, 0);
   memcpy(strstr(source, "return;\n   __syncwarp() ;"), "__syncwarp();\n   return;", 24); /* of an if */
   assert_int_equal(run(&fake, 0, source, "{}"), RKB_OK);
   assert_int_equal(fake.emitted_count, 0);
   fake_close(&fake);
   free(source);
   free(without);
}

static void intrinsics_come_and_go(void **state) {
   (void)state;
   char *source = strdup(SOURCE);
   memcpy(strstr(source, "x[i];\n"), "expf(\n", 6); /* tokens are enough */
   char *with = edited("kind=intrinsic", 0, source, "sum += __expf(");
   char *without = edited("kind=intrinsic", 1, with, "sum += expf(");
   assert_string_equal(without, source);
   free(with);
   free(without);
   free(source);
}

static void grid_stride_loops_and_goes_back(void **state) {
   (void)state;
   char *with =
      edited("kind=grid_stride", 0, SOURCE,
             "for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += (int)gridDim.x * blockDim.x) {");
   assert_non_null(strstr(with, "grid: min(ceildiv(N, BLOCK), 2048)\n"));
   assert_non_null(strstr(with, "y[i] = sum;\n}\n}"));
   char *whole = edited("kind=grid_stride", 1, with, "grid: ceildiv(N, BLOCK)\n");
   free(with);
   free(whole);
}

static void a_barrier_forbids_the_stride(void **state) {
   (void)state;
   fake_t fake;
   char *source = strdup(SOURCE);
   memcpy(strstr(source, "float sum = 0;"), "__syncwarp() ;", 14);
   start(&fake, "kind=grid_stride");
   assert_int_equal(run(&fake, 0, source, "{}"), RKB_OK);
   assert_int_equal(fake.emitted_count, 0);
   fake_close(&fake);
   free(source);
}

/* Under a sanitizer an edit takes ten times as long, and the seeds of one task are alike. */
#ifdef __SANITIZE_ADDRESS__
#define SEEDS_APART 4
#else
#define SEEDS_APART 1
#endif

/* Every seed can be edited.  The result still has a manifest, its note says what was done, and the same draw
 * gives it again. */
static void seeds_can_be_edited(void **state) {
   (void)state;
   glob_t found;
   assert_int_equal(glob(RKB_SOURCE_DIR "/tasks/*/seeds/*/*.cu", 0, NULL, &found), 0);
   fake_t fake;
   start(&fake, "kind=any");
   for (size_t i = 0; i < found.gl_pathc; i += SEEDS_APART) {
      char *source = fake_read(found.gl_pathv[i] + strlen(RKB_SOURCE_DIR) + 1);
      for (int64_t number = 0; number < 8; number++) {
         rkb_problems_t problems;
         assert_int_equal(run(&fake, number, source, "{}"), RKB_OK);
         assert_int_equal(fake.emitted_count, 1);
         const char *text = fake_text(&fake, 0, "source");
         assert_string_not_equal(text, source);
         assert_non_null(strchr(fake_text(&fake, 0, "note"), ':'));
         rkb_problems_init(&problems);
         rkb_manifest_t *manifest = rkb_manifest_parse("test.cu", text, strlen(text), &problems);
         if (!manifest)
            fail_msg("%s: %s broke the manifest", found.gl_pathv[i], fake_text(&fake, 0, "note"));
         rkb_manifest_free(manifest);
         rkb_problems_free(&problems);
         char *first = strdup(text);
         assert_int_equal(run(&fake, number, source, "{}"), RKB_OK);
         assert_string_equal(fake_text(&fake, 0, "source"), first);
         free(first);
      }
      free(source);
   }
   fake_close(&fake);
   globfree(&found);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(unroll_comes_changes_and_goes),
      cmocka_unit_test(launch_bounds_come_from_the_manifest),
      cmocka_unit_test(restrict_comes_and_goes),
      cmocka_unit_test(restrict_is_not_promised_of_aliases),
      cmocka_unit_test(ldg_comes_and_goes),
      cmocka_unit_test(block_shape_adds_a_choice_and_takes_it),
      cmocka_unit_test(block_shape_halves_a_side_below_a_warp),
      cmocka_unit_test(grid_stride_loops_and_goes_back),
      cmocka_unit_test(a_barrier_forbids_the_stride),
      cmocka_unit_test(a_barrier_goes_where_it_is_a_statement),
      cmocka_unit_test(intrinsics_come_and_go),
      cmocka_unit_test(seeds_can_be_edited),
   };
   return RUN_TESTS(tests);
}
