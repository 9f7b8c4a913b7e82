/* Task and device of a pipeline (pipeline_subject.h). */
#include "pipeline/pipeline_subject.h"

#include "kernel/kernel.h"
#include "task/task.h"

/* The place of a key's value, or of the file when the key is absent. */
static rkb_place_t place_of(const rkb_pipeline_t *pipeline, const char *key) {
   const rkb_yaml_t *value = rkb_yaml_get(pipeline->root, key);
   return value ? value->place : pipeline->root->place;
}

bool rkb_subject_load(rkb_pipeline_t *pipeline, rkb_problems_t *problems) {
   uint32_t before = problems->errors, said = problems->count;
   if (!pipeline->task_path) {
      if (pipeline->build >= 0)
         rkb_problem(
            problems, pipeline->entries[pipeline->build].node.place,
            "this stage needs a build, and a build needs a task; write task: or give --task, with a name that 'rkb tasks' lists or a directory");
      return problems->errors == before;
   }
   pipeline->task = rkb_task_load(pipeline->task_path, pipeline->direction, 0, problems);
   /* If the task exists and its message has no place, the direction or a case is missing. */
   rkb_problems_place(problems, said,
                      place_of(pipeline, rkb_task_exists(pipeline->task_path) ? "direction" : "task"));
   said = problems->count;
   if (!pipeline->target)
      pipeline->target = "h200";
   uint32_t without_device = problems->errors;
   pipeline->device = rkb_device_load(pipeline->target, problems);
   if (!pipeline->device && problems->errors == without_device)
      rkb_problem(problems, (rkb_place_t){0}, "target: the device profile '%s' did not load",
                  pipeline->target);
   rkb_problems_place(problems, said, place_of(pipeline, "target"));
   return problems->errors == before;
}

void rkb_subject_free(rkb_pipeline_t *pipeline) {
   rkb_task_free(pipeline->task);
   rkb_device_free(pipeline->device);
}

const char *rkb_subject_task_name(const rkb_pipeline_t *pipeline) {
   return pipeline->task ? rkb_task_info(pipeline->task)->name : "";
}

const char *rkb_subject_task_hash(const rkb_pipeline_t *pipeline) {
   return pipeline->task ? rkb_task_hash(pipeline->task) : "";
}

const char *rkb_subject_direction(const rkb_pipeline_t *pipeline) {
   if (pipeline->task)
      return rkb_task_info(pipeline->task)->direction;
   return pipeline->direction ? pipeline->direction : "";
}
