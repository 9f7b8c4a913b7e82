/* rkb-bench-verify: checks the labelled fault corpus by the checking machine.  Prints a table by operator
 * with Wilson's intervals, and apart from it the faults that were kept out of tuning.  With --sample N it
 * takes only the N faults whose ids hash lowest, and exits with 1 when a fault is accepted that the list of
 * known misses does not name, or when a listed one is rejected now.  With --kernels it takes the correct
 * kernels in place of the faults: any verdict but accept is a failure; --every-tune takes every setting of
 * their grids.  --except FILE leaves out what the file names, --only FILE all else.
 *
 * Works in --jobs child processes, because a check turns its thread into the engine's loop.  Each takes the
 * next subject and appends whole lines to the results, so an interrupted run can go on from them.  When a
 * subject ends its child, the program writes a line for it and starts another child. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/usage.h"
#include "tools/faults/verify/verify_processes.h"
#include "tools/faults/verify/tables.h"

static bool add_plugin_path(settings_t *s, const char *path) {
   uint32_t n = 0;
   while (s->plugin_paths[n])
      n++;
   if (n < VERIFY_MOST_PLUGIN_PATHS)
      s->plugin_paths[n] = path;
   return n < VERIFY_MOST_PLUGIN_PATHS;
}

static bool read_settings(settings_t *s, int count_of, char **arguments) {
   *s = (settings_t){.jobs = 2};
   for (int i = 1; i < count_of; i++) {
      const char *name = arguments[i], *value = i + 1 < count_of ? arguments[i + 1] : NULL;
      if (strcmp(name, "--kernels") == 0) {
         s->kernels = true;
         continue;
      }
      if (strcmp(name, "--every-tune") == 0) {
         s->every_tune = true;
         continue;
      }
      const struct {
         const char *name;
         const char **to;
      } texts[] = {{"--tasks", &s->tasks},     {"--bases", &s->bases},       {"--labels", &s->labels},
                   {"--results", &s->results}, {"--pipeline", &s->pipeline}, {"--misses", &s->misses},
                   {"--except", &s->except},   {"--only", &s->only}};
      bool known = false;
      for (size_t k = 0; value && k < sizeof texts / sizeof texts[0]; k++)
         if (strcmp(name, texts[k].name) == 0) {
            *texts[k].to = value;
            known = true;
         }
      if (value && strcmp(name, "--jobs") == 0)
         known = (s->jobs = (uint32_t)strtoul(value, NULL, 10)) > 0;
      if (value && strcmp(name, "--sample") == 0)
         known = (s->sample = (uint32_t)strtoul(value, NULL, 10)) > 0;
      if (value && strcmp(name, "--plugin-path") == 0)
         known = add_plugin_path(s, value);
      if (!known)
         return false;
      i++;
   }
   return s->tasks && s->results && s->pipeline && s->jobs <= VERIFY_MOST_JOBS && (s->kernels || s->labels) &&
          !(s->except && s->only);
}

int main(int count_of, char **arguments) {
   bench_t b = {0};
   rkb_error_t err = {0};
   if (!read_settings(&b.settings, count_of, arguments))
      return rkb_usage(
         count_of, arguments, -1,
         "usage: rkb-bench-verify --tasks DIR [--bases DIR] --pipeline FILE --results FILE --labels FILE [--misses FILE]\n"
         "                        [--sample N] [--jobs N] [--plugin-path PATH]...\n"
         "       rkb-bench-verify --tasks DIR [--bases DIR] --pipeline FILE --results FILE --kernels [--every-tune]\n"
         "                        [--except FILE | --only FILE] [--jobs N] [--plugin-path PATH]...\n"
         "What the checking machine makes of the fault corpus, by operator; or of every correct kernel.  Goes on where FILE ends.\n"
         "Its plugins are found as rkb finds them: --plugin-path, RKB_PLUGIN_PATH, and the build or the installation that it lies in.\n");
   int status = corpus_open(b.settings.tasks, b.settings.bases, &b.corpus, &err);
   if (status == RKB_OK && !b.settings.kernels)
      status = labels_read(b.settings.labels, &b.labels, &err);
   if (status == RKB_OK)
      status = subjects_choose(&b, &err);
   if (status == RKB_OK)
      status = subjects_read_results(&b, &err);
   if (status == RKB_OK)
      status = verify_processes_check(&b, &err);
   if (status == RKB_OK && !b.settings.kernels) {
      tables_print(&b, false);
      tables_print(&b, true);
   }
   if (status == RKB_OK && b.settings.kernels)
      tables_print_kernels(&b);
   if (status == RKB_OK && (b.settings.kernels || b.settings.sample))
      status = tables_compare_misses(&b, &err);
   if (status == RKB_OK && tables_print_crashes(&b))
      status = rkb_fail(&err, RKB_ERR_INVALID, "the checking machine crashed");
   if (status != RKB_OK)
      fprintf(stderr, "%s\n", err.message);
   free(b.list);
   free(b.hashes);
   labels_free(&b.labels);
   corpus_close(&b.corpus);
   return status == RKB_OK ? 0 : status == RKB_ERR_INVALID ? 1 : 3;
}
