/* What an earlier launch of the plan may have left for the blocks that are sampled at a bench shape.  Whole runs are made again on one machine
 * (repetitions.c); a sample is executed once, on a machine that has executed nothing before, where a variable of the module holds its
 * initial value.  So a kernel could keep a result there at the bench shape alone.  Where an executed block read a word of a variable that
 * kernels may write, and that no block of the run had written, the same blocks are executed once more with taint.  The word must not affect
 * any result.  The block that would leave something there need not be among the executed ones.  One worker thread a case. */
#include "bench_values.h"

#include <string.h>

static int run_again(struct sample *part, rkb_error_t *err) {
   rkb_machine_report_t report;
   const rkb_machine_options_t options = {.checks = RKB_MACHINE_TAINT,
                                          .sample = part->blocks.judged,
                                          .sample_instructions = JUDGED_INSTRUCTIONS,
                                          .memory_bytes = part->verifier->config->memory,
                                          .thread_instructions =
                                             part->candidate->budget ? part->candidate->budget : 1,
                                          .past = true,
                                          .atomics_past = !part->outcome->variable_atomics,
                                          .stores = part->stores,
                                          .fetch = sample_fetch,
                                          .fetch_argument = part};
   int status = sample_make_buffers(part, false, &part->buffers, err);
   if (status == RKB_OK)
      status = sample_run_once(part, &options, part->buffers, &part->machine, &report, err);
   if (status == RKB_OK) {
      sample_spend(part, report.work);
      for (uint32_t n = 0; n < report.finding_count; n++)
         if (strcmp(report.findings[n].reason, "state.kept") == 0)
            outcome_finding(part->outcome, &report.findings[n], part->the_case, part->family->name,
                            part->seed);
   }
   rkb_machine_close(part->machine);
   sample_free_buffers(part, part->buffers);
   return status;
}

int sample_find_past(struct sample *s, rkb_error_t *err) {
   struct sample part = *s;
   rkb_machine_report_t report;
   if (!s->machine)
      return RKB_OK;
   rkb_machine_report(s->machine, &report);
   if (!report.past_read || report.variables_unfinished)
      return RKB_OK;
   part.machine = NULL;
   part.buffers = NULL;
   return run_again(&part, err);
}
