/* rkb best: a run's best accepted candidate.  The main thread alone. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "cli/commands.h"
#include "cli/run_archive.h"

static int print_best(rkb_archive_t *archive, const rkb_candidate_record_t *best, bool as_json) {
   char *objective, *tune;
   if (as_json)
      return rkb_print_json(rkb_candidate_json(best, true));
   objective = rkb_archive_get_fact(archive, "objective");
   tune = rkb_spell_tune(best->tune);
   printf("candidate %" PRId64 ": %s = %.6g %s\n", best->number, objective ? objective : "objective", best->objective,
          rkb_objective_unit(best, objective));
   printf("made by %s%s%s; tune: %s\n", best->operator_id, best->note ? ", " : "", best->note ? best->note : "",
          tune && tune[0] ? tune : "(defaults)");
   if (!rkb_was_executed(best))
      printf("not verified by execution: no stage of this run executed it\n");
   free(tune);
   free(objective);
   return RKB_EXIT_OK;
}

static int write_source(const rkb_candidate_record_t *best, const char *path) {
   rkb_error_t err;
   if (rkb_file_write(path, best->source, strlen(best->source), &err) != RKB_OK)
      return rkb_say_error(&err);
   fprintf(stderr, "wrote %s\n", path);
   return RKB_EXIT_OK;
}

static int run(const rkb_arguments_t *arguments) {
   rkb_error_t err;
   rkb_candidate_record_t *best = NULL;
   const char *out = rkb_argument(arguments, "out");
   int64_t number = 0;
   int code = RKB_EXIT_OK;
   rkb_archive_t *archive = rkb_open_run(rkb_positional(arguments, 0));
   if (!archive)
      return RKB_EXIT_USAGE;
   if (rkb_best_candidate(archive, &number, &err) != RKB_OK) {
      code = rkb_say_error(&err);
      goto close_archive;
   }
   if (number == 0) {
      printf("no accepted candidate of this run has the objective's measurement\n");
      code = RKB_EXIT_NOTHING;
      goto close_archive;
   }
   if (rkb_archive_load_candidate(archive, number, &best, &err) != RKB_OK) {
      code = rkb_say_error(&err);
      goto close_archive;
   }
   code = print_best(archive, best, rkb_argument_given(arguments, "json"));
   if (code == RKB_EXIT_OK && out)
      code = write_source(best, out);
   if (code == RKB_EXIT_OK && !rkb_was_executed(best))
      code = RKB_EXIT_NOTHING;
   rkb_candidate_record_free(best);

close_archive:
   rkb_archive_close(archive);
   return code;
}

static const rkb_cli_option_t options[] = {
   {"out", "FILE.cu", "Write its source there.", false},
   {"json", NULL, "Print everything about it as JSON.", false},
   {NULL, NULL, NULL, false},
};

const rkb_command_t rkb_command_best = {
   .name = "best",
   .arguments = "DIR",
   .summary = "Tell a run's best accepted candidate.",
   .details = "Only accepted candidates count, and only those with the objective's measurement.\n"
              "Exit: 0 found, 1 none was accepted or the best was not verified by execution, 2 no such run.\n",
   .options = options,
   .least = 1,
   .most = 1,
   .run = run,
};
