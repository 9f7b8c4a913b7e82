/* See labelling.h.  Each job has a thread, and each thread a GPU worker process; builds share a pool of
 * compiler processes. */
#include "tools/faults/label/labelling.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "tools/faults/label/output_comparison.h"

double labelling_seconds(const labelling_t *l) {
   struct timespec now;
   clock_gettime(CLOCK_MONOTONIC, &now);
   return (double)now.tv_sec + (double)now.tv_nsec * 1e-9 - l->start;
}

static bool in_time(labelling_t *l) {
   return labelling_seconds(l) < l->until && atomic_load(&l->failed) < 64;
}

static void complain(labelling_t *l, const char *id, const rkb_error_t *err) {
   pthread_mutex_lock(&l->mutex);
   if (!l->first_error[0])
      snprintf(l->first_error, sizeof l->first_error, "%s: %s", id, err->message);
   pthread_mutex_unlock(&l->mutex);
   atomic_fetch_add(&l->failed, 1);
}

static int run_threads(labelling_t *l, void *(*work)(void *), rkb_error_t *err) {
   pthread_t threads[64];
   uint32_t started = 0;
   atomic_store(&l->next, 0);
   while (started < l->jobs && started < 64 && pthread_create(&threads[started], NULL, work, l) == 0)
      started++;
   for (uint32_t i = 0; i < started; i++)
      pthread_join(threads[i], NULL);
   return started ? RKB_OK : rkb_fail(err, RKB_ERR_UNAVAILABLE, "no thread could be started");
}

static bool open_runner(labelling_t *l, device_runner_t *runner) {
   rkb_error_t err;
   *runner = (device_runner_t){0};
   if (l->no_device)
      return true;
   if (device_runner_open(runner, &err) != RKB_OK) {
      complain(l, "start", &err);
      return false;
   }
   pthread_mutex_lock(&l->mutex);
   if (!l->greeting[0])
      snprintf(l->greeting, sizeof l->greeting, "%s", runner->worker.greeting);
   pthread_mutex_unlock(&l->mutex);
   return true;
}

/* A built text with what is needed to run it.  *build is NULL, with a finding, when it does not build. */
typedef struct prepared {
   rkb_manifest_t *manifest;
   rkb_build_t *build;
   rkb_finding_t finding;
   attempt_t attempt;
} prepared_t;

static int prepare(labelling_t *l, uint32_t kernel, const char *text, prepared_t *p, rkb_error_t *err) {
   *p = (prepared_t){0};
   int status = rkb_build_candidate(l->compilers, l->device, text, "{}", 0, NULL, NULL, &p->build, NULL,
                                    &p->finding, err);
   if (status != RKB_OK || !p->build)
      return status;
   rkb_problems_t problems;
   rkb_problems_init(&problems);
   p->manifest = rkb_manifest_parse("fault.cu", text, strlen(text), &problems);
   status = p->manifest ? RKB_OK : rkb_problems_error(&problems, err);
   rkb_problems_free(&problems);
   p->attempt =
      (attempt_t){subjects_of(&l->subjects, &l->corpus.kernels[kernel]), p->manifest, p->build, l->device};
   return status;
}

static void forget(prepared_t *p) {
   rkb_manifest_free(p->manifest);
   rkb_build_free(p->build);
   *p = (prepared_t){0};
}

/* Finds the identity of a build: its code without names and lines, and every case's plan. */
static int identify(const attempt_t *attempt, original_t *identity, rkb_error_t *err) {
   int status = RKB_OK;
   rkb_ptx_identity(attempt->build->ptx, attempt->build->ptx_bytes, identity->ptx);
   for (uint32_t i = 0; i < attempt->subject->case_count && status == RKB_OK; i++) {
      case_names_t names = {attempt->subject->task, attempt->subject->cases[i].of};
      rkb_plan_t *plan = NULL;
      rkb_finding_t finding = {0};
      status = rkb_plan_make(attempt->manifest, "{}", attempt->build, attempt->device,
                             attempt->subject->cases[i].of, case_names_find, &names, &plan, &finding, err);
      snprintf(identity->plans[i], sizeof identity->plans[i], "%s", "none");
      if (status == RKB_OK && plan)
         rkb_plan_hash(plan, identity->plans[i]);
      rkb_plan_free(plan);
   }
   return status;
}

