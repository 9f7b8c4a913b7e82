/* Blocks of which only the beginning is executed.  Where blocks are costly, two or three of a launch are executed.  That says little about
 * how many blocks write nothing at all.  But a block that leaves its work undone ends soon.  So each drawn block that was not executed runs
 * for a small part of the work that the executed ones took, and those that ended by then without storing anything are counted
 * (docs/decisions/idle-blocks.md).  One worker thread a sample. */
#include "bench_values.h"

#include <stdlib.h>
#include <string.h>

#define ENOUGH 8u             /* chosen blocks that were executed to their ends */
#define PART 256u             /* divides what an executed block took */
#define LEAST UINT64_C(16384) /* thread-instructions that a block's beginning has at least */

static bool writes_an_output(const struct sample *s, uint32_t launch) {
   for (uint32_t n = 0; n < s->plan->buffer_count; n++)
      if (sample_is_output(&s->plan->buffers[n]) && (s->stores[launch] >> (n < 63 ? n : 63) & 1))
         return true;
   return false;
}

static uint64_t instructions_of_a_block(const rkb_launch_counters_t *c) {
   uint64_t all = 0;
   for (uint32_t n = 0; n < RKB_CLASS_COUNT; n++)
      all += c->thread_instructions[n];
   return all / c->executed;
}

static bool stored_nothing(const struct sample *s, const rkb_machine_t *machine, uint32_t launch,
                           uint32_t place) {
   rkb_machine_extent_t extent;
   for (uint32_t n = 0; n < s->plan->buffer_count; n++)
      if (rkb_machine_extent(machine, launch, place, n, &extent))
         return false;
   return true;
}

/* A block ends at the same place and stores the same or nothing on any values, unless an input steers it or something other than the end of its budget was
 * found. */
static bool asks_for_values(const rkb_machine_report_t *report) {
   bool found = (report->control_taint | report->address_taint) != 0;
   for (uint32_t n = 0; n < report->finding_count; n++)
      found |= strcmp(report->findings[n].reason, "limit.budget") != 0;
   return found;
}

/* *idle: the block ended within so many thread-instructions, and stored nothing.  *with_values: inputs are made, as they have to be for all blocks once
 * they were for one. */
static int follow_beginning(struct sample *s, const rkb_machine_options_t *options,
                            rkb_machine_blocks_t *blocks, uint32_t launch, uint64_t block, bool *with_values,
                            bool *idle, rkb_error_t *err) {
   rkb_machine_options_t own = *options;
   rkb_machine_t *machine = NULL;
   rkb_machine_report_t report;
   int status = RKB_OK;
   own.sample = blocks;
   blocks[launch] = (rkb_machine_blocks_t){.numbers = &block, .count = 1, .least = 1};
   if (!*with_values) {
      rkb_machine_options_t without = own;
      without.no_values = true;
      without.checks |= RKB_MACHINE_TAINT;
      status = sample_run_once(s, &without, s->buffers, &machine, &report, err);
      *with_values = status != RKB_OK || asks_for_values(&report);
   }
   if (status == RKB_OK && *with_values) {
      rkb_machine_close(machine);
      machine = NULL;
      status = sample_run_once(s, &own, s->buffers, &machine, &report, err);
   }
   if (status == RKB_OK) {
      sample_spend(s, report.work);
      *idle = report.finding_count == 0 && stored_nothing(s, machine, launch, 0);
   }
   rkb_machine_close(machine);
   blocks[launch] = (rkb_machine_blocks_t){.none = true};
   return status;
}

/* The drawn blocks that were not executed.  Returns how many. */
static uint32_t list_drawn(const struct sample *s, const rkb_launch_counters_t *c, uint64_t *numbers) {
   const struct sampled_launch *list = &s->blocks.launches[c->launch];
   uint32_t count = 0;
   for (uint32_t place = sample_executed_places(s->plan, c); place < list->count; place++)
      if (list->drawn[place])
         numbers[count++] = list->numbers[place];
   return count;
}

