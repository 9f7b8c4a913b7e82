/* rkb diff: compares two runs, without times.  Only the main thread. */
#include <inttypes.h>
#include <stdio.h>
#include "base/units.h"
#include "cli/commands.h"
#include "cli/shared/run_archive.h"

enum { SHOWN = 50 };

static void say(void *argument, const char *line) {
   (void)argument;
   printf("%s\n", line);
}

static int run(const rkb_arguments_t *arguments) {
   rkb_error_t err;
   rkb_archive_difference_t result;
   int64_t limit = SHOWN;
   int status, code = RKB_EXIT_USAGE;
   const char *wanted = rkb_argument(arguments, "most");
   rkb_archive_t *left = NULL, *right = NULL;
   if (wanted && (!rkb_parse_int(wanted, &limit) || limit < 0)) {
      fprintf(stderr, "--most wants a number of lines, not '%s'\n", wanted);
      return RKB_EXIT_USAGE;
   }
   left = rkb_open_run(rkb_positional(arguments, 0));
   if (!left)
      return RKB_EXIT_USAGE;
   right = rkb_open_run(rkb_positional(arguments, 1));
   if (!right)
      goto close_left;
   status = rkb_archive_compare(left, right, limit, say, NULL, &result, &err);
   if (status != RKB_OK) {
      code = rkb_say_error(&err);
      goto close_right;
   }
   if (result.differences > limit)
      printf("and %" PRId64 " more\n", result.differences - limit);
   printf("%" PRId64 " difference%s in %" PRId64 " rows", result.differences,
          result.differences == 1 ? "" : "s", result.compared);
   if (result.left_out > 0)
      printf("; %" PRId64 " rows from stages that promise no reproducibility were not compared",
             result.left_out);
   printf("\n");
   if (result.differences && result.limited)
      printf(
         "the build of candidate %" PRId64
         " met a limit of the compiler in the %s run alone, which depends on how busy a machine is: what the search did after it may "
         "differ for that\n",
         result.limited, result.limited_side ? "second" : "first");
   code = result.differences == 0 ? RKB_EXIT_OK : RKB_EXIT_NOTHING;

close_right:
   rkb_archive_close(right);
close_left:
   rkb_archive_close(left);
   return code;
}

static const rkb_cli_option_t options[] = {
   {"most", "N", "Print at most N differences (default 50).", false},
   {NULL, NULL, NULL, false},
};

const rkb_command_t rkb_command_diff = {
   .name = "diff",
   .arguments = "DIR DIR",
   .summary = "Compare two runs, leaving out times.",
   .details =
      "Compares requests, candidates, verdicts, measurements and the strategy's dialogue.  Leaves out times, paths and\n"
      "the results of stages that are not reproducible, and says how many such results there are.\n"
      "Exit: 0 equal, 1 different, 2 no such run.\n",
   .options = options,
   .least = 2,
   .most = 2,
   .run = run,
};
