/* rkb check: one candidate through a pipeline's screen, archived nowhere. */
#include "cli/candidate_check.h"
#include "cli/commands.h"

static const rkb_cli_option_t options[] = {
   RKB_CHECK_OPTIONS,
   {NULL, NULL, NULL, false},
};

const rkb_command_t rkb_command_check = {
   .name = "check",
   .arguments = "FILE.cu",
   .summary = "Screen one candidate: is it right, and how fast will it be.",
   .details =
      "Without --task the task is the directory that the file lies in, or tasks/<manifest's task>, looked for upwards from\n"
      "the file, or the shipped one of that name.\n"
      "Exit: 0 accept (or suspect), 1 reject (or suspect with --strict), 2 usage or unreadable file, 3 unknown or a\n"
      "broken tool.\n",
   .options = options,
   .least = 1,
   .most = 1,
   .run = rkb_candidate_check,
};
