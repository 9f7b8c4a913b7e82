/* How often plans are made while one candidate is built and judged: once for each shape in a process.  The program makes those of the check and bench
 * cases for the candidate's identity, and the speed model gets these.  The judge's process, a fork of this one, makes its own. */
#include "run_harness.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/file.h"
#include "kernel/kernel.h"
#include "pipeline/pipeline_parts.h"
#include "task/task.h"

enum { MOST_MADE = 8192, MOST_NUMBERS = 8 };

/* A plan that was made.  Two processes write here. */
typedef struct made {
   pid_t process;
   uint32_t count, lent;
   double numbers[MOST_NUMBERS]; /* of the shape: dims and attributes */
} made_t;

typedef struct record {
   uint32_t count;
   made_t made[MOST_MADE];
} record_t;

static record_t *record;
static char *scratch;

static void note(const rkb_case_t *of, bool lent) {
   const uint32_t n = __atomic_fetch_add(&record->count, 1, __ATOMIC_RELAXED);
   if (n >= MOST_MADE || of->dim_count + of->attribute_count > MOST_NUMBERS)
      abort();
   made_t *made = &record->made[n];
   made->process = getpid();
   made->lent = lent;
   for (uint32_t d = 0; d < of->dim_count; d++)
      made->numbers[made->count++] = (double)of->dims[d].value;
   for (uint32_t a = 0; a < of->attribute_count; a++)
      made->numbers[made->count++] = of->attributes[a].value;
}

/* The linker puts these before the two functions of core/kernel/plan.c by which core/stage and core/run make plans. */
int __real_rkb_plan_make(const rkb_manifest_t *manifest, const char *tune, const rkb_build_t *build,
                         const rkb_device_t *device, const rkb_case_t *of, rkb_lookup_t lookup,
                         void *argument, rkb_plan_t **plan, rkb_finding_t *finding, rkb_error_t *err);
int __wrap_rkb_plan_make(const rkb_manifest_t *manifest, const char *tune, const rkb_build_t *build,
                         const rkb_device_t *device, const rkb_case_t *of, rkb_lookup_t lookup,
                         void *argument, rkb_plan_t **plan, rkb_finding_t *finding, rkb_error_t *err);
int __real_rkb_plan_make_borrowed(const rkb_manifest_t *manifest, const char *tune, const rkb_build_t *build,
                                  const rkb_device_t *device, const rkb_case_t *of, rkb_lookup_t lookup,
                                  void *argument, const rkb_plan_t *lender, rkb_plan_t **plan,
                                  rkb_finding_t *finding, rkb_error_t *err);
int __wrap_rkb_plan_make_borrowed(const rkb_manifest_t *manifest, const char *tune, const rkb_build_t *build,
                                  const rkb_device_t *device, const rkb_case_t *of, rkb_lookup_t lookup,
                                  void *argument, const rkb_plan_t *lender, rkb_plan_t **plan,
                                  rkb_finding_t *finding, rkb_error_t *err);

int __wrap_rkb_plan_make(const rkb_manifest_t *manifest, const char *tune, const rkb_build_t *build,
                         const rkb_device_t *device, const rkb_case_t *of, rkb_lookup_t lookup,
                         void *argument, rkb_plan_t **plan, rkb_finding_t *finding, rkb_error_t *err) {
   note(of, false);
   return __real_rkb_plan_make(manifest, tune, build, device, of, lookup, argument, plan, finding, err);
}

int __wrap_rkb_plan_make_borrowed(const rkb_manifest_t *manifest, const char *tune, const rkb_build_t *build,
                                  const rkb_device_t *device, const rkb_case_t *of, rkb_lookup_t lookup,
                                  void *argument, const rkb_plan_t *lender, rkb_plan_t **plan,
                                  rkb_finding_t *finding, rkb_error_t *err) {
   note(of, lender != NULL);
   return __real_rkb_plan_make_borrowed(manifest, tune, build, device, of, lookup, argument, lender, plan,
                                        finding, err);
}

static int by_process_and_shape(const void *a, const void *b) {
   return memcmp(a, b, sizeof(made_t));
}

/* Fails where a process has made a plan twice.  Gives how many this one made, and how many others did. */
static void count_made(uint32_t *here, uint32_t *there) {
   *here = *there = 0;
   qsort(record->made, record->count, sizeof *record->made, by_process_and_shape);
   for (uint32_t n = 0; n < record->count; n++) {
      const made_t *made = &record->made[n];
      *(made->process == getpid() ? here : there) += 1;
      if (n > 0 && !made->lent && memcmp(made, made - 1, sizeof *made) == 0)
         fail_msg("the plan of one shape was made twice: %.0f, %.0f, %.0f, ...", made->numbers[0],
                  made->numbers[1], made->numbers[2]);
   }
}

static uint32_t cases_of(rkb_pipeline_t *pipeline) {
   uint32_t count = 0;
   for (uint32_t kind = RKB_CASE_CHECK; kind <= RKB_CASE_BENCH; kind++)
      for (uint32_t n = 0; rkb_task_case(pipeline->task, kind, n); n++)
         count++;
   return count;
}

static void a_plan_is_made_once(void **state) {
   (void)state;
   char text[1024], *source;
   size_t length;
   rkb_error_t err = {0};
   static const char *const kernels[][3] = {
      {"softmax", "forward", "block_per_row.cu"},
      {"groupnorm", "forward", "two_launches.cu"},
      {"bf16_gemm", "forward", "tensor_cores.cu"},
   };
   for (uint32_t n = 0; n < sizeof kernels / sizeof *kernels; n++) {
      uint32_t here, there;
      snprintf(text, sizeof text,
               "rkb: 1\nseed: 1\ntask: " TASKS "/%s\ndirection: %s\ntarget: h200\nscreen:\n"
               "  - use: rkb.verifier.lint\n  - use: rkb.verifier.machine\n  - use: rkb.profiler.model\n",
               kernels[n][0], kernels[n][1]);
      rkb_pipeline_t *pipeline = open_text(scratch, "plans.yaml", text, NULL);
      snprintf(text, sizeof text, TASKS "/%s/seeds/%s/%s", kernels[n][0], kernels[n][1], kernels[n][2]);
      assert_int_equal(rkb_file_read(text, 1u << 20, &source, &length, &err), RKB_OK);
      rkb_log_t *log = quiet_log();
      const rkb_check_options_t options = {
         .name = text, .source = source, .jobs = 2, .secret = &rkb_secret_published, .log = log};
      rkb_check_result_t *result = NULL;
      memset(record, 0, sizeof *record);
      if (rkb_check(pipeline, &options, &result, &err) != RKB_OK)
         fail_msg("%s: %s", text, err.message);
      assert_string_equal(result->standing, "accept");
      count_made(&here, &there);
      assert_int_equal(here, cases_of(pipeline));
      assert_true(there > here); /* the judge drew shapes */
      rkb_check_result_free(result);
      rkb_log_close(log);
      rkb_pipeline_free(pipeline);
      free(source);
   }
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(a_plan_is_made_once)};
   record = mmap(NULL, sizeof *record, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
   if (record == MAP_FAILED)
      return 1;
   scratch = scratch_make();
   const int failed = cmocka_run_group_tests(tests, NULL, NULL);
   scratch_remove(scratch);
   return failed;
}
