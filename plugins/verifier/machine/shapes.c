/* Shapes drawn anew for one candidate: any from the task's domain, and then those that execute what the check cases left out.
 *
 * Check cases are written without knowing a candidate's tiles: a launch may have a single block on all of them, or be passed over
 * by its condition, and many blocks at the bench shapes.  A grid one block short, or a block's index left out of an address,
 * shows only where there are several blocks.  So shapes are drawn until each launch has been executed, with several blocks along
 * each axis, on some shape, or until enough draws have failed: an axis may have one block always. One thread. */
#include "verifier.h"

#include <stdlib.h>
#include <string.h>

#define MOST_LAUNCHES 64
#define ATTEMPTS 48

/* What a launch of the manifest was seen to have; a bit each. */
enum { LAUNCHED = 1, SEVERAL_X = 2, ALL = 0xf };

struct shapes {
   const struct verifier *verifier;
   const struct candidate *candidate;
   uint32_t lines[MOST_LAUNCHES], seen[MOST_LAUNCHES], count;
};

static uint32_t *of_line(struct shapes *s, uint32_t *of, uint32_t line) {
   uint32_t n = 0;
   while (n < s->count && s->lines[n] != line)
      n++;
   if (n == MOST_LAUNCHES)
      return NULL;
   if (n == s->count)
      s->lines[s->count++] = line;
   return &of[n];
}

/* Adds what the launches of the case's plan have to of; news: something that was not seen before. */
static int note_plan(struct shapes *s, const rkb_case_t *the_case, uint32_t *of, bool *news,
                     rkb_error_t *err) {
   const struct verifier *me = s->verifier;
   rkb_plan_t *plan = NULL;
   rkb_finding_t finding = {0};
   int status = me->kernel->plan(me->host, s->candidate->job, s->candidate->item, s->candidate->build,
                                 the_case, &plan, &finding, err);
   if (status != RKB_OK || !plan)
      return status;
   for (uint32_t n = 0; n < plan->launch_count; n++) {
      uint32_t has = LAUNCHED;
      for (uint32_t d = 0; d < 3; d++)
         has |= plan->launches[n].grid[d] > 1 ? SEVERAL_X << d : 0;
      uint32_t *bits = of_line(s, of, plan->launches[n].line);
      if (!bits)
         continue;
      *news |= (has & ~s->seen[bits - of]) != 0;
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
   bool news = false;
   int status = RKB_OK;
   for (uint32_t n = 0; status == RKB_OK; n++) {
      const rkb_case_t *the_case = s->verifier->task->case_at(s->verifier->host, kind, n);
      if (!the_case)
         break;
      status = note_plan(s, the_case, of, &news, err);
   }
   return status;
}

/* One more shape that executes something that is lacking; NULL when none was found. */
static int draw_lacking(struct shapes *s, rkb_random_t *stream, uint32_t *attempts, rkb_case_t **drawn,
                        rkb_error_t *err) {
   const struct verifier *me = s->verifier;
   int status = RKB_OK;
   *drawn = NULL;
   while (status == RKB_OK && lacks(s) && *attempts < ATTEMPTS) {
      uint32_t passing[MOST_LAUNCHES] = {0};
      bool news = false;
      ++*attempts;
      status = me->task->case_draw(me->host, stream, me->config->drawn_work, drawn, err);
      if (status == RKB_ERR_LIMIT)
         return RKB_OK; /* nothing so small fits the domain */
      if (status == RKB_OK && *drawn)
         status = note_plan(s, *drawn, passing, &news, err);
      if (status == RKB_OK && news) {
         for (uint32_t n = 0; n < s->count; n++)
            s->seen[n] |= passing[n];
         return RKB_OK;
      }
      if (*drawn)
         me->task->case_free(*drawn);
      *drawn = NULL;
   }
   return status;
}

/* Until there are so many, of any kind. */
static int draw_any(const struct verifier *me, rkb_random_t *stream, uint32_t asked, rkb_case_t **drawn,
                    uint32_t *count, rkb_error_t *err) {
   int status = RKB_OK;
   for (uint32_t n = *count; n < asked && status == RKB_OK; n++) {
      status = me->task->case_draw(me->host, stream, me->config->drawn_work, &drawn[*count], err);
      *count += status == RKB_OK && drawn[*count];
   }
   return status;
}

int shapes_draw(const struct verifier *me, const struct candidate *candidate, rkb_case_t **drawn,
                uint32_t room, uint32_t *count, rkb_error_t *err) {
   struct shapes s = {.verifier = me, .candidate = candidate};
   rkb_random_t stream = me->random->for_job(me->host, candidate->job, 0);
   const uint32_t asked = me->config->shapes < room ? (uint32_t)me->config->shapes : room,
                  any = (asked + 1) / 2;
   uint32_t attempts = 0, at_bench[MOST_LAUNCHES] = {0}; /* makes their launches known */
   bool news = false;
   *count = 0;
   int status = draw_any(me, &stream, any, drawn, count, err);
   if (asked == 0 || status != RKB_OK)
      return status;
   status = see_all(&s, RKB_CASE_BENCH, at_bench, err);
   if (status == RKB_OK)
      status = see_all(&s, RKB_CASE_CHECK, s.seen, err);
   for (uint32_t n = 0; n < *count && status == RKB_OK; n++)
      status = note_plan(&s, drawn[n], s.seen, &news, err);
   for (uint32_t n = 0; n < asked && *count < room && status == RKB_OK; n++) {
      status = draw_lacking(&s, &stream, &attempts, &drawn[*count], err);
      if (status != RKB_OK || !drawn[*count])
         break;
      ++*count;
   }
   return status == RKB_OK ? draw_any(me, &stream, asked, drawn, count, err) : status;
}
