/* Executes one launch of a plan: sets its parameters, chooses which blocks run in which order, and collects
 * their counts.  On the machine's thread. */
#include "machine/execute/foreseen_work.h"
#include "machine/counts/kind_counts.h"
#include "machine/execute/interruptions.h"
#include "machine/state/block_paths.h"
#include "machine/state/decisions.h"
#include "machine/state/loop_turns.h"
#include "machine/in_flight/grid_dependency.h"
#include "machine/maps/tensor_maps.h"
#include "machine/races/races.h"

#include <stdio.h>
#include <stdlib.h>

#define MAX_BLOCK_THREADS 1024
#define MAX_BLOCKS 0x7fffffffull

#define REASON_NAME 34 /* bytes of a name, so that a reason code of the vocabulary holds it */

/* Names of unsupported things are opcodes or features.  The reason code has no spaces.  Of a long opcode it has as many whole modifiers as there
 * is room for; the message has the whole opcode. */
static void refuse(machine_run_t *run, const machine_program_t *program, const char *what, uint32_t line) {
   size_t room = strlen(what);
   if (room > REASON_NAME)
      for (room = REASON_NAME; room > 1 && what[room] != '.' && what[room] != ' ';)
         room--;
   char reason[48];
   size_t length = (size_t)snprintf(reason, sizeof reason, "unsupported.%.*s", (int)room, what);
   for (size_t n = 0; n < length && n < sizeof reason; n++)
      if (reason[n] == ' ' || reason[n] == ',')
         reason[n] = '_';
   rkb_machine_finding_t *finding = machine_find_launch(
      run, RKB_MACHINE_UNKNOWN, reason, "the machine does not execute '%s' (PTX line %u)", what, line);
   if (finding)
      machine_name_line(program->module, line, finding);
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
      if (argument->map) {
         if (!machine_pass_tensor_map(launch, argument))
            return false;
         continue;
      }
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

static bool cluster_fits(machine_run_t *run, const rkb_plan_launch_t *plan,
                         const machine_program_t *program) {
   const uint32_t *required = program->entry->required_cluster, *dims = plan->cluster;
   const uint64_t blocks = (uint64_t)dims[0] * dims[1] * dims[2];
   if (blocks == 0 || blocks > MOST_CLUSTER || plan->grid[0] % dims[0] || plan->grid[1] % dims[1] ||
       plan->grid[2] % dims[2] ||
       (required[0] && (required[0] != dims[0] || required[1] != dims[1] || required[2] != dims[2]))) {
      if (required[0])
         machine_find_launch(
            run, RKB_MACHINE_REJECT, "plan.cluster",
            "%s is compiled for clusters of %u x %u x %u blocks, and the launch has %u x %u x %u: its cluster "
            "must say the same",
            plan->entry, required[0], required[1], required[2], dims[0], dims[1], dims[2]);
      else
         machine_find_launch(
            run, RKB_MACHINE_REJECT, "plan.cluster",
            "a grid of %u x %u x %u blocks has no clusters of %u x %u x %u, or they are more than %u blocks",
            plan->grid[0], plan->grid[1], plan->grid[2], dims[0], dims[1], dims[2], MOST_CLUSTER);
      return false;
   }
   if (program->waits && blocks > 1) {
      refuse(run, program, "clusters that wait for others", 0);
      return false;
   }
   return true;
}

static bool launch_fits(machine_run_t *run, const rkb_plan_launch_t *plan, const machine_program_t *program) {
   uint64_t threads = (uint64_t)plan->block[0] * plan->block[1] * plan->block[2];
   if (program->unsupported[0]) {
      refuse(run, program, program->unsupported, program->unsupported_line);
      return false;
   }
   if (!cluster_fits(run, plan, program))
      return false;
   if (run->races &&
       run->next_serial + (uint64_t)plan->grid[0] * plan->grid[1] * plan->grid[2] >= MOST_NAME_BLOCK) {
      machine_find_launch(run, RKB_MACHINE_UNKNOWN, "limit.budget",
                          "the launches have more than %llu blocks, whose accesses are not told apart",
                          (unsigned long long)MOST_NAME_BLOCK);
      return false;
   }
   if (plan->dependent && program->waits) {
      refuse(run, program, "dependent launches that wait for others", 0);
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

/* How many multiply-adds a matrix instruction makes each time that a warp executes it, and of which type.
 * One warp makes a quarter of a warpgroup's. */
static uint64_t products_of(const machine_program_t *program, const machine_instruction_t *i,
                            uint32_t *type) {
   static const uint8_t types[] = {
      [TENSOR_F16] = RKB_TENSOR_F16, [TENSOR_BF16] = RKB_TENSOR_BF16, [TENSOR_TF32] = RKB_TENSOR_TF32,
      [TENSOR_E4M3] = RKB_TENSOR_F8, [TENSOR_E5M2] = RKB_TENSOR_F8,   [TENSOR_F64] = RKB_TENSOR_F64,
      [TENSOR_S8] = RKB_TENSOR_INT8, [TENSOR_U8] = RKB_TENSOR_INT8,   [TENSOR_S4] = RKB_TENSOR_INT4,
      [TENSOR_U4] = RKB_TENSOR_INT4, [TENSOR_B1] = RKB_TENSOR_BIT};
   if (i->operation == TENSOR_OF_WARPGROUP) {
      const machine_warpgroup_form_t *form = &program->warpgroup_forms[i->immediate];
      *type = types[form->type_a];
      return (uint64_t)WARPGROUP_ROWS / WARPGROUP_WARPS * form->n * form->k;
   }
   const machine_tensor_t *tensor = &program->tensors[i->immediate];
   *type = types[tensor->type[TENSOR_A]];
   return (uint64_t)tensor->m * tensor->n * tensor->k * (tensor->quads ? 4 : 1);
}

static void count_products(const machine_run_t *run, const machine_program_t *program,
                           rkb_launch_counters_t *c) {
   const bool any = program->tensor_count || program->warpgroup_form_count;
   for (uint32_t n = 0; any && n < program->count; n++) {
      const machine_instruction_t *i = &program->code[n];
      uint32_t type;
      if (i->class != RKB_CLASS_TENSOR)
         continue;
      const uint64_t products = products_of(program, i, &type);
      c->tensor_products[type] += run->counts.block_warps[i->block] * products;
      if (i->operation == TENSOR_OF_WARPGROUP)
         c->warpgroup_products[type] += run->counts.block_warps[i->block] * products;
   }
}

static void gather_into(rkb_launch_counters_t *c, machine_run_t *run, const machine_launch_t *launch,
                        uint64_t blocks) {
   const machine_program_t *program = launch->program;
   const rkb_plan_launch_t *plan = launch->plan;
   c->launch = launch->number;
   c->kernel = plan->kernel;
   c->threads = plan->block[0] * plan->block[1] * plan->block[2];
   c->blocks = (uint64_t)plan->grid[0] * plan->grid[1] * plan->grid[2];
   c->executed = blocks;
   c->barriers = run->counts.measured_barriers / run->block.cluster.warps;
   c->cluster_waits = run->counts.cluster_arrivals / run->block.cluster.warps;
   for (uint32_t b = 0; b < program->block_count; b++)
      for (uint32_t n = 0; n < RKB_CLASS_COUNT; n++) {
         c->thread_instructions[n] += run->counts.block_threads[b] * program->blocks[b].class_count[n];
         c->warp_instructions[n] += run->counts.block_warps[b] * program->blocks[b].class_count[n];
      }
   count_products(run, program, c);
   machine_note_tensor_use(run, program);
   machine_counters_end(run, c, blocks);
}

static void gather_counters(machine_run_t *run, const machine_launch_t *launch, uint64_t blocks) {
   gather_into(&run->counts.counters[launch->number], run, launch, blocks);
}

/* Keeps the launch's counts when its counted blocks were executed.  blocks: how many counted blocks there are. */
static void take_counted(machine_run_t *run, const machine_launch_t *launch,
                         const machine_kind_counts_t *kinds, uint64_t blocks, uint64_t work_before) {
   gather_into(&run->counts.counted[launch->number], run, launch, blocks);
   if (kinds)
      machine_kinds_weigh(kinds, &run->options.sample[launch->number], &run->counts.counted[launch->number]);
   run->report.counted_work += run->work.executed + run->work.burden - work_before;
   run->counts.counted_enough = true;
}

/* The number of the first block of the grid's n-th cluster; without clusters, of the n-th block. */
static uint64_t first_block(const machine_launch_t *launch, uint64_t n) {
   const uint32_t *grid = launch->plan->grid, *dims = launch->cluster.dims;
   const uint64_t across = grid[0] / dims[0], down = grid[1] / dims[1], x = n % across * dims[0],
                  y = n / across % down * dims[1], z = n / across / down * dims[2];
   return (z * grid[1] + y) * grid[0] + x;
}

/* The number of the cluster to which a block belongs. */
static uint64_t cluster_of(const machine_launch_t *launch, uint64_t block) {
   const uint32_t *grid = launch->plan->grid, *dims = launch->cluster.dims;
   const uint64_t across = grid[0] / dims[0], down = grid[1] / dims[1];
   return (block / grid[0] / grid[1] / dims[2] * down + block / grid[0] % grid[1] / dims[1]) * across +
          block % grid[0] / dims[0];
}

/* Whether a block of the sample was executed already, because an earlier block of the sample belongs to the
 * same cluster. */
static bool with_another(const machine_launch_t *launch, const rkb_machine_blocks_t *sample, uint64_t n) {
   const uint64_t cluster = cluster_of(launch, sample->numbers[n]);
   for (uint64_t k = 0; launch->cluster.blocks > 1 && k < n; k++)
      if (cluster_of(launch, sample->numbers[k]) == cluster)
         return true;
   return false;
}

/* Executes the block, or the cluster that begins with it.  place: its number in the sample, or in the order of all blocks. */
static void run_one(machine_launch_t *launch, uint64_t linear, uint64_t place, uint64_t *passed) {
   machine_run_t *run = launch->run;
   run->place = launch->number << PLACE_BITS | (uint32_t)(place < MOST_PLACES ? place : MOST_PLACES);
   if (run->options.asked)
      machine_take_asked(run);
   if (run->options.block_work)
      run->work.budget = run->work.executed + run->work.burden + run->options.block_work;
   const uint64_t began = run->work.executed;
   machine_block_run(launch, linear);
   machine_partial_instructions(run, run->work.executed - began);
   if (run->record)
      machine_follow(launch, linear);
   if (run->tickets && run->unfinished)
      machine_tickets_block(run);
   if (run->extents)
      machine_partial_block(run);
   if (passed)
      machine_partial_path(run, launch->program->block_count, passed);
   run->counts.measured_blocks += run->block.measured ? launch->cluster.blocks : 0;
}

/* Executes the drawn blocks that foresight asks for, if it is time for them; they are left out in their turn. */
static uint64_t run_drawn(machine_launch_t *launch, machine_foresight_t *foresight, uint64_t executed, uint64_t n, uint64_t clusters,
                          uint64_t *passed) {
   machine_run_t *run = launch->run;
   uint64_t drawn = 0;
   if (!machine_foresight_draw(run, foresight, executed / launch->cluster.blocks, n, clusters))
      return 0;
   for (uint32_t k = 0; k < FORESEEN_DRAWN && !run->stop && !run->out_of_memory; k++) {
      const uint64_t worked = run->work.executed + run->work.burden;
      run_one(launch, first_block(launch, machine_in_order(run, foresight->drawn[k], clusters)), foresight->drawn[k], passed);
      foresight->work[k] = run->work.executed + run->work.burden - worked;
      drawn += launch->cluster.blocks;
   }
   if (!run->stop)
      machine_foresight_judge(run, foresight, (executed + drawn) / launch->cluster.blocks, clusters);
   return drawn;
}

static void run_blocks(machine_run_t *run, machine_launch_t *launch) {
   const uint32_t *grid = launch->plan->grid;
   const uint64_t total = (uint64_t)grid[0] * grid[1] * grid[2], clusters = total / launch->cluster.blocks;
   const rkb_machine_blocks_t *sample = run->options.sample ? &run->options.sample[launch->number] : NULL;
   const bool chosen = sample && (sample->count || sample->none) && sample->count <= total;
   const uint64_t count = chosen ? sample->count : clusters;
   const uint64_t began = run->work.executed, worked = run->work.executed + run->work.burden,
                  budget = run->options.sample_instructions;
   const uint64_t counted = run->counts.counted && chosen ? run->options.counted[launch->number] : 0;
   uint64_t executed = 0, left_out = 0, least = chosen ? (uint64_t)sample->least * launch->cluster.blocks : 0;
   run->place = launch->number << PLACE_BITS | MOST_PLACES;
   run->interrupted = !chosen && machine_interrupts(launch);
   run->interruptions = 0;
   run->left_locked = run->interrupted && launch->program->spins;
   const bool beside =
      run->interrupted && launch->cluster.blocks == 1 && !launch->dependency && !launch->plan->dependent;
   if ((launch->program->waits || beside) && total > 1 && (!chosen || count == total)) {
      machine_residents_run(launch);
      run->report.stored_again++;
      run->next_serial += total;
      gather_counters(run, launch, total);
      return;
   }
   run->report.sampled |= chosen && count < total;
   if (run->options.beside && chosen && count && launch->program->waits && launch->cluster.blocks == 1) {
      executed = machine_residents_run_sample(launch, sample);
      run->next_serial += total;
      gather_counters(run, launch, executed);
      run->stop = true; /* what the blocks left is not what the whole launch leaves */
      return;
   }
   machine_foresight_t foresight = {.worked = worked};
   machine_partial_begin(launch, count, !chosen || (count == total && !budget));
   if (run->tickets)
      machine_tickets_begin(launch);
   uint64_t *passed = run->extents ? calloc((size_t)launch->program->block_count + 1, sizeof *passed) : NULL;
   /* the counts of these blocks are kept apart */
   const uint64_t of_kinds = run->counts.counted ? counted : count;
   machine_kind_counts_t *kinds = chosen && run->options.requests ? machine_kinds_open(sample) : NULL;
   for (uint64_t n = 0; n < count && !run->stop && !run->out_of_memory; n++) {
      if (chosen && with_another(launch, sample, n))
         continue;
      if (run->moving && !machine_tickets_move(run, n))
         break;
      if (!chosen && machine_foresight_has(&foresight, n))
         continue;
      const uint64_t linear = first_block(launch, chosen ? cluster_of(launch, sample->numbers[n])
                                                         : machine_in_order(run, n, clusters));
      run_one(launch, linear, n - left_out, passed);
      executed += launch->cluster.blocks;
      if (!chosen)
         executed += run_drawn(launch, &foresight, executed, n, clusters, passed);
      if (kinds && n < of_kinds) {
         rkb_launch_counters_t so_far = {0};
         gather_into(&so_far, run, launch, executed);
         machine_kinds_add(kinds, sample, &so_far, n);
      }
      if (n < counted && !run->stop &&
          (n + 1 == counted || run->work.executed - began > run->options.counted_instructions)) {
         take_counted(run, launch, kinds, executed, worked);
         left_out = counted - executed;
         least = executed + (sample->least > counted ? sample->least - counted : 1) * launch->cluster.blocks;
         n = counted - 1;
      }
      if (chosen && budget && run->work.executed - began > budget && n + 1 < count && executed >= least) {
         run->report.sampled = true;
         break;
      }
   }
   free(passed);
   run->report.uneven |= machine_foresight_failed(run, &foresight, clusters);
   machine_partial_end(launch, executed == total);
   run->next_serial += total;
   gather_counters(run, launch, executed);
   if (kinds && !run->counts.counted)
      machine_kinds_weigh(kinds, sample, &run->counts.counters[launch->number]);
   machine_kinds_free(kinds);
}

/* An input that decided something in a launch counts as having reached everything that the launch may have
 * written. */
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
   const machine_program_t *program = run->programs[number];
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
   run->report.control_taint = run->report.address_taint = 0;
   const uint32_t shift = machine_grid_granule(run, number);
   if (shift != run->record_shift) {
      machine_drop_records(run);
      run->record_shift = shift;
   }
   if (!plan->dependent)
      machine_forget_records(run, plan);
   launch.global_shift = shift;
   launch.first_serial = run->next_serial;
   for (uint32_t n = 0; n < run->region_count; n++)
      run->regions[n].written = false;
   machine_counters_begin(run);
   run->counts.counted_enough = false;
   run->counts.block_warps = calloc(2 * (size_t)program->block_count + 2, sizeof *run->counts.block_warps);
   run->counts.block_threads = run->counts.block_warps + program->block_count + 1;
   if (!run->counts.block_warps)
      run->out_of_memory = true;
   else if (total > MAX_BLOCKS || machine_shared_without_gaps(program, shared) > (1u << 20))
      machine_find_launch(run, RKB_MACHINE_REJECT, "plan.launch",
                          "%llu blocks or %llu bytes of shared memory are more than a launch may have",
                          (unsigned long long)total,
                          (unsigned long long)machine_shared_without_gaps(program, shared));
   else if (launch_fits(run, plan, program) && fill_parameters(run, &launch)) {
      launch.cluster = machine_cluster_of(plan, program, (uint32_t)shared);
      if ((run->pool_program == program &&
           memcmp(&run->block.cluster, &launch.cluster, sizeof launch.cluster) == 0) ||
          machine_pool_prepare(run, program, &launch.cluster)) {
         machine_grid_dependency_begin(&launch, run->block.warp_count);
         machine_launch_begin(&launch);
         machine_decisions_begin(&launch);
         machine_loops_begin(&launch);
         run_blocks(run, &launch);
         machine_grid_dependency_end(&launch, run->counts.counters[number].executed == total);
         machine_workspace_renew(run); /* so that no launch finds what another launch left there */
         done = !run->stop;
      }
   }
   free(run->counts.block_warps);
   run->counts.block_warps = NULL;
   free(launch.parameters);
   free(launch.parameter_defined);
   free(launch.parameter_taint);
   run->launch = NULL;
   for (uint32_t n = 0; n < run->plan->buffer_count; n++)
      run->stored[number] |= run->regions[n].written ? UINT64_C(1) << (n < 63 ? n : 63) : 0;
   note_deciding(run, number, control, address);
   return done && !run->out_of_memory;
}
