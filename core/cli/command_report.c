/* rkb report: a run on one page (cli/report/).  The main thread alone. */
#include "cli/calibration.h"
#include "cli/commands.h"
#include "cli/report/run_report.h"
#include "cli/run_archive.h"

static int run(const rkb_arguments_t *arguments) {
   rkb_error_t err;
   json_t *report = NULL;
   int code = RKB_EXIT_OK;
   rkb_archive_t *archive = rkb_open_run(rkb_positional(arguments, 0));
   if (!archive)
      return RKB_EXIT_USAGE;
   if (rkb_report_make(archive, &report, &err) != RKB_OK) {
      code = rkb_say_error(&err);
   } else if (rkb_argument_given(arguments, "json")) {
      code = rkb_print_json(report); /* takes it */
   } else {
      rkb_report_print(report);
      json_decref(report);
      if (rkb_calibration_print(archive, &err) != RKB_OK)
         code = rkb_say_error(&err);
   }
   rkb_archive_close(archive);
   return code;
}

static const rkb_cli_option_t options[] = {
   {"json", NULL, "Print it as one JSON object.", false},
   {NULL, NULL, NULL, false},
};

const rkb_command_t rkb_command_report = {
   .name = "report",
   .arguments = "DIR",
   .summary =
      "Summarise a run: the best kernel and how it was found, what was rejected and why, what each operator gave.",
   .details = "DIR may be a run in progress.\nExit: 0, or 2 when there is no such run.\n",
   .options = options,
   .least = 1,
   .most = 1,
   .run = run,
};
