/* Looks for shapes at which loops take so many turns that buffers in shared memory come round (longer_loops.h).
 *
 * A kernel that fills a ring of buffers may give a buffer back before all threads have read it.  This is a race from the turn on in which the ring comes round;
 * shapes with shorter rows have no race.  A launch that few shapes take, because its `when` asks for rows of whole vectors or for few tiles, may have been
 * executed with short rows alone.  Then the other checks do not show the race, and the secret decided whether it was executed with longer rows.  So if a loop
 * in which threads synchronise had too few turns at all shapes, the cheapest shape that came to the loop is made longer, one dim after the other.  That shape
 * is executed in part: some blocks of each launch, with records of races.  Dims that leave the grid nearly as it is come first, since blocks go along these.  A
 * dim is multiplied by one more than a power of two, so that its divisors still divide it, and its remainders by smaller powers of two stay.  Blocks that need
 * what others write show nothing alone; then the shape is executed whole.  docs/decisions/drawn-shapes.md.  One worker thread a candidate. */
#include "longer_loops.h"
#include "bench_values.h"
#include "machine/state/loop_turns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ENOUGH_TURNS 3u /* of a loop whose threads wait for each other: by then two buffers have come round */
#define ENOUGH_AHEAD 8u /* of a loop in which copies go ahead: rings have up to seven buffers */
#define LONG_DIM 1024   /* if the loop has had one turn, so that nobody knows how many rows one is */
#define MOST_LOOPS 6u   /* for which shapes are looked for */
#define MOST_RUNS 2u    /* for one loop and dim */
#define MOST_BLOCKS 3u  /* of a launch */
#define MOST_DIMS 16u
#define BLOCKS_BUDGET 4000000u /* thread-instructions of a shape's blocks */
#define WHOLE_BUDGET 30000000u /* of a shape that is executed whole */
#define ALL_BUDGET 100000000u  /* of all */

struct longer {
   const struct verifier *verifier;
   struct candidate *candidate;
   const struct executed_shape *shapes;
   uint32_t count;
   struct outcome *outcome;
   rkb_random_t stream;
   uint64_t left; /* of ALL_BUDGET */
};

/* A dim of a shape made longer. */
struct stretched {
   rkb_case_t *the_case;
   uint32_t dim;
   uint64_t threads;
};

static uint32_t needed(const struct loop_turns *loop) {
   return loop->ahead ? ENOUGH_AHEAD : ENOUGH_TURNS;
}

static uint32_t turns_at(const struct outcome *outcome, const struct loop_turns *loop, bool *launched) {
   uint32_t turns = 0;
   *launched = false;
   for (uint32_t n = 0; n < outcome->loop_count; n++)
      if (outcome->loops[n].launch == loop->launch && outcome->loops[n].block == loop->block) {
         turns = outcome->loops[n].most;
         *launched = true;
      }
   return turns;
}

/* The cheapest shape that came to the loop, or if none did the cheapest that has its launch; NULL: none has. */
static const struct executed_shape *cheapest(const struct longer *l, const struct loop_turns *loop) {
   const struct executed_shape *best = NULL;
   bool best_enters = false;
   for (uint32_t n = 0; n < l->count; n++) {
      const struct executed_shape *shape = &l->shapes[n];
      bool launched;
      const bool enters = turns_at(shape->outcome, loop, &launched) > 0;
      if (launched && shape->outcome->largest &&
          (!best || (enters && !best_enters) ||
           (enters == best_enters && shape->outcome->largest < best->outcome->largest))) {
         best = shape;
         best_enters = enters;
      }
   }
   return best;
}

/* By about which power of two the dim has to grow. */
static int64_t factor_of(const struct loop_turns *loop, uint32_t turns, int64_t value) {
   int64_t factor = 2;
   if (turns > 1)
      while ((turns - 1) * factor < needed(loop))
         factor *= 2;
   else
      while (value * factor < LONG_DIM)
         factor *= 2;
   return factor;
}

/* The threads that the candidate has at the shape, if it has the launch; else 0. */
static int threads_with(const struct longer *l, const rkb_case_t *shape, uint64_t launch, uint64_t *threads,
                        rkb_error_t *err) {
   const struct verifier *me = l->verifier;
   rkb_plan_t *plan = NULL;
   rkb_finding_t finding = {0};
   const int status = me->kernel->plan(me->host, l->candidate->job, l->candidate->item, l->candidate->build,
                                       shape, &plan, &finding, err);
   *threads = 0;
   for (uint32_t n = 0; plan && n < plan->launch_count; n++)
      if (shapes_launch_name(l->candidate, &plan->launches[n]) == launch)
         *threads = shapes_plan_threads(plan);
   if (plan)
      me->kernel->plan_free(plan);
   return status;
}

/* Makes the dim of the shape longer, by less if the domain does not allow so much; the_case is NULL if the domain or the launch's condition allows nothing
 * longer. */
