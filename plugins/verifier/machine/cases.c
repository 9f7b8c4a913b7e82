/* All cases of a candidate, on the threads that are free: each case is executed and judged by itself, and the outcomes are joined in the
 * order of the cases, so that the verdict is the one of executing them one after the other.  The families that were too costly where they
 * came up follow in a second round, on the cases that costly_families.c chooses when what every case costs is known.
 *
 * Two things pass from case to case, and each keeps its order.  After a case that decides, later ones do not matter and are left.
 * A case may use the part of the budget that earlier cases leave.  It starts with the part that is left at the moment, and is executed
 * again in its turn if that was another part than it should have been and made a difference. */
#include "longer_loops.h"

#include <stdlib.h>
#include <string.h>

/* A drawn shape that turns out to be large (a kernel whose blocks are mostly idle there) may not eat the whole budget. */
#define DRAWN_BUDGET 30000000u
/* A run of a drawn shape that will take so many times its budget is not followed until the budget is used up. */
#define FORESEEN_TIMES 2u
/* A shape with many blocks, of which all together take more: some of them are executed in place of all. */
#define WIDE_BUDGET 20000000u
/* At a shape with so many blocks that a bound on a grid takes effect, all blocks count. */
#define MANY_BLOCKS_BUDGET 1000000000u
/* The budget of drawn shapes that could not be executed once within DRAWN_BUDGET; at most MOST_DEAR of these are executed once with it, because some kernels do
 * much at any shape.  Runs in another order have as much.  Shapes that were looked for because the manifest decides something there alone have it too. */
#define DEAR_BUDGET 150000000u
#define MOST_DEAR 3u
/* A grid far larger than fits, where blocks wait for each other: the thread-instructions that a run may take there by what other shapes took, and the
 * budget of its runs.  To find that all blocks wait takes a good part of this budget. */
#define BEYOND_WORK 100e6
#define BEYOND_BUDGET 1000000000u
#define DEARER 2
/* Shapes that exceeded their budget because of few blocks: nothing else tells what all of them take, so an author could have them left out. */
#define MOST_UNEVEN 16u
/* Times what other shapes take for their size.  A grouped product whose blocks each look through all rows took
 * 4.06 times as much at one drawn shape. */
#define MUCH_DEARER 5
#define MOST_CASES 512

struct part {
   const rkb_case_t *the_case;
   const struct owed *owed; /* NULL: the case's first runs */
   struct outcome outcome;
   uint64_t most;  /* budget it may have */
   uint64_t given; /* budget it had */
   bool drawn;     /* within DRAWN_BUDGET */
   bool wide;      /* its first run within WIDE_BUDGET */
   bool looped;    /* found by what a loop counts: it says nothing of what shapes usually cost */
   bool once;      /* on the first family alone */
   bool beyond;    /* a grid far larger than fits: whether it ends, and its values */
   uint32_t peaks; /* seeds of the family "peaks" that it is executed on too */
   bool started;
   int status;
   rkb_error_t err;
};

struct work {
   const struct verifier *verifier;
   const struct candidate *candidate;
   struct schedule schedule;
   struct part parts[2 * MOST_CASES]; /* of the first round, and of the second */
   struct owed owed[MOST_CASES];
   rkb_case_t *drawn[MOST_CASES], *looped[MOST_LOOPED];
   uint32_t count, drawn_count, looped_count;
   uint32_t round;    /* the first part of the round that is executed */
   double usual_cost; /* usual_cost() */
};

/* The schedule ------------------------------------------------------------------------------------------------------ */

void schedule_open(struct schedule *schedule) {
   *schedule = (struct schedule){.deciding = UINT32_MAX};
   pthread_mutex_init(&schedule->lock, NULL);
}

void schedule_close(struct schedule *schedule) {
   pthread_mutex_destroy(&schedule->lock);
}

bool schedule_matters(struct schedule *schedule, uint32_t turn) {
   pthread_mutex_lock(&schedule->lock);
   const bool matters = schedule->deciding > turn;
   pthread_mutex_unlock(&schedule->lock);
   return matters;
}

