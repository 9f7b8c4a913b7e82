/* rkb-label-faults: says of every fault of the corpus whether it is one, without the checking machine.
 *
 * A fault whose machine code and plans equal those of its kernel is equivalent.  Otherwise it runs on a GPU
 * between guard pages, on all check cases and some drawn ones, on several input families: a fault of the
 * driver, a damaged canary, an endless run or an output outside the task's bounds makes it a fault.  What
 * nothing saw is a fault only where its operator gives an argument, and stays unlabelled elsewhere.
 *
 * Rows are appended as they are made, so a run that was cut short goes on; at the end the table is sorted.
 * Threads: one a job, each with a GPU worker process; builds share a pool of compiler processes. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "corpus/labels.h"
#include "label/device_run.h"

typedef struct original { /* what a kernel's faults are compared with */
   bool made;
   char ptx[33];
   char plans[MOST_CASES][33];
} original_t;

typedef struct labelling {
   corpus_t corpus;
   subjects_t subjects;
   labels_t known;
   original_t *originals;
   rkb_compilers_t *compilers;
   rkb_device_t *device;
   FILE *out;
   const char *only; /* ids that contain this, or NULL */
   bool dry;         /* builds alone */
   bool no_device;   /* only what needs no GPU: arguments, equal code, what does not build */
   atomic_uint next, failed;
   uint32_t made, counts[4]; /* this run: fault, equivalent, unbuildable, unlabelled; under the mutex, as are
                                out and known */
   pthread_mutex_t mutex, originals_mutex;
   char first_error[512];
   char greeting[1024];
} labelling_t;

static const char *const names[] = {"fault", "equivalent", "unbuildable", "unlabelled"};

/* Identities of a build: code without names and lines, and every case's plan. */
static int identify(const labelling_t *l, const subject_t *subject, const char *text,
                    const rkb_build_t *build, original_t *identity, rkb_error_t *err) {
   rkb_problems_t problems;
   rkb_problems_init(&problems);
   rkb_manifest_t *manifest = rkb_manifest_parse("fault.cu", text, strlen(text), &problems);
   int status = manifest ? RKB_OK : rkb_problems_error(&problems, err);
   rkb_problems_free(&problems);
   rkb_ptx_identity(build->ptx, build->ptx_bytes, identity->ptx);
   for (uint32_t i = 0; i < subject->case_count && status == RKB_OK; i++) {
      case_names_t names_of = {subject->task, subject->cases[i].of};
      rkb_plan_t *plan = NULL;
      rkb_finding_t finding = {0};
      status = rkb_plan_make(manifest, "{}", build, l->device, subject->cases[i].of, case_names_find,
                             &names_of, &plan, &finding, err);
      snprintf(identity->plans[i], sizeof identity->plans[i], "%s", "none");
      if (status == RKB_OK && plan)
         rkb_plan_hash(plan, identity->plans[i]);
      rkb_plan_free(plan);
   }
   rkb_manifest_free(manifest);
   identity->made = status == RKB_OK;
   return status;
}

static int original_of(labelling_t *l, const subject_t *subject, uint32_t kernel, original_t **original,
                       rkb_error_t *err) {
   rkb_build_t *build = NULL;
   rkb_finding_t finding = {0};
   int status = RKB_OK;
   *original = &l->originals[kernel];
   pthread_mutex_lock(&l->originals_mutex);
   if (!(*original)->made) {
      status = rkb_build_candidate(l->compilers, l->device, l->corpus.kernels[kernel].text, "{}", 0, NULL,
                                   NULL, &build, NULL, &finding, err);
      if (status == RKB_OK && !build)
         status = rkb_fail(err, RKB_ERR_INVALID, "%s does not build: %s", l->corpus.kernels[kernel].path,
                           finding.message);
      if (status == RKB_OK)
         status = identify(l, subject, l->corpus.kernels[kernel].text, build, *original, err);
      rkb_build_free(build);
   }
   pthread_mutex_unlock(&l->originals_mutex);
   return status;
}

static bool same(const original_t *a, const original_t *b, uint32_t cases) {
   for (uint32_t i = 0; i < cases; i++)
      if (strcmp(a->plans[i], b->plans[i]) != 0)
         return false;
   return strcmp(a->ptx, b->ptx) == 0;
}

static void set(char *out, size_t size, const char *text) {
   snprintf(out, size, "%s", text);
}

static int run_on_device(labelling_t *l, device_runner_t *runner, subject_t *subject, const fault_t *fault,
                         const rkb_build_t *build, label_t *label, rkb_error_t *err) {
   witness_t witness = {0};
   rkb_problems_t problems;
   rkb_problems_init(&problems);
   rkb_manifest_t *manifest = rkb_manifest_parse("fault.cu", fault->text, fault->bytes, &problems);
   int status = manifest ? device_runner_try(runner, subject, manifest, build, l->device, &witness, err)
                         : rkb_problems_error(&problems, err);
   rkb_problems_free(&problems);
   rkb_manifest_free(manifest);
   if (status != RKB_OK)
      return status;
   if (witness.found) {
      set(label->name, sizeof label->name, "fault");
      set(label->oracle, sizeof label->oracle, "device");
      set(label->found, sizeof label->found, witness.what);
      set(label->the_case, sizeof label->the_case, witness.the_case->of->name);
      if (witness.trial) {
         set(label->family, sizeof label->family, witness.trial->family->name);
         label->seed = witness.trial->seed;
      }
   }
   return RKB_OK;
}

