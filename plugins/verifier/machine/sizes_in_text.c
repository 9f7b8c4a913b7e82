/* Shapes with sizes that the kernels' own text names.
 *
 * A kernel can be wrong at one size alone (`D == 1237`), which no drawn shape has.  The deciding number is in its PTX, or its manifest
 * passes it.  So each such number is tried as the value of each dim, and, if no dim can be so large, as a product of two, from the smallest
 * check case on.  No shape is executed for that.  A shape is kept if a condition on the kernels' parameters has an outcome there that it
 * had at no shape before (shape_conditions.h).  The search goes on from each kept shape: at first for shapes at which another condition has
 * a new outcome, then for shapes at which two conditions have outcomes that no shape had together.  The secret says in which order numbers
 * are tried, so that an author who hides one among many cannot know whether it is left out.  One thread. */
#include "size_solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TOLD 4u       /* shapes that are kept for numbers of the text */
#define MOST_SOLVED 3u     /* and for conditions that were solved */
#define MOST_RESULTS 2u    /* and for what one thread computes */
#define MOST_SOLUTIONS 60u /* tried, from one shape */
#define MOST_KNOWN 2u      /* drawn shapes from which conditions are solved, beside the smallest check case */
#define MOST_TRIED 160u /* from one shape */
#define SHORT_DIM 1024  /* a dim is not made shorter: rings of buffers come round some times */
#define MOST_PAIRS 8u   /* of factors of one number */
#define LARGER 10       /* the work of other drawn shapes */
#define MOST_NUMBERS (MOST_WORDS + 256u)

_Static_assert(MOST_LOOPED == MOST_TOLD + MOST_SOLVED + MOST_RESULTS, "all that is kept has room");

struct told {
   const struct verifier *verifier;
   const struct candidate *candidate;
   struct shape_conditions conditions;
   rkb_random_t stream;
   const rkb_case_t *bases[1 + MOST_TOLD + MOST_SOLVED];
   uint32_t most; /* bases */
   uint32_t base_count, tried;
   bool fits; /* a shape with the number last tried is in the domain and not too much work */
   uint32_t least; /* news for which a shape is kept */
   rkb_case_t **drawn;
   uint32_t *count, room;
};

static bool has_room(const struct told *t) {
   return *t->count < t->room && t->base_count < t->most && t->tried < MOST_TRIED;
}

static void dims_of(const rkb_case_t *base, int64_t *dims) {
   for (uint32_t d = 0; d < base->dim_count; d++)
      dims[d] = base->dims[d].value;
}

static bool has_all(const uint64_t *news, const uint64_t *wanted) {
   bool all = true;
   for (uint32_t n = 0; n < NEWS_WORDS; n++)
      all &= (wanted[n] & ~news[n]) == 0;
   return all;
}

/* Halves a dim, to the same remainder by 32, as long as the kernels decide there all that is new at the shape. */
static int shorten_dim(struct told *t, rkb_case_t **made, uint32_t d, rkb_error_t *err) {
   const struct verifier *me = t->verifier;
   int64_t dims[MOST_SOLVED_DIMS];
   uint64_t wanted[NEWS_WORDS];
   rkb_random_t stream = t->stream; /* what is drawn later does not depend on this */
   int status = RKB_OK;
   memcpy(wanted, t->conditions.news, sizeof wanted);
   dims_of(*made, dims);
   while (dims[d] >= 2 * SHORT_DIM && status == RKB_OK) {
      rkb_case_t *shorter = NULL;
      uint32_t news;
      dims[d] -= dims[d] / 2 / 32 * 32;
      status = me->task->case_with_dims(me->host, *made, &stream, dims, INFINITY, &shorter, err);
      if (status == RKB_ERR_LIMIT || !shorter)
         break;
      status = shape_conditions_new(&t->conditions, shorter, false, &news, err);
      rkb_case_t *unused = shorter;
      const bool same = status == RKB_OK && has_all(t->conditions.news, wanted);
      if (same) {
         unused = *made;
         *made = shorter;
      }
      me->task->case_free(unused);
      if (!same)
         break;
   }
   memcpy(t->conditions.news, wanted, sizeof wanted);
   return status == RKB_ERR_LIMIT ? RKB_OK : status;
}

