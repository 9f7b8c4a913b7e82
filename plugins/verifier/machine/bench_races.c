/* Looks for races at a bench shape.  The sample itself is executed without records of races, since they would cost work and memory for every
 * judged block; a kernel that leaves out a barrier or a wait at a bench shape alone would pass.  So this file executes the first few judged
 * blocks of each launch once more, with all records, up to a limit.  Only what is surely wrong counts.  Blocks that were not chosen are not
 * looked at.  docs/decisions/sampled-blocks.md.  One worker thread a case. */
#include "bench_values.h"

#include <stdlib.h>
#include <string.h>

#define MOST_BLOCKS 4u /* of a launch, of those that are judged */
#define ENOUGH_STEPS                                                                                         \
   1000000u /* after so many thread-instructions of a launch no further block of it begins */
#define RACES_BUDGET 20000000u /* of all launches */

/* What other blocks would have stored may decide whether a thread waits, so that a wait without an end says nothing; and the blocks that wait
 * for the launch before may be others. */
static bool is_sure(const rkb_machine_finding_t *finding) {
   const char *reason = finding->reason;
   return finding->standing == RKB_MACHINE_REJECT &&
          (strncmp(reason, "race.", 5) == 0 || strncmp(reason, "sync.", 5) == 0) &&
          strcmp(reason, "sync.deadlock") != 0 && strcmp(reason, "sync.dependent") != 0;
}

static void take_findings(const struct sample *s, const rkb_machine_report_t *report) {
   bool lacked = false;
   for (uint32_t n = 0; n < report->finding_count; n++)
      lacked |= strcmp(report->findings[n].reason, "memory.uninitialised") == 0;
   for (uint32_t n = 0; n < report->finding_count && !lacked; n++)
      if (is_sure(&report->findings[n]))
         outcome_finding(s->outcome, &report->findings[n], s->the_case, s->family->name, s->seed);
}

static int run_blocks(struct sample *part, const rkb_machine_blocks_t *lists, rkb_error_t *err) {
   const uint64_t left = part->candidate->budget;
   rkb_machine_report_t report;
   const rkb_machine_options_t options = {.checks = RKB_MACHINE_RACES,
                                          .sample = lists,
                                          .sample_instructions = ENOUGH_STEPS,
                                          .memory_bytes = part->verifier->config->memory,
                                          .thread_instructions = left < RACES_BUDGET ? left : RACES_BUDGET,
                                          .fetch = sample_fetch,
                                          .fetch_argument = part};
   int status = sample_make_buffers(part, false, &part->buffers, err);
   if (status == RKB_OK)
      status = sample_run_once(part, &options, part->buffers, &part->machine, &report, err);
   if (status == RKB_OK) {
      sample_spend(part, report.work);
      take_findings(part, &report);
   }
   rkb_machine_close(part->machine);
   sample_free_buffers(part, part->buffers);
   return status;
}

int sample_find_races(struct sample *s, rkb_error_t *err) {
   struct sample part = *s;
   rkb_machine_blocks_t *lists = calloc(s->blocks.launch_count + 1, sizeof *lists);
   if (!lists)
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for the blocks that are executed for races");
   part.machine = NULL;
   part.buffers = NULL;
   for (uint32_t n = 0; n < s->blocks.launch_count; n++) {
      lists[n] = s->blocks.judged[n];
      lists[n].count = lists[n].count < MOST_BLOCKS ? lists[n].count : MOST_BLOCKS;
      /* the same blocks as of the launch before, whose results they mostly read */
      if (n && memcmp(s->plan->launches[n].grid, s->plan->launches[n - 1].grid,
                      sizeof s->plan->launches[n].grid) == 0)
         lists[n] = lists[n - 1];
   }
   const int status = s->candidate->budget ? run_blocks(&part, lists, err) : RKB_OK;
   free(lists);
   return status == RKB_ERR_LIMIT ? RKB_OK : status; /* too much memory: it is left out */
}
