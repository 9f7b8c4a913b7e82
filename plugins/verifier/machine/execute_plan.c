/* A machine: opens a module and a plan, lays out memory, executes launches in order, gathers the report. */
#include "races.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define DEFAULT_BUDGET 4000000000ull
#define DEFAULT_MEMORY (1ull << 30)
#define MAX_BLOCK_THREADS 1024
#define MAX_BLOCKS 0x7fffffffull

/* Opening ---------------------------------------------------------------------------------------------------- */

static bool add_region(machine_run_t *run, const char *name, uint64_t bytes, uint32_t alignment,
                       uint32_t buffer) {
   machine_region_t *region = &run->regions[run->region_count];
   *region = (machine_region_t){.name = name, .bytes = bytes, .buffer = buffer};
   region->base = ((uint64_t)(run->region_count + 1) << REGION_SHIFT) + (alignment ? alignment : 256);
   run->region_count++;
   return bytes < 1ull << (REGION_SHIFT - 1);
}

/* Buffers first, so that a plan's index is a region's; then the module's variables. */
static bool lay_out(machine_run_t *run) {
   const ptx_module_t *module = run->module;
   uint32_t count = run->plan->buffer_count;
   for (uint32_t n = 0; n < module->variable_count; n++)
      count += module->variables[n].space == PTX_GLOBAL || module->variables[n].space == PTX_CONST;
   run->regions = machine_alloc(run, (count + 1) * sizeof *run->regions);
   run->variable_address = machine_alloc(run, (module->variable_count + 1) * sizeof *run->variable_address);
   if (!run->regions || !run->variable_address || count > MAX_REGIONS)
      return false;
   for (uint32_t n = 0; n < run->plan->buffer_count; n++) {
      const rkb_plan_buffer_t *buffer = &run->plan->buffers[n];
      if (!add_region(run, buffer->name, buffer->bytes, buffer->alignment, n))
         return false;
      machine_region_t *region = &run->regions[n];
      region->read_only = buffer->role == RKB_IN;
      region->taint = buffer->role == RKB_IN || buffer->role == RKB_INOUT ? 1ull << (n < 63 ? n : 63) : 0;
      if (run->options.fetch) {
         region->met = machine_alloc(run, (buffer->bytes >> PIECE_SHIFT >> 3) + 1);
         if (!region->met)
            return false;
         region->fetched =
            buffer->role == RKB_IN || buffer->role == RKB_INOUT || buffer->fill == RKB_FILL_VALUE;
      }
      if (!region->read_only && !run->options.counts_only) {
         region->defined =
            run->options.fetch ? machine_sparse(buffer->bytes + 1) : machine_alloc(run, buffer->bytes + 1);
         if (!region->defined)
            return false;
      }
   }
   for (uint32_t n = 0; n < module->variable_count; n++) {
      const ptx_variable_t *variable = &module->variables[n];
      if (variable->space != PTX_GLOBAL && variable->space != PTX_CONST)
         continue;
      if (!add_region(run, variable->name, variable->bytes,
                      variable->alignment > 256 ? variable->alignment : 256, UINT32_MAX))
         return false;
      machine_region_t *region = &run->regions[run->region_count - 1];
      region->read_only = region->constant = variable->space == PTX_CONST;
      region->data = machine_alloc(run, variable->bytes + 1);
      if (!region->data)
         return false;
      run->variable_address[n] = region->base;
      if (variable->initial)
         memcpy(region->data, variable->initial, variable->bytes);
   }
   for (uint32_t n = 0; n < module->variable_count; n++) {
      const ptx_variable_t *variable = &module->variables[n];
      for (uint32_t r = 0; r < variable->relocation_count && run->variable_address[n]; r++) {
         const ptx_relocation_t *relocation = &variable->relocations[r];
         uint64_t address = run->variable_address[relocation->variable] + (uint64_t)relocation->addend;
         memcpy(machine_region_at(run, run->variable_address[n])->data + relocation->offset, &address,
                sizeof address);
      }
   }
   return true;
}

