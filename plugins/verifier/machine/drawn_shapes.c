/* Shapes drawn anew for one candidate: first those with the most features that the check cases do not have, and then those that execute
 * launches which the check cases left out.
 *
 * shape_features.c finds the features of a shape: octaves, residues, modes together.  Each of the first shapes is the best of some that are
 * drawn.
 *
 * Check cases are written without knowing a candidate's tiles: a launch may have a single block on all of them, or be passed over
 * by its condition, and many blocks at the bench shapes.  A grid one block short, or a block's index left out of an address,
 * shows only where there are several blocks.  So shapes are drawn until each launch has been executed, with several blocks along
 * each axis and many along the first, on some shape, or until enough draws have failed: an axis may have one block always. One thread. */
#include "shape_conditions.h"

#include <stdlib.h>
#include <string.h>
#include "machine/state/keyed_sum.h"

#define MOST_LAUNCHES 64
#define LARGER 10           /* the work of every fourth one, times that of the others: the smallest factor that helps */
#define ATTEMPTS 128        /* of which the best is taken */
#define MOST_LACKING 2      /* shapes for what the check cases left out */
#define TELLING_ATTEMPTS 32 /* the same, for a shape that shows something new */

/* What a launch of the manifest was seen to have; a bit each. */
enum { LAUNCHED = 1, SEVERAL_X = 2, MANY_X = 0x10, ALL = 0x1f };

#define MANY 132u           /* multiprocessors of the largest device: what grids are bounded to */
#define MOST_THREADS 65536u /* of a plan; larger ones are not executed for having many blocks */

struct shapes {
   const struct verifier *verifier;
   const struct candidate *candidate;
   uint64_t names[MOST_LAUNCHES];
   uint32_t seen[MOST_LAUNCHES], count;
};

uint64_t shapes_launch_name(const struct candidate *candidate, const rkb_plan_launch_t *launch) {
   const uint64_t key = keyed_sum_key(candidate->key);
   uint64_t name = keyed_sum(key, 0, (uint64_t)launch->line + 1);
   for (const char *at = launch->expression; *at; at++)
      name = keyed_sum(key, name, (uint8_t)*at);
   return name;
}

static uint64_t threads_of(const rkb_plan_launch_t *launch) {
   uint64_t threads = 1;
   for (uint32_t d = 0; d < 3; d++)
      threads *= (uint64_t)launch->grid[d] * launch->block[d];
   return threads;
}

uint64_t shapes_plan_threads(const rkb_plan_t *plan) {
   uint64_t threads = 0;
   for (uint32_t n = 0; n < plan->launch_count; n++)
      threads += threads_of(&plan->launches[n]);
   return threads;
}

bool shapes_must_have_plan(const rkb_finding_t *finding) {
   return strcmp(finding->reason, "plan.memory") != 0;
}

static uint32_t *of_launch(struct shapes *s, uint32_t *of, uint64_t name) {
   uint32_t n = 0;
   while (n < s->count && s->names[n] != name)
      n++;
   if (n == MOST_LAUNCHES)
      return NULL;
   if (n == s->count)
      s->names[s->count++] = name;
   return &of[n];
}

/* Adds what the launches of the case's plan have to of; news: grows by what was not seen before. */
static int note_plan(struct shapes *s, const rkb_case_t *the_case, uint32_t *of, uint32_t *news,
                     rkb_error_t *err) {
   const struct verifier *me = s->verifier;
   rkb_plan_t *plan = NULL;
   rkb_finding_t finding = {0};
   int status = me->kernel->plan(me->host, s->candidate->job, s->candidate->item, s->candidate->build,
                                 the_case, &plan, &finding, err);
   if (status != RKB_OK || !plan)
      return status;
   uint64_t threads = 0;
   for (uint32_t n = 0; n < plan->launch_count; n++)
      threads += threads_of(&plan->launches[n]);
   for (uint32_t n = 0; n < plan->launch_count; n++) {
      uint32_t has = LAUNCHED;
      for (uint32_t d = 0; d < 3; d++)
         has |= plan->launches[n].grid[d] > 1 ? SEVERAL_X << d : 0;
      has |= plan->launches[n].grid[0] >= MANY && threads <= MOST_THREADS ? MANY_X : 0;
      uint32_t *bits = of_launch(s, of, shapes_launch_name(s->candidate, &plan->launches[n]));
      if (!bits)
         continue;
      *news += (uint32_t)__builtin_popcount(has & ~s->seen[bits - of] & ~*bits);
      *bits |= has;
   }
   me->kernel->plan_free(plan);
   return RKB_OK;
}

static bool lacks(const struct shapes *s) {
   for (uint32_t n = 0; n < s->count; n++)
      if (s->seen[n] != ALL)
         return true;
   return false;
}

static int see_all(struct shapes *s, enum rkb_case_kind kind, uint32_t *of, rkb_error_t *err) {
   uint32_t news = 0;
   int status = RKB_OK;
   for (uint32_t n = 0; status == RKB_OK; n++) {
      const rkb_case_t *the_case = s->verifier->task->case_at(s->verifier->host, kind, n);
      if (!the_case)
         break;
      status = note_plan(s, the_case, of, &news, err);
   }
   return status;
}

double shapes_most_work(const struct verifier *me) {
   double least = 0;
   for (uint32_t n = 0;; n++) {
      const rkb_case_t *the_case = me->task->case_at(me->host, RKB_CASE_CHECK, n);
      if (!the_case)
         break;
      least = least == 0 || the_case->operations < least ? the_case->operations : least;
   }
   return 2 * least > me->config->drawn_work ? 2 * least : me->config->drawn_work;
}

