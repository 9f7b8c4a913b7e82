/* rkb help: prints a stage's or strategy's options, or the keys of a pipeline file or of a kernel's manifest,
 * from the tables that the program checks them with.  Only the main thread. */
#include <stdio.h>
#include <string.h>
#include "cli/commands.h"
#include "cli/key_reference.h"
#include "cli/option_reference.h"
#include "cli/shared/pipeline_file.h"

static void print_names(const char *label, const char *const *names) {
   if (!names || !names[0])
      return;
   printf("%-10s", label);
   for (; *names; names++)
      printf(" %s", *names);
   printf("\n");
}

static void print_stage(const rkb_stage_t *stage, const rkb_registry_object_t *object) {
   printf("%s\n%s\n\n%-10s %s\n", stage->id, stage->summary, "kind", rkb_kind_name(stage->kind));
   print_names("accepts", stage->accepts);
   print_names("emits", stage->emits);
   print_names("measures", stage->measures);
   print_names("needs", RKB_NEEDS(stage));
   printf("%-10s%s%s%s%s%s%s\n", "is",
          stage->flags & RKB_STAGE_DETERMINISTIC ? " deterministic" : " not deterministic",
          stage->flags & RKB_STAGE_EXECUTES ? ", executes the candidate" : "",
          stage->flags & RKB_STAGE_NEEDS_BUILD ? ", needs the build" : "",
          stage->flags & RKB_STAGE_EXCLUSIVE_GPU ? ", needs a GPU of its own" : "",
          stage->flags & RKB_STAGE_WAITS ? ", mostly waits" : "",
          stage->flags & RKB_STAGE_SERIAL ? ", one job at a time" : "");
   printf("%-10s %s %s\n\noptions%s\n", "from", object->plugin->version, object->path,
          stage->option_count ? "" : ": none");
   rkb_print_options(stage->options, stage->option_count, stage->option_size);
}

static void print_strategy(const rkb_strategy_t *strategy, const rkb_registry_object_t *object) {
   printf("%s\n%s\n\n%-10s %s\n%-10s %s %s\n\noptions%s\n", strategy->id, strategy->summary, "kind",
          "strategy", "from", object->plugin->version, object->path, strategy->option_count ? "" : ": none");
   rkb_print_options(strategy->options, strategy->option_count, strategy->option_size);
}

static int help(const rkb_registry_t *registry, const char *id) {
   const rkb_registry_object_t *object = NULL;
   const rkb_stage_t *stage = rkb_registry_stage(registry, id, &object);
   const rkb_strategy_t *strategy = stage ? NULL : rkb_registry_strategy(registry, id, &object);
   const char *near;
   if (stage)
      print_stage(stage, object);
   else if (strategy)
      print_strategy(strategy, object);
   if (stage || strategy)
      return RKB_EXIT_OK;
   near = rkb_registry_nearest(registry, id);
   fprintf(stderr, "no plugin has a stage or strategy '%s'", id);
   if (near)
      fprintf(stderr, "; did you mean '%s'?", near);
   fprintf(stderr, "%s 'rkb plugins' lists them, 'rkb COMMAND --help' tells about a command\n",
           near ? "" : ";");
   return RKB_EXIT_USAGE;
}

static int run(const rkb_arguments_t *arguments) {
   rkb_problems_t problems;
   rkb_registry_t *registry;
   int code = RKB_EXIT_BROKEN;
   const char *subject = rkb_positional(arguments, 0);
   if (rkb_argument_given(arguments, "keys"))
      return rkb_print_key_table(rkb_argument(arguments, "keys"));
   if (subject && strcmp(subject, "pipeline") == 0) {
      rkb_print_pipeline_keys();
      return RKB_EXIT_OK;
   }
   if (subject && strcmp(subject, "manifest") == 0) {
      rkb_print_manifest_keys();
      return RKB_EXIT_OK;
   }
   if (!subject && !rkb_argument_given(arguments, "reference")) {
      fprintf(
         stderr,
         "usage: rkb help STAGE|COMMAND|pipeline|manifest; 'rkb plugins' lists stages, 'rkb --help' commands\n");
      return RKB_EXIT_USAGE;
   }
   rkb_problems_init(&problems);
   registry = rkb_registry_open(NULL, rkb_argument_list(arguments, "plugin-path"), &problems);
   rkb_say_problems(&problems);
   if (registry && rkb_argument_given(arguments, "reference"))
      code = rkb_print_option_reference(registry);
   else if (registry)
      code = help(registry, subject);
   rkb_registry_free(registry);
   return code;
}

static const rkb_cli_option_t options[] = {
   {"plugin-path", "PATH", "Look for plugins in this file or directory too.", true},
   {"reference", NULL, "Print the options of every stage as Markdown (for docs/options.md).", false},
   {"keys", "PART",
    "Print keys as Markdown, part file, entry or model (for docs/pipeline-files.md and docs/language-models.md).",
    false},
   {NULL, NULL, NULL, false},
};

const rkb_command_t rkb_command_help = {
   .name = "help",
   .arguments = "[STAGE|COMMAND|pipeline|manifest]",
   .summary =
      "Show the options of a stage, a strategy or a command, or the keys of a pipeline file or of a kernel's manifest.",
   .details =
      "STAGE is an id such as rkb.verifier.lint; 'rkb plugins' lists them.  Alone, it lists the commands.\n"
      "'rkb help pipeline' lists the keys of a pipeline file, 'rkb help manifest' those of the comment in a kernel's .cu:\n"
      "its launches with grid, block, cluster and dependent, tune parameters, scratch buffers and tensor maps.\n"
      "Exit: 0, or 2 when there is no such stage.\n",
   .options = options,
   .least = 0,
   .most = 1,
   .run = run,
};
