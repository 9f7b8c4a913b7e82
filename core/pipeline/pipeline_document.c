/* One pipeline in memory: reads it from its merged tree, writes its resolved form, closes it.  pipeline.c opens a file as one, and pipeline_cells.c every
 * cell of a sweep.  Loop thread. */
#include "pipeline/pipeline_parts.h"

#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "base/memory.h"
#include "pipeline/pipeline_subject.h"

#define MAX_TEXT (4u << 20)

rkb_pipeline_t *rkb_pipeline_new(const char *path) {
   rkb_pipeline_t *pipeline = rkb_allocate(1, sizeof *pipeline);
   rkb_text_init(&pipeline->depends, 1u << 20);
   rkb_text_init(&pipeline->text, MAX_TEXT);
   pipeline->arena = rkb_arena_new(0);
   pipeline->path = rkb_duplicate(path);
   return pipeline;
}

/* Makes a path relative to the file that contains it.  shipped: the folder whose files may be given by name alone, or NULL. */
void rkb_pipeline_resolve_path(rkb_pipeline_t *pipeline, rkb_yaml_t *node, const char *shipped) {
   bool beside = node->place.file && strchr(node->place.file, '/') && node->text[0] != '/';
   char *directory = beside ? rkb_path_directory(node->place.file) : rkb_duplicate(node->text[0] ? "" : ".");
   char *joined = rkb_path_join(directory, node->text);
   char *real = realpath(joined, NULL);
   if (!real && shipped) {
      char *found = rkb_find_shipped(shipped, node->text);
      real = found ? realpath(found, NULL) : NULL;
      free(found);
   }
   const char *path = real ? real : joined;
   node->text = rkb_arena_text(pipeline->arena, path, strlen(path));
   node->length = strlen(node->text);
   node->quoted = true;
   free(real);
   free(joined);
   free(directory);
}

bool rkb_pipeline_read(rkb_pipeline_t *pipeline, rkb_problems_t *problems) {
   uint32_t before = problems->errors;
   rkb_yaml_t *task = rkb_yaml_get(pipeline->root, "task");
   rkb_pipeline_heading(pipeline, problems);
   if (!rkb_yaml_is_null(task) && rkb_yaml_scalar(task, "task", &pipeline->task_path, problems)) {
      rkb_pipeline_resolve_path(pipeline, task, "tasks");
      pipeline->task_path = task->text;
   }
   /* Check wiring and limits even when an entry is broken, so that the user sees all problems at once.  Do not
    * check the objective then: every measurement of a missing stage would look missing too. */
   bool entries = rkb_pipeline_entries(pipeline, problems);
   rkb_pipeline_wire(pipeline, problems);
   if (entries)
      rkb_pipeline_goal(pipeline, problems);
   rkb_pipeline_limits(pipeline, problems);
   rkb_pipeline_workers_read(pipeline, problems);
   return problems->errors == before;
}

/* Writes values that come from outside the file into the tree, so that the resolved form means the same in any folder. */
static bool spell_out(rkb_pipeline_t *pipeline) {
   const char *const keys[] = {"name", "direction", "target"};
   const char *const values[] = {pipeline->name, pipeline->task ? rkb_subject_direction(pipeline) : NULL,
                                 pipeline->target};
   for (int i = 0; i < 3; i++) {
      if (!values[i] || rkb_yaml_get(pipeline->root, keys[i]))
         continue;
      rkb_yaml_t *node = rkb_tree_scalar(pipeline->arena, values[i], false, pipeline->root->place);
      if (!rkb_tree_put(pipeline->arena, pipeline->root, keys[i], node))
         return false;
   }
   return true;
}

bool rkb_pipeline_resolve(rkb_pipeline_t *pipeline) {
   if (!spell_out(pipeline))
      return false;
   rkb_tree_write(pipeline->root, &pipeline->text);
   return true;
}

bool rkb_pipeline_is_sweep(const rkb_pipeline_t *pipeline) {
   return pipeline->seeds || pipeline->arms || pipeline->matrix;
}

static void free_cells(rkb_pipeline_t *pipeline) {
   for (uint32_t i = 0; i < pipeline->cell_count; i++) {
      rkb_pipeline_cell_t *cell = &pipeline->cells[i];
      free(cell->name);
      free(cell->arm);
      free(cell->text);
      free(cell->task);
      free(cell->direction);
      free(cell->target);
   }
   free(pipeline->cells);
}

void rkb_pipeline_close(rkb_pipeline_t *pipeline) {
   if (!pipeline)
      return;
   rkb_subject_free(pipeline);
   free_cells(pipeline);
   if (!pipeline->borrowed_registry)
      rkb_registry_free(pipeline->registry);
   rkb_text_free(&pipeline->text);
   rkb_text_free(&pipeline->depends);
   rkb_arena_free(pipeline->arena);
   free(pipeline->path);
   free(pipeline);
}