static int label_one(labelling_t *l, device_runner_t *runner, const fault_t *fault, label_t *label,
                     rkb_error_t *err) {
   subject_t *subject = subjects_of(&l->subjects, &l->corpus.kernels[fault->kernel]);
   rkb_build_t *build = NULL;
   rkb_finding_t finding = {0};
   original_t *original, mine = {0};
   int status = rkb_build_candidate(l->compilers, l->device, fault->text, "{}", 0, NULL, NULL, &build,
                                    NULL, &finding, err);
   if (status != RKB_OK)
      return status;
   if (!build) {
      set(label->name, sizeof label->name, "unbuildable");
      set(label->oracle, sizeof label->oracle, "compiler");
      set(label->found, sizeof label->found, finding.reason);
      if (l->dry)
         fprintf(stderr, "%s: %.160s\n", fault->id, finding.message);
      return RKB_OK;
   }
   status = original_of(l, subject, fault->kernel, &original, err);
   if (status == RKB_OK)
      status = identify(l, subject, fault->text, build, &mine, err);
   if (status == RKB_OK && same(original, &mine, subject->case_count)) {
      set(label->name, sizeof label->name, "equivalent");
      set(label->oracle, sizeof label->oracle, "same_code");
   } else if (status == RKB_OK) {
      if (!l->no_device)
         status = run_on_device(l, runner, subject, fault, build, label, err);
      if (status == RKB_OK && fault->operator_of->argument && strcmp(label->name, "fault") != 0) {
         set(label->name, sizeof label->name, "fault");
         set(label->oracle, sizeof label->oracle, "construction");
      }
   }
   rkb_build_free(build);
   return status;
}

static void keep(labelling_t *l, const label_t *label) {
   char line[1024];
   rkb_error_t err;
   labels_line(label, line, sizeof line);
   pthread_mutex_lock(&l->mutex);
   for (uint32_t i = 0; i < 4; i++)
      l->counts[i] += strcmp(label->name, names[i]) == 0;
   if (++l->made % 100 == 0)
      fprintf(stderr, "%u of %u\n", l->made, l->corpus.fault_count);
   if (l->out && !(l->no_device && strcmp(label->name, "unlabelled") == 0)) {
      fputs(line, l->out);
      fflush(l->out);
      labels_add(&l->known, label, &err);
   }
   pthread_mutex_unlock(&l->mutex);
}

static void complain(labelling_t *l, const fault_t *fault, const rkb_error_t *err) {
   pthread_mutex_lock(&l->mutex);
   if (!l->first_error[0])
      snprintf(l->first_error, sizeof l->first_error, "%s: %s", fault ? fault->id : "start", err->message);
   pthread_mutex_unlock(&l->mutex);
   atomic_fetch_add(&l->failed, 1);
}

static void *work(void *argument) {
   labelling_t *l = argument;
   device_runner_t runner = {0};
   rkb_error_t err = {0};
   if (!l->no_device && device_runner_open(&runner, &err) != RKB_OK) {
      complain(l, NULL, &err);
      return NULL;
   }
   pthread_mutex_lock(&l->mutex);
   if (!l->no_device && !l->greeting[0])
      snprintf(l->greeting, sizeof l->greeting, "%s", runner.worker.greeting);
   pthread_mutex_unlock(&l->mutex);
   for (uint32_t i;
        (i = atomic_fetch_add(&l->next, 1)) < l->corpus.fault_count && atomic_load(&l->failed) < 64;) {
      const fault_t *fault = &l->corpus.faults[i];
      bool skip = l->only && !strstr(fault->id, l->only);
      pthread_mutex_lock(&l->mutex);
      skip = skip || labels_find(&l->known, fault->id, fault->hash);
      pthread_mutex_unlock(&l->mutex);
      if (skip)
         continue;
      label_t label = label_of(fault);
      int status = label_one(l, &runner, fault, &label, &err);
      if (status == RKB_ERR_UNAVAILABLE || status == RKB_ERR_TIMEOUT) { /* once more, with a fresh worker */
         if (!l->no_device)
            rkb_device_worker_stop(&runner.worker);
         label = label_of(fault);
         status = label_one(l, &runner, fault, &label, &err);
      }
      if (status == RKB_OK)
         keep(l, &label);
      else
         complain(l, fault, &err);
   }
   device_runner_close(&runner);
   return NULL;
}

static int run_threads(labelling_t *l, uint32_t jobs, rkb_error_t *err) {
   pthread_t threads[64];
   uint32_t started = 0;
   for (; started < jobs && started < 64; started++)
      if (pthread_create(&threads[started], NULL, work, l) != 0)
         break;
   for (uint32_t i = 0; i < started; i++)
      pthread_join(threads[i], NULL);
   return started ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "no thread could be started");
}

