/* A machine: opens a module and a plan, executes the launches in order, and gathers the report.  On the
 * machine's thread. */
#include "machine/async/map_fences.h"
#include "machine/lanes/opcodes.h"
#include "machine/state/decisions.h"
#include "machine/state/environment.h"
#include "machine/state/loop_turns.h"
#include "machine/clocks/second_access.h"
#include "machine/races/races.h"

#include <stdlib.h>

#define DEFAULT_BUDGET 4000000000ull
#define DEFAULT_MEMORY (1ull << 30)

/* Opening ---------------------------------------------------------------------------------------------------- */

static uint32_t find_function(const ptx_module_t *module, const char *name) {
   for (uint32_t n = 0; n < module->function_count; n++)
      if (module->functions[n].entry && module->functions[n].defined &&
          strcmp(module->functions[n].name, name) == 0)
         return n;
   return PTX_NONE;
}

static bool make_programs(machine_run_t *run, rkb_error_t *err) {
   const rkb_plan_t *plan = run->plan;
   for (uint32_t n = 0; n < plan->launch_count; n++) {
      for (uint32_t k = 0; k < n && !run->programs[n]; k++)
         if (strcmp(plan->launches[k].entry, plan->launches[n].entry) == 0)
            run->programs[n] = run->programs[k];
      if (run->programs[n])
         continue;
      uint32_t function = find_function(run->module, plan->launches[n].entry);
      if (function == PTX_NONE) {
         rkb_fail(err, RKB_ERR_INVALID, "the plan launches '%s', which the PTX does not define",
                  plan->launches[n].entry);
         return false;
      }
      run->programs[n] = machine_program_take(run->module, function, run->variable_address,
                                              run->isa ? machine_opcodes_v3 : machine_opcodes_portable);
      if (!run->programs[n]) {
         rkb_fail(err, RKB_ERR_NOMEM, "no memory for decoding '%s'", plan->launches[n].entry);
         return false;
      }
   }
   return true;
}

/* Takes the part of each program that decides where the program stores. */
static bool take_stores(machine_run_t *run, rkb_error_t *err) {
   for (uint32_t n = 0; n < run->plan->launch_count; n++) {
      run->programs[n] = machine_program_stores(run->module, run->programs[n]);
      if (!run->programs[n]) {
         rkb_fail(err, RKB_ERR_INVALID, "where '%s' stores depends on more than its parameters",
                  run->plan->launches[n].entry);
         return false;
      }
   }
   return true;
}

static bool processor_has_v3(void) {
   __builtin_cpu_init();
   return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
}

int rkb_machine_open(const rkb_machine_module_t *module, const rkb_plan_t *plan,
                     const rkb_machine_options_t *options, rkb_machine_t **machine, rkb_error_t *err) {
   rkb_machine_t *made = calloc(1, sizeof *made);
   if (!made)
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for a machine");
   machine_run_t *run = &made->run;
   run->options = *options;
   if (!run->options.memory_bytes)
      run->options.memory_bytes = DEFAULT_MEMORY;
   run->huge_left = 2 * rkb_machine_huge_bytes(plan); /* for records beside the buffers */
   if (!run->options.thread_instructions)
      run->options.thread_instructions = DEFAULT_BUDGET;
   run->module = module;
   run->plan = plan;
   run->isa = !options->portable && processor_has_v3();
   rkb_machine_set_checks(made, options->checks);
   run->findings = calloc(16, sizeof *run->findings);
   run->programs = calloc(plan->launch_count + 1, sizeof *run->programs);
   run->counts.counters = calloc(2 * (size_t)plan->launch_count + 1, sizeof *run->counts.counters);
   run->counts.counted =
      run->counts.counters && run->options.counted ? run->counts.counters + plan->launch_count : NULL;
   run->found = calloc(plan->launch_count + 1, sizeof *run->found);
   run->deciding = calloc(plan->launch_count + 1, sizeof *run->deciding);
   run->apart = calloc(plan->launch_count + 1, sizeof *run->apart);
   run->stored = calloc(plan->launch_count + 1, sizeof *run->stored);
   int status = RKB_OK;
   if (!run->findings || !run->programs || !run->counts.counters || !run->found || !run->deciding ||
       !run->apart || !run->stored || !machine_lay_out(run))
      status = rkb_fail(err, run->out_of_memory ? RKB_ERR_LIMIT : RKB_ERR_NOMEM,
                        "the plan needs more than the machine's %llu bytes",
                        (unsigned long long)run->options.memory_bytes);
   else if (!module->error_line &&
            (!make_programs(run, err) || (options->stores_alone && !take_stores(run, err))))
      status = err->status;
   if (status != RKB_OK) {
      rkb_machine_close(made);
      return status;
   }
   *machine = made;
   return RKB_OK;
}