/* Keeps the shape if the kernels decide something new there. */
static int try_dims(struct told *t, const rkb_case_t *base, const int64_t *dims, rkb_error_t *err) {
   const struct verifier *me = t->verifier;
   rkb_case_t *made = NULL;
   uint32_t news = 0;
   t->tried++;
   int status = me->task->case_with_dims(me->host, base, &t->stream, dims, LARGER * shapes_most_work(me), &made, err);
   if (status == RKB_ERR_LIMIT || !made)
      return status == RKB_ERR_LIMIT ? RKB_OK : status; /* not in the domain, or too much work */
   t->fits = true;
   status = shape_conditions_new(&t->conditions, made, false, &news, err);
   if (status != RKB_OK || news < t->least) {
      me->task->case_free(made);
      return status;
   }
   for (uint32_t d = 0;
        t->conditions.follows && t->least == WEIGHT_OF_CONDITION && d < made->dim_count && status == RKB_OK;
        d++)
      status = shorten_dim(t, &made, d, err);
   if (status != RKB_OK) {
      me->task->case_free(made);
      return status;
   }
   t->drawn[(*t->count)++] = made;
   t->bases[t->base_count++] = made;
   return shape_conditions_new(&t->conditions, made, true, &news, err);
}

static int try_each_dim(struct told *t, const rkb_case_t *base, int64_t number, rkb_error_t *err) {
   int64_t dims[MOST_SOLVED_DIMS];
   int status = RKB_OK;
   for (uint32_t d = 0; d < base->dim_count && status == RKB_OK && has_room(t); d++) {
      dims_of(base, dims);
      if (dims[d] == number)
         continue;
      dims[d] = number;
      status = try_dims(t, base, dims, err);
   }
   return status;
}

static int try_products(struct told *t, const rkb_case_t *base, int64_t number, rkb_error_t *err) {
   int64_t dims[MOST_SOLVED_DIMS];
   uint32_t pairs = 0;
   int status = RKB_OK;
   for (int64_t factor = 2; factor * factor <= number && pairs < MOST_PAIRS; factor++) {
      if (number % factor)
         continue;
      pairs++;
      for (uint32_t a = 0; a < base->dim_count; a++)
         for (uint32_t b = 0; b < base->dim_count && status == RKB_OK && has_room(t); b++) {
            if (a == b)
               continue;
            dims_of(base, dims);
            dims[a] = factor;
            dims[b] = number / factor;
            status = try_dims(t, base, dims, err);
         }
   }
   return status;
}

/* The numbers in an order of the secret's. */
static void shuffle(struct told *t, uint32_t *numbers, uint32_t count) {
   for (uint32_t n = count; n > 1; n--) {
      const uint32_t other = (uint32_t)t->verifier->random->below(&t->stream, n), number = numbers[n - 1];
      numbers[n - 1] = numbers[other];
      numbers[other] = number;
   }
}

/* From the bases from number first on. */
static int search(struct told *t, uint32_t first, uint32_t least, uint32_t *numbers, uint32_t count, rkb_error_t *err) {
   int status = RKB_OK;
   t->least = least;
   for (uint32_t b = first; b < t->base_count && status == RKB_OK; b++) {
      uint32_t large = 0; /* numbers that no dim can be; they come first */
      t->tried = 0;
      shuffle(t, numbers, count);
      for (uint32_t n = 0; n < count && status == RKB_OK && has_room(t); n++) {
         const uint32_t number = numbers[n];
         t->fits = false;
         status = try_each_dim(t, t->bases[b], number, err);
         if (!t->fits) {
            numbers[n] = numbers[large];
            numbers[large++] = number;
         }
      }
      t->tried = 0;
      for (uint32_t n = 0; n < large && status == RKB_OK && has_room(t); n++)
         status = try_products(t, t->bases[b], numbers[n], err);
   }
   return status;
}

/* A number that a dim can be: no sign, and no bits of a float, which are larger than any dim that is executed. */
static void take_number(uint32_t *numbers, uint32_t *count, uint64_t number) {
   uint32_t n = 0;
   while (n < *count && numbers[n] != number)
      n++;
   if (n == *count && n < MOST_NUMBERS && number > 0 && number <= UINT32_C(1) << 24)
      numbers[(*count)++] = (uint32_t)number;
}

