/* The data with which faults are judged: each task's cases, and for each (case, family, seed) the inputs and their expected outputs.  They are made once
 * for all faults of a task.  After subjects_make_trials they do not change; any thread. */
#ifndef RKB_TOOLS_FAULTS_LABEL_LABEL_SUBJECTS_H
#define RKB_TOOLS_FAULTS_LABEL_LABEL_SUBJECTS_H

#include "tools/faults/corpus/corpus.h"

enum { TRIAL_FAMILIES = 12, DRAWN_CASES = 3, MOST_CASES = 48, MOST_TENSORS = 64 };

typedef struct trial { /* inputs and answers of one family of one case */
   const rkb_family_t *family;
   uint64_t seed;
   rkb_inputs_t *inputs;
   rkb_expected_t *expected;
   char *tensors[MOST_TENSORS]; /* of the tensors that the kernel reads */
} trial_t;

typedef struct subject_case {
   const rkb_case_t *of;
   rkb_case_t *drawn; /* owned, or NULL */
   trial_t trials[TRIAL_FAMILIES];
   uint32_t trial_count;
} subject_case_t;

typedef struct subject { /* one task in one direction */
   const char *task_name, *direction;
   rkb_task_t *task;
   subject_case_t cases[MOST_CASES]; /* the cases with the least work first, since most faults show there */
   uint32_t case_count;
} subject_t;

typedef struct subjects {
   subject_t *list;
   uint32_t count;
} subjects_t;

int subjects_open(const corpus_t *corpus, const char *tasks, subjects_t *subjects, rkb_error_t *err);
subject_t *subjects_of(subjects_t *subjects, const kernel_file_t *kernel);
/* Makes all inputs and answers, by this many threads of its own. */
int subjects_make_trials(subjects_t *subjects, uint32_t jobs, rkb_error_t *err);
void subjects_close(subjects_t *subjects);
/* rkb_lookup_t over {task, case}. */
typedef struct case_names {
   const rkb_task_t *task;
   const rkb_case_t *the_case;
} case_names_t;
bool case_names_find(void *argument, const char *name, rkb_value_t *value);

#endif