uint64_t schedule_spent(struct schedule *schedule) {
   pthread_mutex_lock(&schedule->lock);
   const uint64_t spent = schedule->spent;
   pthread_mutex_unlock(&schedule->lock);
   return spent;
}

void schedule_leave(struct schedule *schedule, uint32_t turn, uint64_t work, bool decides) {
   pthread_mutex_lock(&schedule->lock);
   schedule->spent += work;
   if (decides)
      schedule->deciding = turn < schedule->deciding ? turn : schedule->deciding;
   pthread_mutex_unlock(&schedule->lock);
}

/* Parts ------------------------------------------------------------------------------------------------------------- */

static uint64_t least(uint64_t a, uint64_t b) {
   return a < b ? a : b;
}

static uint64_t most_of(uint64_t a, uint64_t b) {
   return a > b ? a : b;
}

static uint64_t share_of(const struct part *part, uint64_t left) {
   return least(left, part->most);
}

static void execute(const struct work *work, struct part *part, uint64_t left, struct schedule *schedule,
                    uint32_t turn) {
   struct candidate candidate = *work->candidate;
   part->started = true;
   candidate.once |= part->once;
   candidate.ends = part->beyond;
   candidate.foresee = part->wide ? 1 : part->drawn && part->most == DRAWN_BUDGET ? FORESEEN_TIMES : 0;
   candidate.peaks = part->peaks;
   candidate.first_budget = part->once ? DEAR_BUDGET : part->wide ? WIDE_BUDGET : 0;
   part->given = candidate.budget = share_of(part, left);
   part->status = trial_case(work->verifier, &candidate, part->the_case, part->owed, schedule, turn,
                             &part->outcome, &part->err);
}

static void run_part(void *argument, uint32_t number) {
   struct work *work = argument;
   const uint32_t turn = work->round + number;
   struct schedule *schedule = &work->schedule;
   if (!schedule_matters(schedule, turn))
      return;
   struct part *part = &work->parts[turn];
   const uint64_t left = work->candidate->budget - least(work->candidate->budget, schedule_spent(schedule));
   execute(work, part, left, schedule, turn);
   schedule_leave(schedule, turn, part->outcome.work,
                  part->status != RKB_OK || part->outcome.rank >= RKB_MACHINE_UNKNOWN);
}

/* Whether the outcome of a part would be the same with the budget that is left when its turn comes. */
static bool stands(const struct part *part, uint64_t left) {
   const uint64_t right = share_of(part, left);
   return part->started && !part->outcome.abandoned &&
          (part->given == right ||
           (!part->outcome.over_budget && part->given > 0 && right > 0 && part->outcome.work <= right));
}

static void execute_in_turn(struct work *work, uint32_t turn, uint64_t left) {
   struct part *part = &work->parts[turn];
   struct schedule alone;
   schedule_open(&alone);
   outcome_free(&part->outcome);
   outcome_init(&part->outcome, work->verifier->config->debug);
   part->err = (rkb_error_t){0};
   execute(work, part, left, &alone, turn);
   schedule_close(&alone);
}

static int join(struct work *work, struct candidate *candidate, struct outcome *outcome, rkb_error_t *err) {
   for (uint32_t n = work->round; n < work->count && outcome->rank < RKB_MACHINE_UNKNOWN; n++) {
      struct part *part = &work->parts[n];
      if (!stands(part, candidate->budget))
         execute_in_turn(work, n, candidate->budget);
      if (part->status != RKB_OK) {
         *err = part->err;
         return part->status;
      }
      candidate->budget -= least(candidate->budget, part->outcome.work);
      outcome_join(outcome, &part->outcome);
   }
   return RKB_OK;
}

static void add_part(struct work *work, const rkb_case_t *the_case, const struct owed *owed, uint64_t most) {
   struct part *part = &work->parts[work->count++];
   part->the_case = the_case;
   part->owed = owed;
   part->most = most;
   outcome_init(&part->outcome, work->verifier->config->debug);
}