/* Those of the PTX, and those that the manifest gives to kernels. */
static int take_numbers(const struct told *t, uint32_t *numbers, uint32_t *count, rkb_error_t *err) {
   const struct verifier *me = t->verifier;
   const struct candidate *candidate = t->candidate;
   rkb_plan_t *plan = NULL;
   rkb_finding_t finding = {0};
   const int status = me->kernel->plan(me->host, candidate->job, candidate->item, candidate->build,
                                       t->bases[0], &plan, &finding, err);
   *count = 0;
   for (uint32_t n = 0; n < candidate->word_count; n++)
      take_number(numbers, count, candidate->words[n]);
   for (uint32_t l = 0; plan && l < plan->launch_count; l++)
      for (uint32_t a = 0; a < plan->launches[l].argument_count; a++)
         if (plan->launches[l].arguments[a].buffer == UINT32_MAX && !plan->launches[l].arguments[a].map)
            take_number(numbers, count, plan->launches[l].arguments[a].value);
   if (plan)
      me->kernel->plan_free(plan);
   return status;
}

static int try_solution(void *argument, const rkb_case_t *base, const int64_t *dims, bool *more,
                        rkb_error_t *err) {
   struct told *t = argument;
   const int status = t->tried < MOST_SOLUTIONS ? try_dims(t, base, dims, err) : RKB_OK;
   *more = has_room(t) && t->tried < MOST_SOLUTIONS;
   return status;
}

/* Solves conditions that came out in one way alone: from the smallest check case and drawn shapes on, then from each shape that was kept; there also
 * those that were solved before, since a second one may have to hold as well. */
static int solve(struct told *t, const rkb_case_t *const *known, uint32_t known_count, rkb_error_t *err) {
   struct size_solver solver = {t->verifier, t->candidate, &t->conditions, &t->stream, try_solution, t};
   const uint32_t before = t->base_count;
   int status = RKB_OK;
   t->most = t->base_count + MOST_SOLVED;
   t->least = WEIGHT_OF_CONDITION;
   t->tried = 0;
   status = size_solver_search(&solver, t->bases[0], false, err);
   for (uint32_t n = 0; n < MOST_KNOWN && n < known_count && status == RKB_OK && has_room(t); n++) {
      t->tried = 0;
      status = size_solver_search(&solver, known[n * known_count / MOST_KNOWN], false, err);
   }
   for (uint32_t b = before; b < t->base_count && status == RKB_OK && has_room(t); b++)
      for (uint32_t again = 0; again < 2 && status == RKB_OK; again++) {
         t->least = again ? WEIGHT_OF_TWO : WEIGHT_OF_CONDITION;
         t->tried = 0;
         status = size_solver_search(&solver, t->bases[b], again, err);
      }
   return status;
}

static int note(struct told *t, const rkb_case_t *the_case, rkb_error_t *err) {
   uint32_t news;
   return shape_conditions_new(&t->conditions, the_case, true, &news, err);
}

/* The shapes that are executed anyway. */
static int note_all(struct told *t, const rkb_case_t *const *known, uint32_t known_count,
                    rkb_case_t *const *drawn, uint32_t drawn_count, rkb_error_t *err) {
   int status = RKB_OK;
   for (uint32_t n = 0; n < known_count && status == RKB_OK; n++)
      if (known[n]->kind == RKB_CASE_DRAWN)
         status = note(t, known[n], err);
   for (uint32_t n = 0; n < drawn_count && status == RKB_OK; n++)
      status = note(t, drawn[n], err);
   return status;
}

/* Looks for shapes by what loops count, after all else and with places of its own, so that an author cannot crowd other conditions out by loops. */
static int search_loops(struct told *t, rkb_case_t **looped, uint32_t *looped_count,
                        const rkb_case_t *const *known, uint32_t known_count, uint32_t *numbers,
                        uint32_t number_count, rkb_error_t *err) {
   const struct verifier *me = t->verifier;
   const uint32_t before = *t->count;
   const rkb_case_t *the_case;
   int status = RKB_OK;
   if (!shape_conditions_follow(&t->conditions))
      return RKB_OK;
   for (uint32_t n = 0;
        status == RKB_OK && (the_case = me->task->case_at(me->host, RKB_CASE_CHECK, n)) != NULL; n++)
      status = note(t, the_case, err);
   if (status == RKB_OK)
      status = note_all(t, known, known_count, t->drawn, before, err);
   if (status != RKB_OK || !shape_conditions_want(&t->conditions))
      return status;
   t->drawn = looped;
   t->count = looped_count;
   t->room = MOST_TOLD + MOST_SOLVED;
   t->base_count = 1;
   t->most = 1 + MOST_TOLD;
   status = search(t, 0, WEIGHT_OF_CONDITION, numbers, number_count, err);
   return status == RKB_OK && RKB_HAS(me->task, dim_range) ? solve(t, known, known_count, err) : status;
}

