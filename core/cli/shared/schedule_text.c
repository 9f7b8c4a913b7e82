/* Kernels of schedules for commands.  Owns nothing between calls; main thread only. */
#include "cli/shared/schedule_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "generator/generator.h"

static unsigned first_difference(const char *a, const char *b) {
   unsigned line = 1;
   for (; *a && *a == *b; a++, b++)
      line += *a == '\n';
   return *a == *b ? 0 : line;
}

int rkb_schedule_text(const rkb_candidate_file_t *file, char **text, unsigned *line, rkb_error_t *err) {
   const rkb_generator_t generator = {file->task, rkb_target_of(file->device, rkb_task_info(file->task)->precision)};
   const int status = rkb_generator_write(&generator, file->source, text, err);
   *line = status == RKB_OK ? first_difference(file->source, *text) : 0;
   return status;
}

void rkb_say_if_edited(const rkb_candidate_file_t *file) {
   char *text = NULL;
   unsigned line = 0;
   rkb_error_t err = {0};
   if (!strstr(file->source, "\nschedule:\n"))
      return;
   if (rkb_schedule_text(file, &text, &line, &err) != RKB_OK)
      fprintf(stderr, "%s: its schedule does not count: %s\n", file->path, err.message);
   else if (line)
      fprintf(stderr, "%s: its schedule does not count: from line %u on, the text is not what the schedule gives, so one of them was edited\n", file->path, line);
   free(text);
}