/* Adds shapes at which the manifest decides what it decides at no shape so far. */
static int list_decided(struct work *work, struct candidate *candidate, rkb_error_t *err) {
   const rkb_case_t *known[MOST_CASES];
   uint32_t count = 0, decided = 0;
   for (uint32_t n = 0; n < work->count; n++)
      known[count++] = work->parts[n].the_case;
   for (uint32_t n = 0; n < work->drawn_count; n++)
      known[count++] = work->drawn[n];
   const int status =
      manifest_decisions_draw(work->verifier, candidate, known, count, work->drawn + work->drawn_count,
                              MOST_CASES - count, &decided, err);
   work->drawn_count += decided;
   return status;
}

/* Adds shapes at which the kernels do, by numbers of their text. */
static int list_told(struct work *work, rkb_error_t *err) {
   const rkb_case_t *known[MOST_CASES];
   uint32_t told = 0;
   for (uint32_t n = 0; n < work->drawn_count; n++)
      known[n] = work->drawn[n];
   const int status = sizes_in_text_draw(
      work->verifier, work->candidate, known, work->drawn_count, work->drawn + work->drawn_count,
      MOST_CASES - work->count - work->drawn_count, &told, work->looped, &work->looped_count, err);
   work->drawn_count += told;
   return status;
}

/* Adds those found by loops, which come last: nothing else depends on them. */
static void list_looped(struct work *work) {
   for (uint32_t n = 0; n < work->looped_count; n++)
      if (work->count + work->drawn_count < MOST_CASES)
         work->drawn[work->drawn_count++] = work->looped[n];
      else
         work->verifier->task->case_free(work->looped[n]);
   work->looped_count = 0;
}

/* Where nothing is judged at bench shapes, no blocks of a shape are judged by themselves either. */
static int limit_wide(const struct work *work, struct part *part, uint32_t *wide, rkb_error_t *err) {
   const struct verifier *me = work->verifier;
   if (!me->config->bench_points || *wide == MOST_WIDE)
      return RKB_OK;
   const int status = wide_shapes_has_many_blocks(me, work->candidate, part->the_case, &part->wide, err);
   *wide += part->wide;
   return status;
}

static int list_cases(struct work *work, struct candidate *candidate, rkb_error_t *err) {
   const struct verifier *me = work->verifier;
   for (uint32_t n = 0; work->count < MOST_CASES; n++) {
      const rkb_case_t *the_case = me->task->case_at(me->host, RKB_CASE_CHECK, n);
      if (!the_case)
         break;
      add_part(work, the_case, NULL, UINT64_MAX);
   }
   uint32_t drawn = 0, bounded = 0, corners = 0, equal = 0;
   int status = shapes_draw(me, work->candidate, work->drawn, MOST_CASES - work->count, &drawn, err);
   if (status == RKB_OK)
      status = bounded_grids_draw(me, work->candidate, work->drawn + drawn, MOST_CASES - work->count - drawn,
                                  &bounded, err);
   work->drawn_count = drawn + bounded;
   if (status == RKB_OK)
      status = corners_draw(me, work->candidate, work->drawn + work->drawn_count,
                            MOST_CASES - work->count - work->drawn_count, &corners, err);
   work->drawn_count += corners;
   const uint32_t others = work->drawn_count, first_corner = others - corners;
   if (status == RKB_OK)
      status = equal_dims_draw(me, work->candidate, work->drawn + others, MOST_CASES - work->count - others,
                               &equal, err);
   work->drawn_count += equal;
   const uint32_t decided = work->drawn_count;
   if (status == RKB_OK)
      status = list_told(work, err);
   if (status == RKB_OK)
      status = list_decided(work, candidate, err);
   const uint32_t first_looped = work->drawn_count;
   uint32_t peaks[MOST_CASES], wide = 0;
   peaks_choose(me, work->drawn, drawn, peaks);
   list_looped(work);
   for (uint32_t n = 0; n < work->drawn_count && status == RKB_OK; n++) {
      const bool small = n < drawn || n >= others,
                 told = (n >= first_corner && n < others) || (n >= decided && n < first_looped);
      add_part(work, work->drawn[n], NULL,
               n >= decided ? DEAR_BUDGET
               : small      ? DRAWN_BUDGET
                            : MANY_BLOCKS_BUDGET);
      if (told)
         status = limit_wide(work, &work->parts[work->count - 1], &wide, err);
      work->parts[work->count - 1].drawn = small;
      work->parts[work->count - 1].looped = n >= first_looped;
      work->parts[work->count - 1].peaks = n < drawn ? peaks[n] : 0;
   }
   return status;
}