static bool same(const original_t *a, const original_t *b, uint32_t cases) {
   for (uint32_t i = 0; i < cases; i++)
      if (strcmp(a->plans[i], b->plans[i]) != 0)
         return false;
   return strcmp(a->ptx, b->ptx) == 0;
}

static int check_original(labelling_t *l, device_runner_t *runner, uint32_t kernel, rkb_error_t *err) {
   const kernel_file_t *file = &l->corpus.kernels[kernel];
   prepared_t p;
   witness_t witness = {0};
   int status = prepare(l, kernel, file->text, &p, err);
   if (status == RKB_OK && !p.build)
      status = rkb_fail(err, RKB_ERR_INVALID, "%s does not build: %s", file->path, p.finding.message);
   if (status == RKB_OK)
      status = identify(&p.attempt, &l->originals[kernel], err);
   if (status == RKB_OK && !l->no_device)
      status = device_runner_try(runner, &p.attempt, &witness, err);
   if (status == RKB_OK && witness.found) {
      l->originals[kernel].wrong = true;
      fprintf(stderr, "%s: the oracle says of the correct kernel: %s in %s, %s\n", file->path, witness.what,
              witness.the_case->of->name, witness.trial ? witness.trial->family->name : "-");
   }
   forget(&p);
   return status;
}

static void *check_originals(void *argument) {
   labelling_t *l = argument;
   device_runner_t runner;
   rkb_error_t err = {0};
   if (!open_runner(l, &runner))
      return NULL;
   for (uint32_t i; (i = atomic_fetch_add(&l->next, 1)) < l->corpus.kernel_count;)
      if (check_original(l, &runner, i, &err) != RKB_OK) {
         l->originals[i].wrong = true;
         complain(l, l->corpus.kernels[i].path, &err);
      }
   device_runner_close(&runner);
   return NULL;
}

int labelling_check_originals(labelling_t *l, rkb_error_t *err) {
   int status = run_threads(l, check_originals, err);
   /* So many failures cannot be caused by the kernels. */
   if (status == RKB_OK && atomic_load(&l->failed) > l->corpus.kernel_count / 4)
      status = rkb_fail(err, RKB_ERR_UNAVAILABLE, "%s", l->first_error);
   return status;
}

static void set(char *out, size_t size, const char *text) {
   snprintf(out, size, "%s", text);
}

static void set_fault(label_t *label, const char *oracle, const char *found) {
   set(label->name, sizeof label->name, "fault");
   set(label->oracle, sizeof label->oracle, oracle);
   set(label->found, sizeof label->found, found);
}

static int run_on_device(labelling_t *l, device_runner_t *runner, const prepared_t *p, label_t *label,
                         rkb_error_t *err) {
   witness_t witness = {0};
   (void)l;
   int status = device_runner_try(runner, &p->attempt, &witness, err);
   if (status == RKB_OK && witness.found) {
      set_fault(label, "device", witness.what);
      set(label->the_case, sizeof label->the_case, witness.the_case->of->name);
      if (witness.trial) {
         set(label->family, sizeof label->family, witness.trial->family->name);
         label->seed = witness.trial->seed;
      }
   }
   return status;
}

/* Runs the faulty kernel and the correct kernel at shapes where the fault must show by its condition, and at bench cases, and compares their outputs. */
static int run_beside_original(device_runner_t *runner, labelling_t *l, const fault_t *fault, const prepared_t *p, label_t *label,
                               rkb_error_t *err) {
   prepared_t original;
   comparison_t at = {0};
   witness_t witness = {0};
   int status = prepare(l, fault->kernel, l->corpus.kernels[fault->kernel].text, &original, err);
   if (status == RKB_OK && original.build)
      status = comparison_try(runner, &p->attempt, &original.attempt, fault->where, &at, &witness, err);
   if (status == RKB_OK && witness.found) {
      set_fault(label, "device", witness.what);
      set(label->the_case, sizeof label->the_case, at.name);
      set(label->family, sizeof label->family, at.trial.family ? at.trial.family->name : "-");
      label->seed = at.trial.seed;
   }
   comparison_close(&at);
   forget(&original);
   return status;
}

