/* Finds launches of a bench shape that do not end because their blocks wait for other blocks.  Such a launch is too large to be executed whole, and a
 * sampled block that waits says nothing: a block that was not executed may end the wait.
 *
 * So the machine first executes blocks of the sample side by side and sees which of them wait.  If some do, as many blocks begin as the target holds at once,
 * beginning with one that waits.  Blocks begin in any order, and a further block begins only when one of these ends.  So if all of them wait, the launch does
 * not end.  What the blocks do is executed, not foreseen: where some of them end, further ones begin, and a launch whose blocks go on is no finding.
 * docs/decisions/orders.md.  One worker thread a sample. */
#include "bench_values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOKED_AT 64u                 /* blocks of a launch that show whether any of them waits */
#define LOOK_WORK 20000000u           /* thread-instructions of these, with the launches before */
#define FILL_WORK UINT64_C(1000000000) /* of the blocks that fill the target, at most */
#define WAIT_WORK 400000.0             /* of a block that waits until it is known that nothing changes */
#define WHOLE_WORK 60000000.0 /* blocks may do so much, though they needed less to come to their first wait */
#define TIMES_RESIDENT 4u     /* blocks that may begin, for each that the target holds at once */

struct waiting {
   struct sample part;
   struct sample *whole;
   uint32_t launch;
   uint64_t total;     /* blocks of the launch */
   uint32_t *resident; /* by launch: blocks that the target holds at once */
   rkb_machine_blocks_t *lists;
   uint64_t *numbers; /* of the blocks in the launch's list */
   uint64_t room;
   double work;            /* of one block, up to where it waits or ends, and while it waits */
   uint64_t left;          /* work that may still be done to fill the target */
   bool cut;               /* that was too little */
   uint64_t lowest, drawn; /* blocks that wait: the first, and any */
   uint32_t waits;         /* how many of the sample */
   bool lacks_launches;    /* the launches before are not executed */
};

static void end_run(struct sample *part) {
   rkb_machine_close(part->machine);
   part->machine = NULL;
   sample_free_buffers(part, part->buffers);
   part->buffers = NULL;
}

/* Whether the run says what a run with values would say: no input decided anything, and what was found is no fault of a block. */
static bool tells(const rkb_machine_options_t *options, const rkb_machine_report_t *report) {
   const char *reason = report->finding_count ? report->findings[0].reason : "";
   return !sample_is_steered(options, report) &&
          (!*reason || strcmp(reason, "sync.deadlock") == 0 || strcmp(reason, "limit.budget") == 0);
}

/* Executes the blocks of the list side by side, behind the launches before.  end_run() follows, also after a failure. */
static int run_beside(struct waiting *w, bool target, uint64_t most, rkb_machine_report_t *report,
                      rkb_error_t *err) {
   struct sample *part = &w->part;
   const uint64_t left = part->candidate->budget;
   rkb_machine_options_t options = {.sample = w->lists,
                                    .memory_bytes = part->verifier->config->memory,
                                    .thread_instructions = left < most ? left : most,
                                    .valued = sample_deciding(part),
                                    .resident = target ? w->resident : NULL,
                                    .beside = true,
                                    .fetch = sample_fetch,
                                    .fetch_argument = part};
   for (uint32_t n = 0; n < part->plan->launch_count; n++)
      if (n != w->launch)
         w->lists[n] = (rkb_machine_blocks_t){.none = n > w->launch || w->lacks_launches};
   options.no_values = !sample_needs_values(part, options.valued);
   options.checks = options.no_values ? RKB_MACHINE_TAINT : 0;
   int status = sample_make_buffers(part, false, &part->buffers, err);
   if (status == RKB_OK)
      status = sample_run_once(part, &options, part->buffers, &part->machine, report, err);
   if (status == RKB_OK)
      sample_spend(part, report->work);
   if (status != RKB_OK || !options.no_values || tells(&options, report) || !part->candidate->budget)
      return status;
   end_run(part);
   options.no_values = false;
   options.checks = 0;
   options.thread_instructions = part->candidate->budget < most ? part->candidate->budget : most;
   status = sample_make_buffers(part, false, &part->buffers, err);
   if (status == RKB_OK)
      status = sample_run_once(part, &options, part->buffers, &part->machine, report, err);
   if (status == RKB_OK)
      sample_spend(part, report->work);
   return status;
}

static void note_waiting(struct waiting *w, rkb_random_t *stream) {
   for (uint32_t n = 0; n < w->lists[w->launch].count; n++) {
      const uint64_t block = w->numbers[n];
      if (!rkb_machine_waited(w->part.machine, w->launch, n))
         continue;
      w->lowest = w->waits && w->lowest < block ? w->lowest : block;
      w->drawn = w->part.verifier->random->below(stream, ++w->waits) == 0 ? block : w->drawn;
   }
}

/* The blocks of the sample, drawn ones first: others may wait for the first or the last block of the grid, which is always there. */
static void list_sample(struct waiting *w) {
   const struct sampled_launch *sampled = &w->whole->blocks.launches[w->launch];
   uint32_t count = 0;
   for (uint32_t pass = 0; pass < 2; pass++)
      for (uint32_t n = 0; n < sampled->count && count < LOOKED_AT; n++)
         if (sampled->drawn[n] == (pass == 0))
            w->numbers[count++] = sampled->numbers[n];
   w->lists[w->launch] = (rkb_machine_blocks_t){.numbers = w->numbers, .count = count};
}