/* Rounds ------------------------------------------------------------------------------------------------------------ */

/* Executes the parts from work->round on, and joins what they found. */
static int run_round(struct work *work, struct candidate *candidate, struct outcome *outcome,
                     rkb_error_t *err) {
   const struct verifier *me = work->verifier;
   work->schedule.spent = 0;
   if (me->workers)
      me->workers->share(me->host, work->count - work->round, run_part, work);
   else
      for (uint32_t n = 0; n < work->count - work->round; n++)
         run_part(work, n);
   return join(work, candidate, outcome, err);
}

/* Adds a part for each case that is executed on families after all. */
static int add_owed(struct work *work, rkb_error_t *err) {
   const uint32_t cases = work->count;
   for (uint32_t n = 0; n < cases; n++) {
      const struct outcome *first = &work->parts[n].outcome;
      work->owed[n] = (struct owed){.the_case = work->parts[n].the_case,
                                    .executed = first->executed,
                                    .families = first->over_budget ? 0 : first->owed,
                                    .largest = first->largest,
                                    .steered = first->steered};
   }
   if (!owed_settle(work->verifier, work->candidate, work->owed, cases))
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for the families that are left");
   work->round = cases;
   for (uint32_t n = 0; n < cases; n++)
      if (work->owed[n].families)
         add_part(work, work->parts[n].the_case, &work->owed[n], work->parts[n].most);
   return RKB_OK;
}

static bool was_dear(const struct part *part) {
   return (part->drawn || part->once) && !part->wide && part->outcome.over_budget && !part->outcome.executed;
}

/* Thread-instructions for each operation and each thread that the candidate has at the part's shape. */
static int cost_of(const struct work *work, const struct part *part, double instructions, double *cost,
                   rkb_error_t *err) {
   const struct verifier *me = work->verifier;
   const struct candidate *candidate = work->candidate;
   rkb_plan_t *plan = NULL;
   rkb_finding_t finding = {0};
   const int status = me->kernel->plan(me->host, candidate->job, candidate->item, candidate->build,
                                       part->the_case, &plan, &finding, err);
   *cost = 0;
   if (plan) {
      *cost = instructions / (part->the_case->operations + (double)shapes_plan_threads(plan) + 1);
      me->kernel->plan_free(plan);
   }
   return status;
}

/* The most that one of the shapes executed in the first round cost. */
static int usual_cost(const struct work *work, double *most, rkb_error_t *err) {
   int status = RKB_OK;
   *most = 0;
   for (uint32_t n = 0; n < work->round && status == RKB_OK; n++) {
      double cost;
      if (work->parts[n].looped)
         continue;
      status = cost_of(work, &work->parts[n], (double)work->parts[n].outcome.largest, &cost, err);
      *most = cost > *most ? cost : *most;
   }
   return status;
}

/* Some drawn shapes exceed their budget in one run.  Adds a part for some of those that cost more than others for their size, or, if at least half of the drawn
 * shapes exceeded it, for some of all that did.  The first ones tell most. */
static int add_dear(struct work *work, rkb_error_t *err) {
   uint32_t drawn = 0, dear = 0, uneven = 0,
            added[2] = {0, 0}; /* added: shapes found by loops are counted by themselves */
   bool any = false;
   for (uint32_t n = 0; n < work->round; n++) {
      const struct part *part = &work->parts[n];
      drawn += part->drawn && !part->looped;
      dear += was_dear(part) && !part->looped;
      any |= was_dear(part);
   }
   const int status = any ? usual_cost(work, &work->usual_cost, err) : RKB_OK;
   for (uint32_t n = 0; n < work->round && any && status == RKB_OK && work->count < 2 * MOST_CASES; n++) {
      const struct part *part = &work->parts[n];
      double cost = 0;
      if (was_dear(part) && part->outcome.uneven && uneven < MOST_UNEVEN) {
         uneven++;
         add_part(work, part->the_case, NULL, 2 * DEAR_BUDGET);
         work->parts[work->count - 1].once = true;
      } else if (added[part->looped] < MOST_DEAR && was_dear(part) &&
                 cost_of(work, part, (double)most_of(part->outcome.work, part->given), &cost, err) ==
                    RKB_OK &&
                 ((dear && 2 * dear >= drawn) || cost > DEARER * work->usual_cost)) {
         added[part->looped]++;
         add_part(work, part->the_case, NULL, 2 * DEAR_BUDGET);
         work->parts[work->count - 1].once = true;
      }
   }
   return status;
}

