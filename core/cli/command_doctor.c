/* rkb doctor: lists the tools that this machine has and lacks, what a missing tool disables, and how to get
 * it.  Only the main thread. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/file.h"
#include "cli/commands.h"
#include "cli/shared/installed_tools.h"

/* Runs the survey of the checking machine.  The survey is a program that a plugin's library contains; it
 * replaces this process. */
static int survey_ptx(const char *path) {
   char *program = rkb_find_program("rkb-ptx-survey");
   if (!program) {
      fprintf(stderr,
              "rkb-ptx-survey is not installed beside rkb; it comes with the plugin rkb.verifier.machine\n");
      return RKB_EXIT_BROKEN;
   }
   fflush(NULL);
   execl(program, program, path, (char *)NULL);
   fprintf(stderr, "cannot start %s: %s\n", program, strerror(errno));
   free(program);
   return RKB_EXIT_BROKEN;
}

static int run(const rkb_arguments_t *arguments) {
   rkb_tool_report_t report;
   int missing = 0;
   if (rkb_argument_given(arguments, "ptx"))
      return survey_ptx(rkb_argument(arguments, "ptx"));
   for (int tool = 0; tool < RKB_TOOL_COUNT; tool++) {
      rkb_tool_look((enum rkb_tool)tool, &report);
      printf("%-7s %-22s %s\n", report.found ? "ok" : "missing", report.name, report.detail);
      if (!report.found)
         printf("        without it: %s\n        to get it:  %s\n", report.disables, report.remedy);
      missing += !report.found;
   }
   return missing == 0 ? RKB_EXIT_OK : RKB_EXIT_NOTHING;
}

static const rkb_cli_option_t options[] = {
   {"ptx", "FILE", "Instead, list what this PTX file uses and the checking machine cannot execute.", false},
   {NULL, NULL, NULL, false},
};

const rkb_command_t rkb_command_doctor = {
   .name = "doctor",
   .arguments = "",
   .summary = "Show what this machine has and what is missing.",
   .details =
      "Exit: 0 when everything was found, 1 when something is missing, 2 when the PTX file cannot be read.\n",
   .options = options,
   .run = run,
};
