/* See verify_processes.h.  The checks run in child processes, because a check turns its thread into the engine's loop,
 * and because a kernel may end the process. */
#include "tools/faults/verify/verify_processes.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/memory.h"
#include "run/check_candidate.h"

enum { MOST_PIPELINES = 256, MOST_SAID = 1 << 16, NOT_FINISHED = 3 /* an exit code */ };

typedef struct progress {              /* shared by the parent and its children */
   _Atomic uint32_t next;              /* the next place in the list, which no child has taken yet */
   uint32_t current[VERIFY_MOST_JOBS]; /* the subject that each child checks now */
} progress_t;

typedef struct opened {
   const char *task, *direction;
   rkb_pipeline_t *pipeline;
} opened_t;

/* Prints problems, warnings included: a warning says why a plugin was not loaded, and so why a stage does not exist. */
static void say_problems(rkb_problems_t *problems, rkb_error_t *err) {
   rkb_text_t text;
   rkb_text_init(&text, MOST_SAID);
   rkb_problems_write(problems, &text);
   fputs(rkb_text_get(&text), stderr);
   rkb_text_free(&text);
   rkb_fail(err, RKB_ERR_INVALID, "the pipeline cannot be used here");
}

static rkb_pipeline_t *pipeline_for(const bench_t *b, opened_t *opened, uint32_t *count,
                                    const subject_t *subject, rkb_error_t *err) {
   for (uint32_t i = 0; i < *count; i++)
      if (strcmp(opened[i].task, subject->task) == 0 && strcmp(opened[i].direction, subject->direction) == 0)
         return opened[i].pipeline;
   char folder[4096];
   rkb_problems_t problems;
   rkb_problems_init(&problems);
   snprintf(folder, sizeof folder, "%s/%s", b->settings.tasks, subject->task);
   rkb_pipeline_options_t options = {.path = b->settings.pipeline,
                                     .task = folder,
                                     .direction = subject->direction,
                                     .plugin_paths = b->settings.plugin_paths};
   rkb_pipeline_t *pipeline = *count < MOST_PIPELINES ? rkb_pipeline_open(&options, &problems) : NULL;
   if (*count == MOST_PIPELINES)
      rkb_fail(err, RKB_ERR_LIMIT, "the corpus has more than %d tasks and directions", MOST_PIPELINES);
   else if (!pipeline)
      say_problems(&problems, err);
   else
      opened[(*count)++] = (opened_t){subject->task, subject->direction, pipeline};
   rkb_problems_free(&problems);
   return pipeline;
}

static int put_result(int out, const subject_t *subject, const char *standing, const char *reason,
                      double seconds) {
   char line[512];
   int length = snprintf(line, sizeof line, "%s\t%s\t%s\t%s\t%.4f\n", subject->id, subject->hash, standing,
                         reason[0] ? reason : "-", seconds);
   return write(out, line, (size_t)length) == length ? RKB_OK : RKB_ERR_IO;
}