static int stretch(struct longer *l, const struct loop_turns *loop, const rkb_case_t *from, uint32_t turns,
                   uint32_t dim, struct stretched *to, rkb_error_t *err) {
   const struct verifier *me = l->verifier;
   int64_t dims[MOST_DIMS], low, high;
   int status = RKB_OK;
   *to = (struct stretched){.dim = dim};
   for (uint32_t d = 0; d < from->dim_count; d++)
      dims[d] = from->dims[d].value;
   me->task->dim_range(me->host, dim, &low, &high);
   for (int64_t factor = factor_of(loop, turns, dims[dim]); factor > 1 && !to->the_case && status == RKB_OK;
        factor /= 2) {
      if (from->dims[dim].value > high / (factor + 1))
         continue;
      dims[dim] = from->dims[dim].value * (factor + 1);
      status = me->task->case_with_dims(me->host, from, &l->stream, dims, INFINITY, &to->the_case, err);
      status = status == RKB_ERR_LIMIT ? RKB_OK : status;
   }
   if (status == RKB_OK && to->the_case)
      status = threads_with(l, to->the_case, loop->launch, &to->threads, err);
   if (to->the_case && (status != RKB_OK || !to->threads)) {
      me->task->case_free(to->the_case);
      to->the_case = NULL;
   }
   return status;
}

static bool lacks(const struct longer *l, const struct loop_turns *loop) {
   bool launched;
   return l->outcome->rank < RKB_MACHINE_UNKNOWN && l->left && l->candidate->budget &&
          turns_at(l->outcome, loop, &launched) < needed(loop);
}

/* Some blocks at the ends of the grid. */
static void list_blocks(const rkb_plan_launch_t *launch, uint64_t *numbers, rkb_machine_blocks_t *list) {
   const uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
   *list = (rkb_machine_blocks_t){.numbers = numbers, .least = 1};
   for (uint64_t n = 0; n < 2 && n < blocks; n++)
      numbers[list->count++] = n;
   if (blocks > 2)
      numbers[list->count++] = blocks - 1;
}

/* Executes blocks of each launch with records of races.  *turns: of the loop there; *sure: what was found counts, and is noted. */
static int look_at(struct longer *l, const struct loop_turns *loop, struct sample *part, uint32_t *turns,
                   bool *sure, rkb_error_t *err) {
   const rkb_plan_t *plan = part->plan;
   rkb_machine_blocks_t *lists = calloc(plan->launch_count + 1, sizeof *lists);
   uint64_t *numbers = calloc(MOST_BLOCKS * (size_t)plan->launch_count + 1, sizeof *numbers);
   rkb_machine_report_t report;
   int status = lists && numbers ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "no memory for blocks");
   for (uint32_t n = 0; status == RKB_OK && n < plan->launch_count; n++)
      list_blocks(&plan->launches[n], numbers + MOST_BLOCKS * n, &lists[n]);
   if (status == RKB_OK)
      status = sample_look_for_races(part, lists, BLOCKS_BUDGET, true, &report, err);
   *sure = status == RKB_OK && !sample_races_lack(&report);
   for (uint32_t n = 0; status == RKB_OK && n < plan->launch_count; n++) {
      const uint64_t launch = shapes_launch_name(part->candidate, &plan->launches[n]);
      uint32_t count;
      const rkb_machine_loop_t *loops = rkb_machine_loops(part->machine, n, &count);
      for (uint32_t k = 0; k < count; k++) {
         if (launch == loop->launch && loops[k].block == loop->block && loops[k].turns > *turns)
            *turns = loops[k].turns;
         if (*sure) /* of other loops too, for which nothing has to be looked for then */
            outcome_turns(l->outcome,
                          &(struct loop_turns){launch, loops[k].block, loops[k].turns, loops[k].ahead});
      }
   }
   if (status == RKB_OK)
      (void)sample_take_races(part, &report);
   sample_end_races(part);
   free(lists);
   free(numbers);
   return status;
}

/* The same at a shape. */
static int try_blocks(struct longer *l, const struct loop_turns *loop, const rkb_case_t *shape,
                      uint32_t *turns, bool *sure, rkb_error_t *err) {
   const struct verifier *me = l->verifier;
   struct candidate own = *l->candidate;
   rkb_plan_t *plan = NULL;
   rkb_finding_t finding = {0};
   *turns = 0;
   *sure = false;
   own.budget = own.budget < l->left ? own.budget : l->left;
   const uint64_t before = own.budget;
   int status = me->kernel->plan(me->host, own.job, own.item, own.build, shape, &plan, &finding, err);
   if (status != RKB_OK || !plan)
      return status;
   struct sample part = {.verifier = me,
                         .candidate = &own,
                         .the_case = shape,
                         .plan = plan,
                         .outcome = l->outcome,
                         .family = me->task->family_at(me->host, shape, 0),
                         .seed = verifier_seed(me, &own, 0),
                         .deciding = l->outcome->deciding_inputs};
   if (part.family)
      status = verifier_inputs_open(me, &own, shape, part.family, part.seed, &part.inputs, err);
   if (status == RKB_OK && part.inputs)
      status = look_at(l, loop, &part, turns, sure, err);
   if (part.inputs)
      me->task->inputs_free(part.inputs);
   me->kernel->plan_free(plan);
   l->left -= before - own.budget;
   l->candidate->budget -= before - own.budget;
   return status == RKB_ERR_LIMIT || status == RKB_ERR_NOMEM ? RKB_OK : status; /* it is left out */
}

