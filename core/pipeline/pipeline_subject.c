/* Task and device of a pipeline (pipeline_subject.h). */
#include "pipeline/pipeline_subject.h"

#include "kernel/kernel.h"
#include "task/task.h"

bool rkb_subject_load(rkb_pipeline_t *pipeline, rkb_problems_t *problems) {
   uint32_t before = problems->errors;
   const rkb_yaml_t *target = rkb_yaml_get(pipeline->root, "target");
   if (!pipeline->task_path) {
      if (pipeline->build >= 0)
         rkb_problem(problems, pipeline->entries[pipeline->build].node.place,
                     "this stage needs a build, and a build needs a task; write task: or give --task");
      return problems->errors == before;
   }
   pipeline->task = rkb_task_load(pipeline->task_path, pipeline->direction, 0, problems);
   if (!pipeline->target)
      pipeline->target = "h200";
   rkb_problems_t own;
   rkb_problems_init(&own);
   pipeline->device = rkb_device_load(pipeline->target, &own);
   for (uint32_t i = 0; i < own.count; i++) {
      rkb_place_t place = {.file = own.list[i].file, .line = own.list[i].line, .column = own.list[i].column};
      rkb_problem(problems, target && !own.list[i].line ? target->place : place, "%s", own.list[i].message);
   }
   if (!pipeline->device && !own.errors)
      rkb_problem(problems, target ? target->place : pipeline->root->place,
                  "target: the device profile '%s' did not load", pipeline->target);
   rkb_problems_free(&own);
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
