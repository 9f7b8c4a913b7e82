/* Finds words that the blocks of a bench case leave unwritten: from the sample if every block writes equally much, and from all blocks if
 * the sample leaves doubt and they are few enough (docs/decisions/sampled-blocks.md). */
#include "bench_values.h"

#include <math.h>

#define MOST_INSTRUCTIONS                                                                                    \
   1e9 /* of all blocks of the case, where all are executed to see what they leave unwritten */
#define SUSPECT_SHARE                                                                                        \
   0.5 /* of the outputs filled, where blocks that differ in what they write are no explanation */

#define ROUNDING 1e-9 /* of a share that is a quotient of sums */

/* The largest number of blocks that one executed block represents, among the launches that use a buffer. */
static double share_of(const struct sample *s, const rkb_machine_report_t *report, uint32_t buffer) {
   double share = 0;
   for (uint32_t n = 0; n < report->launch_count; n++) {
      const rkb_launch_counters_t *c = &report->launches[n];
      const rkb_plan_launch_t *launch = &s->plan->launches[c->launch];
      for (uint32_t a = 0; a < launch->argument_count && c->executed; a++)
         if (launch->arguments[a].buffer == buffer)
            share = fmax(share, (double)c->blocks / (double)c->executed);
   }
   return share;
}

/* The share of the outputs that all blocks would fill if each wrote what the executed ones wrote on average.  Blocks of a launch mostly
 * write equally much, if not to the same output, and the share is 1.  If a grid is bounded for a loop that the kernel lacks, the share is
 * less. */
static double filled_share(const struct sample *s, const rkb_machine_report_t *report) {
   double bytes = 0, written = 0;
   for (uint32_t n = 0; n < s->plan->buffer_count; n++) {
      const rkb_plan_buffer_t *b = &s->plan->buffers[n];
      if (b->role != RKB_OUT || b->fill != RKB_FILL_NONE || b->elements == 0)
         continue;
      const uint64_t width = b->bytes / b->elements;
      bytes += (double)b->bytes;
      written += share_of(s, report, n) *
                 (double)((b->elements - rkb_machine_unwritten(s->machine, n, (uint32_t)width)) * width);
   }
   return bytes > 0 ? written / bytes : 1;
}

double sample_whole_instructions(const rkb_machine_report_t *report) {
   double sum = 0;
   for (uint32_t n = 0; n < report->launch_count; n++) {
      const rkb_launch_counters_t *c = &report->launches[n];
      for (int k = 0; k < RKB_CLASS_COUNT && c->executed; k++)
         sum += (double)c->thread_instructions[k] * (double)c->blocks / (double)c->executed;
   }
   return sum;
}

/* The first element of each output that no block writes. */
static void find_unwritten(struct sample *s, rkb_machine_t *machine) {
   rkb_machine_report_t report;
   for (uint32_t n = 0; n < s->plan->buffer_count; n++) {
      const rkb_plan_buffer_t *b = &s->plan->buffers[n];
      const uint32_t width = b->elements ? (uint32_t)(b->bytes / b->elements) : 1;
      uint64_t first;
      bool written;
      const uint64_t count = b->role == RKB_OUT && b->fill == RKB_FILL_NONE
                                ? rkb_machine_undefined(machine, n, width, &first, &written)
                                : 0;
      if (count)
         rkb_machine_find_undefined(machine, n, first, width, written, count);
   }
   rkb_machine_report(machine, &report);
   for (uint32_t n = 0; n < report.finding_count; n++)
      outcome_finding(s->outcome, &report.findings[n], s->the_case, s->family->name, s->seed);
}

static int execute_all(struct sample *s, const rkb_machine_options_t *sampled, rkb_error_t *err) {
   rkb_machine_options_t options = *sampled;
   rkb_machine_t *machine = NULL;
   rkb_machine_report_t report;
   options.sample = NULL;
   options.sample_instructions = 0;
   options.thread_instructions = s->candidate->budget;
   int status = sample_run_for_stores(s, &options, s->buffers, &machine, &report, err);
   if (status == RKB_OK) {
      s->candidate->budget -= report.thread_instructions < s->candidate->budget ? report.thread_instructions
                                                                                : s->candidate->budget;
      if (report.complete) {
         find_unwritten(s, machine);
         s->divided = report.stored_again == 0;
      } else {
         sample_leave_out(s, "not all blocks could be executed to see what they leave unwritten");
      }
   }
   rkb_machine_close(machine);
   return status;
}

int sample_find_unwritten(struct sample *s, const rkb_machine_options_t *options, rkb_error_t *err) {
   rkb_machine_report_t report;
   rkb_machine_report(s->machine, &report);
   if (s->outcome->rank == RKB_MACHINE_REJECT || report.finding_count || s->stale)
      return RKB_OK; /* decided, or stopped where a block needed another's work */
   const double share = filled_share(s, &report);
   int status = block_beginnings_follow(s, options, &report, err);
   if (status == RKB_OK)
      status = idle_blocks_judge(s, &report, err);
   if (status != RKB_OK || s->outcome->rank ||
       (share >= 1 - ROUNDING && !s->asks_all && !idle_blocks_seen(s, &report, false)))
      return status;
   const double instructions = sample_whole_instructions(&report);
   if (instructions <= MOST_INSTRUCTIONS && instructions <= (double)s->candidate->budget)
      return execute_all(s, options, err);
   if (idle_blocks_seen(s, &report, true))
      return RKB_OK;
   if (share >= SUSPECT_SHARE) {
      sample_leave_out(s, "whether all outputs are written is not known: too many blocks to execute all");
      return RKB_OK;
   }
   outcome_note(
      s->outcome, RKB_MACHINE_SUSPECT, "output.unwritten",
      json_pack("{s:s, s:f}", "case", s->the_case->name, "share", share),
      "in case %s all blocks, each writing what the executed ones wrote on average, would fill %.0f %% of the "
      "outputs, and they are too many to execute",
      s->the_case->name, 100 * share);
   return RKB_OK;
}
