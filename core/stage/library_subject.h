/* A run's task and device, described as a library entry describes them.  Pure functions; any thread. */
#ifndef RKB_STAGE_LIBRARY_SUBJECT_H
#define RKB_STAGE_LIBRARY_SUBJECT_H

#include "archive/limiter.h"
#include "library/elite.h"
#include "pipeline/pipeline_parts.h"

/* Task, direction, operations and device; texts are the pipeline's.  The pipeline has a task. */
void rkb_library_subject(const rkb_pipeline_t *pipeline, rkb_elite_t *subject);

/* The name of the limiting resource: the named bottleneck, or else the first words of its sentence ("global memory"). */
void rkb_library_limiter(const rkb_limiter_t *limiter, char *out, size_t size);

#endif