static uint32_t find_function(const ptx_module_t *module, const char *name) {
   for (uint32_t n = 0; n < module->function_count; n++)
      if (module->functions[n].entry && module->functions[n].defined &&
          strcmp(module->functions[n].name, name) == 0)
         return n;
   return PTX_NONE;
}

/* Unsupported names are opcodes or features; a code has no spaces, the message has the words. */
static void refuse(machine_run_t *run, const char *what, uint32_t line) {
   char reason[48];
   size_t length = (size_t)snprintf(reason, sizeof reason, "unsupported.%.34s", what);
   for (size_t n = 0; n < length && n < sizeof reason; n++)
      if (reason[n] == ' ' || reason[n] == ',')
         reason[n] = '_';
   rkb_machine_finding_t *finding = machine_find_launch(
      run, RKB_MACHINE_UNKNOWN, reason, "the machine does not execute '%s' (PTX line %u)", what, line);
   if (finding)
      finding->ptx_line = line;
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
      run->programs[n] = machine_program_make(run->module, function, run->variable_address, run->isa);
      if (!run->programs[n] || run->programs[n]->failed) {
         rkb_fail(err, RKB_ERR_NOMEM, "no memory for decoding '%s'", plan->launches[n].entry);
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
   if (!run->options.thread_instructions)
      run->options.thread_instructions = DEFAULT_BUDGET;
   run->module = module;
   run->plan = plan;
   run->isa = !options->portable && processor_has_v3();
   rkb_machine_set_checks(made, options->checks);
   run->findings = calloc(16, sizeof *run->findings);
   run->programs = calloc(plan->launch_count + 1, sizeof *run->programs);
   run->counters = calloc(plan->launch_count + 1, sizeof *run->counters);
   run->deciding = calloc(plan->launch_count + 1, sizeof *run->deciding);
   run->apart = calloc(plan->launch_count + 1, sizeof *run->apart);
   int status = RKB_OK;
   if (!run->findings || !run->programs || !run->counters || !run->deciding || !run->apart || !lay_out(run))
      status = rkb_fail(err, run->out_of_memory ? RKB_ERR_LIMIT : RKB_ERR_NOMEM,
                        "the plan needs more than the machine's %llu bytes",
                        (unsigned long long)run->options.memory_bytes);
   else if (!module->error_line && !make_programs(run, err))
      status = err->status;
   if (status != RKB_OK) {
      rkb_machine_close(made);
      return status;
   }
   *machine = made;
   return RKB_OK;
}

static size_t granules_of(const machine_run_t *run, const machine_region_t *region) {
   return (region->bytes >> run->record_shift) + 2;
}

static void drop_records(machine_run_t *run) {
   for (uint32_t n = 0; run->regions && n < run->region_count; n++) {
      machine_region_t *region = &run->regions[n];
      machine_release(run, region->writers, granules_of(run, region) * sizeof(uint64_t));
      machine_release(run, region->readers, granules_of(run, region) * sizeof(uint64_t));
      region->writers = region->readers = NULL;
   }
}

void rkb_machine_close(rkb_machine_t *machine) {
   if (!machine)
      return;
   machine_run_t *run = &machine->run;
   rkb_machine_unwatch(machine);
   machine_together_free(run);
   machine_pool_free(run);
   machine_sync_free(run);
   machine_counters_free(run);
   drop_records(run);
   for (uint32_t n = 0; run->programs && n < run->plan->launch_count; n++) {
      machine_program_t *program = run->programs[n];
      for (uint32_t k = n; program && k < run->plan->launch_count; k++)
         if (run->programs[k] == program)
            run->programs[k] = NULL;
      machine_program_free(program);
   }
   for (uint32_t n = 0; run->regions && n < run->region_count; n++) {
      machine_region_t *region = &run->regions[n];
      if (region->defined && run->options.fetch)
         munmap(region->defined, region->bytes + 1);
      else
         free(region->defined);
      free(region->met);
      free(region->shadow);
      if (run->regions[n].buffer == UINT32_MAX)
         free(run->regions[n].data);
   }
   free(run->regions);
   free(run->variable_address);
   free(run->programs);
   free(run->counters);
   free(run->deciding);
   free(run->apart);
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

void rkb_machine_set_budget(rkb_machine_t *machine, uint64_t thread_instructions) {
   machine->run.options.thread_instructions = thread_instructions;
}

/* One run -------------------------------------------------------------------------------------------------------- */

static bool begin_buffers(machine_run_t *run, const rkb_machine_buffer_t *buffers) {
   for (uint32_t n = 0; n < run->plan->buffer_count; n++) {
      machine_region_t *region = &run->regions[n];
      const rkb_plan_buffer_t *buffer = &run->plan->buffers[n];
      region->data = buffers[n].data;
      region->undefined_store = 0;
      if (!region->defined)
         continue;
      bool keeps = buffer->role == 0 && !buffers[n].defined && run->runs;
      if (!keeps && (buffers[n].defined || !run->options.fetch))
         memset(region->defined, buffers[n].defined, region->bytes);
      if (!keeps)
         region->taint = buffer->role == RKB_INOUT ? 1ull << (n < 63 ? n : 63) : 0;
      size_t words = region->bytes / 4 + 1;
      if (run->shadow && !region->shadow) {
         region->shadow = machine_alloc(run, words * sizeof *region->shadow);
         if (!region->shadow)
            return false;
         keeps = false;
      }
      for (size_t w = 0; region->shadow && !keeps && w < words; w++)
         region->shadow[w] = machine_no_shadow();
   }
   for (uint32_t n = run->plan->buffer_count; run->shadow && n < run->region_count; n++) {
      machine_region_t *region = &run->regions[n];
      size_t words = region->bytes / 4 + 1;
      if (region->constant || region->shadow)
         continue;
      region->shadow = machine_alloc(run, words * sizeof *region->shadow);
      if (!region->shadow)
         return false;
      for (size_t w = 0; w < words; w++)
         region->shadow[w] = machine_no_shadow();
   }
   return true;
}

static machine_region_t *variable_region(machine_run_t *run, const char *name) {
   for (uint32_t n = run->plan->buffer_count; n < run->region_count; n++)
      if (strcmp(run->regions[n].name, name) == 0)
         return &run->regions[n];
   return NULL;
}

static bool copy_constants(machine_run_t *run) {
   for (uint32_t n = 0; n < run->plan->constant_count; n++) {
      const rkb_plan_constant_t *constant = &run->plan->constants[n];
      machine_region_t *to = variable_region(run, constant->symbol);
      const machine_region_t *from = &run->regions[constant->buffer];
      if (!to || constant->buffer >= run->plan->buffer_count || constant->bytes > to->bytes ||
          constant->bytes > from->bytes) {
         machine_find_launch(run, RKB_MACHINE_REJECT, "plan.constant",
                             "'%s' is no variable of the module of at least %llu bytes", constant->symbol,
                             (unsigned long long)constant->bytes);
         return false;
      }
      if (from->met && constant->bytes)
         machine_meet(run, &run->regions[constant->buffer], 0, constant->bytes, false);
      memcpy(to->data, from->data, constant->bytes);
      to->taint |= from->taint;
   }
   return true;
}

static bool fill_parameters(machine_run_t *run, machine_launch_t *launch) {
   const uint32_t bytes = launch->program->parameter_bytes;
   launch->parameters = calloc(bytes + 16, 1);
   launch->parameter_defined = calloc(bytes + 16, 1);
   launch->parameter_taint = calloc(bytes + 16, sizeof(uint64_t));
   if (!launch->parameters || !launch->parameter_defined || !launch->parameter_taint) {
      run->out_of_memory = true;
      return false;
   }
   for (uint32_t n = 0; n < launch->plan->argument_count; n++) {
      const rkb_plan_argument_t *argument = &launch->plan->arguments[n];
      uint64_t value = argument->value;
      if (argument->bytes > 8 || argument->offset > bytes || bytes - argument->offset < argument->bytes ||
          (argument->buffer != UINT32_MAX && argument->buffer >= run->plan->buffer_count)) {
         machine_find_launch(run, RKB_MACHINE_REJECT, "plan.argument",
                             "argument %u does not fit the kernel's parameters", n);
         return false;
      }
      if (argument->buffer != UINT32_MAX)
         value += run->regions[argument->buffer].base;
      memcpy(launch->parameters + argument->offset, &value, argument->bytes);
      memset(launch->parameter_defined + argument->offset, 1, argument->bytes);
   }
   return true;
}

static bool launch_fits(machine_run_t *run, const rkb_plan_launch_t *plan, const machine_program_t *program) {
   uint64_t threads = (uint64_t)plan->block[0] * plan->block[1] * plan->block[2];
   if (program->unsupported[0]) {
      refuse(run, program->unsupported, program->unsupported_line);
      return false;
   }
   if (plan->cluster[0] > 1 || plan->cluster[1] > 1 || plan->cluster[2] > 1) {
      refuse(run, "clusters", 0);
      return false;
   }
   const uint32_t *required = program->entry->required_block;
   if (threads == 0 || threads > MAX_BLOCK_THREADS ||
       (program->entry->max_threads && threads > program->entry->max_threads) ||
       (required[0] &&
        (required[0] != plan->block[0] || required[1] != plan->block[1] || required[2] != plan->block[2]))) {
      machine_find_launch(run, RKB_MACHINE_REJECT, "plan.block",
                          "a block of %u x %u x %u threads is not what %s allows", plan->block[0],
                          plan->block[1], plan->block[2], plan->entry);
      return false;
   }
   return true;
}

/* First, last, the ends of the first and last row, and the rest spread evenly; ascending, each once. */
static uint64_t sampled_block(uint64_t total, uint64_t row, uint64_t count, uint64_t n) {
   if (n == 0)
      return 0;
   if (n == count - 1)
      return total - 1;
   uint64_t even = n * (total - 1) / (count - 1);
   if (n == 1 && row > 1 && row - 1 < even)
      return row - 1;
   return even;
}

static void gather_counters(machine_run_t *run, const machine_launch_t *launch, uint64_t blocks) {
   const machine_program_t *program = launch->program;
   const rkb_plan_launch_t *plan = launch->plan;
   rkb_launch_counters_t *c = &run->counters[launch->number];
   c->launch = launch->number;
   c->kernel = plan->kernel;
   c->threads = plan->block[0] * plan->block[1] * plan->block[2];
   c->blocks = (uint64_t)plan->grid[0] * plan->grid[1] * plan->grid[2];
   c->executed = blocks;
   c->barriers = run->measured_barriers / run->block.warp_count;
   for (uint32_t b = 0; b < program->block_count; b++)
      for (uint32_t n = 0; n < RKB_CLASS_COUNT; n++) {
         c->thread_instructions[n] += run->block_threads[b] * program->blocks[b].class_count[n];
         c->warp_instructions[n] += run->block_warps[b] * program->blocks[b].class_count[n];
      }
   machine_counters_end(run, c, blocks);
}

/* The order in which a sample is taken: one from the middle, the first, the last, then the others; what a budget cuts off is
 * the least telling. */
static uint64_t sample_turn(uint64_t count, uint64_t turn) {
   const uint64_t middle = count / 2;
   if (turn == 0)
      return middle;
   if (turn == 1)
      return 0;
   if (turn == 2)
      return count - 1;
   return turn - 2 < middle ? turn - 2 : turn - 1;
}

static void run_blocks(machine_run_t *run, machine_launch_t *launch) {
   const uint32_t *grid = launch->plan->grid;
   const uint64_t total = (uint64_t)grid[0] * grid[1] * grid[2];
   const uint64_t sample = run->options.sample && run->options.sample < total ? run->options.sample : total;
   const bool sampled = sample < total;
   const uint64_t began = run->executed, budget = run->options.sample_instructions;
   uint64_t executed = 0;
   if (launch->program->waits && total > 1 && !sampled) {
      machine_residents_run(launch);
      run->next_serial += total;
      gather_counters(run, launch, total);
      return;
   }
   run->report.sampled |= sampled;
   for (uint64_t n = 0; n < sample && !run->stop && !run->out_of_memory; n++) {
      const uint64_t turn = sampled && sample > 2 ? sample_turn(sample, n) : n;
      const uint64_t linear = sampled ? sampled_block(total, grid[0], sample, turn) : n;
      if (sampled && turn > 0 && linear == sampled_block(total, grid[0], sample, turn - 1))
         continue;
      machine_block_run(launch, linear);
      if (run->record)
         machine_follow(launch, linear);
      run->measured_blocks += run->block.measured;
      executed++;
      if (budget && run->executed - began > budget && n + 1 < sample) {
         run->report.sampled = true;
         break;
      }
   }
   run->next_serial += total;
   gather_counters(run, launch, executed);
}

/* What an input decided in a launch it decides about everything that the launch may have written. */
static void note_deciding(machine_run_t *run, uint32_t number, uint64_t control, uint64_t address) {
   const uint64_t deciding = run->report.control_taint | run->report.address_taint;
   run->deciding[number] |= deciding;
   for (uint32_t n = 0; n < run->region_count; n++)
      if (!run->regions[n].read_only)
         run->regions[n].taint |= deciding;
   run->report.control_taint |= control;
   run->report.address_taint |= address;
}

bool machine_launch_run(machine_run_t *run, uint32_t number) {
   const uint64_t control = run->report.control_taint, address = run->report.address_taint;
   const rkb_plan_launch_t *plan = &run->plan->launches[number];
   machine_program_t *program = run->programs[number];
   const uint64_t total = (uint64_t)plan->grid[0] * plan->grid[1] * plan->grid[2];
   machine_launch_t launch = {.run = run, .program = program, .plan = plan, .number = number};
   run->launch = &launch;
   bool done = false;
   if (total == 0) { /* a zero-size grid is skipped */
      run->launch = NULL;
      return true;
   }
   uint64_t shared = program->shared_bytes;
   if (plan->dynamic_shared)
      shared = (uint64_t)program->dynamic_shared_offset + plan->dynamic_shared;
   const uint32_t threads = plan->block[0] * plan->block[1] * plan->block[2],
                  warps = (threads + LANES - 1) / LANES;
   launch.shared_bytes = (uint32_t)shared;
   run->report.control_taint = run->report.address_taint = 0;
   uint32_t shift = program->global_granule == 1 ? 0 : program->global_granule == 2 ? 1 : 2;
   if (shift != run->record_shift) {
      drop_records(run);
      run->record_shift = shift;
   }
   launch.global_shift = shift;
   launch.first_serial = run->next_serial;
   machine_counters_begin(run);
   run->block_warps = calloc(2 * (size_t)program->block_count + 2, sizeof *run->block_warps);
   run->block_threads = run->block_warps + program->block_count + 1;
   if (!run->block_warps)
      run->out_of_memory = true;
   else if (total > MAX_BLOCKS || machine_shared_without_gaps(program, shared) > (1u << 20))
      machine_find_launch(run, RKB_MACHINE_REJECT, "plan.launch",
                          "%llu blocks or %llu bytes of shared memory are more than a launch may have",
                          (unsigned long long)total,
                          (unsigned long long)machine_shared_without_gaps(program, shared));
   else if (launch_fits(run, plan, program) && fill_parameters(run, &launch)) {
      if ((run->pool_program == program && run->pool_warps == warps && run->block.shared_bytes == shared) ||
          machine_pool_prepare(run, program, warps, (uint32_t)shared)) {
         machine_launch_begin(&launch);
         run_blocks(run, &launch);
         done = !run->stop;
      }
   }
   free(run->block_warps);
   run->block_warps = NULL;
   free(launch.parameters);
   free(launch.parameter_defined);
   free(launch.parameter_taint);
   run->launch = NULL;
   note_deciding(run, number, control, address);
   return done && !run->out_of_memory;
}

/* Taint that reached an output, or decided what the program did. */
static uint64_t used_taint(const machine_run_t *run) {
   uint64_t used = run->report.control_taint | run->report.address_taint;
   for (uint32_t n = 0; n < run->plan->buffer_count; n++)
      if (run->plan->buffers[n].role == RKB_OUT || run->plan->buffers[n].role == RKB_INOUT) {
         uint64_t own = run->plan->buffers[n].role == RKB_INOUT ? 1ull << (n < 63 ? n : 63) : 0;
         used |= run->regions[n].taint | own;
      }
   return used;
}

/* Of what module variables hold; a number of 64 bits, by which two contents are told apart. */
static uint64_t variables_digest(const machine_run_t *run) {
   uint64_t digest = 0x9e3779b97f4a7c15;
   for (uint32_t n = run->plan->buffer_count; n < run->region_count; n++)
      for (uint64_t at = 0; !run->regions[n].constant && at < run->regions[n].bytes; at += 8) {
         const uint64_t left = run->regions[n].bytes - at;
         uint64_t word = 0;
         memcpy(&word, run->regions[n].data + at, left < 8 ? left : 8);
         digest = (digest ^ word) * 0xff51afd7ed558ccd;
         digest ^= digest >> 32;
      }
   return digest;
}

static bool variables_reached(const machine_run_t *run) {
   bool reached = false;
   for (uint32_t n = run->plan->buffer_count; n < run->region_count; n++)
      reached |= !run->regions[n].constant && run->regions[n].taint;
   return reached;
}

bool machine_run_begin(machine_run_t *run, const rkb_machine_buffer_t *buffers) {
   uint64_t peak = run->report.memory_peak;
   run->finding_count = 0;
   run->kept_count = 0;
   run->stop = run->out_of_memory = false;
   run->executed = 0;
   run->budget = run->options.thread_instructions;
   run->hang_limit = run->options.hang_limit ? run->options.hang_limit : UINT64_MAX;
   run->report = (rkb_machine_report_t){.memory_peak = peak};
   memset(run->counters, 0, run->plan->launch_count * sizeof *run->counters);
   return begin_buffers(run, buffers) && copy_constants(run);
}

int rkb_machine_run(rkb_machine_t *machine, const rkb_machine_buffer_t *buffers, rkb_error_t *err) {
   machine_run_t *run = &machine->run;
   uint32_t line;
   const bool begun = machine_run_begin(run, buffers);
   const uint64_t variables = run->taint ? variables_digest(run) : 0;
   const char *problem = rkb_machine_module_error(run->module, &line);
   bool complete = false;
   if (problem) {
      rkb_machine_finding_t *finding =
         machine_find_launch(run, RKB_MACHINE_UNKNOWN, "unsupported.ptx", "PTX line %u: %s", line, problem);
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
   run->report.used_taint = used_taint(run);
   run->report.leaves_state = run->taint && (variables_reached(run) || variables_digest(run) != variables);
   for (uint32_t n = 0; complete && n < run->plan->launch_count; n++)
      run->report.one_schedule |= run->programs[n]->atomics || run->programs[n]->strong ||
                                  run->programs[n]->clocks || run->programs[n]->placed;
   if (run->out_of_memory)
      return rkb_fail(err, RKB_ERR_LIMIT, "executing the plan needs more than %llu bytes",
                      (unsigned long long)run->options.memory_bytes);
   return RKB_OK;
}

void rkb_machine_report(const rkb_machine_t *machine, rkb_machine_report_t *report) {
   *report = machine->run.report;
   report->thread_instructions = machine->run.executed;
   for (uint32_t n = 0; n < machine->run.plan->launch_count; n++)
      report->atomics_unfinished |= machine->run.programs[n] && machine->run.programs[n]->atomics &&
                                    machine->run.counters[n].executed < machine->run.counters[n].blocks;
   report->launches = machine->run.counters;
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
         done = machine_program_survey(module, n, addresses, visit, argument);
   free(addresses);
   return done ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "no memory for decoding the kernels");
}
