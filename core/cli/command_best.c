/* rkb best: writes a run's best accepted candidate as one self-contained file.  Only the main thread. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "base/memory.h"
#include "cli/commands.h"
#include "cli/shared/run_archive.h"
#include "kernel/kernel.h"

/* Prints the summary, after the kernel was written. */
static void print_summary(rkb_archive_t *archive, const rkb_candidate_record_t *best, const char *out) {
   char *objective = rkb_archive_get_fact(archive, "objective");
   char *tune = rkb_spell_tune(best->tune);
   fprintf(stderr, "candidate %" PRId64 ": %s = %.6g%s%s\n", best->number,
           objective ? objective : "objective", best->objective,
           rkb_objective_unit(best, objective)[0] ? " " : "", rkb_objective_unit(best, objective));
   fprintf(stderr, "made by %s%s%s; tune: %s\n", best->operator_id, best->note ? ", " : "",
           best->note ? best->note : "", tune && tune[0] ? tune : "none");
   if (!rkb_was_executed(best))
      fprintf(stderr, "not verified by execution: no stage of this run executed it\n");
   if (out)
      fprintf(stderr, "wrote %s\n", out);
   free(tune);
   free(objective);
}

/* The kernel's text with the tune assignment as its manifest's defaults, to a file or to standard output. */
static int write_kernel(const rkb_candidate_record_t *best, const char *path) {
   rkb_error_t err;
   char *text = NULL;
   int code = RKB_EXIT_OK;
   if (rkb_tune_write(best->source, best->tune, &text, &err) != RKB_OK) {
      fprintf(stderr, "the tune assignment is not written in: %s\n", err.message);
      text = rkb_duplicate(best->source);
   }
   if (path && rkb_file_write(path, text, strlen(text), &err) != RKB_OK)
      code = rkb_say_error(&err);
   else if (!path && (fputs(text, stdout) == EOF || fflush(stdout) != 0))
      code = RKB_EXIT_BROKEN; /* the caller prints why the command ends */
   free(text);
   return code;
}

static int tell(rkb_archive_t *archive, const rkb_arguments_t *arguments,
                const rkb_candidate_record_t *best) {
   const char *out = rkb_argument(arguments, "out");
   const bool json = rkb_argument_given(arguments, "json");
   int code = out || !json ? write_kernel(best, out) : RKB_EXIT_OK;
   if (code == RKB_EXIT_OK && json)
      code = rkb_print_json(rkb_candidate_json(best, true));
   else if (code == RKB_EXIT_OK)
      print_summary(archive, best, out);
   return code == RKB_EXIT_OK && !rkb_was_executed(best) ? RKB_EXIT_NOTHING : code;
}

/* Says why there is no best candidate, because the user's next step depends on it. */
static int tell_none(rkb_archive_t *archive) {
   rkb_archive_counts_t counts;
   rkb_error_t err;
   if (rkb_archive_count(archive, &counts, &err) != RKB_OK)
      return rkb_say_error(&err);
   if (counts.candidates == 0)
      fprintf(stderr, "this run has no finished candidate yet\n");
   else if (counts.accepted == 0)
      fprintf(stderr, "none of this run's %" PRId64 " candidates was accepted; 'rkb report %s' says why\n",
              counts.candidates, rkb_archive_directory(archive));
   else
      fprintf(stderr, "%" PRId64 " candidates were accepted, and none has the objective's measurement\n",
              counts.accepted);
   return RKB_EXIT_NOTHING;
}

static int run(const rkb_arguments_t *arguments) {
   rkb_error_t err;
   rkb_candidate_record_t *best = NULL;
   int64_t number = 0;
   int code;
   rkb_archive_t *archive = rkb_open_run(rkb_positional(arguments, 0));
   if (!archive)
      return RKB_EXIT_USAGE;
   if (rkb_best_candidate(archive, &number, &err) != RKB_OK)
      code = rkb_say_error(&err);
   else if (number == 0)
      code = tell_none(archive);
   else if (rkb_archive_load_candidate(archive, number, &best, &err) != RKB_OK)
      code = rkb_say_error(&err);
   else
      code = tell(archive, arguments, best);
   rkb_candidate_record_free(best);
   rkb_archive_close(archive);
   return code;
}

static const rkb_cli_option_t options[] = {
   {"out", "FILE.cu", "Write the kernel there instead of to standard output.", false},
   {"json", NULL, "Print everything about it as JSON instead.", false},
   {NULL, NULL, NULL, false},
};

const rkb_command_t rkb_command_best = {
   .name = "best",
   .arguments = "DIR",
   .summary = "Print a run's best accepted kernel.",
   .details =
      "Prints the kernel's text to standard output, with its tune values as the manifest's defaults, so that 'rkb check'\n"
      "of that file finds what the run found.  Prints a summary to standard error.  Only accepted candidates with the\n"
      "objective's measurement count.  DIR may be a run in progress.\n"
      "Exit: 0 found, 1 none was accepted or the best was not verified by execution, 2 no such run.\n",
   .options = options,
   .least = 1,
   .most = 1,
   .run = run,
};