static int label_one(labelling_t *l, device_runner_t *runner, const fault_t *fault, label_t *label,
                     rkb_error_t *err) {
   const original_t *original = &l->originals[fault->kernel];
   original_t mine = {0};
   prepared_t p;
   *label = label_of(fault);
   int status = prepare(l, fault->kernel, fault->text, &p, err);
   if (status == RKB_OK && !p.build) {
      set(label->name, sizeof label->name, "unbuildable");
      set(label->oracle, sizeof label->oracle, "compiler");
      set(label->found, sizeof label->found, p.finding.reason);
      return RKB_OK;
   }
   if (status == RKB_OK)
      status = identify(&p.attempt, &mine, err);
   if (status == RKB_OK && same(original, &mine, p.attempt.subject->case_count)) {
      set(label->name, sizeof label->name, "equivalent");
      set(label->oracle, sizeof label->oracle, "same_code");
   } else if (status == RKB_OK) {
      if (!l->no_device && !original->wrong)
         status = run_on_device(l, runner, &p, label, err);
      if (status == RKB_OK && !l->no_device && !original->wrong && strcmp(label->name, "fault") != 0 &&
          (fault->where || fault->operator_of >= fault_operators + fault_operators_tried))
         status = run_beside_original(runner, l, fault, &p, label, err);
      if (status == RKB_OK && fault->operator_of->argument && strcmp(label->name, "fault") != 0)
         set_fault(label, "construction", "-");
   }
   forget(&p);
   return status;
}

static void keep(labelling_t *l, const label_t *label) {
   char line[1024];
   labels_line(label, line, sizeof line);
   pthread_mutex_lock(&l->mutex);
   if (++l->made % 100 == 0)
      fprintf(stderr, "[%3.0f s] %u labels\n", labelling_seconds(l), l->made);
   if (!l->no_device || strcmp(label->name, "unlabelled") != 0) {
      if (l->out) {
         fputs(line, l->out);
         fflush(l->out);
      }
      labels_put(&l->known, label);
   }
   pthread_mutex_unlock(&l->mutex);
}

static bool known(labelling_t *l, const fault_t *fault, label_t *label) {
   pthread_mutex_lock(&l->mutex);
   const label_t *found = labels_find(&l->known, fault->id, fault->hash);
   if (found)
      *label = *found;
   pthread_mutex_unlock(&l->mutex);
   return found != NULL;
}

/* Maps 0, 1, 2, ... to steps by a number that is prime to the count, so that the faults of one costly task are not all built at the same time. */
static uint32_t shuffled(uint32_t index, uint32_t count) {
   const uint32_t stride = 7919;
   return count % stride == 0 ? index : (uint32_t)((uint64_t)index * stride % count);
}

static bool is_wanted(const labelling_t *l, const char *id) {
   for (const char *word = l->only; word && *word;) {
      size_t length = strcspn(word, ",");
      if (length && memmem(id, strlen(id), word, length))
         return true;
      word += length + (word[length] == ',');
   }
   return !l->only;
}

static void *label_faults(void *argument) {
   labelling_t *l = argument;
   device_runner_t runner;
   label_t label;
   rkb_error_t err = {0};
   if (!open_runner(l, &runner))
      return NULL;
   for (uint32_t i; (i = atomic_fetch_add(&l->next, 1)) < l->corpus.fault_count && in_time(l);) {
      const fault_t *fault = &l->corpus.faults[shuffled(i, l->corpus.fault_count)];
      if (!is_wanted(l, fault->id) || known(l, fault, &label))
         continue;
      int status = label_one(l, &runner, fault, &label, &err);
      /* Try once more, with a fresh worker. */
      if (status == RKB_ERR_UNAVAILABLE || status == RKB_ERR_TIMEOUT) {
         if (!l->no_device)
            rkb_device_worker_stop(&runner.worker);
         status = label_one(l, &runner, fault, &label, &err);
      }
      if (status == RKB_OK)
         keep(l, &label);
      else
         complain(l, fault->id, &err);
   }
   device_runner_close(&runner);
   return NULL;
}

