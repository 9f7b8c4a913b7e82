/* Any bytes as a pipeline file, over the tests' own plugins.  The result is a pipeline whose resolved text
 * reads again as the same pipeline, or at least one error, and each problem has its place in a file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/text.h"
#include "pipeline/pipeline.h"

static char path[64]; /* of a file in memory, made once */

static void write_file(const void *data, size_t size) {
   static int file = -1;
   if (file < 0) {
      file = memfd_create("pipeline", 0);
      snprintf(path, sizeof path, "/proc/self/fd/%d", file);
   }
   if (file < 0 || ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != (ssize_t)size)
      abort();
}

static rkb_pipeline_t *open_file(rkb_problems_t *problems) {
   static const char *const plugins[] = {RKB_TEST_PLUGINS, NULL};
   const rkb_pipeline_options_t options = {.path = path, .plugin_paths = plugins};
   rkb_problems_init(problems);
   return rkb_pipeline_open(&options, problems);
}

/* What was resolved is what a run stores and a resumed run reads. */
static void read_again(const char *text) {
   rkb_problems_t problems;
   write_file(text, strlen(text));
   rkb_pipeline_t *again = open_file(&problems);
   if (!again || strcmp(rkb_pipeline_text(again), text) != 0) {
      rkb_text_t said;
      rkb_text_init(&said, 1 << 16);
      rkb_problems_write(&problems, &said);
      fprintf(stderr, "resolved:\n%s\nread again:\n%s%s\n", text, again ? rkb_pipeline_text(again) : "",
              rkb_text_get(&said));
      abort();
   }
   rkb_pipeline_free(again);
   rkb_problems_free(&problems);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
   rkb_problems_t problems;
   write_file(data, size);
   rkb_pipeline_t *pipeline = open_file(&problems);
   if (!pipeline && problems.errors == 0)
      abort();
   for (uint32_t i = 0; i < problems.count; i++)
      if (!problems.list[i].file || problems.list[i].message[0] == '\0')
         abort();
   if (pipeline) {
      char *text = strdup(rkb_pipeline_text(pipeline));
      uint32_t cells = rkb_pipeline_cell_count(pipeline);
      for (uint32_t i = 0; i < cells; i++)
         if (!rkb_pipeline_cell(pipeline, i))
            abort();
      rkb_pipeline_free(pipeline);
      if (text && cells == 0)
         read_again(text);
      free(text);
   }
   rkb_problems_free(&problems);
   return 0;
}
