/* Extension rkb.kernel: a candidate's text is split and its manifest parsed once, when the candidate appears.  Stages that judge it get those tokens and
 * that manifest, and so do operators that make others from it when it is settled. */
#include "run/run_harness.h"

#include <stdlib.h>
#include <string.h>
#include <rkb/items.h>
#include "base/file.h"
#include "kernel/kernel.h"
#include "stage/candidate.h"
#include "stage/current_stage.h"
#include "stage/extensions.h"
#include "stage/item.h"

typedef struct asked {
   rkb_runtime_t runtime;
   rkb_owner_t owner;
} asked_t;

static void rings(void *argument) {
   (void)argument;
}

static void asked_open(asked_t *asked, rkb_pipeline_t *pipeline, bool keeps) {
   memset(asked, 0, sizeof *asked);
   asked->runtime = (rkb_runtime_t){.pipeline = pipeline,
                                    .log = quiet_log(),
                                    .jobs = rkb_jobs_new(rings, NULL),
                                    .sources = keeps ? rkb_source_cache_new() : NULL};
   rkb_owner_init(&asked->owner, &asked->runtime, &pipeline->entries[0], NULL);
}

static void asked_close(asked_t *asked) {
   rkb_jobs_free(asked->runtime.jobs);
   rkb_source_cache_free(asked->runtime.sources);
   rkb_log_close(asked->runtime.log);
}

static rkb_manifest_t *manifest_of(const asked_t *asked, const char *text) {
   rkb_manifest_t *manifest;
   rkb_finding_t finding;
   rkb_error_t err;
   assert_int_equal(RKB_KERNEL_API.manifest(&asked->owner.host, text, &manifest, &finding, &err), RKB_OK);
   assert_int_equal(finding.reason[0] == '\0', manifest != NULL);
   return manifest;
}

static rkb_candidate_t *candidate_of(const asked_t *asked, const char *text) {
   rkb_item_t *item = rkb_item_new(RKB_ITEM_CANDIDATE);
   assert_int_equal(rkb_item_set_text(item, "source", text), RKB_OK);
   return rkb_candidate_new(asked->runtime.pipeline, asked->runtime.sources, item);
}

/* What a stage on this thread gets for its tokens. */
static const rkb_token_t *tokens_of(const asked_t *asked, const char *text, rkb_tokens_t **tokens) {
   uint32_t count;
   const rkb_current_stage_t before =
      rkb_current_stage_set((rkb_current_stage_t){.sources = asked->runtime.sources});
   *tokens = RKB_KERNEL_API.tokens(text, strlen(text));
   rkb_current_stage_set(before);
   return RKB_KERNEL_API.tokens_at(*tokens, &count);
}

static rkb_pipeline_t *pipeline;
static char *text;

static void a_candidate_is_read_once(void **state) {
   (void)state;
   asked_t asked;
   asked_open(&asked, pipeline, true);
   rkb_candidate_t *candidate = candidate_of(&asked, text);
   rkb_candidate_identify(pipeline, candidate);
   assert_int_equal(rkb_source_cache_reads(asked.runtime.sources), 1);
   const rkb_job_t job =
      rkb_jobs_open(asked.runtime.jobs, NULL, NULL, &(rkb_scope_t){.candidate = candidate}, 0);
   rkb_manifest_t *own = manifest_of(&asked, candidate->source);
   uint32_t count;
   rkb_tokens_t *tokens;
   assert_non_null(own);
   assert_ptr_equal(tokens_of(&asked, candidate->source, &tokens),
                    rkb_tokens_at(rkb_candidate_read(candidate)->tokens, &count));
   RKB_KERNEL_API.tokens_free(tokens);
   rkb_jobs_write_off(asked.runtime.jobs, job, "");
   rkb_candidate_settle(candidate);
   rkb_candidate_free(pipeline, candidate);
   /* A mutator has the text from the archive, at another place. */
   char *archived = strdup(text);
   rkb_manifest_t *parents = manifest_of(&asked, archived);
   assert_ptr_equal(own, parents);
   rkb_tokens_t *again, *third;
   const rkb_token_t *list = tokens_of(&asked, archived, &again);
   assert_ptr_equal(list, tokens_of(&asked, text, &third));
   assert_int_equal(rkb_source_cache_reads(asked.runtime.sources), 1);
   /* A child that is the same text, as another draw of the same tune parameters is, is not read either. */
   candidate = candidate_of(&asked, text);
   rkb_candidate_identify(pipeline, candidate);
   assert_int_equal(rkb_source_cache_reads(asked.runtime.sources), 1);
   rkb_candidate_free(pipeline, candidate);
   free(archived);
   rkb_ended_free(rkb_jobs_take(asked.runtime.jobs)); /* the one that was written off */
   asked_close(&asked);
   /* What a plugin holds outlives the run. */
   assert_string_equal(own->task, "softmax");
   RKB_KERNEL_API.manifest_free(own);
   RKB_KERNEL_API.manifest_free(parents);
   RKB_KERNEL_API.tokens_free(again);
   RKB_KERNEL_API.tokens_free(third);
}

static void a_text_without_a_manifest_is_read_once(void **state) {
   (void)state;
   asked_t asked;
   asked_open(&asked, pipeline, true);
   assert_null(manifest_of(&asked, "int x;"));
   assert_null(manifest_of(&asked, "int x;"));
   assert_int_equal(rkb_source_cache_reads(asked.runtime.sources), 1);
   asked_close(&asked);
}

/* A process for jobs keeps no texts, and a thread of a plugin's own is in no stage. */
static void nothing_is_needed(void **state) {
   (void)state;
   asked_t asked;
   asked_open(&asked, pipeline, false);
   rkb_manifest_t *manifest = manifest_of(&asked, text);
   rkb_tokens_t *one, *other;
   assert_non_null(manifest);
   assert_ptr_not_equal(tokens_of(&asked, text, &one), tokens_of(&asked, text, &other));
   RKB_KERNEL_API.tokens_free(one);
   RKB_KERNEL_API.tokens_free(other);
   RKB_KERNEL_API.manifest_free(manifest);
   asked_close(&asked);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_candidate_is_read_once),
      cmocka_unit_test(a_text_without_a_manifest_is_read_once),
      cmocka_unit_test(nothing_is_needed),
   };
   char *scratch = scratch_make();
   size_t length;
   rkb_error_t err;
   pipeline = open_text(
      scratch, "sources.yaml",
      "rkb: 1\ntask: " TASK
      "\npropose:\n  - {use: test.translator.start, with: {values: [\"1\"]}}\nscreen:\n  - {use: test.verifier.built}\n",
      NULL);
   if (rkb_file_read(TASK "/seeds/forward/block_per_row.cu", 1u << 20, &text, &length, &err) != RKB_OK)
      return 1;
   const int failed = cmocka_run_group_tests(tests, NULL, NULL);
   free(text);
   rkb_pipeline_free(pipeline);
   scratch_remove(scratch);
   return failed;
}
