/* Shapes at which the manifest's expressions have an outcome that they have at no other shape.
 *
 * A manifest can decide in place of the kernel: `D + 65536 * if(D % 64 == 45, 1, 0)` as an argument needs no comparison in the PTX, and varies with D anyway.
 * So both outcomes of each comparison, min, max and division of an expression are wanted: true and false, with a remainder and without.
 * Another value than 0 is wanted of each product, quotient, min and max that is 0 at all shapes: `(D / 300) * (T / 20)`.  A decision that
 * had one outcome at all shapes so far is searched for (decision_search.c).  A found shape may be the first to reach further decisions;
 * these follow in turn.  One thread. */
#include "decision_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SOLVED 12u        /* shapes */
#define MOST_EVALUATED 100000u /* shapes, of which only the manifest's expressions are evaluated */
#define SHORT_DIM 1024         /* a dim is not made shorter: rings of buffers come round some times */
#define LARGER 10              /* the work of other drawn shapes */
#define MOST_BASES 3u          /* shapes from which others are looked for, beside those that were found */
#define MOST_NEAREST                                                                                         \
   8u /* shapes next to a border, from which others are looked for; each time one is found */

struct drawing {
   const struct verifier *verifier;
   struct candidate *candidate;
   rkb_random_t stream;
   struct decision_search search;
   const rkb_case_t **shapes; /* known ones, and then those that are drawn */
   uint32_t shape_count;
   rkb_case_t **drawn;
   uint32_t *count, room;
};

static void dims_of(const rkb_case_t *shape, int64_t *dims) {
   for (uint32_t d = 0; d < shape->dim_count; d++)
      dims[d] = shape->dims[d].value;
}

/* Opens a survey of shapes with the attributes of this one.  *open: false where the manifest cannot be read. */
static int look_from(struct drawing *g, const rkb_case_t *like, bool *open, rkb_error_t *err) {
   const struct verifier *me = g->verifier;
   me->kernel->survey_free(g->search.survey);
   g->search.survey = NULL;
   const int status = me->kernel->survey_open(me->host, g->candidate->item, like, &g->search.survey, err);
   *open = status == RKB_OK && g->search.survey;
   return status;
}

/* Takes what an executed shape decides. */
static int note(struct drawing *g, const rkb_case_t *shape, rkb_error_t *err) {
   int64_t dims[MOST_SHAPE_DIMS];
   bool open;
   const int status = look_from(g, shape, &open, err);
   dims_of(shape, dims);
   g->search.notes = true;
   g->search.left++;
   if (open)
      (void)decision_search_at(&g->search, dims);
   g->search.notes = false;
   return status;
}

/* Where some decisions had no room nothing is looked for: the candidate is unknown (machine_verifier.c). */
static bool any_wanted(const struct decision_search *search) {
   if (search->is_full)
      return false;
   for (uint32_t n = 0; n < search->count; n++)
      if (decision_is_wanted(&search->list[n]))
         return true;
   return false;
}

/* The threads of all launches; UINT64_MAX where there is no plan. */
static int threads_at(const struct drawing *g, const rkb_case_t *shape, uint64_t *threads, rkb_error_t *err) {
   const struct verifier *me = g->verifier;
   rkb_plan_t *plan = NULL;
   rkb_finding_t finding = {0};
   const int status = me->kernel->plan(me->host, g->candidate->job, g->candidate->item, g->candidate->build,
                                       shape, &plan, &finding, err);
   *threads = plan ? shapes_plan_threads(plan) : UINT64_MAX;
   if (plan)
      me->kernel->plan_free(plan);
   return status;
}

/* Halves dims, to the same remainders by 32, as long as all that is new at the shape is decided as it is there.  A shape that was mixed from others may have a
 * dim that is much longer than what is wanted asks for. */
