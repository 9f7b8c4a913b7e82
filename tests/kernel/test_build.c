/* A candidate from source to PTX, machine code and plan. */
#include "kernel_fixture.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static rkb_build_t *build(rkb_compilers_t *pool, const char *source, const char *tune, uint32_t flags,
                          rkb_build_cost_t *cost) {
   rkb_build_t *made = NULL;
   rkb_finding_t finding;
   rkb_error_t err = {0};
   int status = rkb_build_candidate(pool, fixture_device("h200"), source, tune, flags, NULL, NULL, &made,
                                    cost, &finding, &err);
   if (status != RKB_OK || !made)
      fail_msg("status %d %s; %s: %s (%u:%u)", status, err.message, finding.reason, finding.message,
               finding.line, finding.column);
   return made;
}

static void kernels_are_described(void **state) {
   rkb_compilers_t *pool = fixture_pool(1, NULL);
   size_t length;
   rkb_build_cost_t cost;
   char *source = fixture_read("candidates/rmsnorm.cu", &length);
   rkb_build_t *made = build(pool, source, "{\"BLOCK\": 128}", 0, &cost);
   const rkb_built_kernel_t *kernel = &made->kernels[0];
   (void)state;
   assert_false(cost.from_cache);
   assert_int_equal(made->kernel_count, 2);
   assert_string_equal(kernel->expression, "rmsnorm<128, 4>");
   assert_non_null(strstr(made->ptx, kernel->entry));
   assert_int_equal(kernel->parameter_count, 5);
   for (int i = 0; i < 3; i++)
      assert_int_equal(kernel->parameters[i].is_pointer, RKB_PARAMETER_POINTER);
   assert_string_equal(kernel->parameters[3].ptx_type, "f32");
   assert_int_equal(kernel->parameters[4].offset, 28);
   assert_int_equal(kernel->shared_bytes, 128 * 4);
   assert_true(kernel->registers > 8 && kernel->registers < 128);
   assert_int_equal(kernel->spill_store_bytes, 0);
   assert_true(made->cubin_bytes > 1000);
   assert_int_equal(strlen(made->ptx_hash), 64);
   assert_non_null(strstr(made->ptx, ".loc"));
   rkb_build_free(made);
   free(source);
   rkb_compilers_close(pool);
}

static void a_plan_follows(void **state) {
   rkb_compilers_t *pool = fixture_pool(1, NULL);
   fixture_case_t odd;
   rkb_problems_t problems;
   rkb_manifest_t *manifest;
   rkb_plan_t *plan = NULL;
   rkb_finding_t finding;
   rkb_error_t err;
   rkb_build_t *made;
   size_t length;
   rkb_build_cost_t cost;
   float eps;
   char *source = fixture_read("candidates/rmsnorm.cu", &length);
   (void)state;
   fixture_rmsnorm(&odd, 3, 5, 37);
   rkb_problems_init(&problems);
   manifest = rkb_manifest_parse("rmsnorm.cu", source, length, &problems);
   assert_non_null(manifest);
   made = build(pool, source, NULL, 0, &cost);
   assert_int_equal(rkb_plan_make(manifest, NULL, made, fixture_device("h200"), &odd.of, fixture_lookup, &odd,
                                  &plan, &finding, &err),
                    RKB_OK);
   if (!plan)
      fail_msg("%s: %s (%u:%u)", finding.reason, finding.message, finding.line, finding.column);
   assert_int_equal(plan->buffer_count, 3);
   assert_int_equal(plan->launch_count, 1);
   assert_string_equal(plan->launches[0].expression, "rmsnorm<BLOCK, 1>"); /* 37 is odd */
   assert_int_equal(plan->launches[0].grid[0], 15);
   assert_int_equal(plan->launches[0].block[0], 256);
   assert_int_equal(plan->launches[0].argument_count, 5);
   assert_int_equal(plan->launches[0].parameter_bytes, 32);
   assert_int_equal(plan->launches[0].arguments[2].buffer, 2);
   memcpy(&eps, &plan->launches[0].arguments[3].value, sizeof eps);
   assert_float_equal(eps, 1e-5f, 0);
   assert_int_equal(plan->launches[0].arguments[4].value, 37);
   rkb_plan_free(plan);
   rkb_build_free(made);
   rkb_manifest_free(manifest);
   rkb_problems_free(&problems);
   free(source);
   rkb_compilers_close(pool);
}

