/* rkb-bench-verify: the labelled fault corpus through the checking machine, and what it makes of it: a table
 * by operator, the part kept out of tuning apart, with Wilson's intervals.  With --sample N only the N faults
 * whose ids hash lowest, and an exit of 1 when a fault is accepted that the list of known misses does not
 * name, or when a listed one is rejected now. With --kernels the correct kernels in place of the faults: any
 * verdict but accept is a failure; --every-tune is every setting of their grids.
 *
 * Works in --jobs child processes, because a check turns its thread into the engine's loop; each takes the next
 * subject and appends whole lines to the results, which an interrupted run goes on from.  A child that a subject
 * ends leaves a line for it and is replaced. */
#include <fcntl.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/file.h"
#include "corpus/labels.h"
#include "engine/engine.h"

enum { MOST_RESULTS_BYTES = 8 << 20, MOST_JOBS = 64, MOST_PIPELINES = 64, NOT_FINISHED = 3 /* exit code */ };
#define CRASH "crash" /* the standing of what ended its process */

typedef struct settings {
   const char *tasks, *bases, *labels, *results, *pipeline, *misses;
   uint32_t jobs, sample;
   bool kernels, every_tune;
} settings_t;

typedef struct subject { /* one thing to check */
   char id[256];
   const char *task, *direction, *text, *hash;
   char tune[256];
   uint64_t rank;
   const fault_t *fault; /* NULL: a correct kernel */
   const label_t *label;
   char standing[16], reason[48];
   double seconds;
   bool done;
} subject_t;

typedef struct progress {       /* shared with the children */
   _Atomic uint32_t next;       /* place in the list that nobody has taken */
   uint32_t current[MOST_JOBS]; /* what each child checks */
} progress_t;

typedef struct bench {
   settings_t settings;
   corpus_t corpus;
   labels_t labels;
   char (*hashes)[RKB_HASH_TEXT]; /* of correct kernels */
   subject_t *list;
   uint32_t count, room;
   progress_t *progress;
} bench_t;

static int add(bench_t *b, const subject_t *subject, rkb_error_t *err) {
   if (b->count == b->room) {
      uint32_t room = b->room ? 2 * b->room : 1024;
      subject_t *list = realloc(b->list, room * sizeof *list);
      if (!list)
         return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
      b->list = list;
      b->room = room;
   }
   b->list[b->count++] = *subject;
   return RKB_OK;
}

/* Setting number index of the grid as JSON and as an id's end; false past the last. */
static bool setting_at(const rkb_manifest_t *manifest, uint64_t index, subject_t *subject,
                       const kernel_file_t *kernel) {
   size_t json = 0, id = 0;
   json += (size_t)snprintf(subject->tune, sizeof subject->tune, "{");
   id += (size_t)snprintf(subject->id, sizeof subject->id, "%s/%s/%s", kernel->task, kernel->direction,
                          kernel->name);
   for (uint32_t i = 0; i < manifest->tune_count; i++) {
      const uint32_t count = manifest->tune[i].choice_count;
      const long long value = manifest->tune[i].choices[index % count];
      index /= count;
      json += (size_t)snprintf(subject->tune + json, sizeof subject->tune - json, "%s\"%s\": %lld",
                               i ? ", " : "", manifest->tune[i].name, value);
      id += (size_t)snprintf(subject->id + id, sizeof subject->id - id, "%c%s=%lld", i ? ',' : '/',
                             manifest->tune[i].name, value);
      if (json + 2 >= sizeof subject->tune || id >= sizeof subject->id)
         return false;
   }
   snprintf(subject->tune + json, sizeof subject->tune - json, "}");
   return index == 0;
}

/* Every setting of the kernel's grid. */
static int add_tunes(bench_t *b, const kernel_file_t *kernel, subject_t *subject, rkb_error_t *err) {
   rkb_problems_t problems;
   rkb_problems_init(&problems);
   rkb_manifest_t *manifest = rkb_manifest_parse(kernel->path, kernel->text, strlen(kernel->text), &problems);
   int status = manifest ? RKB_OK : rkb_problems_error(&problems, err);
   rkb_problems_free(&problems);
   for (uint64_t i = 0; status == RKB_OK && setting_at(manifest, i, subject, kernel); i++) {
      subject->rank = rkb_hash64(subject->id, strlen(subject->id), 1);
      status = add(b, subject, err);
   }
   rkb_manifest_free(manifest);
   return status;
}