/* Executes all of them on one machine, so that it is laid out once.  *known: one machine for each block would say the same, because nothing was found, nothing
 * that a block left can matter to another, and the budget would have sufficed. */
static int follow_side_by_side(struct sample *s, const rkb_machine_options_t *options,
                               const rkb_launch_counters_t *c, rkb_machine_blocks_t *blocks, bool *known,
                               rkb_error_t *err) {
   const uint32_t launch = c->launch, *cluster = s->plan->launches[launch].cluster;
   struct followed *followed = &s->followed[launch];
   rkb_machine_options_t own = *options;
   rkb_machine_t *machine = NULL;
   rkb_machine_report_t report;
   uint64_t *numbers = calloc(s->blocks.launches[launch].count + 1, sizeof *numbers);
   const uint32_t count = numbers ? list_drawn(s, c, numbers) : 0;
   int status = numbers ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "no memory for the beginnings of blocks");
   *known = false;
   rkb_machine_report(s->machine, &report);
   if (count && count < c->blocks && cluster[0] * cluster[1] * cluster[2] == 1 && !report.may_keep_state &&
       !report.atomics_unfinished && s->candidate->budget / count >= 2 * own.thread_instructions) {
      own.sample = blocks;
      own.sample_instructions = 0;
      own.block_work = own.thread_instructions;
      own.no_values = true;
      own.checks |= RKB_MACHINE_TAINT;
      blocks[launch] = (rkb_machine_blocks_t){.numbers = numbers, .count = count, .least = count};
      status = sample_run_once(s, &own, s->buffers, &machine, &report, err);
      *known = status == RKB_OK && !report.finding_count && !(report.control_taint | report.address_taint) &&
               report.launches[launch].executed == count;
      blocks[launch] = (rkb_machine_blocks_t){.none = true};
   }
   for (uint32_t n = 0; *known && n < count; n++)
      followed->idle += rkb_machine_ended(machine, launch, n) && stored_nothing(s, machine, launch, n);
   if (*known) {
      sample_spend(s, report.work);
      followed->count += count;
   }
   rkb_machine_close(machine);
   free(numbers);
   return status;
}

static int follow_launch(struct sample *s, const rkb_machine_options_t *options,
                         const rkb_launch_counters_t *c, rkb_machine_blocks_t *blocks, rkb_error_t *err) {
   const struct sampled_launch *list = &s->blocks.launches[c->launch];
   struct followed *followed = &s->followed[c->launch];
   rkb_machine_options_t own = *options;
   bool with_values = false, known = false;
   own.thread_instructions = instructions_of_a_block(c) / PART;
   if (own.thread_instructions < LEAST)
      own.thread_instructions = LEAST;
   int status = follow_side_by_side(s, &own, c, blocks, &known, err);
   if (known)
      return status;
   for (uint32_t place = sample_executed_places(s->plan, c); place < list->count && status == RKB_OK;
        place++) {
      bool idle = false;
      if (!list->drawn[place])
         continue;
      if (s->candidate->budget < own.thread_instructions)
         break;
      status = follow_beginning(s, &own, blocks, c->launch, list->numbers[place], &with_values, &idle, err);
      followed->count++;
      followed->idle += idle;
   }
   return status;
}

int block_beginnings_follow(struct sample *s, const rkb_machine_options_t *options,
                            const rkb_machine_report_t *report, rkb_error_t *err) {
   rkb_machine_blocks_t *blocks = calloc(s->plan->launch_count + 1, sizeof *blocks);
   s->followed = calloc(s->plan->launch_count + 1, sizeof *s->followed);
   int status =
      blocks && s->followed ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "no memory for the beginnings of blocks");
   for (uint32_t n = 0; status == RKB_OK && n < s->plan->launch_count; n++)
      blocks[n].none = true;
   for (uint32_t n = 0; status == RKB_OK && n < report->launch_count; n++) {
      const rkb_launch_counters_t *c = &report->launches[n];
      if (c->executed && c->executed < c->blocks && c->executed < ENOUGH && writes_an_output(s, c->launch))
         status = follow_launch(s, options, c, blocks, err);
   }
   free(blocks);
   return status;
}