/* Adds a part for smaller shapes like those that took more than their budget in one run. */
static int add_smaller(struct work *work, rkb_error_t *err) {
   const rkb_case_t *executed[MOST_CASES], *cut[MOST_CASES];
   uint32_t executed_count = 0, cut_count = 0, drawn = 0;
   for (uint32_t turn = 0; turn < 2; turn++) /* those found by loops come last, and take no other's place */
      for (uint32_t n = 0; n < work->round; n++) {
         const struct part *part = &work->parts[n];
         if (part->looped != (turn == 1))
            continue;
         if (was_dear(part))
            cut[cut_count++] = part->the_case;
         else if (part->the_case->kind == RKB_CASE_DRAWN && !part->looped)
            executed[executed_count++] = part->the_case;
      }
   const int status =
      cut_shapes_draw(work->verifier, work->candidate, executed, executed_count, cut, cut_count,
                      work->drawn + work->drawn_count, MOST_CASES - work->drawn_count, &drawn, err);
   for (uint32_t n = 0; n < drawn; n++) {
      rkb_case_t *the_case = work->drawn[work->drawn_count++];
      if (work->count == 2 * MOST_CASES)
         continue;
      add_part(work, the_case, NULL, 2 * DEAR_BUDGET);
      work->parts[work->count - 1].once = true;
   }
   return status;
}

/* A shape that is given up though it costs far more there than anywhere else: the kernel may hide behind it what it does there. */
static int judge_dear(const struct work *work, struct outcome *outcome, rkb_error_t *err) {
   int status = RKB_OK;
   for (uint32_t n = work->round; n < work->count && status == RKB_OK && outcome->rank < RKB_MACHINE_UNKNOWN;
        n++) {
      const struct part *part = &work->parts[n];
      double cost = 0;
      if (!part->once || !was_dear(part))
         continue;
      status = cost_of(work, part, (double)part->outcome.work, &cost, err);
      if (cost > MUCH_DEARER * work->usual_cost)
         outcome_note(
            outcome, RKB_MACHINE_UNKNOWN, "limit.budget", json_pack("{s:s}", "case", part->the_case->name),
            "one execution of the drawn shape %s takes more than %llu thread-instructions, more than %d times as many as others for its size",
            part->the_case->name, (unsigned long long)part->outcome.work, MUCH_DEARER);
   }
   return status;
}

/* Leaves shapes to wide_shapes.c whose blocks together took more than their budget. */
static void hand_over_wide(struct work *work, struct candidate *candidate) {
   for (uint32_t n = 0; n < work->round; n++) {
      const struct part *part = &work->parts[n];
      if (!part->wide || !part->outcome.over_budget || part->outcome.executed)
         continue;
      for (uint32_t d = 0; d < work->drawn_count; d++)
         if (work->drawn[d] == part->the_case && candidate->wide_count < MOST_WIDE) {
            candidate->wide[candidate->wide_count++] = work->drawn[d];
            work->drawn[d] = NULL;
         }
   }
}

