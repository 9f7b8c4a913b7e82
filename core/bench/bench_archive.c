/* rkb-bench-archive: how fast candidates are archived, one commit each.  Prints the rate and its ratio to the 5,000 a
 * second that the archive is meant to reach.  Single-threaded. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/usage.h"
#include "archive/archive.h"

enum { CANDIDATES = 20000, SOURCE_BYTES = 2048, VERDICTS = 3, MEASUREMENTS = 6, WANTED_PER_SECOND = 5000 };

static double now_seconds(void) {
   struct timespec now;
   clock_gettime(CLOCK_MONOTONIC, &now);
   return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int put_one(rkb_archive_t *archive, int64_t number, char *source, rkb_error_t *err) {
   static const char *const stages[VERDICTS] = {"lint", "build", "machine"};
   static const char *const names[MEASUREMENTS] = {"build.registers",    "build.spills",
                                                   "build.shared",       "machine.instructions",
                                                   "model.predicted_us", "model.bytes"};
   char hash[40], tune[64];
   rkb_verdict_record_t verdicts[VERDICTS];
   rkb_measurement_record_t measurements[MEASUREMENTS];
   const int64_t parent_number = number > 1 ? number - 1 : 0;
   const rkb_parent_record_t parent = {.number = parent_number, .role = "parent"};
   snprintf(hash, sizeof hash, "%032llx", (unsigned long long)number * 0x9e3779b97f4a7c15u);
   snprintf(tune, sizeof tune, "{\"BLOCK\":%lld,\"VEC\":4}", (long long)number);
   memcpy(source, hash, 32);
   for (int i = 0; i < VERDICTS; i++)
      verdicts[i] = (rkb_verdict_record_t){.stage = stages[i],
                                           .standing = "accept",
                                           .reason = "",
                                           .attempts = 1,
                                           .message = "every case agreed",
                                           .reproducible = true,
                                           .seconds = 0.01};
   for (int i = 0; i < MEASUREMENTS; i++)
      measurements[i] = (rkb_measurement_record_t){.name = names[i],
                                                   .value = (double)number / (i + 1),
                                                   .spread = -1,
                                                   .unit = "1",
                                                   .better = "lower",
                                                   .method = "model",
                                                   .reproducible = true};
   const rkb_request_record_t request = {.section = RKB_SECTION_SEARCH,
                                         .answer = RKB_ANSWER_OK,
                                         .number = number - 1,
                                         .state = RKB_REQUEST_FINISHED,
                                         .group = number / 8,
                                         .operator_id = "tune"};
   const rkb_candidate_record_t candidate = {.number = number,
                                             .section = RKB_SECTION_SEARCH,
                                             .request = number - 1,
                                             .source = source,
                                             .hash = hash,
                                             .source_hash = hash,
                                             .token_hash = hash,
                                             .ptx_hash = hash,
                                             .plan_hash = hash,
                                             .cubin_hash = hash,
                                             .tune = tune,
                                             .operator_id = "tune",
                                             .task = "bench",
                                             .direction = "forward",
                                             .standing = "accept",
                                             .has_objective = true,
                                             .objective = (double)number,
                                             .parents = &parent,
                                             .parent_count = 1,
                                             .verdicts = verdicts,
                                             .verdict_count = VERDICTS,
                                             .measurements = measurements,
                                             .measurement_count = MEASUREMENTS};
   const rkb_candidate_record_t *candidates[] = {&candidate};
   return rkb_archive_put_screened(archive, &request, candidates, 1, err);
}

static int run(const char *directory, rkb_error_t *err) {
   const rkb_run_identity_t identity = {.name = "bench",
                                        .pipeline_hash = "",
                                        .task = "bench",
                                        .task_hash = "",
                                        .direction = "forward",
                                        .target = "",
                                        .objective = ""};
   rkb_archive_t *archive = NULL;
   char source[SOURCE_BYTES + 1];
   double began, seconds;
   int status = rkb_archive_create(directory, &identity, &archive, err);
   if (status != RKB_OK)
      return status;
   memset(source, 'x', SOURCE_BYTES);
   source[SOURCE_BYTES] = '\0';
   began = now_seconds();
   for (int64_t number = 1; status == RKB_OK && number <= CANDIDATES; number++)
      status = put_one(archive, number, source, err);
   seconds = now_seconds() - began;
   rkb_archive_close(archive);
   if (status == RKB_OK)
      printf(
         "archive: %d candidates (%d verdicts, %d measurements, %d bytes of source, one commit each) in %.2f s: "
         "%.0f a second, %.2f times the %d wanted\n",
         CANDIDATES, VERDICTS, MEASUREMENTS, SOURCE_BYTES, seconds, CANDIDATES / seconds,
         CANDIDATES / seconds / WANTED_PER_SECOND, WANTED_PER_SECOND);
   return status;
}

int main(int argc, char **argv) {
   const int over = rkb_usage(
      argc, argv, 1,
      "usage: rkb-bench-archive [DIRECTORY]\n"
      "How fast candidates are archived, one commit each.  Writes a run below DIRECTORY (default: the current one) and leaves it there.\n");
   if (over >= 0)
      return over;
   rkb_error_t err;
   char *directory = NULL;
   int status;
   status = rkb_run_directory_make(argc == 2 ? argv[1] : ".", "bench", &directory, &err);
   if (status == RKB_OK)
      status = run(directory, &err);
   if (status != RKB_OK)
      fprintf(stderr, "rkb-bench-archive: %s\n", err.message);
   free(directory);
   return status == RKB_OK ? 0 : 3;
}
