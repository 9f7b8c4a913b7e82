/* rkb-plugin-test: checks a plugin against the contract of rkb/plugin.h, items.h and strategy.h, and names the clause that it
 * breaks.  Checks the object file first, then its declarations, then each stage in a process of its own. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/text.h"
#include "cli/shared/arguments.h"
#include "tools/plugin_test/symbols.h"
#include "tools/plugin_test/trial.h"
#include "plugin/registry.h"

enum { TRIAL_SECONDS = 20, TASK_SECONDS = 600, BROKEN_BIT = 1, UNTRIED_BIT = 2 };

/* Loads the plugin; the registry reports what is wrong with the object: magic, ABI, sizes, ids, tables. */
static const rkb_plugin_t *load(const char *path, report_t *report) {
   const char *const first[] = {path, NULL};
   char *absolute = realpath(path, NULL);
   const rkb_plugin_t *plugin = NULL;
   rkb_problems_t problems;
   rkb_registry_t *registry;
   rkb_problems_init(&problems);
   registry = rkb_registry_open(first, NULL, &problems);
   for (uint32_t i = 0; registry && absolute && i < rkb_registry_count(registry); i++)
      if (strcmp(rkb_registry_at(registry, i)->path, absolute) == 0)
         plugin = rkb_registry_at(registry, i)->plugin;
   for (uint32_t i = 0; i < problems.count; i++)
      if (problems.list[i].file && absolute && strcmp(problems.list[i].file, absolute) == 0)
         report_broken(report, "%s", problems.list[i].message);
   if (plugin)
      report_kept(report, "it loads, and what it declares is sound");
   else if (report->broken == 0)
      report_broken(report, "it was not loaded");
   rkb_registry_free(registry);
   rkb_problems_free(&problems);
   free(absolute);
   return plugin;
}

/* Runs one trial in a child process, so that a crash or a hang becomes a line of the report. */
static void try(const rkb_stage_t *stage, const rkb_strategy_t *strategy, const char *with, const task_trial_t *task,
                report_t *report) {
   const char *id = stage ? stage->id : strategy->id;
   const int seconds = task ? TASK_SECONDS : TRIAL_SECONDS;
   int outcome = 0;
   pid_t child;
   fflush(NULL);
   child = fork();
   if (child < 0) {
      report_untried(report, "%s: cannot start a process: %s", id, strerror(errno));
      return;
   }
   if (child == 0) {
      report_t own = {.kept = 0};
      alarm((unsigned)seconds);
      if (task)
         task_trial(stage, with, task, &own);
      else if (stage)
         stage_trial(stage, with, &own);
      else
         strategy_trial(strategy, with, &own);
      fflush(NULL);
      _exit((own.broken ? BROKEN_BIT : 0) | (own.untried ? UNTRIED_BIT : 0));
   }
   while (waitpid(child, &outcome, 0) < 0 && errno == EINTR)
      ;
   if (WIFSIGNALED(outcome) && WTERMSIG(outcome) == SIGALRM)
      report_broken(report, "%s: it did not return within %d s", id, seconds);
   else if (WIFSIGNALED(outcome))
      report_broken(report, "%s: it crashed with signal %d (%s)", id, WTERMSIG(outcome),
                    strsignal(WTERMSIG(outcome)));
   else if (WEXITSTATUS(outcome) & ~(BROKEN_BIT | UNTRIED_BIT))
      report_broken(report, "%s: it ended the process with code %d", id, WEXITSTATUS(outcome));
   report->broken += WIFEXITED(outcome) && (WEXITSTATUS(outcome) & BROKEN_BIT);
   report->untried += WIFEXITED(outcome) && (WEXITSTATUS(outcome) & UNTRIED_BIT) != 0;
}

/* Tries stages that need a task, a build or real kernels, in runs of the engine. */
static void try_with_task(const rkb_plugin_t *plugin, const char *with, const task_trial_t *task, report_t *report) {
   for (const rkb_stage_t *const *stage = plugin->stages; stage && *stage; stage++)
      try(*stage, NULL, with, task, report);
}

static int run(const rkb_arguments_t *arguments) {
   const char *path = rkb_positional(arguments, 0), *with = rkb_argument(arguments, "with");
   const task_trial_t task = {.plugin = path, .task = rkb_argument(arguments, "task"), .direction = rkb_argument(arguments, "direction")};
   const rkb_plugin_t *plugin;
   report_t report = {.kept = 0};
   if (access(path, R_OK) != 0) {
      fprintf(stderr, "cannot read %s: %s\n", path, strerror(errno));
      return RKB_EXIT_USAGE;
   }
   symbols_check(path, &report);
   plugin = load(path, &report);
   for (const rkb_stage_t *const *stage = plugin ? plugin->stages : NULL; stage && *stage; stage++)
      try(*stage, NULL, with, NULL, &report);
   for (const rkb_strategy_t *const *strategy = plugin ? plugin->strategies : NULL; strategy && *strategy;
        strategy++)
      try(NULL, *strategy, with, NULL, &report);
   if (plugin && task.task && !report.broken)
      try_with_task(plugin, with, &task, &report);
   if (report.broken > 0)
      printf("%s breaks the contract\n", path);
   else
      printf("%s keeps the contract%s\n", path, report.untried ? ", as far as could be tried here" : "");
   return report.broken > 0 ? RKB_EXIT_NOTHING : RKB_EXIT_OK;
}

static const rkb_cli_option_t options[] = {
   {"with", "YAML", "The stage's options, as after with: in a pipeline, e.g. '{byte: x}'.", false},
   {"task", "DIR", "Try each stage with this task's seed kernels too, a directory or the name of one that ships: real builds, real candidates.", false},
   {"direction", "NAME", "With --task: the task's direction, forward or backward.", false},
   {NULL, NULL, NULL, false},
};

static const rkb_command_t command = {
   .name = "rkb-plugin-test",
   .arguments = "PLUGIN.so",
   .summary = "Check a plugin against the contract, and say which clause it breaks.",
   .details =
      "Looks at the object's exports, loads it, checks its tables, and uses each stage and strategy in a process of its\n"
      "own: two instances, one job on a small sample, stop, destroy.  What needs a task, a build or a device is told\n"
      "as untried.  With --task each stage also runs in the engine, on the task's seed kernels and on what comes of them.\n"
      "Exit: 0 it keeps the contract, 1 it breaks it, 2 usage.\n",
   .options = options,
   .least = 1,
   .most = 1,
   .run = run,
};

int main(int count, char **argv) {
   return rkb_command_main(&command, "rkb-plugin-test", count, argv);
}
