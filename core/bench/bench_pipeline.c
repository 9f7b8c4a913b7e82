/* rkb-bench-pipeline: candidates a second that stock.yaml judges in full (new PTX, every check case, the model), by task, with an empty build cache.
 * Rejections and duplicates take less time, so they are counted separately.  The main thread is the engine's loop. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <rkb/items.h>
#include "base/file.h"
#include "cli/shared/pipeline_file.h"
#include "cli/shared/run_archive.h"
#include "run/run.h"

static const char *const default_tasks[] = {"llama_rmsnorm", "softmax", "mnist_linear", NULL};

typedef struct tally {
   uint64_t judged, rejected, other, duplicates;
   double last_seconds; /* when the last judged candidate ended */
} tally_t;

static void observe(void *argument, const rkb_event_t *event) {
   tally_t *tally = argument;
   if (event->kind != RKB_EVENT_CANDIDATE_END)
      return;
   if (event->duplicate_of > 0)
      tally->duplicates++;
   else if (strcmp(event->standing, RKB_REJECT) == 0)
      tally->rejected++;
   else if (strcmp(event->standing, RKB_ACCEPT) == 0 || strcmp(event->standing, RKB_SUSPECT) == 0)
      tally->judged++;
   else
      tally->other++;
   tally->last_seconds = event->elapsed_seconds;
}

static rkb_pipeline_t *open_stock(const char *name, const char *candidates) {
   char below[256], limit[64];
   const char *set[] = {limit, NULL};
   rkb_problems_t problems;
   snprintf(below, sizeof below, "tasks/%s", name);
   snprintf(limit, sizeof limit, "limits.candidates=%s", candidates);
   char *task = rkb_find_data(below), *path = rkb_find_data("pipelines/stock.yaml");
   const rkb_pipeline_options_t options = {.path = path, .task = task, .set = set};
   rkb_pipeline_t *pipeline = NULL;
   rkb_problems_init(&problems);
   if (path && task)
      pipeline = rkb_pipeline_open(&options, &problems);
   else
      fprintf(stderr, "there is no task '%s' or no pipelines/stock.yaml\n", name);
   rkb_say_problems(&problems);
   free(path);
   free(task);
   return pipeline;
}

/* Returns the processor time of this process and of the compiler processes that have ended.  Other work on the machine does not change it. */
static double processor_seconds(void) {
   double seconds = 0;
   for (int who = 0; who < 2; who++) {
      struct rusage usage;
      getrusage(who ? RUSAGE_CHILDREN : RUSAGE_SELF, &usage);
      seconds += (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                 1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
   }
   return seconds;
}

static int measure(const char *name, const char *candidates) {
   tally_t tally = {0};
   rkb_run_result_t outcome = {0};
   rkb_error_t err;
   rkb_log_t *log = NULL;
   double before = processor_seconds();
   rkb_pipeline_t *pipeline = open_stock(name, candidates);
   int status = pipeline ? rkb_log_open(RKB_LOG_ERROR, false, NULL, &log, &err) : RKB_ERR_INVALID;
   const rkb_run_options_t options = {.log = log, .observe = observe, .argument = &tally};
   if (status == RKB_OK)
      status = rkb_run(pipeline, &options, &outcome, &err);
   if (status == RKB_OK)
      printf("%-22s %8.2f %8llu %8llu %8llu %8llu %9.1f %12.2f\n", name,
             (double)tally.judged / tally.last_seconds, (unsigned long long)tally.judged,
             (unsigned long long)tally.rejected, (unsigned long long)tally.other,
             (unsigned long long)tally.duplicates, tally.last_seconds,
             (processor_seconds() - before) / (double)(tally.judged + tally.rejected + tally.other));
   else if (pipeline)
      rkb_say_error(&err);
   fflush(stdout);
   rkb_log_close(log);
   rkb_pipeline_free(pipeline);
   return status == RKB_OK ? RKB_EXIT_OK : RKB_EXIT_BROKEN;
}

static int run(const rkb_arguments_t *arguments) {
   char cache[] = "/tmp/rkb-bench-pipeline-XXXXXX", command[64];
   const char *candidates = rkb_argument(arguments, "candidates");
   int code = RKB_EXIT_OK;
   if (!mkdtemp(cache) || setenv("XDG_CACHE_HOME", cache, 1) != 0) {
      perror("no directory for the cache");
      return RKB_EXIT_BROKEN;
   }
   printf("%-22s %8s %8s %8s %8s %8s %9s %12s\n", "task", "a second", "judged", "rejected", "other", "again",
          "seconds", "cpu s each");
   for (int i = 0; i < arguments->count && code == RKB_EXIT_OK; i++)
      code = measure(rkb_positional(arguments, i), candidates ? candidates : "40");
   for (int i = 0; arguments->count == 0 && default_tasks[i] && code == RKB_EXIT_OK; i++)
      code = measure(default_tasks[i], candidates ? candidates : "40");
   printf("judged: accepted or suspect after every stage, never built before; again: duplicates; %ld cores\n",
          sysconf(_SC_NPROCESSORS_ONLN));
   snprintf(command, sizeof command, "rm -r %s", cache);
   return system(command) == 0 ? code : RKB_EXIT_BROKEN;
}

static const rkb_cli_option_t options[] = {
   {"candidates", "N", "Stop after so many (default 40).", false},
   {NULL, NULL, NULL, false},
};

static const rkb_command_t command = {
   .name = "rkb-bench-pipeline",
   .arguments = "[TASK]...",
   .summary = "Print how many candidates a second stock.yaml judges, by task.",
   .options = options,
   .most = -1,
   .run = run,
};

int main(int count, char **argv) {
   return rkb_command_main(&command, "rkb-bench-pipeline", count, argv);
}
