/* rkb validate: checks a pipeline file without running it, and lists the cells of a sweep.  Only the main
 * thread. */
#include <stdio.h>
#include "cli/commands.h"
#include "cli/shared/plugin_sandbox.h"
#include "cli/shared/pipeline_file.h"

static int run(const rkb_arguments_t *arguments) {
   int code;
   if (rkb_look_confined(&code)) {
      if (code == RKB_EXIT_OK && !rkb_argument_given(arguments, "resolved"))
         /* The file is valid even if a model is not reachable. */
         rkb_say_models(arguments, rkb_positional(arguments, 0));
      return code;
   }
   rkb_pipeline_t *pipeline = rkb_open_pipeline(arguments, rkb_positional(arguments, 0));
   uint32_t cells;
   if (!pipeline)
      return RKB_EXIT_USAGE;
   cells = rkb_pipeline_cell_count(pipeline);
   if (rkb_argument_given(arguments, "resolved"))
      fputs(rkb_pipeline_text(pipeline), stdout);
   else
      printf("%s is valid%s\n", rkb_pipeline_path(pipeline), cells ? "; its sweep runs" : "");
   for (uint32_t i = 0; i < cells && !rkb_argument_given(arguments, "resolved"); i++)
      printf("%4u  %s\n", i + 1, rkb_pipeline_cell(pipeline, i)->name);
   rkb_pipeline_free(pipeline);
   return RKB_EXIT_OK;
}

static const rkb_cli_option_t options[] = {
   RKB_PIPELINE_OPTIONS,
   {"resolved", NULL, "Print the pipeline with everything filled in.", false},
   {NULL, NULL, NULL, false},
};

const rkb_command_t rkb_command_validate = {
   .name = "validate",
   .arguments = "PIPELINE",
   .summary = "Check a pipeline file and report every problem at once.",
   .details = "It also says which of the pipeline's language models cannot be asked now.\nExit: 0 valid, 2 not.\n",
   .options = options,
   .least = 1,
   .most = 1,
   .run = run,
};
