/* rkb plugins: lists every stage and strategy that can be used, and its file.  Only the main thread. */
#include <stdio.h>
#include "cli/commands.h"
#include "cli/shared/pipeline_file.h"

static void print_object(const rkb_registry_t *registry, const rkb_registry_object_t *object,
                         bool with_path) {
   const rkb_plugin_t *plugin = object->plugin;
   const char *hash = with_path ? rkb_registry_hash(registry, object) : NULL;
   for (const rkb_stage_t *const *stage = plugin->stages; stage && *stage; stage++)
      printf("%-34s %-10s %s\n", (*stage)->id, plugin->version, (*stage)->summary);
   for (const struct rkb_strategy *const *strategy = plugin->strategies; strategy && *strategy; strategy++)
      printf("%-34s %-10s %s\n", (*strategy)->id, plugin->version, (*strategy)->summary);
   if (with_path)
      printf("  %s  %s\n", hash ? hash : "(unreadable)", object->path);
}

static int run(const rkb_arguments_t *arguments) {
   rkb_problems_t problems;
   rkb_registry_t *registry;
   bool broken;
   rkb_problems_init(&problems);
   registry = rkb_registry_open(NULL, rkb_argument_list(arguments, "plugin-path"), &problems);
   for (uint32_t i = 0; registry && i < rkb_registry_count(registry); i++)
      print_object(registry, rkb_registry_at(registry, i), rkb_argument_given(arguments, "paths"));
   broken = !registry || problems.errors + problems.warnings > 0;
   rkb_say_problems(&problems);
   rkb_registry_free(registry);
   return broken ? RKB_EXIT_BROKEN : RKB_EXIT_OK;
}

static const rkb_cli_option_t options[] = {
   {"plugin-path", "PATH", "Look in this file or directory too.", true},
   {"paths", NULL, "Show each plugin's file and hash.", false},
   {NULL, NULL, NULL, false},
};

const rkb_command_t rkb_command_plugins = {
   .name = "plugins",
   .arguments = "",
   .summary = "List the stages and strategies that you can use.",
   .details = "Looks in --plugin-path, RKB_PLUGIN_PATH and rkb's own directory.\n"
              "Exit: 0, or 3 when a plugin was refused.\n",
   .options = options,
   .run = run,
};
