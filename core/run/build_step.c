/* The build step (build_step.h).  The work is done on a worker and touches only its own record; the candidate gets it on
 * the loop, so that no other stage sees half a build. */
#include "run/build_step.h"

#include <rkb/items.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "stage/extensions.h"
#include "stage/item.h"
#include "kernel/kernel.h"
#include "kernel/build_report.h"
#include "stage/screen/screen_workers.h"
#include "stage/named_case.h"
#include "task/task.h"

enum { MOST_LOST = 2 /* screening workers that one compile may lose; after that it runs on this machine */ };

typedef struct step {
   rkb_runtime_t *runtime;
   rkb_candidate_t *candidate;
   void (*done)(void *argument, rkb_candidate_t *candidate);
   void *argument;
   uint32_t attempts;
   uint64_t started_ns, ended_ns;
   /* result */
   int status;
   rkb_error_t error;
   rkb_finding_t finding;
   rkb_build_t *build;
   rkb_plan_cache_t *plans;
   rkb_build_cost_t cost;
   char ptx_hash[RKB_HASH_TEXT], plan_hash[RKB_HASH_TEXT];
} step_t;

static bool ending(void *argument) {
   const rkb_runtime_t *runtime = argument;
   return __atomic_load_n(&runtime->stopping, __ATOMIC_RELAXED);
}

static void drop(step_t *step) {
   rkb_plan_cache_free(step->plans);
   step->plans = NULL;
   rkb_build_free(step->build);
   step->build = NULL;
}

static int send_step(step_t *step, void (*fn)(void *)) {
   const rkb_candidate_t *candidate = step->candidate;
   return rkb_runtime_send(step->runtime, rkb_request_rank(candidate->section, candidate->request), fn, step);
}

/* Plans every case of a kind and hashes each plan into the identity; stops at the first finding. */
static int plan_cases(step_t *step, const rkb_manifest_t *manifest, uint32_t kind, rkb_hasher_t *hasher) {
   const rkb_pipeline_t *pipeline = step->runtime->pipeline;
   const rkb_case_t *the_case;
   int status = RKB_OK;
   for (uint32_t i = 0; (the_case = rkb_task_case(pipeline->task, kind, i)) != NULL; i++) {
      named_case_t at = {.task = pipeline->task, .the_case = the_case};
      rkb_plan_t *plan = NULL;
      char hash[RKB_HASH_TEXT];
      status =
         rkb_plan_cache_take(step->plans, manifest, step->candidate->tune, step->build, pipeline->device,
                             the_case, named_case_lookup, &at, &plan, &step->finding, &step->error);
      if (status != RKB_OK || !plan)
         break;
      rkb_plan_hash(plan, hash);
      rkb_hasher_add_text(hasher, hash);
      rkb_plan_free(plan);
   }
   return status;
}

static int make_plans(step_t *step, const rkb_manifest_t *manifest) {
   rkb_hasher_t *hasher = rkb_hasher_new();
   int64_t tune[RKB_MOST_TUNE];
   int status = rkb_tune_resolve(manifest, step->candidate->tune, tune, &step->finding, &step->error);
   if (status == RKB_OK && !step->finding.reason[0]) {
      rkb_manifest_hash(manifest, tune, hasher);
      status = plan_cases(step, manifest, RKB_CASE_CHECK, hasher);
   }
   if (status == RKB_OK && !step->finding.reason[0])
      status = plan_cases(step, manifest, RKB_CASE_BENCH, hasher);
   rkb_hasher_finish(hasher, step->plan_hash);
   return status;
}

