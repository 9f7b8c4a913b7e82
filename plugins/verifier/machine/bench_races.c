/* Looks for races at a bench shape.  The sample itself is executed without records of races, since they would cost work and memory for every
 * judged block; a kernel that leaves out a barrier or a wait at a bench shape alone would pass.  So this file executes a few judged
 * blocks of each launch once more, with all records, up to a limit.  The secret chooses which of them.  Only what is certainly wrong
 * counts.  Blocks that were not chosen are not examined, and the certificate says how many blocks were.  docs/decisions/sampled-blocks.md.
 * One worker thread a case. */
#include "bench_values.h"

#include <stdlib.h>
#include <string.h>

#define MOST_BLOCKS 6u       /* of a launch, of those that are judged */
#define MOST_NEIGHBOURS 2u   /* of one of them, along axes of the grid */
#define LEAST_BLOCKS 4u      /* whatever they cost */
#define ENOUGH_STEPS 500000u /* after so many thread-instructions of a launch no further block of it begins */
#define RACES_BUDGET 20000000u /* of all launches */

/* What other blocks would have stored may decide whether a thread waits for them.  So an endless wait for other blocks says nothing; and the blocks that wait
 * for the launch before may be others.  An endless wait that only threads of the block or of its cluster could end is sure.  What other blocks would have
 * stored to global memory may decide how often a thread waits, but if such a value is missing, the run has found memory.uninitialised. */
static bool is_sure(const rkb_machine_finding_t *finding) {
   const char *reason = finding->reason;
   if (finding->standing != RKB_MACHINE_REJECT)
      return false;
   if (strcmp(reason, "sync.deadlock") == 0)
      return finding->within_block;
   return strncmp(reason, "race.", 5) == 0 ||
          (strncmp(reason, "sync.", 5) == 0 && strcmp(reason, "sync.dependent") != 0);
}

bool sample_races_lack(const rkb_machine_report_t *report) {
   bool lack = false;
   for (uint32_t n = 0; n < report->finding_count; n++)
      lack |= strcmp(report->findings[n].reason, "memory.uninitialised") == 0;
   return lack;
}

/* How many findings are sure; notes these if the caller asks for it. */
static uint32_t take_sure(const struct sample *s, const rkb_machine_report_t *report, bool note) {
   const bool lack = sample_races_lack(report);
   uint32_t count = 0;
   for (uint32_t n = 0; n < report->finding_count && !lack; n++) {
      if (!is_sure(&report->findings[n]))
         continue;
      count++;
      if (note)
         outcome_finding(s->outcome, &report->findings[n], s->the_case, s->family->name, s->seed);
   }
   return count;
}

uint32_t sample_take_races(const struct sample *s, const rkb_machine_report_t *report) {
   return take_sure(s, report, true);
}

/* Whether values may say more of what a run without them found.  Two stores without values look as if they stored the same value. */
static bool depends_on_values(const struct sample *s, const rkb_machine_report_t *report) {
   bool any = take_sure(s, report, false) > 0;
   for (uint32_t n = 0; n < report->finding_count; n++)
      any |= strncmp(report->findings[n].reason, "race.", 5) == 0;
   return any;
}

/* Says in the facet of the sample, launch by launch, in how many blocks races were looked for. */
static void describe(const struct sample *s, const rkb_machine_report_t *looked) {
   json_t *launches = json_object_get(json_object_get(s->facet, "scope"), "launches");
   rkb_machine_report_t report;
   size_t at = 0;
   rkb_machine_report(s->machine, &report);
   for (uint32_t n = 0; n < report.launch_count; n++)
      if (report.launches[n].blocks && report.launches[n].executed)
         json_object_set_new(json_array_get(launches, at++), "races_looked_for",
                             json_integer(looked ? (json_int_t)looked->launches[n].executed : 0));
}

/* Executes the blocks, without values first: which accesses conflict depends on no values but those of inputs that steer the blocks.  If a race was found,
 * values tell whether two stores stored the same value.  A run that only the work limit ended would have ended sooner with values. */
static int execute(struct sample *part, const rkb_machine_options_t *options, rkb_machine_report_t *report,
                   rkb_error_t *err) {
   rkb_machine_options_t own = *options;
   own.valued = sample_deciding(part);
   own.no_values = !sample_needs_values(part, own.valued);
   own.checks |= own.no_values ? RKB_MACHINE_TAINT : 0;
   int status = sample_run_once(part, &own, part->buffers, &part->machine, report, err);
   if (status != RKB_OK)
      return status;
   sample_spend(part, report->work);
   if (!own.no_values)
      return RKB_OK;
   if (!sample_is_steered(&own, report) && !depends_on_values(part, report))
      return RKB_OK;
   rkb_machine_close(part->machine);
   part->machine = NULL;
   own = *options;
   if (own.thread_instructions > part->candidate->budget)
      own.thread_instructions =
         part->candidate->budget ? part->candidate->budget : 1; /* 0 would be no limit */
   status = sample_run_once(part, &own, part->buffers, &part->machine, report, err);
   if (status == RKB_OK)
      sample_spend(part, report->work);
   return status;
}

