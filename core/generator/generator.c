/* Kernels from a task's graph: reads the graph, makes a schedule, writes it.  Nothing is kept between calls; any thread. */
#include "generator/generator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "generator/search/acquisition.h"
#include "generator/search/schedule_changes.h"
#include "generator/kernel/kernel_text.h"
#include "generator/search/neighbours.h"
#include "generator/decisions/schedule_block.h"
#include "generator/decisions/schedule_least.h"

/* What every call needs. */
typedef struct written {
   rkb_graph_t *graph;
   rkb_target_t target;
   rkb_schedule_t *schedule;
} written_t;

static int open_graph(const rkb_generator_t *generator, written_t *written, rkb_error_t *err) {
   *written = (written_t){.target = generator->target};
   int status = rkb_graph_open(generator->task, &written->graph, err);
   if (status == RKB_OK)
      written->schedule = rkb_allocate(2, sizeof *written->schedule);
   return status;
}

static void close_graph(written_t *written) {
   free(written->schedule);
   rkb_graph_close(written->graph);
}

/* Reads the schedule of a kernel.  False: the kernel has no schedule of this task, or its text was edited and
 * is not what the schedule gives. */
static bool read_schedule(written_t *written, const char *source, rkb_schedule_t *schedule) {
   rkb_error_t ignored;
   char *again = NULL;
   if (rkb_schedule_parse(written->graph, source, schedule, &ignored) != RKB_OK ||
       rkb_kernel_write(written->graph, schedule, written->target.shared_bytes, &again, &ignored) != RKB_OK)
      return false;
   const bool same = strcmp(again, source) == 0;
   free(again);
   return same;
}

static int write_text(written_t *written, char **source, rkb_error_t *err) {
   return rkb_kernel_write(written->graph, written->schedule, written->target.shared_bytes, source, err);
}

int rkb_generator_write(const rkb_generator_t *generator, const char *source, char **again,
                        rkb_error_t *err) {
   written_t written;
   *again = NULL;
   int status = open_graph(generator, &written, err);
   if (status != RKB_OK)
      return status;
   status = rkb_schedule_parse(written.graph, source, written.schedule, err);
   if (status == RKB_OK)
      status = write_text(&written, again, err);
   close_graph(&written);
   return status;
}

int rkb_generator_start(const rkb_generator_t *generator, const char *name, char **source, rkb_error_t *err) {
   written_t written;
   uint32_t which = 0;
   *source = NULL;
   while (which < RKB_STARTS && strcmp(rkb_start_name(which), name) != 0)
      which++;
   if (which == RKB_STARTS)
      return rkb_fail(err, RKB_ERR_INVALID, "there is no start '%.40s'; write suited, fused, together or apart",
                      name);
   int status = open_graph(generator, &written, err);
   if (status != RKB_OK)
      return status;
   if (rkb_schedule_start(written.graph, &written.target, which, written.schedule))
      status = write_text(&written, source, err);
   /* Not the caller's mistake: a kernel from another start may be possible. */
   if (status == RKB_ERR_INVALID)
      status = err->status = RKB_ERR_LIMIT;
   close_graph(&written);
   return status;
}

int rkb_generator_draw(const rkb_generator_t *generator, rkb_random_t *stream, char **source,
                       rkb_error_t *err) {
   written_t written;
   *source = NULL;
   int status = open_graph(generator, &written, err);
   if (status != RKB_OK)
      return status;
   if (rkb_schedule_draw(written.graph, &written.target, stream, written.schedule))
      status = write_text(&written, source, err);
   close_graph(&written);
   return status;
}

static enum rkb_focus focus_of(uint32_t limit) {
   static const enum rkb_focus focuses[] = {RKB_FOCUS_NONE, RKB_FOCUS_MEMORY, RKB_FOCUS_SHARED, RKB_FOCUS_ISSUE, RKB_FOCUS_LATENCY};
   return limit <= RKB_LIMIT_WARPS ? focuses[limit] : RKB_FOCUS_NONE;
}

int rkb_generator_step(const rkb_generator_t *generator, const char *source, uint32_t limit, uint32_t slot, uint32_t slots,
                       bool (*known)(void *context, const char *text), void *context, char **changed, char *note, size_t note_size,
                       rkb_error_t *err) {
   written_t written;
   *changed = NULL;
   int status = open_graph(generator, &written, err);
   if (status != RKB_OK)
      return status;
   if (read_schedule(&written, source, written.schedule))
      rkb_schedule_step(written.graph, &written.target, focus_of(limit), slot, slots, known, context, written.schedule, changed, note,
                        note_size);
   close_graph(&written);
   return status;
}

int rkb_generator_change(const rkb_generator_t *generator, rkb_random_t *stream, const char *source,
                         uint32_t limit, char **changed, char *note, size_t note_size, rkb_error_t *err) {
   written_t written;
   *changed = NULL;
   int status = open_graph(generator, &written, err);
   if (status != RKB_OK)
      return status;
   if (!read_schedule(&written, source, written.schedule))
      snprintf(note, note_size,
               "the parent's text is not what a schedule gives: a person wrote it, or it was edited");
   else if (rkb_schedule_change(written.graph, &written.target, stream, focus_of(limit), written.schedule,
                                note, note_size))
      status = write_text(&written, changed, err);
   close_graph(&written);
   return status;
}

int rkb_generator_cross(const rkb_generator_t *generator, rkb_random_t *stream, const char *first,
                        const char *second, char **child, char *note, size_t note_size, rkb_error_t *err) {
   written_t written;
   *child = NULL;
   int status = open_graph(generator, &written, err);
   if (status != RKB_OK)
      return status;
   if (read_schedule(&written, first, &written.schedule[0]) &&
       read_schedule(&written, second, &written.schedule[1]) &&
       rkb_schedule_cross(written.graph, &written.target, stream, &written.schedule[0], &written.schedule[1],
                          note, note_size))
      status = write_text(&written, child, err);
   close_graph(&written);
   return status;
}

int rkb_generator_acquire(const rkb_generator_t *generator, rkb_random_t *stream, const char *source, uint32_t limit, uint32_t slot,
                          const rkb_schedule_tried_t *tried, uint32_t count, char **child, int64_t *base, char *note, size_t note_size,
                          rkb_error_t *err) {
   written_t written;
   const rkb_experience_t experience = {tried, count};
   *child = NULL;
   int status = open_graph(generator, &written, err);
   if (status != RKB_OK)
      return status;
   const bool has_schedule = read_schedule(&written, source, written.schedule);
   rkb_schedule_acquire(written.graph, &written.target, stream, focus_of(limit), slot, &experience, has_schedule ? written.schedule : NULL, child,
                        base, note, note_size);
   close_graph(&written);
   return status;
}

int rkb_generator_least(const rkb_generator_t *generator, const char *source, double *seconds, rkb_error_t *err) {
   written_t written;
   rkb_error_t ignored;
   *seconds = 0;
   int status = open_graph(generator, &written, err);
   if (status != RKB_OK)
      return status;
   if (rkb_schedule_parse(written.graph, source, written.schedule, &ignored) == RKB_OK)
      *seconds = rkb_schedule_least(written.graph, &written.target, written.schedule, NULL);
   close_graph(&written);
   return status;
}
