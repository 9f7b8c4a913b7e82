/* rkb report: a finished run on one screen.  The main thread alone. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include "cli/commands.h"
#include "cli/calibration.h"
#include "cli/run_archive.h"

static void print_fact(rkb_archive_t *archive, const char *key, const char *label) {
   char *value = rkb_archive_get_fact(archive, key);
   if (value && value[0])
      printf("%-12s %s\n", label, value);
   free(value);
}

static int print_reason(void *argument, const char *stage, const char *standing, const char *reason, int64_t count) {
   bool *any = argument;
   if (!*any)
      printf("\nwhat stopped or marked candidates\n");
   *any = true;
   printf("  %6" PRId64 "  %-14s %-8s %s\n", count, stage, standing, reason);
   return RKB_OK;
}

/* The accepted candidates that were the best when they came, in the order of their numbers. */
static int print_progress(rkb_archive_t *archive, rkb_error_t *err) {
   int64_t *numbers = NULL;
   uint32_t count = 0;
   double first = NAN, best = INFINITY;
   int status = rkb_archive_candidates(archive, 0, 0, &numbers, &count, err);
   for (uint32_t i = 0; status == RKB_OK && i < count; i++) {
      rkb_candidate_record_t *candidate = NULL;
      status = rkb_archive_load_candidate(archive, numbers[i], &candidate, err);
      if (status != RKB_OK)
         break;
      if (candidate->has_objective && candidate->standing[0] == 'a' && candidate->objective < best) {
         if (isnan(first)) {
            first = candidate->objective;
            printf("\nbest so far\n");
         }
         best = candidate->objective;
         printf("  %6" PRId64 "  %12.6g  x%-7.3f %-12s %s\n", candidate->number, best, first / best, candidate->operator_id,
                candidate->note ? candidate->note : "");
      }
      rkb_candidate_record_free(candidate);
   }
   free(numbers);
   return status;
}

static int report(rkb_archive_t *archive, rkb_error_t *err) {
   rkb_archive_counts_t counts;
   double usd = 0;
   bool any_reason = false;
   int status = rkb_archive_count(archive, &counts, err);
   if (status == RKB_OK)
      status = rkb_archive_cost(archive, &usd, err);
   if (status != RKB_OK)
      return status;
   print_fact(archive, "name", "pipeline");
   print_fact(archive, "task", "task");
   print_fact(archive, "direction", "direction");
   print_fact(archive, "target", "target");
   print_fact(archive, "objective", "objective");
   print_fact(archive, "seed", "seed");
   print_fact(archive, "ended", "ended");
   printf("%-12s %" PRId64 " requests gave %" PRId64 " candidates: %" PRId64 " accepted, %" PRId64 " suspect, %" PRId64
          " unknown, %" PRId64 " rejected; %" PRId64 " duplicates, %" PRId64 " promoted\n",
          "found", counts.requests, counts.candidates, counts.accepted, counts.suspect, counts.unknown, counts.rejected,
          counts.duplicates, counts.promoted);
   if (counts.calls > 0)
      printf("%-12s %" PRId64 " calls of language models, %.4f USD\n", "cost", counts.calls, usd);
   status = rkb_archive_each_reason(archive, print_reason, &any_reason, err);
   if (status == RKB_OK)
      status = rkb_calibration_print(archive, err);
   return status == RKB_OK ? print_progress(archive, err) : status;
}

static int run(const rkb_arguments_t *arguments) {
   rkb_error_t err;
   int status;
   rkb_archive_t *archive = rkb_open_run(rkb_positional(arguments, 0));
   if (!archive)
      return RKB_EXIT_USAGE;
   status = report(archive, &err);
   rkb_archive_close(archive);
   return status == RKB_OK ? RKB_EXIT_OK : rkb_say_error(&err);
}

static const rkb_cli_option_t options[] = {{NULL, NULL, NULL, false}};

const rkb_command_t rkb_command_report = {
   .name = "report",
   .arguments = "DIR",
   .summary = "Sum up a run: what was found, what was rejected and why, what judges were worth, how the best improved.",
   .details = "Exit: 0, or 2 when there is no such run.\n",
   .options = options,
   .least = 1,
   .most = 1,
   .run = run,
};