static void a_debug_build_has_no_machine_code(void **state) {
   rkb_compilers_t *pool = fixture_pool(1, NULL);
   size_t length;
   rkb_build_cost_t cost;
   char *source = fixture_read("candidates/rmsnorm.cu", &length);
   rkb_build_t *made = build(pool, source, NULL, RKB_BUILD_DEBUG, &cost);
   (void)state;
   assert_true(made->debug);
   assert_null(made->cubin);
   assert_int_equal(made->kernels[0].parameters[0].is_pointer, RKB_PARAMETER_POINTER);
   rkb_build_free(made);
   free(source);
   rkb_compilers_close(pool);
}

static void a_second_build_comes_from_the_cache(void **state) {
   char *directory = fixture_directory();
   rkb_compilers_t *pool = fixture_pool(1, directory);
   size_t length;
   rkb_build_cost_t cost;
   char *source = fixture_read("candidates/rmsnorm.cu", &length);
   rkb_build_t *first = build(pool, source, NULL, 0, &cost), *second;
   (void)state;
   assert_false(cost.from_cache);
   second = build(pool, source, NULL, 0, &cost);
   assert_true(cost.from_cache);
   assert_string_equal(first->cubin_hash, second->cubin_hash);
   assert_string_equal(first->ptx, second->ptx);
   assert_int_equal(first->kernels[1].registers, second->kernels[1].registers);
   rkb_build_free(second);
   second = build(pool, source, "{\"BLOCK\": 64}", 0, &cost);
   assert_false(cost.from_cache);
   rkb_build_free(second);
   rkb_build_free(first);
   free(source);
   rkb_compilers_close(pool);
   fixture_remove(directory);
   free(directory);
}

/* NVRTC itself gives different PTX for this kernel, depending on where its memory lies and what it compiled
 * before (seen with 13.0: three of six compiles).  So two builds, or with RKB_LONG three, are made in each of two processes,
 * after other texts. */