static int open_results(const bench_t *b, int *out, rkb_error_t *err) {
   *out = open(b->settings.results, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
   return *out >= 0 ? RKB_OK : rkb_fail(err, RKB_ERR_IO, "cannot write %s", b->settings.results);
}

/* Runs in a child process: checks subjects that no other child has taken, until none is left. */
static int check_share(bench_t *b, progress_t *progress, uint32_t share, rkb_error_t *err) {
   opened_t opened[MOST_PIPELINES];
   uint32_t pipelines = 0, i;
   rkb_log_t *log = NULL;
   int out;
   if (open_results(b, &out, err) != RKB_OK)
      return err->status;
   int status = rkb_log_open(RKB_LOG_ERROR, false, NULL, &log, err);
   while (status == RKB_OK && (i = atomic_fetch_add(&progress->next, 1)) < b->count) {
      subject_t *subject = &b->list[i];
      if (subject->done)
         continue;
      progress->current[share] = i;
      rkb_pipeline_t *pipeline = pipeline_for(b, opened, &pipelines, subject, err);
      rkb_check_options_t options = {.name = subject->id,
                                     .source = subject->text,
                                     .tune = subject->tune,
                                     .secret = &rkb_secret_published,
                                     .jobs = 1,
                                     .log = log};
      rkb_check_result_t *result = NULL;
      status = pipeline ? rkb_check(pipeline, &options, &result, err) : err->status;
      if (status != RKB_OK)
         break;
      double seconds = 0;
      for (uint32_t v = 0; v < result->verdict_count; v++)
         seconds += strcmp(result->verdicts[v].stage, "machine") == 0 ? result->verdicts[v].seconds : 0;
      if (put_result(out, subject, result->standing, result->reason, seconds) != RKB_OK)
         status = rkb_fail(err, RKB_ERR_IO, "cannot write %s", b->settings.results);
      rkb_check_result_free(result);
   }
   for (i = 0; i < pipelines; i++)
      rkb_pipeline_free(opened[i].pipeline);
   rkb_log_close(log);
   close(out);
   return status;
}

static pid_t start_share(bench_t *b, progress_t *progress, uint32_t share, rkb_error_t *err) {
   fflush(NULL);
   pid_t child = fork();
   if (child != 0)
      return child;
   int status = check_share(b, progress, share, err);
   if (status != RKB_OK)
      fprintf(stderr, "%s\n", err->message);
   _exit(status == RKB_OK ? 0 : NOT_FINISHED);
}

/* Writes the row of a subject that ended the process which checked it. */
static int record_crash(const bench_t *b, const subject_t *subject, int code, rkb_error_t *err) {
   char reason[48];
   int out;
   if (WIFSIGNALED(code))
      snprintf(reason, sizeof reason, "signal.%d", WTERMSIG(code));
   else
      snprintf(reason, sizeof reason, "exit.%d", WEXITSTATUS(code));
   fprintf(stderr, "%s ended the process that checked it: %s\n", subject->id, reason);
   if (open_results(b, &out, err) != RKB_OK)
      return err->status;
   int status = put_result(out, subject, VERIFY_CRASH, reason, 0);
   close(out);
   return status == RKB_OK ? RKB_OK : rkb_fail(err, RKB_ERR_IO, "cannot write %s", b->settings.results);
}

/* Waits for all children, and replaces those that a kernel ended. */
static int wait_for_shares(bench_t *b, progress_t *progress, pid_t *children, rkb_error_t *err) {
   uint32_t running = 0;
   int status = RKB_OK;
   for (uint32_t i = 0; i < b->settings.jobs; i++)
      running += children[i] > 0;
   if (!running)
      return rkb_fail(err, RKB_ERR_UNAVAILABLE, "no process could be started");
   while (running) {
      int code = 0;
      uint32_t share = 0;
      pid_t ended = waitpid(-1, &code, 0);
      while (ended > 0 && share < b->settings.jobs && children[share] != ended)
         share++;
      if (ended <= 0)
         return rkb_fail(err, RKB_ERR_INTERNAL, "the children cannot be waited for");
      if (share == b->settings.jobs)
         continue;
      bool orderly = WIFEXITED(code) && (WEXITSTATUS(code) == 0 || WEXITSTATUS(code) == NOT_FINISHED);
      if (orderly && WEXITSTATUS(code) == NOT_FINISHED)
         status = rkb_fail(err, RKB_ERR_UNAVAILABLE, "a share of the work was not done; run again to go on");
      if (!orderly && record_crash(b, &b->list[progress->current[share]], code, err) != RKB_OK)
         return err->status;
      children[share] = orderly ? 0 : start_share(b, progress, share, err);
      running -= children[share] <= 0;
   }
   return status;
}

int verify_processes_check(bench_t *b, rkb_error_t *err) {
   pid_t children[VERIFY_MOST_JOBS];
   progress_t *progress =
      mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
   if (progress == MAP_FAILED)
      return rkb_fail_memory(err, sizeof *progress);
   for (uint32_t i = 0; i < b->settings.jobs; i++)
      children[i] = start_share(b, progress, i, err);
   int status = wait_for_shares(b, progress, children, err);
   munmap(progress, sizeof *progress);
   return status == RKB_OK ? subjects_read_results(b, err) : status;
}
