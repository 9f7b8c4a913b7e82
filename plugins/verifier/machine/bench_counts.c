/* A sample of the blocks of each bench case's launches, executed for their counts: what the speed model scales by
 * blocks / executed.  They run on the case's true inputs, made where they are read, and whatever is counted is then judged by
 * bench_values.c: a block cannot look cheap by leaving its work undone.  A case that is left out is named. */
#include "bench_values.h"

#include <stdlib.h>
#include <string.h>

struct counted {
   rkb_counters_t head;
   rkb_launch_counters_t *launches;
   uint32_t room;
};

static int add_launches(struct counted *counted, const rkb_machine_report_t *report, uint32_t case_index,
                        rkb_error_t *err) {
   uint32_t count = counted->head.launch_count + report->launch_count;
   rkb_launch_counters_t *larger = realloc(counted->launches, (count + 1) * sizeof *larger);
   if (!larger)
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for counters");
   counted->launches = larger;
   for (uint32_t n = 0; n < report->launch_count; n++) {
      rkb_launch_counters_t *c = &larger[counted->head.launch_count++];
      *c = report->launches[n];
      c->case_index = case_index;
   }
   counted->head.case_count++;
   return RKB_OK;
}

/* If a block computes a whole sequence of a recurrence, no sample of blocks is cheap.  The limit for that case. */
#define LONG_SEQUENCE 1e7 /* operations */
#define LONG_BUDGET UINT64_C(400000000) /* thread-instructions */

static bool has_long_sequences(const struct sample *s) {
   return s->the_case->sequential > LONG_SEQUENCE && s->candidate->budget > LONG_BUDGET;
}

static void say_long(struct sample *s) {
   char text[256];
   snprintf(text, sizeof text,
            "case %s: one sequence of its recurrence takes %.3g operations, and a block that computes it was not executed to its end; "
            "nothing was judged there",
            s->the_case->name, s->the_case->sequential);
   json_array_append_new(s->outcome->not_run, json_string(text));
   sample_list_unjudged(s);
}

/* Executes the counted blocks; *stopped: something was found that ends a block before its time; *cut: a long sequence
 * was not executed to its end. */
static int execute(struct sample *s, struct counted *counted, bool *stopped, bool *cut, rkb_error_t *err) {
   const struct verifier_config *config = s->verifier->config;
   rkb_machine_options_t options = {.counts_only = true,
                                    .requests = true,
                                    .sample = s->blocks.counted,
                                    .sample_instructions = SAMPLE_INSTRUCTIONS,
                                    .memory_bytes = config->memory,
                                    .thread_instructions = has_long_sequences(s) ? LONG_BUDGET : s->candidate->budget,
                                    .fetch = sample_fetch,
                                    .fetch_argument = s};
   const bool long_sequences = has_long_sequences(s);
   rkb_machine_t *machine = NULL;
   rkb_machine_buffer_t *buffers = NULL;
   rkb_machine_report_t report;
   int status = sample_make_buffers(s, true, &buffers, err);
   if (status == RKB_OK)
      status = sample_run_for_steps(s, &options, buffers, &machine, &report, err);
   if (status == RKB_OK) {
      sample_spend(s, report.work);
      *stopped = report.finding_count != 0;
      bool unsampled = false;
      for (uint32_t n = 0; n < report.finding_count; n++)
         unsampled |= strcmp(report.findings[n].reason, "limit.budget") == 0;
      *cut = unsampled && long_sequences;
      s->outcome->unsampled |= unsampled && !*cut;
      block_sample_keep(&s->blocks, &report);
      status = *stopped ? RKB_OK : add_launches(counted, &report, s->case_index, err);
   }
   rkb_machine_close(machine);
   sample_free_buffers(s, buffers);
   return status;
}

