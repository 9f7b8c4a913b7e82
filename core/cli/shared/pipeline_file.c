/* Opens a pipeline file for a command.  Only the main thread. */
#include "cli/shared/pipeline_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "base/memory.h"
#include "base/shipped_files.h"
#include "base/text.h"
#include "base/units.h"
#include "archive/archive.h"
#include "llm/model_reachability.h"

enum { MAX_PROBLEM_TEXT = 256 << 10 };

void rkb_say_problems(rkb_problems_t *problems) {
   rkb_text_t text;
   rkb_text_init(&text, MAX_PROBLEM_TEXT);
   rkb_problems_write(problems, &text);
   fputs(rkb_text_get(&text), stderr);
   rkb_text_free(&text);
   rkb_problems_free(problems);
}

void rkb_say_absent(const char *folder, const char *path) {
   int number = errno;
   char *hint = number == ENOENT ? rkb_shipped_hint(folder, path) : NULL;
   fprintf(stderr, "cannot open %s: %s%s\n", path, strerror(number), hint ? hint : "");
   free(hint);
}

static bool is_run(const char *path) {
   char *kept = rkb_run_path_pipeline(path);
   bool is = kept && rkb_path_exists(kept);
   free(kept);
   return is;
}

rkb_pipeline_t *rkb_open_pipeline(const rkb_arguments_t *arguments, const char *path) {
   return rkb_open_pipeline_for(arguments, path, rkb_argument(arguments, "task"),
                                rkb_argument(arguments, "direction"));
}

/* The assignments of --set, followed by those of --workers, NULL-terminated.  Free *workers after them. */
static const char **list_assignments(const rkb_arguments_t *arguments, char **workers) {
   const char *const *set = rkb_argument_list(arguments, "set");
   const bool given = rkb_argument_known(arguments, "workers") && rkb_argument_given(arguments, "workers");
   size_t count = 0;
   while (set && set[count])
      count++;
   const char **list = rkb_allocate(count + 2, sizeof *list);
   for (size_t i = 0; i < count; i++)
      list[i] = set[i];
   *workers = given ? rkb_format("workers=%s", rkb_argument(arguments, "workers")) : NULL;
   list[count] = *workers;
   return list;
}

/* The pipeline that the command line names, and its changes; found, set and workers are owned. */
typedef struct named_pipeline {
   char *found, *workers;
   const char **set;
   rkb_pipeline_options_t options;
} named_pipeline_t;

static named_pipeline_t name_pipeline(const rkb_arguments_t *arguments, const char *path, const char *task, const char *direction) {
   named_pipeline_t named = {.found = rkb_find_named("pipelines", path)};
   named.set = list_assignments(arguments, &named.workers);
   named.options = (rkb_pipeline_options_t){.path = named.found ? named.found : path,
                                            .task = task,
                                            .direction = direction,
                                            .target = rkb_argument(arguments, "target"),
                                            .set = named.set,
                                            .plugin_paths = rkb_argument_list(arguments, "plugin-path")};
   return named;
}

static void free_named(named_pipeline_t *named) {
   free(named->set);
   free(named->workers);
   free(named->found);
}

rkb_pipeline_t *rkb_open_pipeline_for(const rkb_arguments_t *arguments, const char *path, const char *task,
                                      const char *direction) {
   named_pipeline_t named = name_pipeline(arguments, path, task, direction);
   rkb_problems_t problems;
   rkb_pipeline_t *pipeline = NULL;
   rkb_problems_init(&problems);
   if (!rkb_path_exists(named.options.path)) {
      rkb_say_absent("pipelines", named.options.path);
   } else if (is_run(named.options.path)) {
      fprintf(stderr,
              "%s is a run's directory, and a pipeline is a file; go on with the run with --resume %s\n",
              named.options.path, named.options.path);
   } else {
      pipeline = rkb_pipeline_open(&named.options, &problems);
      rkb_say_problems(&problems);
   }
   free_named(&named);
   return pipeline;
}

/* [runs on the thread that checks the models]; argument: the exit code so far. */
static void tell_absence(void *argument, const rkb_presence_report_t *report) {
   int *code = argument;
   if (rkb_reachability_is_good(report->state))
      return;
   if (report->state == RKB_PRESENCE_NO_KEY) { /* its text names file, line and model */
      fprintf(stderr, "%s\n", report->text);
      *code = *code == RKB_EXIT_OK ? RKB_EXIT_USAGE : *code;
   } else {
      fprintf(stderr, "model '%s': %s\n", report->model, report->text);
      *code = RKB_EXIT_BROKEN;
   }
}

int rkb_look_for_models(const struct rkb_models *models) {
   int code = RKB_EXIT_OK;
   rkb_models_look_for(models, true, tell_absence, &code);
   return code;
}

int rkb_say_models(const rkb_arguments_t *arguments, const char *path) {
   named_pipeline_t named = name_pipeline(arguments, path, NULL, NULL);
   rkb_arena_t *arena = rkb_arena_new(0);
   rkb_problems_t problems;
   int code = RKB_EXIT_OK;
   rkb_problems_init(&problems);
   rkb_models_look_for(rkb_pipeline_read_models(arena, &named.options, NULL, -1, &problems), false, tell_absence, &code);
   rkb_problems_free(&problems);
   rkb_arena_free(arena);
   free_named(&named);
   return code;
}

const char *rkb_graph_section(uint32_t section) {
   switch (section) {
   case RKB_IN_PROPOSE:
      return "propose";
   case RKB_IN_SCREEN:
      return "screen";
   case RKB_IN_EVALUATE:
      return "evaluate";
   case RKB_IN_STRATEGY:
      return "search";
   case RKB_IN_OPERATORS:
      return "operators";
   default:
      return "";
   }
}

const char *rkb_spell_limit(uint64_t nanoseconds, char *out, size_t size) {
   if (nanoseconds == 0)
      snprintf(out, size, "none");
   else
      rkb_format_duration(nanoseconds, out, size);
   return out;
}
