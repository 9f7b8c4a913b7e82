/* A sample of the blocks of a bench case's launches, executed for their counts.  The speed model multiplies the counts by blocks /
 * executed.  The blocks run on the case's true inputs, which are made where they are read.  bench_values.c judges every counted block,
 * afterwards or in the same run, so that a block cannot look cheap by leaving its work undone.  One thread a case. */
#include "bench_case.h"
#include "compared_elements.h"

#include <stdlib.h>
#include <string.h>

static int keep_launches(struct bench_case *bench, const rkb_machine_report_t *report, rkb_error_t *err) {
   bench->launches = calloc(report->launch_count + 1, sizeof *bench->launches);
   if (!bench->launches)
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for counters");
   for (uint32_t n = 0; n < report->launch_count; n++) {
      bench->launches[n] = report->launches[n];
      bench->launches[n].case_index = bench->sample.case_index;
   }
   bench->launch_count = report->launch_count;
   bench->counted = true;
   return RKB_OK;
}

/* If a block computes a whole sequence of a recurrence, no sample of blocks is cheap.  The limit for that case. */
#define FEW_JUDGED 16u                  /* elements, where what all blocks write is looked at besides */
#define LONG_SEQUENCE 1e7               /* operations */
#define LONG_BUDGET UINT64_C(400000000) /* thread-instructions */

static bool has_long_sequences(const struct sample *s) {
   return s->the_case->sequential > LONG_SEQUENCE && s->candidate->budget > LONG_BUDGET;
}

static void say_long(struct sample *s) {
   char text[256];
   snprintf(
      text, sizeof text,
      "case %s: one sequence of its recurrence takes %.3g operations, and a block that computes it was not executed to its end; "
      "nothing was judged there",
      s->the_case->name, s->the_case->sequential);
   json_array_append_new(s->outcome->not_run, json_string(text));
   sample_list_unjudged(s);
}

/* Executes the counted blocks. */
static int execute(struct bench_case *bench, rkb_error_t *err) {
   struct sample *s = &bench->sample;
   const struct verifier_config *config = s->verifier->config;
   rkb_machine_options_t options = {.counts_only = true,
                                    .requests = true,
                                    .sample = s->blocks.counted,
                                    .sample_instructions = SAMPLE_INSTRUCTIONS,
                                    .memory_bytes = config->memory,
                                    .thread_instructions =
                                       has_long_sequences(s) ? LONG_BUDGET : s->candidate->budget,
                                    .valued = sample_deciding(s),
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
      bench->stopped = report.finding_count != 0;
      bool unsampled = false;
      for (uint32_t n = 0; n < report.finding_count; n++)
         unsampled |= strcmp(report.findings[n].reason, "limit.budget") == 0;
      bench->cut = unsampled && long_sequences;
      s->outcome->unsampled |= unsampled && !bench->cut;
      block_sample_keep(&s->blocks, s->plan, &report);
      status = bench->stopped ? RKB_OK : keep_launches(bench, &report, err);
   }
   rkb_machine_close(machine);
   sample_free_buffers(s, buffers);
   return status;
}

static bool is_on_own_family(const struct sample *s) {
   return s->family == s->verifier->task->family_at(s->verifier->host, s->the_case, 0);
}

/* Whether every launch but the last is executed whole where it is counted, so that no block lacks what others write. */
static bool reads_whole_launches(const struct sample *s) {
   bool whole = true;
   for (uint32_t n = 0; n + 1 < s->plan->launch_count; n++)
      whole &= s->blocks.launches[n].counted == s->blocks.launches[n].total;
   return whole;
}

/* Whether the counted blocks are executed only once, in the run that judges them.  That run may have other inputs than a run for counting.  If no input steers
 * the kernel, this makes no difference.  If one does, both have to have the same inputs.  If there are several launches, a later one may lack, in the judged
 * run, what blocks that were not executed write, and would have to be counted alone after all.  But where launches multiply matrices, values are dear, and the
 * judged blocks are executed without values first. */
static bool counts_while_judging(const struct bench_case *bench) {
   const struct sample *s = &bench->sample;
   bool alone = true;
   for (uint32_t n = 0; n < s->plan->launch_count; n++) {
      const uint32_t *cluster = s->plan->launches[n].cluster;
      alone &= cluster[0] * cluster[1] * cluster[2] == 1;
   }
   return alone && !bench->waits &&
          (bench->steered ? reads_whole_launches(s) && sample_takes_own_family(s)
                          : s->plan->launch_count == 1 || bench->multiplies) &&
          !has_long_sequences(s) && s->verifier->config->bench_points &&
          s->outcome->rank < RKB_MACHINE_UNKNOWN;
}