/* Rows of faults that the corpus no longer has are left out. */
static int finish(labelling_t *l, const char *path, rkb_error_t *err) {
   labels_t current = {0};
   char device[128] = "a GPU", remark[256], day[16];
   time_t now = time(NULL);
   struct tm parts;
   int status = RKB_OK;
   const char *at = strstr(l->greeting, "device=");
   if (at)
      sscanf(at + 7, "%127[^\n]", device);
   for (uint32_t i = 0; i < l->corpus.fault_count && status == RKB_OK; i++) {
      const label_t *label = labels_find(&l->known, l->corpus.faults[i].id, l->corpus.faults[i].hash);
      if (label)
         status = labels_add(&current, label, err);
   }
   strftime(day, sizeof day, "%Y-%m-%d", gmtime_r(&now, &parts));
   snprintf(remark, sizeof remark,
            l->no_device ? "Made on %s without a GPU: only what needs none%s."
                         : "Devices' part made on %s, %s.",
            l->no_device ? day : device, l->no_device ? "" : day);
   if (status == RKB_OK && l->out)
      status = labels_write(path, &current, remark, err);
   labels_free(&current);
   return status;
}

int main(int count, char **arguments) {
   const char *tasks = NULL, *bases = NULL, *path = NULL, *cache = "";
   uint32_t jobs = 16;
   bool usage = false;
   labelling_t *l = calloc(1, sizeof *l);
   rkb_error_t err = {0};
   rkb_problems_t problems;
   if (!l)
      return 3;
   for (int i = 1; i < count; i++) {
      bool more = i + 1 < count;
      if (strcmp(arguments[i], "--dry-run") == 0)
         l->dry = l->no_device = true;
      else if (strcmp(arguments[i], "--no-device") == 0)
         l->no_device = true;
      else if (more && strcmp(arguments[i], "--tasks") == 0)
         tasks = arguments[++i];
      else if (more && strcmp(arguments[i], "--bases") == 0)
         bases = arguments[++i];
      else if (more && strcmp(arguments[i], "--out") == 0)
         path = arguments[++i];
      else if (more && strcmp(arguments[i], "--cache") == 0)
         cache = arguments[++i];
      else if (more && strcmp(arguments[i], "--jobs") == 0)
         jobs = (uint32_t)strtoul(arguments[++i], NULL, 10);
      else if (more && strcmp(arguments[i], "--only") == 0)
         l->only = arguments[++i];
      else
         usage = true;
   }
   if (usage || !tasks || (!path && !l->dry) || !jobs) {
      fprintf(stderr, "usage: rkb-label-faults --tasks DIR [--bases DIR] --out labels.tsv [--jobs N] "
                      "[--cache DIR] [--only TEXT] [--no-device | --dry-run]\n");
      return 2;
   }
   pthread_mutex_init(&l->mutex, NULL);
   pthread_mutex_init(&l->originals_mutex, NULL);
   rkb_problems_init(&problems);
   rkb_compilers_config_t config = {.processes = jobs, .cache_directory = cache};
   l->device = rkb_device_load("h200", &problems);
   int status = l->device ? corpus_open(tasks, bases, &l->corpus, &err) : rkb_problems_error(&problems, &err);
   rkb_problems_free(&problems);
   if (status == RKB_OK && path)
      status = labels_read(path, &l->known, &err);
   if (status == RKB_OK)
      status = subjects_open(&l->corpus, tasks, &l->subjects, &err);
   if (status == RKB_OK)
      status = rkb_compilers_open(&config, &l->compilers, &err);
   if (status == RKB_OK && (l->originals = calloc(l->corpus.kernel_count, sizeof *l->originals)) == NULL)
      status = rkb_fail(&err, RKB_ERR_NOMEM, "out of memory");
   if (status == RKB_OK && path && !l->dry && (l->out = fopen(path, "a")) == NULL)
      status = rkb_fail(&err, RKB_ERR_IO, "cannot write %s", path);
   if (status == RKB_OK)
      status = run_threads(l, jobs, &err);
   if (status == RKB_OK)
      status = finish(l, path, &err);
   if (l->first_error[0])
      fprintf(stderr, "%u not labelled; the first: %s\n", atomic_load(&l->failed), l->first_error);
   if (status != RKB_OK)
      fprintf(stderr, "%s\n", err.message);
   printf("%u labelled now: %u fault, %u equivalent, %u unbuildable, %u %s\n", l->made, l->counts[0],
          l->counts[1], l->counts[2], l->counts[3], l->no_device ? "others that build" : "unlabelled");
   if (l->out)
      fclose(l->out);
   rkb_compilers_close(l->compilers);
   subjects_close(&l->subjects);
   labels_free(&l->known);
   corpus_close(&l->corpus);
   rkb_device_free(l->device);
   status = status != RKB_OK || l->first_error[0] ? 3 : 0;
   free(l->originals);
   free(l);
   return status;
}
