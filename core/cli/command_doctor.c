/* rkb doctor: what this machine has, what is missing, what that disables and how to get it.  The main thread alone. */
#include <stdio.h>
#include "cli/commands.h"
#include "cli/tools.h"

static int run(const rkb_arguments_t *arguments) {
   rkb_tool_report_t report;
   int missing = 0;
   (void)arguments;
   for (int tool = 0; tool < RKB_TOOL_COUNT; tool++) {
      rkb_tool_look((enum rkb_tool)tool, &report);
      printf("%-7s %-22s %s\n", report.found ? "ok" : "missing", report.name, report.detail);
      if (!report.found)
         printf("        without it: %s\n        to get it:  %s\n", report.disables, report.remedy);
      missing += !report.found;
   }
   return missing == 0 ? RKB_EXIT_OK : RKB_EXIT_NOTHING;
}

static const rkb_cli_option_t options[] = {{NULL, NULL, NULL, false}};

const rkb_command_t rkb_command_doctor = {
   .name = "doctor",
   .arguments = "",
   .summary = "Tell what this machine has and what is missing.",
   .details = "Exit: 0 when everything was found, 1 when something is missing.\n",
   .options = options,
   .run = run,
};