static void shorten(struct drawing *g, int64_t *dims) {
   uint64_t wanted[DECISION_NEWS], news[DECISION_NEWS];
   bool same = decision_search_news(&g->search, dims, wanted);
   for (uint32_t d = 0; d < g->search.dim_count && same; d++) {
      bool shorter = true;
      while (shorter && dims[d] >= 2 * SHORT_DIM) {
         const int64_t before = dims[d];
         dims[d] -= before / 2 / 32 * 32;
         shorter = decision_search_news(&g->search, dims, news);
         for (uint32_t n = 0; n < DECISION_NEWS; n++)
            shorter &= (wanted[n] & ~news[n]) == 0;
         dims[d] = shorter ? dims[d] : before;
      }
   }
}

/* Makes the case with the fewest threads of the shapes found for a decision; NULL where all of them are too much work. */
static int make_cheapest(struct drawing *g, struct decision *d, const rkb_case_t *like, rkb_case_t **best,
                         rkb_error_t *err) {
   const struct verifier *me = g->verifier;
   uint64_t least = 0;
   int status = RKB_OK;
   *best = NULL;
   for (uint32_t n = 0; n < d->found_count && status == RKB_OK; n++) {
      rkb_case_t *made = NULL;
      uint64_t threads = 0;
      shorten(g, d->found[n]);
      status = me->task->case_with_dims(me->host, like, &g->stream, d->found[n],
                                        LARGER * shapes_most_work(me), &made, err);
      if (made)
         status = threads_at(g, made, &threads, err);
      else if (status == RKB_ERR_LIMIT)
         status = RKB_OK;
      if (made && (!*best || threads < least)) {
         rkb_case_t *worse = *best;
         *best = made;
         made = worse;
         least = threads;
      }
      if (made)
         me->task->case_free(made);
   }
   return status;
}

/* Keeps a shape that is too much work: blocks of it are sampled (large_offsets.c). */
static int keep_large(struct drawing *g, struct decision *d, const rkb_case_t *like, rkb_error_t *err) {
   const struct verifier *me = g->verifier;
   struct candidate *candidate = g->candidate;
   if (candidate->large_count == MOST_LARGE || d->is_large)
      return RKB_OK;
   d->is_large = true;
   const int status = me->task->case_with_dims(me->host, like, &g->stream, d->found[0], INFINITY,
                                               &candidate->large[candidate->large_count], err);
   candidate->large_count += status == RKB_OK;
   return status == RKB_ERR_LIMIT ? RKB_OK : status;
}

static int make_found(struct drawing *g, struct decision *d, const rkb_case_t *like, rkb_error_t *err) {
   rkb_case_t *made = NULL;
   int status = make_cheapest(g, d, like, &made, err);
   if (!made && status == RKB_OK)
      status = keep_large(g, d, like, err);
   if (!made)
      return status;
   g->shapes[g->shape_count++] = made;
   g->drawn[(*g->count)++] = made;
   return status == RKB_OK ? note(g, made, err) : status;
}

/* Makes cases of what was found, from a drawn decision on, so that an author cannot know which of many decisions are left out.  Remainders come last: many of
 * them leave no room for a comparison that singles out a size.  The caller is told if comparisons find no room. */
static int keep_found(struct drawing *g, const rkb_case_t *like, rkb_error_t *err) {
   struct decision_search *s = &g->search;
   const uint32_t count = s->count,
                  first = count ? (uint32_t)g->verifier->random->below(&g->stream, count) : 0;
   int status = RKB_OK;
   for (uint32_t k = 0; k < 2 * count && status == RKB_OK; k++) {
      struct decision *d = &s->list[(first + k) % count];
      if (d->divides != (k >= count))
         continue;
      if (decision_is_wanted(d) && d->found_count) {
         if (*g->count < g->room)
            status = make_found(g, d, like, err);
         else
            g->candidate->decides_too_much |= !d->divides && !d->is_value;
      }
      d->found_count = 0;
   }
   return status;
}

/* Along the other dims of the shapes that are nearest to what is wanted. */
static void scan_nearest(struct decision_search *s) {
   uint32_t scanned = 0;
   for (uint32_t n = 0; n < s->count && scanned < MOST_NEAREST; n++) {
      struct decision *d = &s->list[n];
      int64_t dims[MOST_SHAPE_DIMS];
      if (!d->is_nearer || d->divides || d->found_count || !decision_is_wanted(d))
         continue;
      d->is_nearer = false;
      scanned++;
      memcpy(dims, d->nearest_dims, sizeof dims);
      decision_search_scan(s, dims);
   }
}