static int choose(bench_t *b, rkb_error_t *err) {
   int status = RKB_OK;
   if (b->settings.kernels) {
      b->hashes = calloc(b->corpus.kernel_count, sizeof *b->hashes);
      status = b->hashes ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
      for (uint32_t i = 0; i < b->corpus.kernel_count && status == RKB_OK; i++) {
         const kernel_file_t *k = &b->corpus.kernels[i];
         subject_t subject = {
            .task = k->task, .direction = k->direction, .text = k->text, .hash = b->hashes[i], .tune = "{}"};
         rkb_hash_text(k->text, strlen(k->text), b->hashes[i]);
         snprintf(subject.id, sizeof subject.id, "%s/%s/%s", k->task, k->direction, k->name);
         status = b->settings.every_tune ? add_tunes(b, k, &subject, err) : add(b, &subject, err);
      }
      return status;
   }
   for (uint32_t i = 0; i < b->corpus.fault_count && status == RKB_OK; i++) {
      const fault_t *fault = &b->corpus.faults[i];
      const kernel_file_t *k = &b->corpus.kernels[fault->kernel];
      const label_t *label = labels_find(&b->labels, fault->id, fault->hash);
      subject_t subject = {.task = k->task,
                           .direction = k->direction,
                           .text = fault->text,
                           .hash = fault->hash,
                           .tune = "{}",
                           .fault = fault,
                           .label = label,
                           .rank = rkb_hash64(fault->id, strlen(fault->id), 1)};
      if (!label || strcmp(label->name, "fault") != 0)
         continue;
      snprintf(subject.id, sizeof subject.id, "%s", fault->id);
      status = add(b, &subject, err);
   }
   return status;
}

static int by_rank(const void *x, const void *y) {
   const subject_t *a = x, *b = y;
   return (a->rank > b->rank) - (a->rank < b->rank);
}

static subject_t *find(bench_t *b, const char *id) {
   for (uint32_t i = 0; i < b->count; i++)
      if (strcmp(b->list[i].id, id) == 0)
         return &b->list[i];
   return NULL;
}

/* Lines of id, hash, standing, reason, seconds; those of other texts are passed over. */
static int read_results(bench_t *b, rkb_error_t *err) {
   char *text = NULL, *rest, *line, id[256], hash[64], standing[16], reason[48];
   size_t length;
   double seconds;
   if (!rkb_path_exists(b->settings.results))
      return RKB_OK;
   int status = rkb_file_read(b->settings.results, MOST_RESULTS_BYTES, &text, &length, err);
   rest = text;
   while (status == RKB_OK && (line = strsep(&rest, "\n")) != NULL) {
      if (sscanf(line, "%255[^\t]\t%63s\t%15s\t%47s\t%lf", id, hash, standing, reason, &seconds) != 5)
         continue;
      subject_t *subject = find(b, id);
      if (!subject || strcmp(subject->hash, hash) != 0)
         continue;
      subject->done = true;
      subject->seconds = seconds;
      snprintf(subject->standing, sizeof subject->standing, "%s", standing);
      snprintf(subject->reason, sizeof subject->reason, "%s", reason);
   }
   free(text);
   return status;
}

typedef struct opened {
   const char *task, *direction;
   rkb_pipeline_t *pipeline;
} opened_t;

