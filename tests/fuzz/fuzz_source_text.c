/* Any bytes as a candidate's text, which lint, the edits and the crossover read by tokens.  Every place that
 * they name must lie inside the text, and every edit must apply to it. */
#include <stdlib.h>
#include <string.h>
#include "base/problems.h"
#include "base/random.h"
#include "crossover/gene_exchange.h"
#include "edit/edits.h"
#include "kernel/kernel.h"
#include "lint/rules.h"

static const rkb_tensor_t tensors[] = {
   {.name = "x", .role = RKB_IN}, {.name = "weight", .role = RKB_IN}, {.name = "y", .role = RKB_OUT}};
static const rkb_kernel_api_t kernel = {.size = sizeof kernel,
                                        .tokens = rkb_tokens_new,
                                        .tokens_at = rkb_tokens_at,
                                        .tokens_free = rkb_tokens_free};
static const rkb_random_api_t draws = {.size = sizeof draws,
                                       .next = rkb_random_next,
                                       .below = rkb_random_below,
                                       .real = rkb_random_real,
                                       .normal = rkb_random_normal};
static const char any_manifest[] =
   "/* rkb-kernel: 1\ntask: task\ndirection: forward\ntune:\n  BLOCK: {default: 64, choices: [64, 128]}\n"
   "launches:\n  - kernel: k\n    grid: N\n    block: BLOCK\n    args: x, weight, y, N\n*/\n";

static void check_text(const source_t *source, const functions_t *functions, const rkb_manifest_t *manifest) {
   lint_report_t report;
   rkb_random_t stream = rkb_random_stream(1, "fuzz", 0, 0);
   lint_run(&(lint_subject_t){source, functions, &kernel, manifest, tensors, 3, "fp32"}, &report);
   const edit_subject_t subject = {source, functions, manifest, &draws, &stream};
   for (uint32_t i = 0; i < EDIT_KIND_COUNT; i++) {
      edit_result_t result = {0};
      if (EDIT_KINDS[i].make(&subject, &result)) {
         char *text = patches_apply(&result.patches, source->text, source->bytes);
         if (!text)
            abort();
         free(text);
      }
      patches_free(&result.patches);
   }
   const side_t side = {source, functions, manifest};
   patches_t patches = {0};
   char note[480];
   if (exchange_function(&draws, &stream, &side, &side, &patches, note, sizeof note) && functions->count < 2)
      abort(); /* one function does not differ from itself */
   patches_free(&patches);
   exchange_launch(&draws, &stream, &side, &side, &patches, note, sizeof note);
   patches_free(&patches);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
   rkb_problems_t problems;
   rkb_error_t err;
   source_t source;
   functions_t functions;
   if (size > 65536 || memchr(data, '\0', size))
      return 0;
   /* A manifest in front where the bytes have none of their own, so that the code behind it is reached. */
   char *text = NULL;
   bool own = size > 2 && data[0] == '/' && data[1] == '*';
   if (asprintf(&text, "%s%.*s", own ? "" : any_manifest, (int)size, (const char *)data) < 0)
      abort();
   rkb_problems_init(&problems);
   rkb_manifest_t *manifest = rkb_manifest_parse("fuzz.cu", text, strlen(text), &problems);
   if (manifest && source_open(&source, &kernel, text, strlen(text), &err) == RKB_OK) {
      if (functions_find(&source, &functions, &err) == RKB_OK) {
         check_text(&source, &functions, manifest);
         functions_free(&functions);
      }
      source_close(&source);
   }
   rkb_manifest_free(manifest);
   rkb_problems_free(&problems);
   free(text);
   return 0;
}
