/* Extension rkb.schedule/1: core/generator for plugins. */
#include <stdlib.h>
#include <string.h>
#include "generator/generator.h"
#include "generator/decisions/schedule_structure.h"
#include "stage/extensions.h"
#include "stage/instance.h"

static rkb_generator_t generator_of(const rkb_host_t *host) {
   const rkb_pipeline_t *pipeline = rkb_owner_of(host)->runtime->pipeline;
   return (rkb_generator_t){pipeline->task,
                            rkb_target_of(pipeline->device, rkb_task_info(pipeline->task)->precision)};
}

static int start(const rkb_host_t *host, const char *name, char **source, rkb_error_t *err) {
   const rkb_generator_t generator = generator_of(host);
   return rkb_generator_start(&generator, name, source, err);
}

static int draw(const rkb_host_t *host, rkb_random_t *stream, char **source, rkb_error_t *err) {
   const rkb_generator_t generator = generator_of(host);
   return rkb_generator_draw(&generator, stream, source, err);
}

static int change(const rkb_host_t *host, rkb_random_t *stream, const char *source, uint32_t limit,
                  char **changed, char *note, size_t note_size, rkb_error_t *err) {
   const rkb_generator_t generator = generator_of(host);
   return rkb_generator_change(&generator, stream, source, limit, changed, note, note_size, err);
}

static int cross(const rkb_host_t *host, rkb_random_t *stream, const char *first, const char *second,
                 char **child, char *note, size_t note_size, rkb_error_t *err) {
   const rkb_generator_t generator = generator_of(host);
   return rkb_generator_cross(&generator, stream, first, second, child, note, note_size, err);
}

static int step(const rkb_host_t *host, const char *source, uint32_t limit, uint32_t slot, uint32_t slots, bool (*known)(void *, const char *),
                void *context, char **changed, char *note, size_t note_size, rkb_error_t *err) {
   const rkb_generator_t generator = generator_of(host);
   return rkb_generator_step(&generator, source, limit, slot, slots, known, context, changed, note, note_size, err);
}

static int least(const rkb_host_t *host, const char *source, double *seconds, rkb_error_t *err) {
   const rkb_generator_t generator = generator_of(host);
   return rkb_generator_least(&generator, source, seconds, err);
}

static int acquire(const rkb_host_t *host, rkb_random_t *stream, const char *source, uint32_t limit, uint32_t slot,
                   const rkb_schedule_tried_t *tried, uint32_t count, char **child, int64_t *base, char *note, size_t note_size, rkb_error_t *err) {
   const rkb_generator_t generator = generator_of(host);
   return rkb_generator_acquire(&generator, stream, source, limit, slot, tried, count, child, base, note, note_size, err);
}

static void free_text(char *text) {
   free(text);
}

const rkb_schedule_api_t RKB_SCHEDULE_API = {.size = sizeof RKB_SCHEDULE_API,
                                             .start = start,
                                             .draw = draw,
                                             .change = change,
                                             .cross = cross,
                                             .free_text = free_text,
                                             .step = step,
                                             .least = least,
                                             .structure = rkb_structure_of,
                                             .acquire = acquire};