static int search_from(struct drawing *g, const rkb_case_t *base, bool nearest, rkb_error_t *err) {
   struct decision_search *s = &g->search;
   int64_t dims[MOST_SHAPE_DIMS];
   bool open = false;
   int status = look_from(g, base, &open, err);
   dims_of(base, dims);
   if (!open)
      return status;
   if (nearest) {
      scan_nearest(s);
   } else {
      decision_search_curves(s, dims);
      decision_search_scan(s, dims);
      decision_search_cross(s);
   }
   return keep_found(g, base, err);
}

static int by_work(const void *a, const void *b) {
   const rkb_case_t *left = *(const rkb_case_t *const *)a, *right = *(const rkb_case_t *const *)b;
   return (left->operations > right->operations) - (left->operations < right->operations);
}

/* From the shapes beginning with first: those that are found are looked from in turn. */
static int search_on(struct drawing *g, uint32_t first, bool nearest, rkb_error_t *err) {
   int status = RKB_OK;
   for (uint32_t n = first; n < g->shape_count && status == RKB_OK && g->search.left; n++)
      if (any_wanted(&g->search))
         status = search_from(g, g->shapes[n], nearest, err);
   return status;
}

static int draw(struct drawing *g, const rkb_case_t *const *known, uint32_t known_count, rkb_error_t *err) {
   int status = RKB_OK;
   memcpy(g->shapes, known, known_count * sizeof *known);
   qsort(g->shapes, known_count, sizeof *g->shapes, by_work);
   g->shape_count = known_count;
   for (uint32_t n = 0; n < known_count && status == RKB_OK; n++)
      status = note(g, known[n], err);
   g->search.left = MOST_EVALUATED;
   for (uint32_t n = 0; n < known_count && n < MOST_BASES && status == RKB_OK; n++)
      if (any_wanted(&g->search))
         status = search_from(g, g->shapes[n * known_count / MOST_BASES], false, err);
   if (status == RKB_OK)
      status = search_on(g, known_count, false, err);
   const uint32_t before = g->shape_count;
   if (status == RKB_OK && known_count && any_wanted(&g->search))
      status = search_from(g, g->shapes[0], true, err);
   return status == RKB_OK ? search_on(g, before, false, err) : status;
}

int manifest_decisions_draw(const struct verifier *me, struct candidate *candidate,
                            const rkb_case_t *const *known, uint32_t known_count, rkb_case_t **drawn,
                            uint32_t room, uint32_t *count, rkb_error_t *err) {
   *count = 0;
   if (me->config->shapes == 0 || known_count == 0 || known[0]->dim_count > MOST_SHAPE_DIMS ||
       !RKB_HAS(me->task, dim_range) || !RKB_HAS(me->kernel, survey_free))
      return RKB_OK;
   struct drawing *g = malloc(sizeof *g);
   const rkb_case_t **shapes = calloc(known_count + MOST_SOLVED, sizeof *shapes);
   int status = g && shapes ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "no memory for what a manifest decides");
   if (status == RKB_OK) {
      decision_search_begin(&g->search);
      g->verifier = me;
      g->candidate = candidate;
      g->shapes = shapes;
      g->shape_count = 0;
      g->drawn = drawn;
      g->count = count;
      g->room = room < MOST_SOLVED ? room : MOST_SOLVED;
      g->stream = me->random->for_job(me->host, candidate->job, STREAM_DECISIONS);
      g->search.kernel = me->kernel;
      g->search.many = me->survey;
      g->search.turn = (uint32_t)me->random->below(&g->stream, MOST_DECISIONS);
      g->search.dim_count = known[0]->dim_count;
      g->search.way = MOST_SHAPE_DIMS;
      for (uint32_t d = 0; d < g->search.dim_count; d++)
         me->task->dim_range(me->host, d, &g->search.low[d], &g->search.high[d]);
      status = draw(g, known, known_count, err);
      candidate->decides_too_much |= g->search.is_full;
      me->kernel->survey_free(g->search.survey);
   }
   free(g);
   free(shapes);
   return status;
}