void rkb_machine_close(rkb_machine_t *machine) {
   if (!machine)
      return;
   machine_run_t *run = &machine->run;
   rkb_machine_unwatch(machine);
   machine_together_free(run);
   machine_second_access_free(run);
   machine_pool_free(run);
   machine_sync_free(run);
   machine_decisions_free(run);
   machine_loops_free(run);
   machine_counters_free(run);
   machine_map_fences_free(run);
   machine_drop_records(run);
   machine_regions_free(run);
   free(run->programs);
   free(run->counts.counters);
   free(run->found);
   free(run->deciding);
   free(run->apart);
   free(run->stored);
   free(run->findings);
   free(run->kept);
   free(machine);
}

void rkb_machine_set_checks(rkb_machine_t *machine, uint32_t checks) {
   machine_run_t *run = &machine->run;
   const bool races = checks & RKB_MACHINE_RACES, shadow = checks & RKB_MACHINE_SHADOW,
              taint = checks & RKB_MACHINE_TAINT;
   if (races != run->races || shadow != run->shadow || taint != run->taint)
      run->pool_program = NULL; /* the pool's layout depends on the checks */
   run->races = races;
   run->shadow = shadow;
   run->taint = taint;
}

void rkb_machine_set_order(rkb_machine_t *machine, uint64_t order) {
   machine->run.order = order;
}

void rkb_machine_set_budget(rkb_machine_t *machine, uint64_t thread_instructions) {
   machine->run.options.thread_instructions = thread_instructions;
}

/* One run -------------------------------------------------------------------------------------------------------- */

/* The taint that reached an output or decided what the program did. */
static uint64_t used_taint(const machine_run_t *run) {
   uint64_t used = run->report.control_taint | run->report.address_taint;
   for (uint32_t n = 0; n < run->plan->buffer_count; n++)
      if (run->plan->buffers[n].role == RKB_OUT || run->plan->buffers[n].role == RKB_INOUT) {
         uint64_t own = run->plan->buffers[n].role == RKB_INOUT ? machine_buffer_taint(n) : 0;
         used |= run->regions[n].taint | own;
      }
   return used;
}

bool machine_run_begin(machine_run_t *run, const rkb_machine_buffer_t *buffers) {
   uint64_t peak = run->report.memory_peak;
   run->finding_count = 0;
   run->kept_count = 0;
   run->stop = run->out_of_memory = false;
   run->work.executed = run->work.burden = run->work.products = 0;
   run->work.budget = run->options.thread_instructions;
   run->work.hang_limit = run->options.hang_limit ? run->options.hang_limit : UINT64_MAX;
   run->report = (rkb_machine_report_t){.memory_peak = peak};
   machine_second_access_begin(run);
   memset(run->counts.counters, 0, 2 * (size_t)run->plan->launch_count * sizeof *run->counts.counters);
   memset(run->found, 0, run->plan->launch_count * sizeof *run->found);
   return machine_begin_buffers(run, buffers) && machine_kept_begin(run) && machine_copy_constants(run);
}

