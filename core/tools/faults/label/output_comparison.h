/* Compares the whole outputs of a faulty kernel and its correct kernel on the GPU.  It does so at shapes where the fault must show and which have no
 * expected values.  Each runner has one thread. */
#ifndef RKB_TOOLS_FAULTS_LABEL_OUTPUT_COMPARISON_H
#define RKB_TOOLS_FAULTS_LABEL_OUTPUT_COMPARISON_H

#include "tools/faults/label/device_run.h"

/* where: see site_t; NULL: only the bench cases.  witness owns nothing; comparison_t below holds the case that it names. */
typedef struct comparison {
   subject_case_t shape; /* the shape at which the fault was seen */
   trial_t trial;
   char name[96]; /* the shape's sizes, as its name */
} comparison_t;

int comparison_try(device_runner_t *runner, const attempt_t *fault, const attempt_t *original, const char *where, comparison_t *at,
                   witness_t *witness, rkb_error_t *err);
void comparison_close(comparison_t *at);

#endif
