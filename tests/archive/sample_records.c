/* Records to store in tests: every member filled, nothing random. */
#include "sample_records.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *sample_directory(const char *name) {
   char *path = NULL;
   if (asprintf(&path, "archive-%s-XXXXXX", name) < 0 || !mkdtemp(path))
      abort();
   return path;
}

void sample_remove(char *directory) {
   DIR *listing = opendir(directory);
   struct dirent *entry;
   for (entry = readdir(listing); entry; entry = readdir(listing))
      unlinkat(dirfd(listing), entry->d_name, 0);
   closedir(listing);
   rmdir(directory);
   free(directory);
}

rkb_run_identity_t sample_identity(void) {
   static const rkb_run_plugin_t plugins[] = {
      {"lint", "0.1", "/a/lint.so", "11111111111111111111111111111111"},
      {"tune", "0.1", "/a/tune.so", "22222222222222222222222222222222"}};
   return (rkb_run_identity_t){.name = "sample",
                               .pipeline_hash = "abcdefabcdefabcdefabcdefabcdefab",
                               .task = "llama_rmsnorm",
                               .task_hash = "00000000000000000000000000000000",
                               .direction = "forward",
                               .target = "h200",
                               .objective = "model.predicted_us",
                               .seed = 18446744073709551615u,
                               .abi_minor = 1,
                               .plugin_count = 2,
                               .plugins = plugins};
}

rkb_request_record_t sample_request(int64_t number, uint32_t state) {
   return (rkb_request_record_t){.section = RKB_SECTION_SEARCH,
                                 .answer = RKB_ANSWER_OK,
                                 .state = state,
                                 .number = number,
                                 .group = number / 8,
                                 .operator_id = "tune",
                                 .hints = "{\"island\":1}"};
}

void sample_candidate(sample_candidate_t *sample, int64_t number) {
   static const char *const stages[SAMPLE_VERDICTS] = {"lint", "build", "machine"};
   static const char *const names[SAMPLE_MEASUREMENTS] = {"build.registers",    "build.spills",
                                                          "build.shared",       "machine.instructions",
                                                          "model.predicted_us", "model.bytes"};
   memset(sample, 0, sizeof *sample);
   int used = snprintf(sample->source, sizeof sample->source, "// candidate %lld\n", (long long)number);
   memset(sample->source + used, 'x', (size_t)(SAMPLE_SOURCE - used));
   snprintf(sample->hash, sizeof sample->hash, "%032llx", (unsigned long long)number);
   snprintf(sample->source_hash, sizeof sample->source_hash, "%032llx",
            (unsigned long long)number * 2654435761u);
   snprintf(sample->tune, sizeof sample->tune, "{\"BLOCK\":%lld}", (long long)(32 * (number % 16 + 1)));
   sample->parents[0] = (rkb_parent_record_t){.number = number - 1, .role = "parent"};
   for (int i = 0; i < SAMPLE_VERDICTS; i++)
      sample->verdicts[i] =
         (rkb_verdict_record_t){.stage = stages[i],
                                .standing = "accept",
                                .reason = "",
                                .message = "every case agreed",
                                .certificate = "[{\"facet\":\"memory\",\"scope\":\"check cases\"}]",
                                .executes = i == 2,
                                .reproducible = true,
                                .attempts = 1,
                                .seconds = 0.25};
   for (int i = 0; i < SAMPLE_MEASUREMENTS; i++)
      sample->measurements[i] = (rkb_measurement_record_t){.name = names[i],
                                                           .value = (double)number / (i + 3),
                                                           .spread = i == 4 ? 0.5 : -1,
                                                           .unit = i == 4 ? "us" : "1",
                                                           .better = "lower",
                                                           .method = "model",
                                                           .reproducible = true};
   sample->record = (rkb_candidate_record_t){.number = number,
                                             .section = RKB_SECTION_SEARCH,
                                             .promotion = RKB_PROMOTION_OPEN,
                                             .request = number - 1,
                                             .source = sample->source,
                                             .hash = sample->hash,
                                             .source_hash = sample->source_hash,
                                             .token_hash = sample->hash,
                                             .ptx_hash = sample->hash,
                                             .plan_hash = sample->hash,
                                             .cubin_hash = sample->hash,
                                             .tune = sample->tune,
                                             .operator_id = "tune",
                                             .task = "llama_rmsnorm",
                                             .direction = "forward",
                                             .note = "BLOCK 256 -> 128",
                                             .standing = "accept",
                                             .reason = "",
                                             .has_objective = true,
                                             .objective = (double)number / 7,
                                             .parent_count = number > 1 ? 1 : 0,
                                             .parents = sample->parents,
                                             .verdict_count = SAMPLE_VERDICTS,
                                             .verdicts = sample->verdicts,
                                             .measurement_count = SAMPLE_MEASUREMENTS,
                                             .measurements = sample->measurements};
}

int sample_put(rkb_archive_t *archive, int64_t number, rkb_error_t *err) {
   sample_candidate_t sample;
   rkb_request_record_t request = sample_request(number - 1, RKB_REQUEST_FINISHED);
   const rkb_candidate_record_t *candidates[] = {&sample.record};
   sample_candidate(&sample, number);
   return rkb_archive_put_screened(archive, &request, candidates, 1, err);
}
