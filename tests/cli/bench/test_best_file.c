/* best/<direction>.yaml, a seed and tune values: valid files, refusals with their places, and which kernels may be in best/. */
#include "check.h"
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/file.h"
#include "cli/bench/bench.h"
#include "kernel/kernel.h"

static const char SEED[] =
   "/* rkb-kernel: 1\ntask: t\ndirection: forward\ntune:\n"
   "  BLOCK: {default: 256, choices: [128, 256]}\n  VEC: {default: 4, choices: [1, 4]}\n"
   "launches:\n  - kernel: k<BLOCK, VEC>\n    grid: 1\n    block: BLOCK\n    args: x\n*/\n"
   "template <int block, int vec> __global__ void k(float *x) { x[0] = block; }\n";

typedef struct place {
   char folder[64];
   rkb_bench_work_t work;
} place_t;

static void put(const place_t *p, const char *path, const char *text) {
   char whole[256];
   rkb_error_t err;
   snprintf(whole, sizeof whole, "%s/%s", p->folder, path);
   char *directory = rkb_path_directory(whole);
   assert_int_equal(rkb_make_directories(directory, &err), RKB_OK);
   assert_int_equal(rkb_file_write(whole, text, strlen(text), &err), RKB_OK);
   free(directory);
}

static void place_open(place_t *p) {
   strcpy(p->folder, "/tmp/rkb-best-XXXXXX");
   assert_non_null(mkdtemp(p->folder));
   p->work = (rkb_bench_work_t){.directory = p->folder, .name = "t", .direction = "forward"};
   put(p, "seeds/forward/a.cu", SEED);
}

static void place_close(place_t *p) {
   char command[128];
   snprintf(command, sizeof command, "rm -r %s", p->folder);
   assert_int_equal(system(command), 0);
}

/* Lists the seed's text with these values as its defaults, and then the seed itself.  Both when they differ,
 * one when they do not. */
static void a_seed_with_other_values_is_a_kernel(void **state) {
   (void)state;
   place_t p;
   rkb_error_t err;
   rkb_bench_kernels_t kernels;
   char *text = NULL;
   place_open(&p);
   put(&p, "best/forward.yaml", "{seed: a.cu, tune: {BLOCK: 128, VEC: 4}}\n");
   assert_int_equal(rkb_bench_kernels_find(&p.work, &kernels, &err), RKB_OK);
   assert_int_equal(kernels.count, 2);
   assert_non_null(strstr(kernels.list[0].path, "seeds/forward/a.cu"));
   assert_string_equal(kernels.list[0].tune, "{\"BLOCK\":128,\"VEC\":4}");
   assert_null(kernels.list[1].tune);
   assert_int_equal(rkb_bench_kernel_text(&kernels.list[0], &text, &err), RKB_OK);
   assert_non_null(strstr(text, "BLOCK: {default: 128, choices"));
   free(text);
   rkb_bench_kernels_free(&kernels);
   put(&p, "best/forward.yaml", "{seed: a.cu, tune: {BLOCK: 256, VEC: 4}}\n");
   assert_int_equal(rkb_bench_kernels_find(&p.work, &kernels, &err), RKB_OK);
   assert_int_equal(kernels.count, 1);
   rkb_bench_kernels_free(&kernels);
   place_close(&p);
}

static void what_is_wrong_is_said_with_its_place(void **state) {
   (void)state;
   static const struct {
      const char *text, *place, *message;
   } wrong[] = {
      {"{seed: b.cu, tune: {}}\n", "best/forward.yaml:1:8: ", "seeds/forward/b.cu"},
      {"seed: a.cu\ntune: {BLOCK: 128}\n", "best/forward.yaml:2:7: ", "lacks the seed's parameter 'VEC'"},
      {"seed: a.cu\ntune: {BLOCK: 128, VEC: 4, WARPS: 1}\n",
       "best/forward.yaml:2:28: ", "no tune parameter 'WARPS'"},
      {"{seed: a.cu, tune: {BLOCK: many, VEC: 4}}\n", "best/forward.yaml:1:28: ", "BLOCK"},
      {"{seed: a.cu, tune: {BLOCK: 64, VEC: 4}}\n", "best/forward.yaml:1:20: ", "BLOCK"},
      {"{seed: ../backward/a.cu, tune: {}}\n", "best/forward.yaml:1:8: ", "without a folder"},
      {"{seed: a.cu}\n", "best/forward.yaml:1:1: ", "'tune' is missing"},
      {"{tune: {}}\n", "best/forward.yaml:1:1: ", "'seed' is missing"},
      {"{seed: a.cu, tune: {BLOCK: 128, VEC: 4}, tun: 1}\n", "best/forward.yaml:1:42: ", "tun"},
      {"[a.cu]\n", "best/forward.yaml:1:1: ", "the file"},
      {"{seed: a.cu\n", "best/forward.yaml:", ""},
   };
   place_t p;
   place_open(&p);
   for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
      rkb_bench_kernels_t kernels;
      rkb_error_t err = {0};
      put(&p, "best/forward.yaml", wrong[i].text);
      assert_int_equal(rkb_bench_kernels_find(&p.work, &kernels, &err), RKB_ERR_INVALID);
      if (!strstr(err.message, wrong[i].place) || !strstr(err.message, wrong[i].message))
         fail_msg("for %s: %s", wrong[i].text, err.message);
      assert_int_equal(kernels.count, 0);
   }
   place_close(&p);
}