/* Finds out which blocks of the sample wait when those before them in the list have begun and no others. */
static int look(struct waiting *w, rkb_random_t *stream, rkb_error_t *err) {
   rkb_machine_report_t report = {.finding_count = 0};
   bool again = w->launch > 0;
   int status = RKB_OK;
   list_sample(w);
   for (bool done = false; !done && status == RKB_OK; end_run(&w->part)) {
      status = run_beside(w, false, LOOK_WORK, &report, err);
      if (status != RKB_OK)
         continue;
      const rkb_launch_counters_t *c = &report.launches[w->launch];
      done = c->executed || !again;
      if (c->executed) {
         note_waiting(w, stream);
         w->work = (double)report.work / (double)c->executed;
         w->cut = report.finding_count && strcmp(report.findings[0].reason, "limit.budget") == 0;
      }
      w->lacks_launches |= !done; /* they were too much work, or lacked something */
      again = false;
   }
   return status;
}

/* This block, and those on both sides of it in turn, until none is left or there are enough. */
static void list_around(struct waiting *w, uint64_t block) {
   uint64_t count = 0;
   w->numbers[count++] = block;
   for (uint64_t n = 1; count < w->room && n < w->total; n++) {
      if (block + n < w->total)
         w->numbers[count++] = block + n;
      if (block >= n && count < w->room)
         w->numbers[count++] = block - n;
   }
   w->lists[w->launch] = (rkb_machine_blocks_t){.numbers = w->numbers, .count = count};
}

/* Fills the target with blocks, this one first. */
static int fill(struct waiting *w, uint64_t block, rkb_error_t *err) {
   rkb_machine_report_t report;
   const char *reason = "";
   if (w->whole->outcome->rank >= RKB_MACHINE_UNKNOWN || w->cut)
      return RKB_OK;
   list_around(w, block);
   const uint64_t before = w->part.candidate->budget;
   const int status = run_beside(w, true, w->left, &report, err);
   if (status == RKB_OK && report.finding_count)
      reason = report.findings[0].reason;
   if (strcmp(reason, "sync.deadlock") == 0)
      outcome_finding(w->whole->outcome, &report.findings[0], w->part.the_case, w->part.family->name,
                      w->part.seed);
   const uint64_t spent = before - w->part.candidate->budget;
   w->cut = strcmp(reason, "limit.budget") == 0 || spent >= w->left;
   w->left -= spent < w->left ? spent : w->left;
   end_run(&w->part);
   return status;
}

static void tell(const struct waiting *w) {
   char text[256];
   snprintf(
      text, sizeof text,
      "blocks of launch %u, %.80s, may wait for others; it was too much work to see whether they wait for ever",
      w->launch, w->part.plan->launches[w->launch].expression);
   sample_leave_out(w->whole, text);
}

static int judge(struct waiting *w, rkb_error_t *err) {
   const uint64_t resident = w->resident[w->launch] ? w->resident[w->launch] : 1;
   rkb_random_t stream =
      w->part.verifier->random->for_job(w->part.verifier->host, w->part.candidate->job,
                                        STREAM_BESIDE | (w->launch + 1) << 8 | w->part.case_index << 20);
   w->waits = 0;
   w->work = 0;
   w->lacks_launches = w->cut = false;
   w->room = w->total < TIMES_RESIDENT * resident ? w->total : TIMES_RESIDENT * resident;
   w->numbers = calloc(w->room < LOOKED_AT ? LOOKED_AT : w->room, sizeof *w->numbers);
   if (!w->numbers)
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for the blocks that wait");
   int status = look(w, &stream, err);
   const double filling = (double)(resident < w->total ? resident : w->total),
                enough = (2 * w->work + WAIT_WORK) * filling;
   w->cut |= w->work * filling > (double)FILL_WORK;
   w->left = enough < WHOLE_WORK          ? (uint64_t)WHOLE_WORK
             : enough < (double)FILL_WORK ? (uint64_t)enough
                                          : FILL_WORK;
   w->cut &= w->whole->outcome->rank < RKB_MACHINE_UNKNOWN;
   if (status == RKB_OK && w->waits)
      status = fill(w, w->drawn, err);
   if (status == RKB_OK && w->waits && w->total > resident && w->lowest != w->drawn)
      status = fill(w, w->lowest, err);
   if (status == RKB_OK && w->cut)
      tell(w);
   free(w->numbers);
   return status;
}

/* Whether blocks of the launch may wait, and not all of them were executed. */
static bool may_wait(const struct sample *s, uint32_t launch) {
   const rkb_plan_launch_t *l = &s->plan->launches[launch];
   return (uint64_t)l->cluster[0] * l->cluster[1] * l->cluster[2] == 1 && s->blocks.judged[launch].count &&
          s->blocks.judged[launch].count < s->blocks.launches[launch].total &&
          rkb_machine_may_wait(s->candidate->module, l->entry);
}

int waiting_blocks_find(struct sample *s, rkb_error_t *err) {
   struct waiting w = {.part = *s, .whole = s};
   bool any = false;
   int status = RKB_OK;
   for (uint32_t n = 0; n < s->plan->launch_count; n++)
      any |= may_wait(s, n);
   if (!any || !s->candidate->budget)
      return RKB_OK;
   w.part.machine = NULL;
   w.part.buffers = NULL;
   w.resident = waiting_resident(s->verifier, s->candidate, s->plan);
   w.lists = calloc(s->plan->launch_count + 1, sizeof *w.lists);
   if (!w.lists)
      status = rkb_fail(err, RKB_ERR_NOMEM, "no memory for the blocks that wait");
   for (uint32_t n = 0; w.resident && n < s->plan->launch_count && status == RKB_OK; n++)
      if (may_wait(s, n) && s->candidate->budget && s->outcome->rank < RKB_MACHINE_UNKNOWN) {
         w.launch = n;
         w.total = s->blocks.launches[n].total;
         status = judge(&w, err);
      }
   free(w.lists);
   free(w.resident);
   return status == RKB_ERR_LIMIT ? RKB_OK : status; /* too much memory: it is left out */
}