int labelling_run(labelling_t *l, rkb_error_t *err) {
   return run_threads(l, label_faults, err);
}

/* Whether the tool complains about the correct kernel too.  It is asked once for each kernel and tool, and
 * only after it has complained about a fault.  A tool that does not end there counts as complaining. */
static bool reported_before(labelling_t *l, uint32_t kernel, uint32_t tool) {
   original_t *original = &l->originals[kernel];
   pthread_mutex_lock(&l->tools_mutex);
   if (!original->asked[tool]) {
      prepared_t p;
      char what[128] = "";
      rkb_error_t err = {0};
      int status = prepare(l, kernel, l->corpus.kernels[kernel].text, &p, &err);
      if (status == RKB_OK)
         status = sanitizer_try(&p.attempt, tool, &original->reported[tool], what, sizeof what, &err);
      forget(&p);
      original->asked[tool] = true;
      original->reported[tool] |= status != RKB_OK;
      if (original->reported[tool])
         fprintf(stderr, "%s: %s says of the correct kernel: %s\n", l->corpus.kernels[kernel].path,
                 sanitizer_tools[tool], status == RKB_OK ? what : err.message);
   }
   pthread_mutex_unlock(&l->tools_mutex);
   return original->reported[tool];
}

/* Lists the tools that can see this kind of fault, the most likely one first. */
static uint32_t tools_for(const fault_t *fault, uint32_t *tools) {
   const bool order = fault->operator_of->kind == FAULT_BARRIER || fault->operator_of->kind == FAULT_RACE;
   tools[0] = order ? SANITIZER_RACECHECK : SANITIZER_MEMCHECK;
   tools[1] = order ? SANITIZER_SYNCCHECK : SANITIZER_INITCHECK;
   return 2;
}

static int sanitize_fault(labelling_t *l, const fault_t *fault, label_t *label, rkb_error_t *err) {
   prepared_t p;
   char what[128];
   uint32_t tools[SANITIZER_TOOLS], count = tools_for(fault, tools);
   bool error = false;
   int status = prepare(l, fault->kernel, fault->text, &p, err);
   for (uint32_t i = 0; i < count && status == RKB_OK && p.build && !error; i++) {
      status = sanitizer_try(&p.attempt, tools[i], &error, what, sizeof what, err);
      error = status == RKB_OK && error && !reported_before(l, fault->kernel, tools[i]);
      if (error)
         set_fault(label, sanitizer_tools[tools[i]], what);
   }
   forget(&p);
   return status;
}

/* Runs the tools over faults of kinds that a tool can see. */
static void *sanitize_faults(void *argument) {
   labelling_t *l = argument;
   label_t label;
   rkb_error_t err = {0};
   for (uint32_t i; (i = atomic_fetch_add(&l->next, 1)) < l->corpus.fault_count && in_time(l);) {
      const fault_t *fault = &l->corpus.faults[i];
      if (fault->operator_of->kind == FAULT_VALUE || !is_wanted(l, fault->id) ||
          !known(l, fault, &label) || strcmp(label.name, "unlabelled") != 0 || strcmp(label.oracle, "-") != 0)
         continue;
      if (sanitize_fault(l, fault, &label, &err) != RKB_OK) {
         complain(l, fault->id, &err);
         continue;
      }
      if (strcmp(label.name, "fault") != 0)
         /* All tools were tried, so no later call tries again. */
         set(label.oracle, sizeof label.oracle, "none_saw");
      keep(l, &label);
   }
   return NULL;
}

int labelling_sanitize(labelling_t *l, rkb_error_t *err) {
   return run_threads(l, sanitize_faults, err);
}