/* The tokens of kernel and seed, with the kernel's tune values written into both. */
static bool differs_in_tune_values_only(const char *kernel, const char *seed) {
   char *text = NULL, *like = NULL, *written = NULL, hash[RKB_HASH_TEXT], other[RKB_HASH_TEXT];
   size_t length, seed_length;
   rkb_error_t err;
   rkb_problems_t problems;
   rkb_problems_init(&problems);
   assert_int_equal(rkb_file_read(kernel, 1 << 20, &text, &length, &err), RKB_OK);
   assert_int_equal(rkb_file_read(seed, 1 << 20, &like, &seed_length, &err), RKB_OK);
   rkb_manifest_t *manifest = rkb_manifest_parse(kernel, text, length, &problems);
   assert_non_null(manifest);
   int64_t values[64];
   assert_in_range(manifest->tune_count, 0, 64);
   for (uint32_t i = 0; i < manifest->tune_count; i++)
      values[i] = manifest->tune[i].fallback;
   char *tune = rkb_tune_canonical(manifest, values);
   bool same = rkb_tune_write(like, tune, &written, &err) == RKB_OK;
   if (same) {
      rkb_tokens_hash(text, length, hash);
      rkb_tokens_hash(written, strlen(written), other);
      same = strcmp(hash, other) == 0;
   }
   rkb_manifest_free(manifest);
   rkb_problems_free(&problems);
   free(tune);
   free(written);
   free(like);
   free(text);
   return same;
}

static void check_kernel(const char *path) {
   char pattern[4096];
   const char *best = strstr(path, "/best/"), *direction = best + strlen("/best/");
   glob_t seeds;
   snprintf(pattern, sizeof pattern, "%.*s/seeds/%.*s/*.cu", (int)(best - path), path,
            (int)strcspn(direction, "/"), direction);
   assert_int_equal(glob(pattern, 0, NULL, &seeds), 0);
   for (size_t i = 0; i < seeds.gl_pathc; i++)
      if (differs_in_tune_values_only(path, seeds.gl_pathv[i]))
         fail_msg("%s is %s with other tune values: name them in a .yaml instead", path, seeds.gl_pathv[i]);
   globfree(&seeds);
}

static void no_shipped_kernel_is_a_seed_with_other_values(void **state) {
   (void)state;
   glob_t kernels;
   assert_int_equal(glob(RKB_SOURCE_DIR "/tasks/*/best/*/*.cu", 0, NULL, &kernels), 0);
   for (size_t i = 0; i < kernels.gl_pathc; i++)
      check_kernel(kernels.gl_pathv[i]);
   globfree(&kernels);
   assert_true(differs_in_tune_values_only(RKB_SOURCE_DIR "/tasks/softmax/seeds/forward/block_per_row.cu",
                                           RKB_SOURCE_DIR "/tasks/softmax/seeds/forward/block_per_row.cu"));
}

static void every_shipped_file_is_read(void **state) {
   (void)state;
   glob_t files;
   assert_int_equal(glob(RKB_SOURCE_DIR "/tasks/*/best/*.yaml", 0, NULL, &files), 0);
   for (size_t i = 0; i < files.gl_pathc; i++) {
      char directory[4096], direction[64];
      const char *best = strstr(files.gl_pathv[i], "/best/");
      rkb_bench_kernel_t kernel;
      rkb_error_t err = {0};
      snprintf(directory, sizeof directory, "%.*s", (int)(best - files.gl_pathv[i]), files.gl_pathv[i]);
      snprintf(direction, sizeof direction, "%.*s", (int)strcspn(best + 6, "."), best + 6);
      const rkb_bench_work_t work = {.directory = directory, .direction = direction};
      if (rkb_bench_best_read(&work, &kernel, &err) != RKB_OK)
         fail_msg("%s", err.message);
      rkb_bench_kernel_free(&kernel);
   }
   globfree(&files);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_seed_with_other_values_is_a_kernel),
      cmocka_unit_test(what_is_wrong_is_said_with_its_place),
      cmocka_unit_test(no_shipped_kernel_is_a_seed_with_other_values),
      cmocka_unit_test(every_shipped_file_is_read),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
