/* Extension rkb.schedule/1: core/generator for plugins. */
#include <stdlib.h>
#include "generator/generator.h"
#include "stage/extensions.h"
#include "stage/instance.h"

static rkb_generator_t generator_of(const rkb_host_t *host) {
   const rkb_pipeline_t *pipeline = rkb_owner_of(host)->runtime->pipeline;
   return (rkb_generator_t){pipeline->task, pipeline->device->multiprocessors};
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

static void free_text(char *text) {
   free(text);
}

const rkb_schedule_api_t RKB_SCHEDULE_API = {.size = sizeof RKB_SCHEDULE_API,
                                             .start = start,
                                             .draw = draw,
                                             .change = change,
                                             .cross = cross,
                                             .free_text = free_text};