static rkb_pipeline_t *pipeline_for(const bench_t *b, opened_t *opened, uint32_t *count,
                                    const subject_t *subject, rkb_error_t *err) {
   for (uint32_t i = 0; i < *count; i++)
      if (strcmp(opened[i].task, subject->task) == 0 && strcmp(opened[i].direction, subject->direction) == 0)
         return opened[i].pipeline;
   char folder[4096];
   rkb_problems_t problems;
   rkb_problems_init(&problems);
   snprintf(folder, sizeof folder, "%s/%s", b->settings.tasks, subject->task);
   rkb_pipeline_options_t options = {
      .path = b->settings.pipeline, .task = folder, .direction = subject->direction};
   rkb_pipeline_t *pipeline = *count < MOST_PIPELINES ? rkb_pipeline_open(&options, &problems) : NULL;
   if (!pipeline)
      rkb_problems_error(&problems, err);
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

/* A child: what no other has taken, until nothing is left. */
static int check_share(bench_t *b, uint32_t share, rkb_error_t *err) {
   opened_t opened[MOST_PIPELINES];
   uint32_t pipelines = 0, i;
   rkb_log_t *log = NULL;
   int out;
   if (open_results(b, &out, err) != RKB_OK)
      return err->status;
   int status = rkb_log_open(RKB_LOG_ERROR, false, NULL, &log, err);
   while (status == RKB_OK && (i = atomic_fetch_add(&b->progress->next, 1)) < b->count) {
      subject_t *subject = &b->list[i];
      if (subject->done)
         continue;
      b->progress->current[share] = i;
      rkb_pipeline_t *pipeline = pipeline_for(b, opened, &pipelines, subject, err);
      rkb_check_options_t options = {
         .name = subject->id, .source = subject->text, .tune = subject->tune, .jobs = 1, .log = log};
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

static pid_t start_share(bench_t *b, uint32_t share, rkb_error_t *err) {
   fflush(NULL);
   pid_t child = fork();
   if (child != 0)
      return child;
   int status = check_share(b, share, err);
   if (status != RKB_OK)
      fprintf(stderr, "%s\n", err->message);
   _exit(status == RKB_OK ? 0 : NOT_FINISHED);
}

/* What a kernel made the checking machine do becomes its row. */
static int record_crash(const bench_t *b, uint32_t share, int code, rkb_error_t *err) {
   const subject_t *subject = &b->list[b->progress->current[share]];
   char reason[48];
   int out;
   if (WIFSIGNALED(code))
      snprintf(reason, sizeof reason, "signal.%d", WTERMSIG(code));
   else
      snprintf(reason, sizeof reason, "exit.%d", WEXITSTATUS(code));
   fprintf(stderr, "%s ended the process that checked it: %s\n", subject->id, reason);
   if (open_results(b, &out, err) != RKB_OK)
      return err->status;
   int status = put_result(out, subject, CRASH, reason, 0);
   close(out);
   return status == RKB_OK ? RKB_OK : rkb_fail(err, RKB_ERR_IO, "cannot write %s", b->settings.results);
}

/* Waits for all children, replaces those that a kernel ended. */
static int wait_for_shares(bench_t *b, pid_t *children, rkb_error_t *err) {
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
      if (!orderly && record_crash(b, share, code, err) != RKB_OK)
         return err->status;
      children[share] = orderly ? 0 : start_share(b, share, err);
      running -= children[share] <= 0;
   }
   return status;
}

static int check_all(bench_t *b, rkb_error_t *err) {
   pid_t children[MOST_JOBS];
   b->progress = mmap(NULL, sizeof *b->progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
   if (b->progress == MAP_FAILED)
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   for (uint32_t i = 0; i < b->settings.jobs; i++)
      children[i] = start_share(b, i, err);
   int status = wait_for_shares(b, children, err);
   munmap(b->progress, sizeof *b->progress);
   return status == RKB_OK ? read_results(b, err) : status;
}

/* Wilson's score interval, 95 % (Wilson 1927). */
static void wilson(uint32_t hits, uint32_t of, double *low, double *high) {
   const double z = 1.959964, n = of, p = of ? hits / n : 0;
   double middle = of ? (p + z * z / (2 * n)) / (1 + z * z / n) : 0;
   double half = of ? z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n) : 0;
   *low = middle - half;
   *high = middle + half;
}

typedef struct tally {
   uint32_t of, right, other, suspect, accepted, unknown;
   double seconds;
} tally_t;

static bool permitted(const subject_t *subject) {
   const char *at = strstr(subject->fault->operator_of->reasons, subject->reason);
   size_t length = strlen(subject->reason);
   return at && (at[length] == ' ' || at[length] == '\0');
}

static void count(tally_t *t, const subject_t *subject) {
   t->of++;
   t->seconds += subject->seconds;
   if (strcmp(subject->standing, "reject") == 0)
      (*(permitted(subject) ? &t->right : &t->other))++;
   else if (strcmp(subject->standing, "suspect") == 0)
      t->suspect++;
   else if (strcmp(subject->standing, "accept") == 0)
      t->accepted++;
   else
      t->unknown++;
}

static void print_row(const char *name, const tally_t *t) {
   double low, high;
   uint32_t rejected = t->right + t->other;
   if (!t->of)
      return;
   wilson(rejected, t->of, &low, &high);
   printf("%-27s %5u %6u %6u %8u %9u %8u   %6.2f %% (%6.2f to %6.2f)  %8.3f s\n", name, t->of, t->right,
          t->other, t->suspect, t->accepted, t->unknown, 100.0 * rejected / t->of, 100 * low, 100 * high,
          t->seconds / t->of);
}

static void print_table(const bench_t *b, bool kept_out) {
   tally_t all = {0}, order = {0};
   printf("%s\n%-27s %5s %6s %6s %8s %9s %8s   %s\n", kept_out ? "Kept out of tuning" : "Tuned", "operator",
          "of", "right", "other", "suspect", "accepted", "unknown", "rejected (95 %), mean seconds");
   for (uint32_t o = 0; o < fault_operator_count; o++) {
      tally_t one = {0};
      for (uint32_t i = 0; i < b->count; i++) {
         const subject_t *subject = &b->list[i];
         if (!subject->done || subject->fault->operator_of != &fault_operators[o] ||
             subject->fault->kept_out != kept_out)
            continue;
         count(&one, subject);
         count(&all, subject);
         if (fault_operators[o].kind != FAULT_VALUE)
            count(&order, subject);
      }
      print_row(fault_operators[o].name, &one);
   }
   print_row("memory, race and barrier", &order);
   print_row("all", &all);
   printf("\n");
}

static void print_kernels(const bench_t *b) {
   uint32_t done = 0, accepted = 0;
   double seconds = 0;
   for (uint32_t i = 0; i < b->count; i++) {
      done += b->list[i].done;
      accepted += b->list[i].done && strcmp(b->list[i].standing, "accept") == 0;
      seconds += b->list[i].seconds;
   }
   printf("%u of %u %s of %u correct kernels accepted, %.3f s each\n", accepted, b->count,
          b->settings.every_tune ? "settings" : "texts", b->corpus.kernel_count, done ? seconds / done : 0);
}

static bool is_listed(const char *list, const char *id) {
   size_t length = strlen(id);
   for (const char *at = list; at && (at = strstr(at, id)) != NULL; at += length)
      if ((at == list || at[-1] == '\n') && (at[length] == '\n' || at[length] == '\0'))
         return true;
   return false;
}

/* Names what ended its process; true when something did. */
static bool print_crashes(const bench_t *b) {
   bool any = false;
   for (uint32_t i = 0; i < b->count; i++)
      if (b->list[i].done && strcmp(b->list[i].standing, CRASH) == 0) {
         printf("%s: crash %s\n", b->list[i].id, b->list[i].reason);
         any = true;
      }
   return any;
}

/* Failures: a fault that is not rejected and not listed; a listed one that is. */
static int compare_misses(const bench_t *b, rkb_error_t *err) {
   char *list = NULL;
   size_t length;
   uint32_t failures = 0;
   int status = b->settings.misses
                   ? rkb_file_read(b->settings.misses, MOST_RESULTS_BYTES, &list, &length, err)
                   : RKB_OK;
   for (uint32_t i = 0; i < b->count && status == RKB_OK; i++) {
      const subject_t *subject = &b->list[i];
      bool bad =
         subject->fault ? strcmp(subject->standing, "accept") == 0 : strcmp(subject->standing, "accept") != 0;
      if (!subject->done || bad == is_listed(list, subject->id))
         continue;
      printf("%s: %s %s%s\n", subject->id, subject->standing, subject->reason,
             bad ? "" : " (no longer missed: take it from the list)");
      failures++;
   }
   free(list);
   if (failures)
      status = rkb_fail(err, RKB_ERR_INVALID, "%u verdicts are not what they should be", failures);
   return status;
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
                   {"--results", &s->results}, {"--pipeline", &s->pipeline}, {"--misses", &s->misses}};
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
      if (!known)
         return false;
      i++;
   }
   return s->tasks && s->results && s->pipeline && s->jobs <= MOST_JOBS && (s->kernels || s->labels);
}

