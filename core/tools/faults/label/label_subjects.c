/* Cases, inputs and answers, which all threads of the labelling program share.  It has threads of its own for this, because evaluating references takes
 * most of the processor time. */
#include "tools/faults/label/label_subjects.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"

#define DRAWN_WORK 1e7

bool case_names_find(void *argument, const char *name, rkb_value_t *value) {
   const case_names_t *names = argument;
   return rkb_case_lookup(names->task, names->the_case, name, &value->is_real, &value->integer, &value->real);
}

static int add_case(subject_t *subject, const rkb_case_t *of, rkb_case_t *drawn, rkb_error_t *err) {
   if (subject->case_count == MOST_CASES || of->tensor_count > MOST_TENSORS)
      return rkb_fail(err, RKB_ERR_LIMIT, "%s has too many cases or tensors", subject->task_name);
   subject_case_t *c = &subject->cases[subject->case_count++];
   *c = (subject_case_t){.of = of, .drawn = drawn};
   while (c->trial_count < TRIAL_FAMILIES && rkb_task_family(subject->task, of, c->trial_count)) {
      c->trials[c->trial_count] = (trial_t){.family = rkb_task_family(subject->task, of, c->trial_count),
                                            .seed = 1000 + c->trial_count};
      c->trial_count++;
   }
   return RKB_OK;
}

static int by_work(const void *a, const void *b) {
   double left = ((const subject_case_t *)a)->of->operations,
          right = ((const subject_case_t *)b)->of->operations;
   return (left > right) - (left < right);
}

static int open_subject(subject_t *subject, const char *tasks, const kernel_file_t *kernel,
                        rkb_error_t *err) {
   char folder[4096];
   const rkb_case_t *c;
   rkb_problems_t problems;
   rkb_random_t stream = rkb_random_stream(1, "fault shapes", 0, 0);
   rkb_problems_init(&problems);
   snprintf(folder, sizeof folder, "%s/%s", tasks, kernel->task);
   *subject = (subject_t){.task_name = kernel->task, .direction = kernel->direction};
   subject->task = rkb_task_load(folder, kernel->direction, 0, &problems);
   int status = subject->task ? RKB_OK : rkb_problems_error(&problems, err);
   rkb_problems_free(&problems);
   for (uint32_t i = 0; status == RKB_OK && (c = rkb_task_case(subject->task, RKB_CASE_CHECK, i)) != NULL;
        i++)
      status = add_case(subject, c, NULL, err);
   for (uint32_t i = 0; status == RKB_OK && i < DRAWN_CASES; i++) {
      rkb_case_t *drawn = NULL;
      status = rkb_task_case_draw(subject->task, &stream, DRAWN_WORK, &drawn, err);
      if (status == RKB_OK)
         status = add_case(subject, drawn, drawn, err);
   }
   qsort(subject->cases, subject->case_count, sizeof *subject->cases, by_work);
   return status;
}

subject_t *subjects_of(subjects_t *subjects, const kernel_file_t *kernel) {
   for (uint32_t i = 0; i < subjects->count; i++)
      if (strcmp(subjects->list[i].task_name, kernel->task) == 0 &&
          strcmp(subjects->list[i].direction, kernel->direction) == 0)
         return &subjects->list[i];
   return NULL;
}

int subjects_open(const corpus_t *corpus, const char *tasks, subjects_t *subjects, rkb_error_t *err) {
   int status = RKB_OK;
   *subjects = (subjects_t){.list = rkb_allocate(corpus->kernel_count, sizeof(subject_t))};
   for (uint32_t i = 0; i < corpus->kernel_count && status == RKB_OK; i++)
      if (!subjects_of(subjects, &corpus->kernels[i]))
         status = open_subject(&subjects->list[subjects->count++], tasks, &corpus->kernels[i], err);
   if (status != RKB_OK)
      subjects_close(subjects);
   return status;
}