static void equal_texts_give_equal_bytes(void **state) {
   (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
   print_message("a sanitizer brings an allocator of its own\n");
   skip();
#endif
   static const char tune[] = "{\"QUERIES\": 128}";
   size_t length;
   rkb_build_cost_t cost;
   char *source = fixture_read("../../tasks/attention/seeds/forward/register_tiles.cu", &length),
        *others[2] = {fixture_read("candidates/rmsnorm.cu", &length),
                      fixture_read("candidates/headers.cu", &length)};
   rkb_build_t *first = NULL;
   for (int process = 0; process < 2; process++) {
      rkb_compilers_t *pool = fixture_pool(1, NULL);
      for (int n = 0; n < (rkb_long_tests() ? 3 : 2); n++) {
         rkb_build_free(build(pool, others[(process + n) % 2], NULL, 0, &cost));
         rkb_build_t *made = build(pool, source, tune, 0, &cost);
         if (first) {
            assert_string_equal(made->ptx_hash, first->ptx_hash);
            assert_string_equal(made->cubin_hash, first->cubin_hash);
            rkb_build_free(made);
         } else {
            first = made;
         }
      }
      rkb_compilers_close(pool);
   }
   rkb_build_free(first);
   free(others[0]);
   free(others[1]);
   free(source);
}

static void every_allowed_header_is_there(void **state) {
   rkb_compilers_t *pool = fixture_pool(1, NULL);
   size_t length;
   rkb_build_cost_t cost;
   char *source = fixture_read("candidates/headers.cu", &length);
   rkb_build_t *made = build(pool, source, NULL, 0, &cost);
   (void)state;
   assert_int_equal(made->kernels[0].parameters[2].is_pointer, RKB_PARAMETER_NUMBER);
   rkb_build_free(made);
   free(source);
   rkb_compilers_close(pool);
}

/* The device's own target, with what no later architecture promises to have, in the shipped build and in the checked one. */
static void instructions_of_one_architecture_build(void **state) {
   rkb_compilers_t *pool = fixture_pool(1, NULL);
   size_t length;
   rkb_build_cost_t cost;
   char *source = fixture_read("candidates/warpgroup.cu", &length);
   rkb_build_t *made = build(pool, source, NULL, 0, &cost);
   (void)state;
   assert_non_null(made->cubin);
   rkb_build_free(made);
   rkb_build_free(build(pool, source, NULL, RKB_BUILD_DEBUG, &cost));
   free(source);
   rkb_compilers_close(pool);
}

static rkb_compilers_t *pool_with(uint64_t cpu_ns, uint64_t memory, const char *cache) {
   const rkb_compilers_config_t config = {
      .processes = 1, .cpu_limit_ns = cpu_ns, .memory_limit = memory, .cache_directory = cache};
   rkb_compilers_t *pool = NULL;
   rkb_error_t err;
   if (rkb_compilers_open(&config, &pool, &err) != RKB_OK)
      fail_msg("%s", err.message);
   return pool;
}

/* A limit on memory a tenth above what the compile needs.  It builds, and says that it might not build
 * elsewhere; so does the entry that it leaves in the cache. */
static void a_build_close_to_its_memory_is_marked(void **state) {
   char *directory = fixture_directory();
   rkb_compilers_t *pool = pool_with(0, 0, "");
   rkb_build_cost_t roomy, tight, again;
   size_t length;
   char *source = fixture_read("candidates/rmsnorm.cu", &length);
   (void)state;
   rkb_build_free(build(pool, source, NULL, 0, &roomy));
   rkb_compilers_close(pool);
   assert_false(roomy.near_limit);
   assert_true(roomy.memory_bytes > (20u << 20) && roomy.cpu_ns > 10000000);
   pool = pool_with(0, roomy.memory_bytes / 10 * 11, directory);
   rkb_build_free(build(pool, source, NULL, 0, &tight));
   rkb_build_free(build(pool, source, NULL, 0, &again));
   rkb_compilers_close(pool);
   assert_true(tight.near_limit && !tight.from_cache);
   assert_true(again.near_limit && again.from_cache);
   free(source);
   fixture_remove(directory);
   free(directory);
}

/* Compiles in a few tenths of a second. */
static char *long_source(void) {
   static const char head[] = "/* rkb-kernel: 1\ntask: llama_rmsnorm\ndirection: forward\nlaunches:\n"
                              "  - {kernel: k, grid: 1, block: 32, args: y}\n*/\n"
                              "__global__ void k(float *y) {\n   int i = threadIdx.x;\n",
                     line[] = "   y[i] = y[i * 7] * y[i] + 1;\n", tail[] = "}\n";
   enum { LINES = 300 };
   char *source = malloc(sizeof head + LINES * sizeof line + sizeof tail), *at = source;
   at += sprintf(at, "%s", head);
   for (int i = 0; i < LINES; i++)
      at += sprintf(at, "%s", line);
   sprintf(at, "%s", tail);
   return source;
}

/* Processor time varies, and is looked at every 50 ms.  So the compile may end just before this limit or be
 * ended by it; in both cases the limit is reported as near. */
static void a_build_close_to_its_time_is_marked(void **state) {
   rkb_compilers_t *pool = pool_with(0, 0, "");
   rkb_build_cost_t roomy, tight;
   rkb_build_t *made = NULL;
   rkb_finding_t finding;
   rkb_error_t err = {0};
   char *source = long_source();
   (void)state;
   rkb_build_free(build(pool, source, NULL, 0, &roomy));
   rkb_compilers_close(pool);
   assert_false(roomy.near_limit);
   for (uint64_t share = 1; share <= 4; share *= 2) { /* the limit: all of it, half of it, a quarter */
      pool = pool_with(roomy.cpu_ns / share, 0, "");
      assert_int_equal(rkb_build_candidate(pool, fixture_device("h200"), source, NULL, 0, NULL, NULL, &made,
                                           &tight, &finding, &err),
                       RKB_OK);
      assert_true(made || strcmp(finding.reason, "tool.compile_time") == 0);
      assert_true(tight.near_limit == (!made || tight.cpu_ns > roomy.cpu_ns / share / 5 * 4));
      assert_true(share == 1 || tight.near_limit);
      rkb_build_free(made);
      rkb_compilers_close(pool);
   }
   free(source);
}

/* A compile near its limit may end on either side of it; the next run must not see the other side. */
static void what_a_limit_ended_comes_from_the_cache(void **state) {
   char *directory = fixture_directory();
   rkb_compilers_t *pool = pool_with(1000000, 0, directory);
   rkb_build_t *made[2] = {NULL, NULL};
   rkb_build_cost_t cost[2];
   rkb_finding_t finding[2];
   rkb_error_t err = {0};
   char *source = long_source();
   (void)state;
   for (int i = 0; i < 2; i++)
      assert_int_equal(rkb_build_candidate(pool, fixture_device("h200"), source, NULL, 0, NULL, NULL,
                                           &made[i], &cost[i], &finding[i], &err),
                       RKB_OK);
   rkb_compilers_close(pool);
   assert_true(!made[0] && !made[1]);
   assert_string_equal(finding[0].reason, "tool.compile_time");
   assert_string_equal(finding[1].reason, "tool.compile_time");
   assert_string_equal(finding[1].message, finding[0].message);
   assert_true(!cost[0].from_cache && cost[0].near_limit);
   assert_true(cost[1].from_cache && cost[1].near_limit);
   pool = pool_with(0, 0, directory); /* another limit, another key */
   rkb_build_free(build(pool, source, NULL, 0, &cost[0]));
   assert_false(cost[0].from_cache);
   rkb_compilers_close(pool);
   free(source);
   fixture_remove(directory);
   free(directory);
}

/* A candidate whose launches name this many kernels. */
static char *many_kernels(int count) {
   rkb_text_t text;
   rkb_text_init(&text, 1 << 20);
   rkb_text_add(&text, "/* rkb-kernel: 1\ntask: llama_rmsnorm\ndirection: forward\nlaunches:\n");
   for (int i = 0; i < count; i++)
      rkb_text_format(&text, "  - {kernel: k<%d>, grid: B, block: 32, args: \"y\"}\n", i);
   rkb_text_add(&text, "*/\ntemplate <int n> __global__ void k(float *y) { y[n] = n; }\n");
   char *made = strdup(rkb_text_get(&text));
   rkb_text_free(&text);
   return made;
}

static void a_candidate_has_a_limit_of_kernels(void **state) {
   rkb_compilers_t *pool = fixture_pool(1, NULL);
   rkb_build_cost_t cost;
   rkb_finding_t finding;
   rkb_error_t err = {0};
   char *source = many_kernels(512);
   rkb_build_t *made = build(pool, source, NULL, 0, &cost);
   (void)state;
   assert_int_equal(made->kernel_count, 512);
   rkb_build_free(made);
   free(source);
   source = many_kernels(513);
   made = NULL;
   assert_int_equal(rkb_build_candidate(pool, fixture_device("h200"), source, NULL, 0, NULL, NULL, &made,
                                        &cost, &finding, &err),
                    RKB_OK);
   assert_null(made);
   assert_string_equal(finding.reason, "plan.manifest");
   assert_non_null(strstr(finding.message, "more than 512 kernels"));
   assert_int_equal(finding.line, 517);
   free(source);
   rkb_compilers_close(pool);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(kernels_are_described),
      cmocka_unit_test(a_plan_follows),
      cmocka_unit_test(a_debug_build_has_no_machine_code),
      cmocka_unit_test(equal_texts_give_equal_bytes),
      cmocka_unit_test(every_allowed_header_is_there),
      cmocka_unit_test(instructions_of_one_architecture_build),
      cmocka_unit_test(a_build_close_to_its_memory_is_marked),
      cmocka_unit_test(a_build_close_to_its_time_is_marked),
      cmocka_unit_test(what_a_limit_ended_comes_from_the_cache),
      cmocka_unit_test(a_second_build_comes_from_the_cache),
      cmocka_unit_test(a_candidate_has_a_limit_of_kernels),
   };
   return RUN_TESTS(tests);
}
