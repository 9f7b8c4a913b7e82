/* Kernels from a task's graph, for callers that need not know graphs and schedules.  Every call reads the
 * graph anew (about 20 ms), so calls share nothing: any thread.  The caller frees texts. */
#ifndef RKB_GENERATOR_GENERATOR_H
#define RKB_GENERATOR_GENERATOR_H

#include <rkb/ext/schedule.h>
#include "base/random.h"
#include "generator/graph/target.h"
#include "task/task.h"

typedef struct rkb_generator {
   const rkb_task_t *task;
   rkb_target_t target;
} rkb_generator_t;

/* Writes the kernel that the schedule in source's manifest gives; nothing else of source is read.  RKB_ERR_INVALID: it has no schedule, or one
 * that is not of this task or not legal; err says what, and where. */
int rkb_generator_write(const rkb_generator_t *generator, const char *source, char **again, rkb_error_t *err);

/* The same as the functions of <rkb/ext/schedule.h>.  That header says what each does and what a NULL text means. */
int rkb_generator_start(const rkb_generator_t *generator, const char *name, char **source, rkb_error_t *err);
int rkb_generator_draw(const rkb_generator_t *generator, rkb_random_t *stream, char **source,
                       rkb_error_t *err);
int rkb_generator_change(const rkb_generator_t *generator, rkb_random_t *stream, const char *source,
                         uint32_t limit, char **changed, char *note, size_t note_size, rkb_error_t *err);
int rkb_generator_step(const rkb_generator_t *generator, const char *source, uint32_t limit, uint32_t slot, uint32_t slots,
                       bool (*known)(void *context, const char *text), void *context, char **changed, char *note, size_t note_size,
                       rkb_error_t *err);
int rkb_generator_cross(const rkb_generator_t *generator, rkb_random_t *stream, const char *first,
                        const char *second, char **child, char *note, size_t note_size, rkb_error_t *err);
int rkb_generator_acquire(const rkb_generator_t *generator, rkb_random_t *stream, const char *source, uint32_t limit, uint32_t slot,
                          const rkb_schedule_tried_t *tried, uint32_t count, char **child, int64_t *base, char *note, size_t note_size,
                          rkb_error_t *err);
int rkb_generator_least(const rkb_generator_t *generator, const char *source, double *seconds, rkb_error_t *err);

#endif