static int count_case(const struct verifier *me, struct candidate *candidate, const rkb_case_t *the_case,
                      uint32_t case_index, struct outcome *outcome, struct counted *counted,
                      rkb_error_t *err) {
   rkb_plan_t *plan = NULL;
   rkb_finding_t finding = {0};
   bool stopped = false, cut = false;
   int status = me->kernel->plan(me->host, candidate->job, candidate->item, candidate->build, the_case, &plan,
                                 &finding, err);
   if (status != RKB_OK || !plan)
      return status;
   if (candidate->budget == 0) { /* 0 would be no limit */
      outcome->unsampled = true;
      me->kernel->plan_free(plan);
      return RKB_ERR_LIMIT;
   }
   struct sample s = {.verifier = me,
                      .candidate = candidate,
                      .the_case = the_case,
                      .case_index = case_index,
                      .plan = plan,
                      .outcome = outcome,
                      .family = me->task->family_at(me->host, the_case, 0),
                      .most_judged = MOST_JUDGED,
                      .seed = verifier_seed(me, candidate, 0)};
   status = block_sample_draw(me, candidate, plan, case_index, MOST_DRAWN, &s.blocks, err);
   if (status == RKB_OK)
      status = me->task->inputs_open(me->host, the_case, s.family, s.seed, &s.inputs, err);
   if (status == RKB_OK)
      status = execute(&s, counted, &stopped, &cut, err);
   if (status == RKB_OK && cut)
      say_long(&s);
   if (status == RKB_OK && !cut && me->config->bench_points && outcome->rank < RKB_MACHINE_UNKNOWN)
      status = sample_judge(&s, err);
   if (status == RKB_OK && me->config->bench_points)
      status = sample_judge_reduced(&s, err);
   if (status == RKB_OK && stopped && !cut)
      status = RKB_ERR_LIMIT;
   if (s.inputs)
      me->task->inputs_free(s.inputs);
   block_sample_free(&s.blocks);
   me->kernel->plan_free(plan);
   return status;
}

static int hand_over(const struct verifier *me, rkb_job_t job, const struct counted *counted,
                     rkb_error_t *err) {
   size_t bytes = sizeof counted->head + counted->head.launch_count * sizeof *counted->launches;
   char *blob = malloc(bytes);
   if (!blob)
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for counters");
   memcpy(blob, &counted->head, sizeof counted->head);
   if (counted->head.launch_count)
      memcpy(blob + sizeof counted->head, counted->launches,
             counted->head.launch_count * sizeof *counted->launches);
   int status = me->kernel->note_set(me->host, job, RKB_NOTE_COUNTERS, blob, bytes);
   free(blob);
   return status == RKB_OK ? RKB_OK : rkb_fail(err, status, "the counters could not be kept");
}

int bench_counts(const struct verifier *me, struct candidate *candidate, struct outcome *outcome,
                 rkb_error_t *err) {
   struct counted counted = {
      .head = {.size = sizeof(rkb_counters_t), .launch_size = sizeof(rkb_launch_counters_t)}};
   int status = RKB_OK;
   for (uint32_t n = 0; status == RKB_OK; n++) {
      const rkb_case_t *the_case = me->task->case_at(me->host, RKB_CASE_BENCH, n);
      if (!the_case)
         break;
      status = count_case(me, candidate, the_case, n, outcome, &counted, err);
      outcome->bench_cases++;
      if (status == RKB_ERR_LIMIT) {
         char text[256];
         snprintf(
            text, sizeof text,
            "case %s: its blocks could not be executed within memory and budget, nothing was counted there",
            the_case->name);
         json_array_append_new(outcome->not_run, json_string(text));
         status = RKB_OK;
      } else if (status == RKB_OK && !me->config->bench_points) {
         char text[256];
         snprintf(
            text, sizeof text,
            "case %s: some of its blocks were executed for their counts alone; nothing was judged there",
            the_case->name);
         json_array_append_new(outcome->not_run, json_string(text));
      }
   }
   if (status == RKB_OK)
      status = hand_over(me, candidate->job, &counted, err);
   free(counted.launches);
   links_free(candidate->links);
   candidate->links = NULL;
   return status;
}
