/* Describes a run's task and device as a library entry does (library_subject.h). */
#include "stage/library_subject.h"

#include <stdio.h>
#include <string.h>
#include "pipeline/pipeline_subject.h"
#include "task/task.h"

void rkb_library_subject(const rkb_pipeline_t *pipeline, rkb_elite_t *subject) {
   const char *operation;
   *subject = (rkb_elite_t){.task = rkb_subject_task_name(pipeline),
                            .task_hash = rkb_subject_task_hash(pipeline),
                            .direction = rkb_subject_direction(pipeline),
                            .device = pipeline->target ? pipeline->target : "",
                            .measured_on = "",
                            .limiter = "",
                            .objective = pipeline->objective ? pipeline->objective : "",
                            .pipeline = pipeline->name,
                            .pipeline_hash = pipeline->hash,
                            .made_by = "",
                            .seed = pipeline->seed};
   for (uint32_t i = 0; (operation = rkb_task_operation_at(pipeline->task, i)); i++)
      rkb_elite_add_operation(subject, operation);
}

void rkb_library_limiter(const rkb_limiter_t *limiter, char *out, size_t size) {
   const char *from = limiter->bottleneck[0] ? limiter->bottleneck : limiter->sentence;
   snprintf(out, size, "%.*s", (int)strcspn(from, ",;:("), from);
   for (size_t end = strlen(out); end && out[end - 1] == ' '; end--)
      out[end - 1] = '\0';
}