int main(int count_of, char **arguments) {
   bench_t b = {0};
   rkb_error_t err = {0};
   if (!read_settings(&b.settings, count_of, arguments)) {
      fprintf(stderr, "usage: rkb-bench-verify --tasks DIR [--bases DIR] --pipeline FILE --results FILE "
                      "--labels FILE [--misses FILE] "
                      "[--sample N] [--jobs N]\n       rkb-bench-verify --tasks DIR [--bases DIR] --pipeline "
                      "FILE --results FILE "
                      "--kernels [--every-tune] [--jobs N]\n");
      return 2;
   }
   int status = corpus_open(b.settings.tasks, b.settings.bases, &b.corpus, &err);
   if (status == RKB_OK && !b.settings.kernels)
      status = labels_read(b.settings.labels, &b.labels, &err);
   if (status == RKB_OK)
      status = choose(&b, &err);
   if (status == RKB_OK && (b.settings.sample || b.settings.every_tune)) {
      qsort(b.list, b.count, sizeof *b.list, by_rank);
      b.count = b.settings.sample && b.settings.sample < b.count ? b.settings.sample : b.count;
   }
   if (status == RKB_OK && !b.count)
      status = rkb_fail(&err, RKB_ERR_INVALID, "no fault is labelled");
   if (status == RKB_OK)
      status = read_results(&b, &err);
   if (status == RKB_OK)
      status = check_all(&b, &err);
   if (status == RKB_OK && !b.settings.kernels) {
      print_table(&b, false);
      print_table(&b, true);
   }
   if (status == RKB_OK && b.settings.kernels)
      print_kernels(&b);
   if (status == RKB_OK && (b.settings.kernels || b.settings.sample))
      status = compare_misses(&b, &err);
   if (status == RKB_OK && print_crashes(&b))
      status = rkb_fail(&err, RKB_ERR_INVALID, "the checking machine crashed");
   if (status != RKB_OK)
      fprintf(stderr, "%s\n", err.message);
   free(b.list);
   free(b.hashes);
   labels_free(&b.labels);
   corpus_close(&b.corpus);
   return status == RKB_OK ? 0 : status == RKB_ERR_INVALID ? 1 : 3;
}
