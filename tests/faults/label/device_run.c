/* The GPU side of labelling.  Owns the worker process; one thread. */
#include "label/device_run.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/file.h"

/* A plan of these small cases takes milliseconds; a kernel that needs two seconds does not end. */
enum { RUN_DEADLINE_MS = 2000 };
#define PATIENCE_NS 60000000000ull

static rkb_patience_t patience(void) {
   struct timespec now;
   clock_gettime(CLOCK_MONOTONIC, &now);
   return (rkb_patience_t){.deadline_ns =
                              (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec + PATIENCE_NS};
}

static int ask(device_runner_t *runner, uint32_t type, const rkb_piece_t *pieces, uint32_t count,
               void *answer, size_t bytes, int *refusal, rkb_error_t *err) {
   rkb_patience_t wait = patience();
   return rkb_device_worker_ask(&runner->worker, type, pieces, count, answer, bytes, NULL, &wait, refusal,
                                err);
}

static int start(device_runner_t *runner, rkb_error_t *err) {
   static const char *const environment[] = {"CUDA_MODULE_LOADING=EAGER", "PATH=/usr/local/bin:/usr/bin:/bin",
                                             NULL};
   const char *const command[] = {runner->program, "0", NULL};
   rkb_patience_t wait = patience();
   if (runner->started && rkb_device_worker_alive(&runner->worker))
      return RKB_OK;
   runner->started = true;
   return rkb_device_worker_start(&runner->worker, command, environment, &wait, err);
}

int device_runner_open(device_runner_t *runner, rkb_error_t *err) {
   *runner = (device_runner_t){.program = rkb_find_program("rkb-worker")};
   if (!runner->program)
      return rkb_fail(err, RKB_ERR_UNAVAILABLE, "rkb-worker is not beside this program");
   int status = start(runner, err);
   if (status != RKB_OK)
      device_runner_close(runner);
   return status;
}

void device_runner_close(device_runner_t *runner) {
   if (runner->started && rkb_device_worker_alive(&runner->worker))
      rkb_device_worker_stop(&runner->worker);
   free(runner->program);
   *runner = (device_runner_t){0};
}

static int refused(int refusal, rkb_error_t *err) {
   err->status = refusal == RKB_WORKER_NO_MEMORY ? RKB_ERR_LIMIT : RKB_ERR_UNAVAILABLE;
   return err->status;
}

static void seen(witness_t *witness, const char *what, const subject_case_t *c, const trial_t *trial) {
   *witness = (witness_t){.found = true, .the_case = c, .trial = trial};
   snprintf(witness->what, sizeof witness->what, "%s", what);
}

static int drop(device_runner_t *runner, uint32_t thing, uint32_t number, rkb_error_t *err) {
   rkb_worker_drop_t body = {thing, number};
   int refusal = 0,
       status = ask(runner, RKB_WORKER_DROP, &(rkb_piece_t){&body, sizeof body}, 1, NULL, 0, &refusal, err);
   return status == RKB_OK && refusal ? refused(refusal, err) : status;
}

static int load(device_runner_t *runner, const rkb_build_t *build, rkb_error_t *err) {
   rkb_worker_module_t head = {0};
   rkb_piece_t pieces[] = {{&head, sizeof head}, {build->cubin, build->cubin_bytes}};
   int refusal = 0, status = start(runner, err);
   if (status == RKB_OK)
      status = drop(runner, RKB_DROP_ALL, 0, err);
   if (status == RKB_OK)
      status = ask(runner, RKB_WORKER_MODULE, pieces, 2, NULL, 0, &refusal, err);
   return status == RKB_OK && refusal ? refused(refusal, err) : status;
}

static int stage(device_runner_t *runner, const rkb_case_t *c, const trial_t *trial, rkb_error_t *err) {
   int refusal = 0, status = RKB_OK;
   for (uint32_t t = 0; t < c->tensor_count && status == RKB_OK; t++) {
      rkb_worker_stage_t head = {0, t, c->tensors[t].bytes, 0};
      rkb_piece_t pieces[] = {{&head, sizeof head}, {trial->tensors[t], c->tensors[t].bytes}};
      if (trial->tensors[t])
         status = ask(runner, RKB_WORKER_STAGE, pieces, 2, NULL, 0, &refusal, err);
      if (status == RKB_OK && refusal)
         status = refused(refusal, err);
   }
   return status;
}

static int judge(device_runner_t *runner, const subject_case_t *c, const trial_t *trial, bool transform,
                 witness_t *witness, rkb_error_t *err) {
   int refusal = 0, status = RKB_OK;
   for (uint32_t t = 0; t < c->of->tensor_count && status == RKB_OK && !witness->found; t++) {
      const rkb_tensor_t *tensor = &c->of->tensors[t];
      rkb_worker_read_t head = {0, t, 0, tensor->bytes};
      char *data = tensor->bytes ? malloc(tensor->bytes) : NULL;
      if (!tensor->bytes)
         continue;
      status = data ? ask(runner, RKB_WORKER_READ, &(rkb_piece_t){&head, sizeof head}, 1, data, tensor->bytes,
                          &refusal, err)
                    : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
      if (status == RKB_OK && refusal)
         status = refused(refusal, err);
      if (status == RKB_OK && tensor->role == RKB_IN && memcmp(data, trial->tensors[t], tensor->bytes) != 0)
         seen(witness, "input.modified", c, trial);
      if (status == RKB_OK && tensor->role != RKB_IN) {
         rkb_judgement_t judgement = {.size = sizeof judgement};
         rkb_points_t points = rkb_task_expected_points(trial->expected, t);
         status = rkb_task_judge(trial->inputs, t, data, NULL, &points, NULL, transform, &judgement, err);
         if (status == RKB_OK && judgement.standing_is_reject)
            seen(witness, judgement.reason, c, trial);
      }
      free(data);
   }
   return status;
}

static int run_trial(device_runner_t *runner, const subject_case_t *c, const trial_t *trial, bool transform,
                     witness_t *witness, rkb_error_t *err) {
   rkb_worker_run_t head = {0, 0, RUN_DEADLINE_MS, 0};
   rkb_worker_ran_t ran = {0};
   char what[32];
   int refusal = 0, status = stage(runner, c->of, trial, err);
   if (status == RKB_OK)
      status =
         ask(runner, RKB_WORKER_RUN, &(rkb_piece_t){&head, sizeof head}, 1, &ran, sizeof ran, &refusal, err);
   if (status != RKB_OK || refusal)
      return status == RKB_OK ? refused(refusal, err) : status;
   switch (ran.outcome) {
   case RKB_RAN:
      return judge(runner, c, trial, transform, witness, err);
   case RKB_RAN_CANARY:
      seen(witness, "canary", c, trial);
      break;
   case RKB_RAN_LATE:
      seen(witness, "late", c, trial);
      break;
   default:
      snprintf(what, sizeof what, "cuda_error_%d", ran.driver_error);
      seen(witness, what, c, trial);
   }
   if (ran.outcome != RKB_RAN_CANARY) /* the context is poisoned, or the kernel still runs */
      rkb_device_worker_stop(&runner->worker);
   return RKB_OK;
}

/* All families with each buffer ending at an unmapped page, the first again with each beginning behind one.
 */
static int try_case(device_runner_t *runner, subject_t *subject, subject_case_t *c, const rkb_plan_t *plan,
                    bool transform, witness_t *witness, rkb_error_t *err) {
   void *bytes = NULL;
   size_t length = 0;
   int status = rkb_plan_write(plan, &bytes, &length, err);
   for (uint32_t placement = RKB_PLACE_GUARD_HIGH;
        placement >= RKB_PLACE_GUARD_LOW && status == RKB_OK && !witness->found; placement--) {
      rkb_worker_instance_t head = {0, 0, placement, 0};
      rkb_piece_t pieces[] = {{&head, sizeof head}, {bytes, length}};
      int refusal = 0;
      status = ask(runner, RKB_WORKER_INSTANCE, pieces, 2, NULL, 0, &refusal, err);
      if (status == RKB_OK && refusal == RKB_WORKER_BAD_MODULE)
         seen(witness, "refused", c, NULL);
      else if (status == RKB_OK && refusal)
         status = refused(refusal, err);
      uint32_t families = placement == RKB_PLACE_GUARD_HIGH ? c->trial_count : 1;
      for (uint32_t f = 0; f < families && status == RKB_OK && !witness->found; f++) {
         trial_t *trial;
         status = subject_trial(subject, c, f, &trial, err);
         if (status == RKB_OK)
            status = run_trial(runner, c, trial, transform, witness, err);
      }
      if (status == RKB_OK && rkb_device_worker_alive(&runner->worker))
         status = drop(runner, RKB_DROP_INSTANCE, 0, err);
   }
   free(bytes);
   return status;
}

int device_runner_try(device_runner_t *runner, subject_t *subject, const rkb_manifest_t *manifest,
                      const rkb_build_t *build, const rkb_device_t *device, witness_t *witness,
                      rkb_error_t *err) {
   int status = load(runner, build, err);
   for (uint32_t i = 0; i < subject->case_count && status == RKB_OK && !witness->found; i++) {
      subject_case_t *c = &subject->cases[i];
      case_names_t names = {subject->task, c->of};
      rkb_plan_t *plan = NULL;
      rkb_finding_t finding = {0};
      status =
         rkb_plan_make(manifest, "{}", build, device, c->of, case_names_find, &names, &plan, &finding, err);
      if (status == RKB_OK && !plan)
         seen(witness, finding.reason, c, NULL);
      else if (status == RKB_OK)
         status = try_case(runner, subject, c, plan, manifest->transform, witness, err);
      rkb_plan_free(plan);
   }
   return status;
}
