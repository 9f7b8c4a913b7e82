/* Finds what a bench measures: each direction of each task, as the arguments say.  Main thread only. */
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "base/folder_names.h"
#include "base/memory.h"
#include "cli/bench/bench.h"

/* Adds a directory's directions, or only the requested one if it has it. */
static int add_directory(rkb_bench_works_t *works, const char *directory, const char *direction,
                         rkb_problems_t *problems) {
   rkb_task_t *first = rkb_task_load(directory, NULL, 0, problems);
   if (!first)
      return RKB_EXIT_USAGE;
   for (const char *const *d = rkb_task_directions(first); *d && works->count < RKB_BENCH_MOST_WORKS; d++) {
      if (direction && strcmp(direction, *d) != 0)
         continue;
      rkb_bench_work_t *work = &works->list[works->count];
      work->task = rkb_task_load(directory, *d, 0, problems);
      work->directory = rkb_duplicate(directory);
      if (!work->task) {
         rkb_task_free(work->task);
         free(work->directory);
         rkb_task_free(first);
         return RKB_EXIT_USAGE;
      }
      work->name = rkb_task_info(work->task)->name;
      work->direction = rkb_task_info(work->task)->direction;
      works->count++;
   }
   rkb_task_free(first);
   return RKB_EXIT_OK;
}

int rkb_bench_works_find(const rkb_arguments_t *arguments, rkb_bench_works_t *works,
                         rkb_problems_t *problems) {
   const char *const *given = rkb_argument_list(arguments, "task");
   const char *direction = rkb_argument(arguments, "direction");
   int code = RKB_EXIT_OK;
   for (; given && *given && code == RKB_EXIT_OK; given++) {
      char *directory = rkb_find_named("tasks", *given);
      code = add_directory(works, directory ? directory : *given, direction, problems);
      free(directory);
   }
   if (rkb_argument_given(arguments, "task"))
      return code;
   char *shipped = rkb_find_data("tasks");
   char **names = shipped ? rkb_folder_names(shipped, NULL) : NULL;
   for (char **name = names; name && *name; name++) {
      char *directory = rkb_path_join(shipped, *name), *file = NULL;
      file = directory ? rkb_path_join(directory, "task.yaml") : NULL;
      if (file && rkb_path_exists(file) && code == RKB_EXIT_OK)
         code = add_directory(works, directory, direction, problems);
      free(file);
      free(directory);
   }
   rkb_folder_names_free(names);
   free(shipped);
   return code;
}

void rkb_bench_works_close(rkb_bench_works_t *works) {
   for (uint32_t i = 0; i < works->count; i++) {
      rkb_task_free(works->list[i].task);
      free(works->list[i].directory);
   }
   works->count = 0;
}
