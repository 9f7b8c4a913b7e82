/* Runs a built kernel's plans on the GPU, in a worker process of its own, and reports the first thing that is
 * wrong.  Each thread has one.  Several share the GPU: values stay right, but times do not. */
#ifndef RKB_TOOLS_FAULTS_LABEL_DEVICE_RUN_H
#define RKB_TOOLS_FAULTS_LABEL_DEVICE_RUN_H

#include "tools/faults/label/label_subjects.h"
#include "gpu/device_worker.h"

typedef struct device_runner {
   rkb_device_worker_t worker;
   char *program;
   char visible[64]; /* CUDA_VISIBLE_DEVICES=..., when this process has it; empty otherwise */
   bool started;
} device_runner_t;

typedef struct witness {
   bool found;
   char what[32]; /* numeric.mismatch, canary, late, CUDA error number, plan.* */
   const subject_case_t *the_case;
   const trial_t *trial; /* the inputs on which it was seen; NULL: it needs no inputs */
} witness_t;

int device_runner_open(device_runner_t *runner, rkb_error_t *err);
void device_runner_close(device_runner_t *runner);
typedef struct attempt { /* the kernel to try; the fields are borrowed */
   const subject_t *subject;
   const rkb_manifest_t *manifest;
   const rkb_build_t *build;
   const rkb_device_t *device;
} attempt_t;

/* Tries all cases and families until one shows that the kernel is wrong. */
int device_runner_try(device_runner_t *runner, const attempt_t *attempt, witness_t *witness,
                      rkb_error_t *err);
/* Runs the plan of one case once on the trial's inputs.  outputs: receives the malloc'd bytes of each tensor that the kernel writes; the caller frees
 * them.  witness: filled if the device or the plan itself reports an error. */
int device_runner_outputs(device_runner_t *runner, const attempt_t *attempt, const subject_case_t *c, const trial_t *trial,
                          char **outputs, witness_t *witness, rkb_error_t *err);

#endif