int sample_look_for_races(struct sample *part, const rkb_machine_blocks_t *lists, uint64_t most, bool loops,
                          rkb_machine_report_t *report, rkb_error_t *err) {
   const uint64_t left = part->candidate->budget;
   const rkb_machine_options_t options = {.checks = RKB_MACHINE_RACES,
                                          .sample = lists,
                                          .sample_instructions = ENOUGH_STEPS,
                                          .memory_bytes = part->verifier->config->memory,
                                          .thread_instructions = left < most ? left : most,
                                          .loops = loops,
                                          .fetch = sample_fetch,
                                          .fetch_argument = part,
                                          .kept = part->kept};
   const int status = sample_make_buffers(part, false, &part->buffers, err);
   return status == RKB_OK ? execute(part, &options, report, err) : status;
}

void sample_end_races(struct sample *part) {
   rkb_machine_close(part->machine);
   sample_free_buffers(part, part->buffers);
   part->machine = NULL;
   part->buffers = NULL;
}

static int run_blocks(const struct sample *s, struct sample *part, const rkb_machine_blocks_t *lists,
                      rkb_error_t *err) {
   rkb_machine_report_t report;
   const int status = sample_look_for_races(part, lists, RACES_BUDGET, false, &report, err);
   if (status == RKB_OK) {
      (void)sample_take_races(s, &report);
      describe(s, &report);
   }
   sample_end_races(part);
   return status;
}

static void leave_out(const struct sample *s, const char *why) {
   describe(s, NULL);
   json_array_append_new(
      s->outcome->not_run,
      json_sprintf("case %s: races were not looked for in sampled blocks: %s", s->the_case->name, why));
}

static bool has(const rkb_machine_blocks_t *list, uint64_t block) {
   for (uint32_t n = 0; n < list->count; n++)
      if (list->numbers[n] == block)
         return true;
   return false;
}

/* The blocks next to one of the list, so that what neighbours do to each other is seen. */
static void add_neighbours(const uint32_t grid[3], uint64_t block, uint64_t *numbers,
                           rkb_machine_blocks_t *list) {
   uint64_t apart = 1;
   uint32_t added = 0;
   for (uint32_t d = 0; d < 3 && added < MOST_NEIGHBOURS; apart *= grid[d++]) {
      const uint64_t next = block / apart % grid[d] + 1 < grid[d] ? block + apart : block - apart;
      if (grid[d] > 1 && !has(list, next)) {
         numbers[list->count++] = next;
         added++;
      }
   }
}

/* Some of the judged blocks, in an order that the secret gives, and neighbours of the first. */
static bool choose_blocks(const struct sample *s, uint32_t launch, rkb_random_t *stream,
                          rkb_machine_blocks_t *chosen) {
   const rkb_machine_blocks_t *judged = &s->blocks.judged[launch];
   uint64_t *numbers = calloc(MOST_BLOCKS + MOST_NEIGHBOURS, sizeof *numbers);
   *chosen = (rkb_machine_blocks_t){.numbers = numbers, .none = judged->none, .least = LEAST_BLOCKS};
   if (!numbers || !judged->count)
      return numbers != NULL;
   numbers[chosen->count++] = judged->numbers[s->verifier->random->below(stream, judged->count)];
   add_neighbours(s->plan->launches[launch].grid, numbers[0], numbers, chosen);
   for (uint32_t n = 1; n < MOST_BLOCKS && n < judged->count; n++) {
      const uint64_t block = judged->numbers[s->verifier->random->below(stream, judged->count)];
      if (!has(chosen, block))
         numbers[chosen->count++] = block;
   }
   return true;
}

static bool same_grid(const rkb_plan_launch_t *a, const rkb_plan_launch_t *b) {
   return memcmp(a->grid, b->grid, sizeof a->grid) == 0;
}

int sample_find_races(struct sample *s, rkb_error_t *err) {
   struct sample part = *s;
   rkb_random_t stream =
      s->verifier->random->for_job(s->verifier->host, s->candidate->job, STREAM_RACES | s->case_index << 8);
   rkb_machine_blocks_t *lists = calloc(s->blocks.launch_count + 1, sizeof *lists);
   bool made = lists != NULL;
   int status = RKB_OK;
   part.machine = NULL;
   part.buffers = NULL;
   for (uint32_t n = 0; made && n < s->blocks.launch_count; n++)
      if (n && same_grid(&s->plan->launches[n], &s->plan->launches[n - 1]))
         lists[n] =
            lists[n - 1]; /* the same blocks as of the launch before, whose results they mostly read */
      else
         made = choose_blocks(s, n, &stream, &lists[n]);
   if (!made)
      status = rkb_fail(err, RKB_ERR_NOMEM, "no memory for the blocks that are executed for races");
   else if (s->candidate->budget)
      status = run_blocks(s, &part, lists, err);
   if (status == RKB_ERR_LIMIT || (made && !s->candidate->budget)) {
      leave_out(s, status == RKB_ERR_LIMIT ? err->message : "the budget of thread-instructions was used up");
      status = RKB_OK;
   }
   for (uint32_t n = 0; lists && n < s->blocks.launch_count; n++)
      if (n == 0 || lists[n].numbers != lists[n - 1].numbers)
         free((void *)(uintptr_t)lists[n].numbers);
   free(lists);
   return status;
}
