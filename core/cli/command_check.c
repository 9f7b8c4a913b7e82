/* rkb check: puts one candidate through a pipeline's screen, without an archive. */
#include "cli/shared/candidate_check.h"
#include "cli/commands.h"

static const rkb_cli_option_t options[] = {
   RKB_CHECK_OPTIONS,
   {NULL, NULL, NULL, false},
};

const rkb_command_t rkb_command_check = {
   .name = "check",
   .arguments = "FILE.cu",
   .summary = "Check one kernel: whether it is right, and how fast it will be.",
   .details =
      "Without --task, rkb takes the task directory that the file lies in; else it looks for tasks/<manifest's task> from\n"
      "the file upwards; else it takes the shipped task of that name.\n"
      "'rkb help manifest' lists what the comment in FILE.cu may say of its launches: clusters (cluster:), dependent launches\n"
      "(dependent:), tensor maps (maps:) and the rest.\n"
      "The line 'tensor' under a verdict names the matrix instructions and asynchronous copies (mma.sync, wgmma, cp.async, ...)\n"
      "that some judged execution of the kernel came to, and those that the kernel names and no execution came to.\n"
      "Exit: 0 accept, 1 reject (or suspect with --strict), 2 usage or unreadable file, 3 unknown or a broken tool,\n"
      "4 suspect.\n",
   .options = options,
   .least = 1,
   .most = 1,
   .run = rkb_candidate_check,
};
