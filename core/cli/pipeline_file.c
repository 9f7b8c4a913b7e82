/* Opening a pipeline file for a command.  The main thread alone. */
#include "cli/pipeline_file.h"

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

/* The assignments of --set and then of --workers, NULL-terminated.  *workers is to be freed after them. */
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

rkb_pipeline_t *rkb_open_pipeline_for(const rkb_arguments_t *arguments, const char *path, const char *task,
                                      const char *direction) {
   char *found = rkb_find_named("pipelines", path), *workers;
   const char **set = list_assignments(arguments, &workers);
   const rkb_pipeline_options_t options = {.path = found ? found : path,
                                           .task = task,
                                           .direction = direction,
                                           .target = rkb_argument(arguments, "target"),
                                           .set = set,
                                           .plugin_paths = rkb_argument_list(arguments, "plugin-path")};
   rkb_problems_t problems;
   rkb_pipeline_t *pipeline = NULL;
   rkb_problems_init(&problems);
   if (!rkb_path_exists(options.path)) {
      rkb_say_absent("pipelines", options.path);
   } else if (is_run(options.path)) {
      fprintf(stderr,
              "%s is a run's directory, and a pipeline is a file; go on with the run with --resume %s\n",
              options.path, options.path);
   } else {
      pipeline = rkb_pipeline_open(&options, &problems);
      rkb_say_problems(&problems);
   }
   free(set);
   free(workers);
   free(found);
   return pipeline;
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
