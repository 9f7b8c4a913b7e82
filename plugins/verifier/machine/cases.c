/* All cases of a candidate, on the threads that are free: each case is executed and judged apart and the outcomes are joined in
 * the order of the cases, so that the verdict is the one of executing them one after the other.
 *
 * Three things pass from case to case, and each keeps its order.  Which input families a case is executed on depends on those
 * that the cases before it had: a case asks when every case before it has been told.  After a case that decides, later ones do
 * not matter and are left.  What a case may execute is what the ones before it leave of the budget; it starts from what is left at
 * the moment, and is executed again in its turn where that was less or more than it should have been and made a difference. */
#include "verifier.h"

#include <stdlib.h>
#include <string.h>

/* A drawn shape that turns out to be large (a kernel whose blocks are mostly idle there) may not eat the whole budget. */
#define DRAWN_BUDGET 100000000u
/* At a shape with so many blocks that a bound on a grid bites, all blocks count. */
#define MANY_BLOCKS_BUDGET 1000000000u
#define MOST_CASES 512

struct part {
   const rkb_case_t *the_case;
   struct outcome outcome;
   uint64_t most;  /* budget it may have */
   uint64_t given; /* budget it had */
   bool started;
   int status;
   rkb_error_t err;
};

struct work {
   const struct verifier *verifier;
   const struct candidate *candidate;
   struct schedule schedule;
   struct part parts[MOST_CASES];
   rkb_case_t *drawn[MOST_CASES];
   uint32_t count, drawn_count;
};

/* The schedule ------------------------------------------------------------------------------------------------------ */

static void open_schedule(struct schedule *schedule, uint32_t first) {
   *schedule = (struct schedule){.settled = first, .deciding = UINT32_MAX, .families = json_object()};
   pthread_mutex_init(&schedule->lock, NULL);
   pthread_cond_init(&schedule->changed, NULL);
}

static void close_schedule(struct schedule *schedule) {
   json_decref(schedule->families);
   pthread_cond_destroy(&schedule->changed);
   pthread_mutex_destroy(&schedule->lock);
}

bool schedule_begin_turn(struct schedule *schedule, uint32_t turn) {
   pthread_mutex_lock(&schedule->lock);
   while (schedule->settled < turn && schedule->deciding > turn)
      pthread_cond_wait(&schedule->changed, &schedule->lock);
   if (schedule->deciding > turn)
      return true;
   pthread_mutex_unlock(&schedule->lock);
   return false;
}

void schedule_end_turn(struct schedule *schedule, uint32_t turn) {
   schedule->settled = turn + 1;
   pthread_cond_broadcast(&schedule->changed);
   pthread_mutex_unlock(&schedule->lock);
}

static void leave_schedule(struct schedule *schedule, uint32_t turn, const struct part *part) {
   if (part->status != RKB_OK || part->outcome.rank >= RKB_MACHINE_UNKNOWN) {
      pthread_mutex_lock(&schedule->lock);
      schedule->deciding = turn < schedule->deciding ? turn : schedule->deciding;
      pthread_cond_broadcast(&schedule->changed);
      pthread_mutex_unlock(&schedule->lock);
   } else if (!part->outcome.settled && schedule_begin_turn(schedule, turn)) {
      schedule_end_turn(schedule, turn);
   }
}

/* Parts ------------------------------------------------------------------------------------------------------------- */

static uint64_t least(uint64_t a, uint64_t b) {
   return a < b ? a : b;
}

static uint64_t share_of(const struct part *part, uint64_t left) {
   return least(left, part->most);
}

static void execute(const struct work *work, struct part *part, uint64_t left, struct schedule *schedule,
                    uint32_t turn) {
   struct candidate candidate = *work->candidate;
   part->started = true;
   part->given = candidate.budget = share_of(part, left);
   part->status =
      trial_case(work->verifier, &candidate, part->the_case, schedule, turn, &part->outcome, &part->err);
}

