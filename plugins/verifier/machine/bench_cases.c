/* All bench cases of a candidate, and the far corner of its domain, on the threads that are free.  Each is executed and judged by itself,
 * from the results of the check cases, and the outcomes are joined in the order of the cases.  Outputs that a case leaves unjudged are then
 * judged at smaller shapes (reduced_shapes.c), one case after the other.
 *
 * The verdict is the same on any number of threads.  A case is executed again in its turn if it started from other information than it
 * should have: if its budget could have made a difference, or if smaller shapes of an earlier case have shown since which buffers its
 * launches write. */
#include "bench_case.h"

#include <stdlib.h>
#include <string.h>

#define MOST_CASES 512u
#define RAGGED_INDEX 0xfdu /* a number for random streams, apart from those of bench cases */
#define SLACK UINT64_C(1000000000) /* no code compares the rest of a budget with a larger number */

struct part {
   const rkb_case_t *the_case; /* NULL: the far corner */
   uint32_t number;
   struct candidate candidate; /* its own budget and links */
   struct outcome outcome;
   struct bench_case bench;
   uint64_t given; /* budget */
   bool started;
   int status;
   rkb_error_t err;
};

struct work {
   const struct verifier *verifier;
   const struct candidate *candidate;
   const struct outcome *outcome; /* of the check cases */
   struct schedule schedule;
   struct part *parts;
   uint32_t count;
   bool
      single; /* bench case: what is beside it is short, so it has launches of its own executed side by side too */
   bool learns; /* under schedule.lock: smaller shapes may show what a launch of a bench case writes */
};

struct counted {
   rkb_counters_t head;
   rkb_launch_counters_t *launches;
};

/* Parts ----------------------------------------------------------------------------------------------------------------- */

static uint64_t spent_by(const struct part *part) {
   return part->given - part->candidate.budget;
}

/* Whether a check case executed an instruction of the family. */
static bool executes(const struct outcome *known, const char *family) {
   const char *name;
   bool found = false;
   for (uint32_t n = 0; (name = rkb_machine_tensor_name(n)); n++)
      found |= (known->tensor_executed >> n & 1) && strcmp(name, family) == 0;
   return found;
}

/* Executes a part from what is known so far.  in_turn: on the thread of the candidate. */
static void execute(const struct work *work, struct part *part, const struct outcome *known, uint64_t left,
                    bool in_turn) {
   const struct verifier *me = work->verifier;
   part->started = true;
   part->given = left;
   part->candidate = *work->candidate;
   part->candidate.budget = left;
   part->candidate.given = left + (work->candidate->given - work->candidate->budget);
   part->err = (rkb_error_t){0};
   outcome_init(&part->outcome, known->debug);
   part->outcome.rank = known->rank;
   part->outcome.variable_atomics = known->variable_atomics;
   for (uint32_t n = 0; n < known->stored_count; n++)
      outcome_stored(&part->outcome, &known->stored[n]);
   part->bench = (struct bench_case){
      .steered = !known->oblivious || known->waits,
      .waits = known->waits,
      .multiplies = known->tensor_executed != 0,
      .sample = {.verifier = me,
                 .candidate = &part->candidate,
                 .the_case = part->the_case,
                 .case_index = part->number,
                 .outcome = &part->outcome,
                 .by_warpgroups =
                    executes(known, "wgmma.mma_async") && executes(known, "cp.async.bulk.tensor"),
                 .by_copies = !known->waits && executes(known, "mma.sync") && executes(known, "cp.async"),
                 .deciding = known->deciding_inputs,
                 .asks_all = part->number == RAGGED_INDEX,
                 .shares = in_turn || work->single}};
   part->status = part->the_case ? bench_case_judge(&part->bench, &part->err)
                                 : large_offsets_judge(me, &part->candidate, &part->outcome, &part->err);
   links_free(part->candidate.links);
   part->candidate.links = NULL;
}

static void close_part(struct part *part) {
   if (part->started) {
      bench_case_close(&part->bench);
      outcome_free(&part->outcome);
   }
   part->started = false;
}

static uint64_t stored_by(const struct outcome *outcome, uint64_t launch) {
   for (uint32_t n = 0; n < outcome->stored_count; n++)
      if (outcome->stored[n].launch == launch)
         return outcome->stored[n].buffers;
   return 0;
}

/* Whether the case leaves something to smaller shapes, and one of its launches was executed whole at none so far. */
static bool may_learn(const struct work *work, const struct part *part) {
   const rkb_plan_t *plan = part->bench.plan;
   bool unknown = false;
   for (uint32_t n = 0; plan && part->bench.sample.unjudged[0] && n < plan->launch_count; n++)
      unknown |= !stored_by(work->outcome, shapes_launch_name(work->candidate, &plan->launches[n]));
   return unknown;
}