/* What a run of the judged blocks counted.  The work of the counted blocks is spent as if they had been run by themselves too, so that the budget does not
 * depend on which of the two ways was taken. */
static int take_counts(struct bench_case *bench, const rkb_machine_report_t *report, rkb_error_t *err) {
   struct sample *s = &bench->sample;
   rkb_machine_report_t counted = *report;
   counted.launches = report->counted;
   sample_spend(s, report->counted_work);
   block_sample_keep(&s->blocks, s->plan, &counted);
   return keep_launches(bench, &counted, err);
}

#define DEAR 20000000.0 /* thread-instructions of the counted blocks */

/* Whether executing the blocks with values costs so much that it is worth looking first whether any value counts. */
static bool is_dear(const struct bench_case *bench) {
   double counted = 0;
   for (uint32_t n = 0; n < bench->launch_count; n++)
      for (int k = 0; k < RKB_CLASS_COUNT; k++)
         counted += (double)bench->launches[n].thread_instructions[k];
   return counted > DEAR && !bench->steered;
}

/* Whether the run that counted the blocks is kept: it had values, or it leaves nothing to compare a value with, as in execute_steps(). */
static bool run_stands(const struct bench_case *bench, bool values) {
   return values || !sample_has_final(&bench->sample);
}

/* The blocks with values, after a run without. */
static int execute_again(struct sample *s, rkb_machine_options_t *options, rkb_error_t *err) {
   options->thread_instructions = s->candidate->budget ? s->candidate->budget : 1; /* 0 would be no limit */
   const int status = sample_start_again(s, err);
   return status == RKB_OK ? sample_execute(s, options, err) : status;
}

static int count_alone(struct bench_case *bench, rkb_machine_options_t *options, rkb_error_t *err) {
   const int status = execute(bench, err);
   return status == RKB_OK ? execute_again(&bench->sample, options, err) : status;
}

/* The counted blocks without values, as the judged ones are executed. */
static int count_foreseen(struct bench_case *bench, const rkb_machine_options_t *options,
                          rkb_machine_report_t *report, rkb_machine_t **machine, rkb_error_t *err) {
   struct sample *s = &bench->sample;
   rkb_machine_options_t own = *options;
   own.sample = s->blocks.counted;
   own.sample_instructions = SAMPLE_INSTRUCTIONS;
   own.requests = own.no_values = true;
   own.checks |= RKB_MACHINE_TAINT;
   const int status = sample_run_once(s, &own, s->buffers, machine, report, err);
   if (status != RKB_OK || report->finding_count || (report->control_taint | report->address_taint))
      return status;
   sample_spend(s, report->work);
   block_sample_keep(&s->blocks, s->plan, report);
   return keep_launches(bench, report, err);
}

/* Counts blocks, and executes the judged ones once, with only the values that count.  *enough: this was done; *foreseen: what decides whether these values suffice
 * is known. */
static int execute_foreseen(struct bench_case *bench, const rkb_machine_options_t *options, bool *enough,
                            bool *foreseen, rkb_error_t *err) {
   struct sample *s = &bench->sample;
   rkb_machine_t *machine = NULL;
   rkb_machine_report_t report;
   *enough = *foreseen = false;
   int status = count_foreseen(bench, options, &report, &machine, err);
   if (status == RKB_OK && bench->counted)
      status = compared_elements_run_foreseen(s, options, &report, enough, foreseen, err);
   rkb_machine_close(machine);
   return status;
}