/* Looks last, also with places of its own, for shapes at which one thread's comparison comes out as at no other shape, or the thread uses another number. */
static int search_results(struct told *t, rkb_case_t *const *drawn, uint32_t drawn_count, rkb_case_t **looped,
                          uint32_t *looped_count, const rkb_case_t *const *known, uint32_t known_count,
                          uint32_t *numbers, uint32_t number_count, rkb_error_t *err) {
   const struct verifier *me = t->verifier;
   uint64_t places[2];
   for (uint32_t n = 0; n < 2; n++)
      places[n] = me->random->below(&t->stream, UINT64_C(1) << 60);
   shape_conditions_close(&t->conditions);
   int status = shape_conditions_open_results(&t->conditions, me, t->candidate, places, err);
   if (status == RKB_OK)
      status = note_all(t, known, known_count, drawn, drawn_count, err);
   if (status == RKB_OK)
      status = note_all(t, NULL, 0, looped, *looped_count, err);
   if (status != RKB_OK || !shape_conditions_want(&t->conditions))
      return status;
   t->drawn = looped;
   t->count = looped_count;
   t->room = *looped_count + MOST_RESULTS;
   t->base_count = 1;
   t->most = 1 + MOST_RESULTS;
   status = search(t, 0, WEIGHT_OF_CONDITION, numbers, number_count, err);
   return status == RKB_OK && RKB_HAS(me->task, dim_range) ? solve(t, known, known_count, err) : status;
}

int sizes_in_text_draw(const struct verifier *me, const struct candidate *candidate,
                       const rkb_case_t *const *known, uint32_t known_count, rkb_case_t **drawn,
                       uint32_t room, uint32_t *count, rkb_case_t **looped, uint32_t *looped_count,
                       rkb_error_t *err) {
   struct told t = {.verifier = me,
                    .candidate = candidate,
                    .stream = me->random->for_job(me->host, candidate->job, STREAM_SIZES),
                    .most = 1 + MOST_TOLD,
                    .drawn = drawn,
                    .count = count,
                    .room = room};
   const rkb_case_t *base = shapes_smallest_check_case(me);
   uint32_t numbers[MOST_NUMBERS], number_count = 0, news;
   *count = *looped_count = 0;
   if (me->config->shapes == 0 || !RKB_HAS(me->task, case_with_dims) || !base ||
       base->dim_count > MOST_SOLVED_DIMS)
      return RKB_OK;
   struct shape_features *features = calloc(1, sizeof *features);
   if (!features)
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for what shapes decide");
   t.bases[t.base_count++] = base;
   int status = shape_conditions_open(&t.conditions, me, candidate, features, err);
   for (uint32_t n = 0; n < known_count && status == RKB_OK; n++)
      if (known[n]->kind == RKB_CASE_DRAWN)
         status = shape_conditions_new(&t.conditions, known[n], true, &news, err);
   if (status == RKB_OK)
      status = take_numbers(&t, numbers, &number_count, err);
   if (status == RKB_OK)
      status = search(&t, 0, WEIGHT_OF_CONDITION, numbers, number_count, err);
   if (status == RKB_OK)
      status = search(&t, 1, WEIGHT_OF_TWO, numbers, number_count, err);
   if (status == RKB_OK && RKB_HAS(me->task, dim_range))
      status = solve(&t, known, known_count, err);
   if (status == RKB_OK)
      status = search_loops(&t, looped, looped_count, known, known_count, numbers, number_count, err);
   if (status == RKB_OK)
      status = search_results(&t, drawn, *count, looped, looped_count, known, known_count, numbers,
                              number_count, err);
   shape_conditions_close(&t.conditions);
   free(features);
   return status;
}