int rkb_machine_run(rkb_machine_t *machine, const rkb_machine_buffer_t *buffers, rkb_error_t *err) {
   machine_run_t *run = &machine->run;
   uint32_t line;
   const bool begun = machine_run_begin(run, buffers);
   const uint64_t variables = run->taint ? machine_variables_digest(run) : 0;
   const char *problem = rkb_machine_module_error(run->module, &line);
   bool complete = false;
   if (problem) {
      rkb_machine_finding_t *finding = machine_find_launch(
         run, RKB_MACHINE_UNKNOWN,
         run->module->function_pointers ? "unsupported.function_pointer" : "unsupported.ptx",
         "PTX line %u: %s", line, problem);
      if (finding)
         finding->ptx_line = line;
   } else if (begun) {
      complete = true;
      for (uint32_t n = 0; n < run->plan->launch_count && complete; n++)
         complete = run->together ? machine_launch_run_together(run, n) : machine_launch_run(run, n);
   }
   run->runs++;
   run->steering_known |= complete && run->taint;
   run->report.complete = complete && !run->report.sampled;
   run->report.counted = run->counts.counted;
   for (uint32_t n = 0; run->counts.counted && n < run->plan->launch_count; n++)
      if (run->options.counted[n] && !run->counts.counted[n].executed)
         run->report.counted = NULL;
   run->report.used_taint = used_taint(run);
   if (complete)
      machine_environment_find(run, run->report.used_taint);
   const bool changed = run->taint && machine_variables_digest(run) != variables;
   run->report.leaves_state = changed || (run->taint && machine_variables_reached(run));
   if (complete && (changed || run->options.past))
      machine_kept_find(run);
   for (uint32_t n = 0; complete && n < run->plan->launch_count; n++)
      run->report.one_schedule |= run->programs[n]->atomics || run->programs[n]->strong ||
                                  run->programs[n]->clocks || run->programs[n]->placed ||
                                  run->programs[n]->arrivals_seen;
   machine_second_access_end(machine);
   if (run->out_of_memory)
      return rkb_fail(err, RKB_ERR_LIMIT, "executing the plan needs more than %llu bytes",
                      (unsigned long long)run->options.memory_bytes);
   return RKB_OK;
}

/* Only variables can keep state, because the next run treats the contents of scratch and outputs as undefined (machine_begin_buffers). */
static bool may_keep_state(const machine_run_t *run) {
   bool may = false;
   for (uint32_t n = run->plan->buffer_count; n < run->region_count; n++)
      may |= !run->regions[n].constant;
   return may;
}

void rkb_machine_report(const rkb_machine_t *machine, rkb_machine_report_t *report) {
   *report = machine->run.report;
   report->may_keep_state = may_keep_state(&machine->run);
   report->thread_instructions = machine->run.work.executed;
   report->work = machine->run.work.executed + machine->run.work.burden;
   for (uint32_t n = 0; n < machine->run.plan->launch_count; n++)
      report->atomics_unfinished |=
         machine->run.programs[n] && machine->run.programs[n]->atomics &&
         machine->run.counts.counters[n].executed < machine->run.counts.counters[n].blocks;
   report->launches = machine->run.counts.counters;
   report->launch_count = machine->run.plan->launch_count;
   report->findings = machine->run.findings;
   report->finding_count = machine->run.finding_count;
}

int rkb_machine_unsupported(const rkb_machine_module_t *module,
                            void (*visit)(void *argument, const char *kernel, const char *what,
                                          uint32_t line),
                            void *argument, rkb_error_t *err) {
   uint64_t *addresses = calloc(module->variable_count + 1, sizeof *addresses);
   bool done = addresses != NULL;
   for (uint32_t n = 0; addresses && n < module->variable_count; n++)
      addresses[n] = 1ull << REGION_SHIFT;
   for (uint32_t n = 0; done && n < module->function_count; n++)
      if (module->functions[n].entry && module->functions[n].defined)
         done = machine_program_survey(module, n, addresses, machine_opcodes_portable, visit, argument);
   free(addresses);
   return done ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "no memory for decoding the kernels");
}