/* Executes the shape once and adds what comes of it.  *turns: of the loop there. */
static int execute(struct longer *l, const struct loop_turns *loop, const rkb_case_t *shape, uint32_t *turns,
                   rkb_error_t *err) {
   struct candidate candidate = *l->candidate;
   struct outcome own;
   bool launched;
   outcome_init(&own, l->outcome->debug);
   candidate.once = true;
   candidate.budget = l->left < WHOLE_BUDGET ? l->left : WHOLE_BUDGET;
   if (candidate.budget > l->candidate->budget)
      candidate.budget = l->candidate->budget;
   const int status = case_run(l->verifier, &candidate, shape, &own, err);
   own.orders = l->outcome->orders; /* the other shapes had them */
   l->left -= own.work < l->left ? own.work : l->left;
   l->candidate->budget -= own.work < l->candidate->budget ? own.work : l->candidate->budget;
   *turns = turns_at(&own, loop, &launched);
   if (status == RKB_OK)
      outcome_join(l->outcome, &own);
   outcome_free(&own);
   return status;
}

static int by_threads(const void *a, const void *b) {
   const struct stretched *left = a, *right = b;
   return left->threads != right->threads
             ? (left->threads > right->threads) - (left->threads < right->threads)
             : (left->dim > right->dim) - (left->dim < right->dim);
}

/* Looks at the shape.  If the loop had more turns there, but not enough, also looks at a longer one.  What blocks alone do not show is
 * executed whole. */
static int run_stretched(struct longer *l, const struct loop_turns *loop, struct stretched *s, uint32_t turns,
                         rkb_error_t *err) {
   int status = RKB_OK;
   for (uint32_t runs = 0; s->the_case && status == RKB_OK; runs++) {
      rkb_case_t *shape = s->the_case;
      uint32_t here = 0;
      bool sure = false;
      s->the_case = NULL;
      if (!l->outcome->waits)
         status = try_blocks(l, loop, shape, &here, &sure, err);
      if (status == RKB_OK && lacks(l, loop) && (l->outcome->waits || (here >= needed(loop) && !sure)))
         status = execute(l, loop, shape, &here, err);
      if (status == RKB_OK && here > turns && here < needed(loop) && runs + 1 < MOST_RUNS && lacks(l, loop))
         status = stretch(l, loop, shape, here, s->dim, s, err);
      turns = here;
      l->verifier->task->case_free(shape);
   }
   return status;
}

static int lengthen(struct longer *l, const struct loop_turns *loop, rkb_error_t *err) {
   const struct executed_shape *base = cheapest(l, loop);
   struct stretched made[MOST_DIMS];
   uint32_t count = 0;
   bool launched;
   int status = RKB_OK;
   if (!base || base->the_case->dim_count > MOST_DIMS)
      return RKB_OK;
   const uint32_t turns = turns_at(base->outcome, loop, &launched);
   for (uint32_t d = 0; d < base->the_case->dim_count && status == RKB_OK; d++) {
      if (base->the_case->dims[d].value < 1) /* no padding */
         continue;
      status = stretch(l, loop, base->the_case, turns, d, &made[count], err);
      count += made[count].the_case != NULL;
   }
   qsort(made, count, sizeof *made, by_threads);
   for (uint32_t n = 0; n < count && status == RKB_OK && lacks(l, loop); n++)
      status = run_stretched(l, loop, &made[n], turns, err);
   for (uint32_t n = 0; n < count; n++)
      if (made[n].the_case)
         l->verifier->task->case_free(made[n].the_case);
   return status;
}

int longer_loops_judge(const struct verifier *me, struct candidate *candidate,
                       const struct executed_shape *shapes, uint32_t count, struct outcome *outcome,
                       rkb_error_t *err) {
   struct longer l = {.verifier = me,
                      .candidate = candidate,
                      .shapes = shapes,
                      .count = count,
                      .outcome = outcome,
                      .left = ALL_BUDGET};
   const uint32_t loops = outcome->loop_count;
   uint32_t tried = 0;
   int status = RKB_OK;
   if (!me->config->shapes || !RKB_HAS(me->task, dim_range) || !loops)
      return RKB_OK;
   l.stream = me->random->for_job(me->host, candidate->job, STREAM_LONGER);
   const uint32_t first = (uint32_t)me->random->below(&l.stream, loops);
   for (uint32_t n = 0; n < loops && tried < MOST_LOOPS && status == RKB_OK; n++) {
      const struct loop_turns loop = outcome->loops[(first + n) % loops]; /* the list may move */
      if (!lacks(&l, &loop))
         continue;
      tried++;
      status = lengthen(&l, &loop, err);
   }
   return status;
}