/* The far corner and the shape of ragged tiles depend on which buffers launches are known to write.  If smaller shapes will show more such buffers, both
 * wait for their turn, because they would have to be executed again then. */
static bool waits_for_turn(struct work *work, const struct part *part) {
   pthread_mutex_lock(&work->schedule.lock);
   const bool waits = (!part->the_case || part->number == RAGGED_INDEX) && work->learns;
   pthread_mutex_unlock(&work->schedule.lock);
   return waits;
}

static void note_learning(struct work *work, const struct part *part) {
   const bool learns = may_learn(work, part);
   pthread_mutex_lock(&work->schedule.lock);
   work->learns |= learns;
   pthread_mutex_unlock(&work->schedule.lock);
}

static void run_part(void *argument, uint32_t number) {
   struct work *work = argument;
   struct part *part = &work->parts[number];
   uint64_t left = work->candidate->budget;
   if (!schedule_matters(&work->schedule, number) || waits_for_turn(work, part))
      return;
   const uint64_t spent = schedule_spent(&work->schedule);
   left -= spent < left ? spent : left;
   execute(work, part, work->outcome, left, false);
   note_learning(work, part);
   schedule_leave(&work->schedule, number, spent_by(part), part->outcome.rank >= RKB_MACHINE_UNKNOWN);
}

/* Turns ----------------------------------------------------------------------------------------------------------------- */

/* Whether more is known now of what launches write than when the part was executed, and the part could use it. */
static bool learned(const struct part *part, const struct outcome *outcome) {
   const rkb_plan_t *plan = part->bench.plan;
   bool more = !part->the_case && part->outcome.stored_count != outcome->stored_count;
   for (uint32_t n = 0; plan && part->bench.sample.unjudged[0] && n < plan->launch_count; n++) {
      const uint64_t launch = shapes_launch_name(part->bench.sample.candidate, &plan->launches[n]);
      more |= stored_by(&part->outcome, launch) != stored_by(outcome, launch);
   }
   return more;
}

/* Whether the part would come out the same in its turn. */
static bool stands(const struct part *part, const struct outcome *outcome, uint64_t left) {
   const uint64_t enough = part->started ? spent_by(part) + SLACK : 0;
   return part->started && (part->given == left || (part->given >= enough && left >= enough)) &&
          !learned(part, outcome);
}

static void join_outcome(struct outcome *to, struct outcome *own) {
   outcome_join(to, own);
   json_array_extend(to->sampled, own->sampled);
   to->bench_judged += own->bench_judged;
   to->bench_linked += own->bench_linked;
   to->missed = own->missed > to->missed ? own->missed : to->missed;
   to->unsampled |= own->unsampled;
   to->first_number_cases += own->first_numbers;
   if (own->far[0])
      memcpy(to->far, own->far, sizeof to->far);
   to->far_judged |= own->far_judged;
}

/* Takes what a part found.  in_turn: the part is executed now, or again, if it has to be.  A case that comes after a decisive case counts for the speed model
 * alone. */
static int take_turn(struct work *work, struct part *part, struct candidate *candidate,
                     struct outcome *outcome, rkb_error_t *err) {
   const bool decided = outcome->rank >= RKB_MACHINE_UNKNOWN;
   if (!stands(part, outcome, candidate->budget)) {
      close_part(part);
      execute(work, part, outcome, candidate->budget, true);
   }
   *err = part->err;
   if (part->status != RKB_OK && part->status != RKB_ERR_LIMIT)
      return part->status;
   candidate->budget -= spent_by(part) < candidate->budget ? spent_by(part) : candidate->budget;
   if (!decided)
      join_outcome(outcome, &part->outcome);
   return part->status;
}

/* Counts ---------------------------------------------------------------------------------------------------------------- */

static int add_launches(struct counted *counted, const struct bench_case *bench, rkb_error_t *err) {
   const uint32_t had = counted->head.launch_count;
   rkb_launch_counters_t *larger =
      realloc(counted->launches, (had + bench->launch_count + 1) * sizeof *larger);
   if (!larger)
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for counters");
   counted->launches = larger;
   memcpy(larger + had, bench->launches, bench->launch_count * sizeof *larger);
   counted->head.launch_count += bench->launch_count;
   counted->head.case_count++;
   return RKB_OK;
}

static void leave_out(struct outcome *outcome, const rkb_case_t *the_case, const char *why) {
   char text[256];
   snprintf(text, sizeof text, "case %s: %s", the_case->name, why);
   json_array_append_new(outcome->not_run, json_string(text));
}