/* Executes the judged blocks and counts the counted ones of them, if they were not counted before. */
static int execute_and_count(struct bench_case *bench, rkb_machine_options_t *options, bool values,
                             bool compares, rkb_error_t *err) {
   struct sample *s = &bench->sample;
   bool enough = false;
   uint32_t *blocks = calloc(s->blocks.launch_count + 1, sizeof *blocks);
   rkb_machine_options_t own = *options;
   rkb_machine_report_t report;
   if (!blocks)
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for numbers of blocks");
   for (uint32_t n = 0; n < s->blocks.launch_count; n++)
      blocks[n] = s->blocks.launches[n].counted;
   own.requests = !bench->counted;
   own.counted = own.requests ? blocks : NULL;
   own.counted_instructions = SAMPLE_INSTRUCTIONS;
   own.no_values = !values;
   own.valued = bench->steered && !values ? sample_deciding(s) : 0;
   own.stored_runs = compares;
   own.checks |= values && is_on_own_family(s) ? 0 : RKB_MACHINE_TAINT;
   bool stands = false;
   int status = RKB_OK;
   if (values || compares || sample_outputs_depend(s)) {
      status = sample_run_once(s, &own, s->buffers, &s->machine, &report, err);
      stands = status == RKB_OK && (report.counted || bench->counted) && !report.finding_count &&
               !sample_is_steered(&own, &report);
      if (stands && !bench->counted)
         status = take_counts(bench, &report, err);
   }
   if (status == RKB_OK && !bench->counted) {
      rkb_machine_close(s->machine);
      s->machine = NULL;
      status = count_alone(bench, options, err);
   } else if (status == RKB_OK && stands && run_stands(bench, values)) {
      sample_spend(s, report.work);
   } else if (status == RKB_OK) {
      if (stands && compares)
         status = compared_elements_run(s, options, &enough, err);
      if (status == RKB_OK && !enough)
         status = execute_again(s, options, err);
   }
   free(blocks);
   return status;
}

int sample_execute_counting(struct sample *s, rkb_machine_options_t *options, rkb_error_t *err) {
   struct bench_case *bench = s->counts;
   const bool steered = bench->steered && compared_elements_apply_steered(s),
              compares = steered || (!bench->steered && compared_elements_apply(s)),
              values = !compares && (bench->steered || s->plan->launch_count == 1);
   bool enough = false, foreseen = false;
   int status = RKB_OK;
   s->counts = NULL;
   /* few elements are compared where all blocks' stores are asked for: too few to show each control path before the paths are known */
   if (compares && !steered && !s->asks_all)
      status = execute_foreseen(bench, options, &enough, &foreseen, err);
   if (status == RKB_OK && foreseen && !enough)
      status = execute_again(s, options, err);
   else if (status == RKB_OK && !enough)
      status = execute_and_count(bench, options, values, compares, err);
   s->dear = !values && !compares && is_dear(bench);
   return status;
}

int bench_case_judge(struct bench_case *bench, rkb_error_t *err) {
   struct sample *s = &bench->sample;
   const struct verifier *me = s->verifier;
   struct candidate *candidate = s->candidate;
   rkb_finding_t finding = {0};
   int status = me->kernel->plan(me->host, candidate->job, candidate->item, candidate->build, s->the_case,
                                 &bench->plan, &finding, err);
   if (status != RKB_OK || !bench->plan)
      return status;
   if (candidate->budget == 0) { /* 0 would be no limit */
      s->outcome->unsampled = true;
      return RKB_ERR_LIMIT;
   }
   s->plan = bench->plan;
   s->family = me->task->family_at(me->host, s->the_case, 0);
   s->most_judged = s->asks_all ? FEW_JUDGED : MOST_JUDGED;
   s->seed = verifier_seed(me, candidate, 0);
   s->kept = rkb_machine_kept_new();
   status = block_sample_draw(me, candidate, s->plan, s->case_index, MOST_DRAWN, &s->blocks, err);
   if (status == RKB_OK)
      status = me->task->inputs_open(me->host, s->the_case, s->family, s->seed, &s->inputs, err);
   if (status == RKB_OK && counts_while_judging(bench))
      s->counts = bench;
   else if (status == RKB_OK)
      status = execute(bench, err);
   s->dear = is_dear(bench);
   if (status == RKB_OK && bench->cut)
      say_long(s);
   if (status == RKB_OK && !bench->cut && me->config->bench_points && s->outcome->rank < RKB_MACHINE_UNKNOWN)
      status = sample_judge(s, err);
   if (status == RKB_OK && s->counts)
      status = execute(bench, err);
   if (status == RKB_OK && !bench->cut && me->config->bench_points && s->outcome->rank < RKB_MACHINE_UNKNOWN)
      status = waiting_blocks_find(s, err);
   rkb_machine_kept_free(s->kept);
   s->kept = NULL;
   return status;
}

void bench_case_close(struct bench_case *bench) {
   struct sample *s = &bench->sample;
   if (s->inputs)
      s->verifier->task->inputs_free(s->inputs);
   block_sample_free(&s->blocks);
   if (bench->plan)
      s->verifier->kernel->plan_free(bench->plan);
   free(bench->launches);
}