/* Compiles on a screening worker or on this machine.  When a worker is lost during the compile, another one is tried. */
static int compile(step_t *step) {
   rkb_runtime_t *runtime = step->runtime;
   const rkb_source_t *source = rkb_candidate_read(step->candidate);
   int status = RKB_ERR_CANCELLED;
   bool lost = true;
   for (int tries = 0; lost; tries++) {
      rkb_screen_slot_t *slot;
      if (!rkb_screen_take(runtime->screen, tries == MOST_LOST, ending, runtime, &slot))
         return rkb_fail(&step->error, RKB_ERR_CANCELLED, "the run is ending");
      status = rkb_build_source(slot ? rkb_screen_compilers(slot) : runtime->compilers, runtime->pipeline->device, source,
                                step->candidate->tune, 0, ending, runtime, &step->build, &step->cost, &step->finding,
                                &step->error);
      lost = slot && status == RKB_ERR_UNAVAILABLE && rkb_screen_lost(slot);
      rkb_screen_give(runtime->screen, slot);
   }
   return status;
}

static void make(step_t *step) {
   step->finding = (rkb_finding_t){0};
   step->status = compile(step);
   if (step->status == RKB_OK && step->build) {
      step->plans = rkb_plan_cache_new();
      rkb_ptx_identity(step->build->ptx, step->build->ptx_bytes, step->ptx_hash);
      step->status =
         make_plans(step, rkb_candidate_read(step->candidate)->manifest); /* a build exists only for a candidate with a manifest */
   }
}

static void add_measurement(rkb_stage_result_t *result, const char *name, double value, const char *unit) {
   rkb_item_t *item = rkb_item_new(RKB_ITEM_MEASUREMENT);
   rkb_item_set_text(item, "name", name);
   rkb_item_set_real(item, "value", value);
   rkb_item_set_text(item, "unit", unit);
   rkb_item_set_text(item, "better", "lower");
   rkb_item_set_text(item, "method", "build");
   result->measurements[result->measurement_count++] = item;
}

static void measure(rkb_stage_result_t *result, const rkb_build_t *build) {
   double registers = 0, shared = 0, local = 0, spill = 0;
   for (uint32_t i = 0; i < build->kernel_count; i++) {
      const rkb_built_kernel_t *kernel = &build->kernels[i];
      registers = kernel->registers > registers ? kernel->registers : registers;
      shared = kernel->shared_bytes > shared ? kernel->shared_bytes : shared;
      local = kernel->local_bytes > local ? kernel->local_bytes : local;
      spill += kernel->spill_store_bytes + kernel->spill_load_bytes;
   }
   result->measurements = rkb_allocate(5, sizeof *result->measurements);
   add_measurement(result, "registers", registers, "1");
   add_measurement(result, "shared_bytes", shared, "bytes");
   add_measurement(result, "local_bytes", local, "bytes");
   add_measurement(result, "spill_bytes", spill, "bytes");
   add_measurement(result, "kernels", build->kernel_count, "1");
}

static rkb_item_t *finding_verdict(const rkb_finding_t *finding) {
   /* A finding that begins with "unsupported" or "tool" is a limit of this toolkit or machine, so the candidate gets unknown.
    * Every other finding is the candidate's fault. */
   bool undecided =
      strncmp(finding->reason, "unsupported", 11) == 0 || strncmp(finding->reason, "tool", 4) == 0;
   rkb_item_t *verdict =
      rkb_verdict_new(undecided ? RKB_UNKNOWN : RKB_REJECT, finding->reason, finding->message);
   if (finding->line) {
      char evidence[96];
      snprintf(evidence, sizeof evidence, "{\"column\":%u,\"line\":%u}", finding->column, finding->line);
      rkb_item_set_json(verdict, "evidence", evidence);
   }
   return verdict;
}

static rkb_item_t *acceptance(const rkb_build_cost_t *cost) {
   rkb_text_t text;
   rkb_text_init(&text, 512);
   rkb_text_add(&text, "builds, and has a launch plan for every case");
   if (cost->near_limit) {
      rkb_text_add(&text, "; ");
      rkb_build_cost_report(cost, &text);
   }
   rkb_item_t *verdict = rkb_verdict_new(RKB_ACCEPT, "", rkb_text_get(&text));
   rkb_text_free(&text);
   return verdict;
}

