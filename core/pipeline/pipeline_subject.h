/* The task of a pipeline and its target device.  In core/pipeline, only this file uses core/task and the device profiles of
 * core/kernel. */
#ifndef RKB_PIPELINE_PIPELINE_SUBJECT_H
#define RKB_PIPELINE_PIPELINE_SUBJECT_H

#include "pipeline/pipeline_parts.h"

/* Loads the task when one is named, and the device when there is a task.  A stage that needs a build needs a task. */
bool rkb_subject_load(rkb_pipeline_t *pipeline, rkb_problems_t *problems);
void rkb_subject_free(rkb_pipeline_t *pipeline);
const char *rkb_subject_task_name(const rkb_pipeline_t *pipeline); /* "" when there is none */
const char *rkb_subject_task_hash(const rkb_pipeline_t *pipeline);
const char *rkb_subject_direction(const rkb_pipeline_t *pipeline);

#endif