static void run_part(void *argument, uint32_t turn) {
   struct work *work = argument;
   struct part *part = &work->parts[turn];
   struct schedule *schedule = &work->schedule;
   pthread_mutex_lock(&schedule->lock);
   const bool matters = schedule->deciding > turn;
   const uint64_t left = work->candidate->budget - least(work->candidate->budget, schedule->spent);
   pthread_mutex_unlock(&schedule->lock);
   if (!matters)
      return;
   execute(work, part, left, schedule, turn);
   pthread_mutex_lock(&schedule->lock);
   schedule->spent += part->outcome.thread_instructions;
   pthread_mutex_unlock(&schedule->lock);
   leave_schedule(schedule, turn, part);
}

/* Whether a part's outcome is the one it would have with what is left in its turn. */
static bool stands(const struct part *part, uint64_t left) {
   const uint64_t right = share_of(part, left);
   return part->started && !part->outcome.abandoned &&
          (part->given == right || (!part->outcome.over_budget && part->given > 0 && right > 0 &&
                                    part->outcome.thread_instructions <= right));
}

static void execute_in_turn(struct work *work, uint32_t turn, uint64_t left, const struct outcome *before) {
   struct part *part = &work->parts[turn];
   struct schedule alone;
   open_schedule(&alone, turn);
   json_object_update(alone.families, before->families);
   outcome_free(&part->outcome);
   outcome_init(&part->outcome, work->verifier->config->debug);
   part->err = (rkb_error_t){0};
   execute(work, part, left, &alone, turn);
   close_schedule(&alone);
}

static int join(struct work *work, struct candidate *candidate, struct outcome *outcome, rkb_error_t *err) {
   for (uint32_t n = 0; n < work->count && outcome->rank < RKB_MACHINE_UNKNOWN; n++) {
      struct part *part = &work->parts[n];
      if (!stands(part, candidate->budget))
         execute_in_turn(work, n, candidate->budget, outcome);
      if (part->status != RKB_OK) {
         *err = part->err;
         return part->status;
      }
      candidate->budget -= least(candidate->budget, part->outcome.thread_instructions);
      outcome_join(outcome, &part->outcome);
   }
   return RKB_OK;
}

static void add_case(struct work *work, const rkb_case_t *the_case, uint64_t most) {
   struct part *part = &work->parts[work->count++];
   part->the_case = the_case;
   part->most = most;
   outcome_init(&part->outcome, work->verifier->config->debug);
}

static int list_cases(struct work *work, rkb_error_t *err) {
   const struct verifier *me = work->verifier;
   for (uint32_t n = 0; work->count < MOST_CASES; n++) {
      const rkb_case_t *the_case = me->task->case_at(me->host, RKB_CASE_CHECK, n);
      if (!the_case)
         break;
      add_case(work, the_case, UINT64_MAX);
   }
   uint32_t drawn = 0, bounded = 0;
   int status = shapes_draw(me, work->candidate, work->drawn, MOST_CASES - work->count, &drawn, err);
   if (status == RKB_OK)
      status = bounded_grids_draw(me, work->candidate, work->drawn + drawn, MOST_CASES - work->count - drawn,
                                  &bounded, err);
   work->drawn_count = drawn + bounded;
   for (uint32_t n = 0; n < work->drawn_count; n++)
      add_case(work, work->drawn[n], n < drawn ? DRAWN_BUDGET : MANY_BLOCKS_BUDGET);
   return status;
}

int cases_run(const struct verifier *verifier, struct candidate *candidate, struct outcome *outcome,
              rkb_error_t *err) {
   struct work *work = calloc(1, sizeof *work);
   if (!work)
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for the cases");
   work->verifier = verifier;
   work->candidate = candidate;
   open_schedule(&work->schedule, 0);
   int status = list_cases(work, err);
   if (status == RKB_OK && verifier->workers)
      verifier->workers->share(verifier->host, work->count, run_part, work);
   else
      for (uint32_t n = 0; status == RKB_OK && n < work->count; n++)
         run_part(work, n);
   if (status == RKB_OK)
      status = join(work, candidate, outcome, err);
   for (uint32_t n = 0; n < work->count; n++)
      outcome_free(&work->parts[n].outcome);
   for (uint32_t n = 0; n < work->drawn_count; n++)
      verifier->task->case_free(work->drawn[n]);
   close_schedule(&work->schedule);
   free(work);
   return status;
}