static int make_trial(subject_t *subject, subject_case_t *c, trial_t *trial, rkb_error_t *err) {
   int status = rkb_task_inputs_open(subject->task, c->of, trial->family, trial->seed, &trial->inputs, err);
   for (uint32_t t = 0; t < c->of->tensor_count && status == RKB_OK; t++) {
      const rkb_tensor_t *tensor = &c->of->tensors[t];
      if (tensor->role == RKB_OUT)
         continue;
      trial->tensors[t] = rkb_try_uncleared(tensor->bytes + 1, 1, err);
      status = trial->tensors[t]
                  ? rkb_task_inputs_fill(trial->inputs, t, 0, tensor->elements, trial->tensors[t], err)
                  : RKB_ERR_NOMEM;
   }
   if (status == RKB_OK)
      status = rkb_task_expect(trial->inputs, &trial->expected, err);
   return status;
}

typedef struct making { /* shared by the threads that make trials */
   subjects_t *subjects;
   atomic_uint next;
   atomic_bool failed;
   pthread_mutex_t mutex;
   rkb_error_t err; /* the first error; the mutex guards it */
} making_t;

/* Finds trial number index over all subjects, the cases with the most work first; false past the end. */
static bool find_trial(const subjects_t *subjects, uint32_t index, subject_t **subject, subject_case_t **c,
                       trial_t **trial) {
   for (uint32_t place = 0; place < MOST_CASES; place++)
      for (uint32_t s = 0; s < subjects->count; s++) {
         *subject = &subjects->list[s];
         if (place >= (*subject)->case_count)
            continue;
         *c = &(*subject)->cases[(*subject)->case_count - 1 - place];
         if (index < (*c)->trial_count) {
            *trial = &(*c)->trials[index];
            return true;
         }
         index -= (*c)->trial_count;
      }
   return false;
}

static void *make_trials(void *argument) {
   making_t *making = argument;
   subject_t *subject;
   subject_case_t *c;
   trial_t *trial;
   rkb_error_t err;
   while (!atomic_load(&making->failed) &&
          find_trial(making->subjects, atomic_fetch_add(&making->next, 1), &subject, &c, &trial)) {
      if (make_trial(subject, c, trial, &err) == RKB_OK)
         continue;
      pthread_mutex_lock(&making->mutex);
      if (!atomic_exchange(&making->failed, true))
         making->err = err;
      pthread_mutex_unlock(&making->mutex);
   }
   return NULL;
}

int subjects_make_trials(subjects_t *subjects, uint32_t jobs, rkb_error_t *err) {
   making_t making = {.subjects = subjects};
   pthread_t threads[64];
   uint32_t started = 0;
   pthread_mutex_init(&making.mutex, NULL);
   while (started < jobs && started < 64 &&
          pthread_create(&threads[started], NULL, make_trials, &making) == 0)
      started++;
   for (uint32_t i = 0; i < started; i++)
      pthread_join(threads[i], NULL);
   pthread_mutex_destroy(&making.mutex);
   if (!started)
      return rkb_fail(err, RKB_ERR_UNAVAILABLE, "no thread could be started");
   if (atomic_load(&making.failed))
      *err = making.err;
   return atomic_load(&making.failed) ? err->status : RKB_OK;
}

void subjects_close(subjects_t *subjects) {
   for (uint32_t i = 0; i < subjects->count; i++) {
      subject_t *subject = &subjects->list[i];
      for (uint32_t k = 0; k < subject->case_count; k++) {
         subject_case_t *c = &subject->cases[k];
         for (uint32_t f = 0; f < c->trial_count; f++) {
            for (uint32_t t = 0; t < MOST_TENSORS; t++)
               free(c->trials[f].tensors[t]);
            rkb_task_expected_free(c->trials[f].expected);
            rkb_task_inputs_free(c->trials[f].inputs);
         }
         if (c->drawn)
            rkb_task_case_free(c->drawn);
      }
      rkb_task_free(subject->task);
   }
   free(subjects->list);
   *subjects = (subjects_t){0};
}