static int take_case(struct work *work, struct part *part, struct candidate *candidate,
                     struct outcome *outcome, struct counted *counted, rkb_error_t *err) {
   const bool judges = work->verifier->config->bench_points;
   struct bench_case *bench = &part->bench;
   int status = take_turn(work, part, candidate, outcome, err);
   outcome->bench_cases++;
   bench->sample.candidate = candidate;
   bench->sample.outcome = outcome;
   if (status == RKB_OK && bench->counted)
      status = add_launches(counted, bench, err);
   if (status == RKB_OK && bench->plan && judges)
      status = sample_judge_reduced(&bench->sample, err);
   if (status == RKB_ERR_LIMIT || (status == RKB_OK && bench->stopped && !bench->cut)) {
      leave_out(outcome, part->the_case,
                "its blocks could not be executed within memory and budget, nothing was counted there");
      status = RKB_OK;
   } else if (status == RKB_OK && !judges) {
      leave_out(outcome, part->the_case,
                "some of its blocks were executed for their counts alone; nothing was judged there");
   }
   return status;
}

static int hand_over(const struct verifier *me, rkb_job_t job, const struct counted *counted,
                     rkb_error_t *err) {
   const size_t bytes = sizeof counted->head + counted->head.launch_count * sizeof *counted->launches;
   char *blob = malloc(bytes);
   if (!blob)
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for counters");
   memcpy(blob, &counted->head, sizeof counted->head);
   if (counted->head.launch_count)
      memcpy(blob + sizeof counted->head, counted->launches,
             counted->head.launch_count * sizeof *counted->launches);
   const int status = me->kernel->note_set(me->host, job, RKB_NOTE_COUNTERS, blob, bytes);
   free(blob);
   return status == RKB_OK ? RKB_OK : rkb_fail(err, status, "the counters could not be kept");
}

/* All of it ------------------------------------------------------------------------------------------------------------- */

static uint32_t count_cases(const struct verifier *me) {
   uint32_t count = 0;
   while (count < MOST_CASES && me->task->case_at(me->host, RKB_CASE_BENCH, count))
      count++;
   return count;
}

static bool judges_far_corner(const struct verifier *me) {
   return me->config->bench_points && me->config->shapes;
}

static void execute_parts(struct work *work) {
   const struct verifier *me = work->verifier;
   if (me->workers)
      me->workers->share(me->host, work->count, run_part, work);
   else
      for (uint32_t n = 0; n < work->count; n++)
         run_part(work, n);
}

int bench_cases_judge(const struct verifier *me, struct candidate *candidate, struct outcome *outcome,
                      rkb_error_t *err) {
   struct counted counted = {
      .head = {.size = sizeof(rkb_counters_t), .launch_size = sizeof(rkb_launch_counters_t)}};
   const struct candidate from = *candidate;
   const uint32_t cases = count_cases(me);
   rkb_case_t *ragged = NULL;
   int status = judges_far_corner(me) ? ragged_tiles_draw(me, candidate, &ragged, err) : RKB_OK;
   struct work work = {.verifier = me,
                       .candidate = &from,
                       .outcome = outcome,
                       .single = cases == 1,
                       .count = cases + judges_far_corner(me) + (ragged != NULL)};
   work.parts = calloc(work.count + 1, sizeof *work.parts);
   if (!work.parts) {
      status = rkb_fail(err, RKB_ERR_NOMEM, "no memory for the bench cases");
      goto done;
   }
   for (uint32_t n = 0; n < cases; n++) {
      work.parts[n].the_case = me->task->case_at(me->host, RKB_CASE_BENCH, n);
      work.parts[n].number = n;
   }
   if (ragged)
      work.parts[work.count - 1] = (struct part){.the_case = ragged, .number = RAGGED_INDEX};
   schedule_open(&work.schedule);
   if (work.count > 1)
      execute_parts(&work);
   for (uint32_t n = 0; n < cases && status == RKB_OK; n++)
      status = take_case(&work, &work.parts[n], candidate, outcome, &counted, err);
   if (status == RKB_OK)
      status = hand_over(me, candidate->job, &counted, err);
   for (uint32_t n = cases; n < work.count && status == RKB_OK && outcome->rank <= RKB_MACHINE_SUSPECT; n++) {
      status = take_turn(&work, &work.parts[n], candidate, outcome, err);
      if (status == RKB_ERR_LIMIT && work.parts[n].the_case) /* what takes too much memory is left out */
         status = RKB_OK;
   }
   for (uint32_t n = 0; n < work.count; n++)
      close_part(&work.parts[n]);
   schedule_close(&work.schedule);
   free(counted.launches);
   free(work.parts);
done:
   if (ragged)
      me->task->case_free(ragged);
   return status;
}