/* Adds parts for shapes with more blocks than the target holds. */
static int add_waiting(struct work *work, rkb_error_t *err) {
   uint32_t drawn = 0;
   double cost = 0;
   int status = usual_cost(work, &cost, err);
   if (status == RKB_OK)
      status =
         waiting_grids_draw(work->verifier, work->candidate, BEYOND_WORK / (cost + 1),
                            work->drawn + work->drawn_count, MOST_CASES - work->drawn_count, &drawn, err);
   for (uint32_t n = 0; n < drawn && work->count < 2 * MOST_CASES; n++) {
      add_part(work, work->drawn[work->drawn_count + n], NULL, n ? BEYOND_BUDGET : MANY_BLOCKS_BUDGET);
      work->parts[work->count - 1].beyond = n > 0;
   }
   work->drawn_count += drawn;
   return status;
}

/* Executes longer shapes for loops that had few turns at all others. */
static int judge_longer(const struct work *work, struct candidate *candidate, struct outcome *outcome,
                        rkb_error_t *err) {
   struct executed_shape *shapes = calloc(work->count + 1, sizeof *shapes);
   if (!shapes)
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for the executed shapes");
   for (uint32_t n = 0; n < work->count; n++)
      shapes[n] = (struct executed_shape){work->parts[n].the_case, &work->parts[n].outcome};
   const int status = longer_loops_judge(work->verifier, candidate, shapes, work->count, outcome, err);
   free(shapes);
   return status;
}

static void tell_left_out(const struct work *work, struct outcome *outcome) {
   for (uint32_t n = 0; n < work->round; n++) {
      const rkb_case_t *the_case = work->parts[n].the_case;
      char text[256];
      int used = 0;
      const struct outcome *first = &work->parts[n].outcome;
      for (uint64_t left = first->declined | (first->owed & ~work->owed[n].families); left;
           left &= left - 1) {
         const rkb_family_t *family =
            work->verifier->task->family_at(work->verifier->host, the_case, (uint32_t)__builtin_ctzll(left));
         if (used < (int)sizeof text - 1)
            used += snprintf(text + used, sizeof text - (size_t)used, "%s%s", used ? ", " : "", family->name);
      }
      if (used)
         json_array_append_new(
            outcome->not_run,
            json_sprintf("case %s: not executed on the input families %s", the_case->name, text));
   }
}

int case_run(const struct verifier *verifier, struct candidate *candidate, const rkb_case_t *the_case,
             struct outcome *outcome, rkb_error_t *err) {
   struct schedule alone;
   schedule_open(&alone);
   const int status = trial_case(verifier, candidate, the_case, NULL, &alone, 0, outcome, err);
   schedule_close(&alone);
   return status;
}

int cases_run(const struct verifier *verifier, struct candidate *candidate, struct outcome *outcome,
              rkb_error_t *err) {
   struct work *work = calloc(1, sizeof *work);
   if (!work)
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for the cases");
   work->verifier = verifier;
   work->candidate = candidate;
   schedule_open(&work->schedule);
   int status = list_cases(work, candidate, err);
   if (status == RKB_OK)
      status = run_round(work, candidate, outcome, err);
   const bool more = status == RKB_OK && outcome->rank < RKB_MACHINE_UNKNOWN;
   if (more)
      status = add_owed(work, err);
   if (more && status == RKB_OK)
      status = add_dear(work, err);
   if (more && status == RKB_OK)
      status = add_smaller(work, err);
   if (more && status == RKB_OK && outcome->waits && work->drawn_count < MOST_CASES)
      status = add_waiting(work, err);
   if (more && status == RKB_OK && work->count > work->round)
      status = run_round(work, candidate, outcome, err);
   if (more && status == RKB_OK)
      status = judge_dear(work, outcome, err);
   if (more && status == RKB_OK)
      tell_left_out(work, outcome);
   if (more && status == RKB_OK)
      status = judge_longer(work, candidate, outcome, err);
   if (more && status == RKB_OK && outcome->waits && outcome->rank < RKB_MACHINE_UNKNOWN)
      status = largest_grids_judge(verifier, candidate, outcome, err);
   if (more && status == RKB_OK)
      hand_over_wide(work, candidate);
   for (uint32_t n = 0; n < work->count; n++)
      outcome_free(&work->parts[n].outcome);
   for (uint32_t n = 0; n < work->drawn_count; n++)
      if (work->drawn[n])
         verifier->task->case_free(work->drawn[n]);
   schedule_close(&work->schedule);
   free(work);
   return status;
}