const rkb_case_t *shapes_smallest_check_case(const struct verifier *me) {
   const rkb_case_t *smallest = NULL, *one;
   for (uint32_t n = 0; (one = me->task->case_at(me->host, RKB_CASE_CHECK, n)) != NULL; n++)
      if (!smallest || one->operations < smallest->operations)
         smallest = one;
   return smallest;
}

/* Finds the drawn shape with the most launches, and launches of several blocks along an axis, that no earlier shape had; of several such shapes,
 * the smallest.  NULL: no shape has any. */
static int draw_lacking(struct shapes *s, rkb_random_t *stream, rkb_case_t **best, rkb_error_t *err) {
   const struct verifier *me = s->verifier;
   uint32_t gained[MOST_LAUNCHES] = {0}, most = 0;
   int status = RKB_OK;
   *best = NULL;
   for (uint32_t n = 0; n < ATTEMPTS && status == RKB_OK && lacks(s); n++) {
      uint32_t gains[MOST_LAUNCHES] = {0}, news = 0;
      rkb_case_t *drawn = NULL;
      status = me->task->case_draw(me->host, stream, (n % 4 == 3 ? LARGER : 1) * shapes_most_work(me),
                                   &drawn, err);
      if (status == RKB_ERR_LIMIT) { /* nothing so small fits the domain */
         status = RKB_OK;
         break;
      }
      if (status == RKB_OK && drawn)
         status = note_plan(s, drawn, gains, &news, err);
      const bool more = news > most || (news && news == most && drawn->operations < (*best)->operations);
      if (status == RKB_OK && more) {
         rkb_case_t *worse = *best;
         *best = drawn;
         drawn = worse;
         most = news;
         memcpy(gained, gains, sizeof gained);
      }
      if (drawn)
         me->task->case_free(drawn);
   }
   for (uint32_t n = 0; n < s->count; n++)
      s->seen[n] |= gained[n];
   return status;
}

/* Of some drawn shapes the one with the most new features; of equal ones the smallest.  NULL when none is in the domain. */
static int draw_telling(const struct verifier *me, rkb_random_t *stream, struct shape_conditions *conditions,
                        double work, rkb_case_t **best, rkb_error_t *err) {
   uint32_t most = 0;
   int status = RKB_OK;
   *best = NULL;
   for (uint32_t n = 0; n < TELLING_ATTEMPTS && status == RKB_OK; n++) {
      rkb_case_t *drawn = NULL;
      status = me->task->case_draw(me->host, stream, work, &drawn, err);
      uint32_t news = 0;
      if (status == RKB_OK && drawn)
         status = shape_conditions_new(conditions, drawn, false, &news, err);
      news += drawn ? shape_features_new(conditions->features, drawn, false) : 0;
      const bool better =
         drawn && (!*best || news > most || (news == most && drawn->operations < (*best)->operations));
      if (better) {
         rkb_case_t *worse = *best;
         *best = drawn;
         drawn = worse;
         most = news;
      }
      if (drawn)
         me->task->case_free(drawn);
   }
   if (*best)
      (void)shape_features_new(conditions->features, *best, true);
   if (*best && status == RKB_OK)
      status = shape_conditions_new(conditions, *best, true, &most, err);
   return status == RKB_ERR_LIMIT && *best ? RKB_OK : status;
}

/* Until there are so many; every fourth one may be larger. */
static int draw_until(const struct verifier *me, rkb_random_t *stream, struct shape_conditions *conditions,
                      uint32_t asked, rkb_case_t **drawn, uint32_t *count, rkb_error_t *err) {
   int status = RKB_OK;
   for (uint32_t n = *count; n < asked && status == RKB_OK; n++) {
      const double work = (n % 4 == 3 ? LARGER : 1) * shapes_most_work(me);
      status = draw_telling(me, stream, conditions, work, &drawn[*count], err);
      *count += drawn[*count] != NULL;
   }
   return status == RKB_ERR_LIMIT ? RKB_OK : status; /* the check cases are then all there is; the certificate counts shapes */
}

int shapes_draw(const struct verifier *me, const struct candidate *candidate, rkb_case_t **drawn,
                uint32_t room, uint32_t *count, rkb_error_t *err) {
   struct shapes s = {.verifier = me, .candidate = candidate};
   rkb_random_t stream = me->random->for_job(me->host, candidate->job, STREAM_SHAPES);
   const uint32_t asked = me->config->shapes < room ? (uint32_t)me->config->shapes : room,
                  any = (asked + 1) / 2;
   uint32_t at_bench[MOST_LAUNCHES] = {0}, news = 0; /* at_bench: makes their launches known */
   *count = 0;
   if (asked == 0)
      return RKB_OK;
   struct shape_features *features = malloc(sizeof *features);
   if (!features)
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for the features of shapes");
   shape_features_open(features, me);
   struct shape_conditions conditions;
   int status = shape_conditions_open(&conditions, me, candidate, features, err);
   if (status == RKB_OK)
      status = draw_until(me, &stream, &conditions, any, drawn, count, err);
   if (status != RKB_OK)
      goto out;
   status = see_all(&s, RKB_CASE_BENCH, at_bench, err);
   if (status == RKB_OK)
      status = see_all(&s, RKB_CASE_CHECK, s.seen, err);
   for (uint32_t n = 0; n < *count && status == RKB_OK; n++)
      status = note_plan(&s, drawn[n], s.seen, &news, err);
   for (uint32_t n = 0; n < MOST_LACKING && *count < room && status == RKB_OK; n++) {
      status = draw_lacking(&s, &stream, &drawn[*count], err);
      *count += drawn[*count] != NULL;
   }
   if (status == RKB_OK)
      status = draw_until(me, &stream, &conditions, asked, drawn, count, err);
out:
   shape_conditions_close(&conditions);
   free(features);
   return status;
}
