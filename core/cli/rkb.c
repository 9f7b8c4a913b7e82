/* rkb: every command except the running of pipelines.  Picks the command; each command has a file
 * command_<name>.c. */
#include <stdio.h>
#include <string.h>
#include "base/nearest_name.h"
#include "cli/commands.h"
#include "cli/shared/manual_page.h"

static const rkb_command_t *const commands[] = {
   &rkb_command_bench,   &rkb_command_best,   &rkb_command_build,    &rkb_command_cases,
   &rkb_command_check,   &rkb_command_diff,   &rkb_command_doctor,   &rkb_command_expected,
   &rkb_command_export,  &rkb_command_help,   &rkb_command_judge,    &rkb_command_library, &rkb_command_pipelines,
   &rkb_command_plugins, &rkb_command_replay, &rkb_command_report,   &rkb_command_serve, &rkb_command_show,
   &rkb_command_task,    &rkb_command_tasks,  &rkb_command_validate,
};
enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static void print_commands(FILE *out) {
   fprintf(
      out,
      "usage: rkb COMMAND [OPTION]... [ARGUMENT]...\n\n"
      "Shows and checks pipelines, plugins, tasks, kernels and runs.  To run a pipeline, use rkb-run.\n\nCommands:\n");
   for (int i = 0; i < COMMAND_COUNT; i++)
      fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
   fprintf(
      out,
      "\n'rkb COMMAND --help' describes a command, 'rkb help pipeline' a pipeline file, 'rkb help manifest' the comment in a\n"
      "kernel's .cu that says how it is launched.\n");
}

static int unknown_command(const char *written) {
   const char *names[COMMAND_COUNT + 1] = {NULL};
   const char *near;
   for (int i = 0; i < COMMAND_COUNT; i++)
      names[i] = commands[i]->name;
   if (strcmp(written, "run") == 0)
      near = "rkb-run";
   else if (strcmp(written, "version") == 0)
      near = "rkb --version";
   else
      near = rkb_nearest(written, names);
   fprintf(stderr, "rkb has no command '%s'", written);
   if (near)
      fprintf(stderr, "; did you mean '%s'?", near);
   fprintf(stderr, "%s 'rkb --help' lists the commands\n", near ? "" : ";");
   return RKB_EXIT_USAGE;
}

static const rkb_command_t *command_named(const char *name) {
   for (int i = 0; i < COMMAND_COUNT; i++)
      if (strcmp(name, commands[i]->name) == 0)
         return commands[i];
   return NULL;
}

static int run_command(const rkb_command_t *command, int count, char **argv) {
   char program[64];
   snprintf(program, sizeof program, "rkb %s", command->name);
   return rkb_command_main(command, program, count, argv);
}

int main(int count, char **argv) {
   if (count < 2) {
      print_commands(stderr);
      return RKB_EXIT_USAGE;
   }
   const bool help = strcmp(argv[1], rkb_command_help.name) == 0;
   if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || (help && count == 2)) {
      print_commands(stdout);
      return rkb_flush_result(RKB_EXIT_OK);
   }
   if (strcmp(argv[1], "--man") == 0) {
      rkb_manual_overview(commands, COMMAND_COUNT);
      return rkb_flush_result(RKB_EXIT_OK);
   }
   if (strcmp(argv[1], "--version") == 0) {
      printf("rkb %s\n", RKB_VERSION);
      return rkb_flush_result(RKB_EXIT_OK);
   }
   const rkb_command_t *command = command_named(argv[1]), *asked = help && count == 3 ? command_named(argv[2]) : NULL;
   if (asked)
      return run_command(asked, 2, (char *[]){argv[2], "--help", NULL});
   return command ? run_command(command, count - 1, argv + 1) : unknown_command(argv[1]);
}