static void finish(step_t *step) {
   rkb_candidate_t *candidate = step->candidate;
   rkb_stage_result_t *result = &candidate->results[step->runtime->pipeline->build];
   result->attempts = step->attempts;
   result->seconds = (double)(step->ended_ns - step->started_ns) * 1e-9;
   result->near_limit = step->cost.near_limit;
   if (step->build) {
      candidate->build = step->build;
      candidate->plans = step->plans;
      memcpy(candidate->ptx_hash, step->ptx_hash, sizeof candidate->ptx_hash);
      if (step->build->cubin_hash)
         snprintf(candidate->cubin_hash, sizeof candidate->cubin_hash, "%s", step->build->cubin_hash);
      measure(result, step->build);
   }
   if (step->status != RKB_OK) {
      result->verdict = rkb_verdict_new(RKB_UNKNOWN, rkb_tool_reason(step->status), step->error.message);
      rkb_candidate_settle(candidate); /* without a plan there is nothing to run */
   } else if (step->finding.reason[0]) {
      result->verdict = finding_verdict(&step->finding);
   } else {
      memcpy(candidate->plan_hash, step->plan_hash, sizeof candidate->plan_hash);
      result->verdict = acceptance(&step->cost);
   }
   if (!result->verdict)
      abort();
}

static void submit(step_t *step);

static void step_ended(void *argument) {
   step_t *step = argument;
   bool broken = step->status != RKB_OK;
   if (broken && step->runtime->stopping) {
      drop(step);
      free(step);
      return;
   }
   if (broken && step->status != RKB_ERR_INVALID && step->attempts <= 1) {
      drop(step);
      submit(step);
      return;
   }
   finish(step);
   step->runtime->jobs_ended++;
   step->done(step->argument, step->candidate);
   free(step);
}

static void step_on_worker(void *argument) {
   step_t *step = argument;
   step->started_ns = rkb_now_ns();
   make(step);
   step->ended_ns = rkb_now_ns();
   rkb_runtime_returned(step->runtime, step_ended, step);
}

static void submit(step_t *step) {
   step->attempts++;
   if (send_step(step, step_on_worker) != RKB_OK)
      abort(); /* the queue holds far more than can be in flight */
}

void rkb_build_step_start(rkb_runtime_t *runtime, rkb_candidate_t *candidate,
                          void (*done)(void *argument, rkb_candidate_t *candidate), void *argument) {
   step_t *step = rkb_allocate(1, sizeof *step);
   *step = (step_t){.runtime = runtime, .candidate = candidate, .done = done, .argument = argument};
   submit(step);
}

static void again_ended(void *argument) {
   step_t *step = argument;
   step->candidate->build = step->build;
   step->candidate->plans = step->build ? rkb_plan_cache_new() : NULL;
   step->candidate->built_again = true;
   if (!step->runtime->stopping || step->build)
      step->done(step->argument, step->candidate);
   free(step);
}

static void again_on_worker(void *argument) {
   step_t *step = argument;
   step->status = compile(step);
   if (step->status != RKB_OK)
      rkb_log_printf(step->runtime->log, RKB_LOG_WARN, "build", "candidate %lld could not be built again: %s",
                     (long long)step->candidate->number, step->error.message);
   rkb_runtime_returned(step->runtime, again_ended, step);
}

void rkb_build_step_again(rkb_runtime_t *runtime, rkb_candidate_t *candidate,
                          void (*done)(void *argument, rkb_candidate_t *candidate), void *argument) {
   step_t *step = rkb_allocate(1, sizeof *step);
   *step = (step_t){.runtime = runtime, .candidate = candidate, .done = done, .argument = argument};
   if (send_step(step, again_on_worker) != RKB_OK)
      abort(); /* the queue holds far more than can be in flight */
}
