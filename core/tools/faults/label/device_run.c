/* The GPU side of labelling.  Owns the worker process; one thread. */
#include "tools/faults/label/device_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/file.h"
#include "base/memory.h"

/* A plan of these small cases takes milliseconds, even where sixteen processes share the GPU.  A plan that
 * has not ended by the first deadline runs once more, in a fresh worker, until the second deadline; if it has
 * not ended then, it counts as endless. */
enum { RUN_DEADLINE_MS = 300, RETRY_DEADLINE_MS = 4000 };
#define PATIENCE_NS 60000000000ull

typedef struct planned { /* a case's plan in its byte form */
   const subject_case_t *of;
   void *bytes;
   size_t length;
} planned_t;

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
   const char *const environment[] = {"CUDA_MODULE_LOADING=EAGER", "PATH=/usr/local/bin:/usr/bin:/bin",
                                      runner->visible[0] ? runner->visible : NULL, NULL};
   const char *const command[] = {runner->program, "0", NULL};
   rkb_patience_t wait = patience();
   if (runner->started && rkb_device_worker_alive(&runner->worker))
      return RKB_OK;
   runner->started = true;
   return rkb_device_worker_start(&runner->worker, command, environment, &wait, err);
}

int device_runner_open(device_runner_t *runner, rkb_error_t *err) {
   const char *visible = getenv("CUDA_VISIBLE_DEVICES"); /* selects one of several GPUs */
   *runner = (device_runner_t){.program = rkb_find_program("rkb-worker")};
   if (visible)
      snprintf(runner->visible, sizeof runner->visible, "CUDA_VISIBLE_DEVICES=%s", visible);
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
      if (!tensor->bytes)
         continue;
      char *data = rkb_try_uncleared(tensor->bytes, 1, err);
      status = data ? ask(runner, RKB_WORKER_READ, &(rkb_piece_t){&head, sizeof head}, 1, data, tensor->bytes,
                          &refusal, err)
                    : RKB_ERR_NOMEM;
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

static int run_once(device_runner_t *runner, const subject_case_t *c, const trial_t *trial,
                    uint32_t deadline_ms, rkb_worker_ran_t *ran, rkb_error_t *err) {
   rkb_worker_run_t head = {0, 0, deadline_ms, 0};
   int refusal = 0, status = stage(runner, c->of, trial, err);
   if (status == RKB_OK)
      status =
         ask(runner, RKB_WORKER_RUN, &(rkb_piece_t){&head, sizeof head}, 1, ran, sizeof *ran, &refusal, err);
   return status == RKB_OK && refusal ? refused(refusal, err) : status;
}

/* Opens a plan.  *refusal: RKB_WORKER_BAD_MODULE if the driver refuses it. */
static int open_plan(device_runner_t *runner, const planned_t *planned, uint32_t placement, int *refusal,
                     rkb_error_t *err) {
   rkb_worker_instance_t head = {0, 0, placement, 0};
   rkb_piece_t pieces[] = {{&head, sizeof head}, {planned->bytes, planned->length}};
   int status = ask(runner, RKB_WORKER_INSTANCE, pieces, 2, NULL, 0, refusal, err);
   if (status == RKB_OK && *refusal && *refusal != RKB_WORKER_BAD_MODULE)
      status = refused(*refusal, err);
   return status;
}

static int run_trial(device_runner_t *runner, const attempt_t *attempt, const planned_t *planned,
                     uint32_t placement, const trial_t *trial, witness_t *witness, rkb_error_t *err) {
   const subject_case_t *c = planned->of;
   rkb_worker_ran_t ran = {0};
   char what[32];
   int refusal, status = run_once(runner, c, trial, RUN_DEADLINE_MS, &ran, err);
   if (status == RKB_OK && ran.outcome == RKB_RAN_LATE) {
      rkb_device_worker_stop(&runner->worker);
      status = load(runner, attempt->build, err);
      if (status == RKB_OK)
         status = open_plan(runner, planned, placement, &refusal, err);
      if (status == RKB_OK)
         status = run_once(runner, c, trial, RETRY_DEADLINE_MS, &ran, err);
   }
   if (status != RKB_OK)
      return status;
   switch (ran.outcome) {
   case RKB_RAN:
      return judge(runner, c, trial, attempt->manifest->transform, witness, err);
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
   if (ran.outcome != RKB_RAN_CANARY) /* the driver's context no longer works, or the kernel still runs */
      rkb_device_worker_stop(&runner->worker);
   return RKB_OK;
}

static int try_plan(device_runner_t *runner, const attempt_t *attempt, const planned_t *planned,
                    uint32_t placement, uint32_t families, witness_t *witness, rkb_error_t *err) {
   const subject_case_t *c = planned->of;
   int refusal = 0, status = open_plan(runner, planned, placement, &refusal, err);
   if (status == RKB_OK && refusal) {
      seen(witness, "refused", c, NULL);
      return RKB_OK;
   }
   for (uint32_t f = 0; f < families && f < c->trial_count && status == RKB_OK && !witness->found; f++)
      status = run_trial(runner, attempt, planned, placement, &c->trials[f], witness, err);
   if (status == RKB_OK && rkb_device_worker_alive(&runner->worker))
      status = drop(runner, RKB_DROP_INSTANCE, 0, err);
   return status;
}

static int make_plan(const attempt_t *attempt, const subject_case_t *c, planned_t *planned, witness_t *witness, rkb_error_t *err) {
   case_names_t names = {attempt->subject->task, c->of};
   rkb_plan_t *plan = NULL;
   rkb_finding_t finding = {0};
   planned->of = c;
   int status = rkb_plan_make(attempt->manifest, "{}", attempt->build, attempt->device, c->of, case_names_find,
                              &names, &plan, &finding, err);
   if (status == RKB_OK && !plan)
      seen(witness, finding.reason, c, NULL);
   else if (status == RKB_OK)
      status = rkb_plan_write(plan, &planned->bytes, &planned->length, err);
   rkb_plan_free(plan);
   return status;
}

static int make_plans(const attempt_t *attempt, planned_t *plans, witness_t *witness, rkb_error_t *err) {
   int status = RKB_OK;
   for (uint32_t i = 0; i < attempt->subject->case_count && status == RKB_OK && !witness->found; i++)
      status = make_plan(attempt, &attempt->subject->cases[i], &plans[i], witness, err);
   return status;
}

/* Tries three kinds of memory, the cheapest first.  In plain memory a wrong address ends no process, and mostly shows in the values.  Then each buffer
 * lies before an unmapped page, and then behind one. */
int device_runner_try(device_runner_t *runner, const attempt_t *attempt, witness_t *witness,
                      rkb_error_t *err) {
   static const struct {
      uint32_t placement, families;
   } rounds[] = {{RKB_PLACE_PLAIN, 1},
                 {RKB_PLACE_PLAIN, TRIAL_FAMILIES},
                 {RKB_PLACE_GUARD_HIGH, 1},
                 {RKB_PLACE_GUARD_LOW, 1}};
   planned_t plans[MOST_CASES] = {0};
   int status = make_plans(attempt, plans, witness, err);
   if (status == RKB_OK && !witness->found)
      status = load(runner, attempt->build, err);
   for (size_t r = 0; r < sizeof rounds / sizeof rounds[0]; r++)
      for (uint32_t i = 0; i < attempt->subject->case_count && status == RKB_OK && !witness->found; i++)
         status = try_plan(runner, attempt, &plans[i], rounds[r].placement, rounds[r].families, witness, err);
   for (uint32_t i = 0; i < attempt->subject->case_count; i++)
      free(plans[i].bytes);
   return status;
}

static int read_outputs(device_runner_t *runner, const rkb_case_t *c, char **outputs, rkb_error_t *err) {
   int refusal = 0, status = RKB_OK;
   for (uint32_t t = 0; t < c->tensor_count && status == RKB_OK; t++) {
      rkb_worker_read_t head = {0, t, 0, c->tensors[t].bytes};
      if (c->tensors[t].role == RKB_IN || !head.bytes)
         continue;
      outputs[t] = rkb_try_uncleared(head.bytes, 1, err);
      status = outputs[t] ? ask(runner, RKB_WORKER_READ, &(rkb_piece_t){&head, sizeof head}, 1, outputs[t], head.bytes, &refusal, err)
                          : RKB_ERR_NOMEM;
      if (status == RKB_OK && refusal)
         status = refused(refusal, err);
   }
   return status;
}

int device_runner_outputs(device_runner_t *runner, const attempt_t *attempt, const subject_case_t *c, const trial_t *trial,
                          char **outputs, witness_t *witness, rkb_error_t *err) {
   planned_t planned = {0};
   rkb_worker_ran_t ran = {0};
   int refusal = 0, status = make_plan(attempt, c, &planned, witness, err);
   if (status == RKB_OK && !witness->found)
      status = load(runner, attempt->build, err);
   if (status == RKB_OK && !witness->found)
      status = open_plan(runner, &planned, RKB_PLACE_PLAIN, &refusal, err);
   if (status == RKB_OK && refusal)
      seen(witness, "refused", c, NULL);
   if (status == RKB_OK && !witness->found)
      status = run_once(runner, c, trial, RETRY_DEADLINE_MS, &ran, err);
   if (status == RKB_OK && !witness->found && ran.outcome != RKB_RAN) {
      seen(witness, ran.outcome == RKB_RAN_CANARY ? "canary" : ran.outcome == RKB_RAN_LATE ? "late" : "cuda_error", c, trial);
      rkb_device_worker_stop(&runner->worker);
   }
   if (status == RKB_OK && !witness->found)
      status = read_outputs(runner, c->of, outputs, err);
   if (status == RKB_OK && rkb_device_worker_alive(&runner->worker))
      status = drop(runner, RKB_DROP_INSTANCE, 0, err);
   free(planned.bytes);
   return status;
}
