/* Judges outputs of which nothing could be judged at a bench shape, because too many blocks would have had to be executed.  The whole chain
 * of launches is executed instead at smaller shapes that resemble it: the same launches, attributes and residues of dims, once with all
 * dims made smaller and for some drawn dims with that one as long as at the bench shape (task/case_reduced.c).  Every output is judged
 * there.
 *
 * If none of these has the launches, because their conditions give such small shapes to other kernels, each launch is executed at another
 * shape: the cheapest of many that are drawn from the whole domain, the smallest like the bench shape that has it, or the smallest that
 * comes of halving dims of the bench shape as long as the launch stays.
 *
 * A launch that no case executes whole, and whose results no bench shape judges, would be accepted unseen: the verdict is unknown then.
 * docs/decisions/sampled-blocks.md.  One worker thread a candidate. */
#include "reduced_shapes.h"

#include <string.h>

#define SMALLER 6 /* times, where that was more than it seemed */
#define ATTEMPTS 2u
#define MOST_LONG 3u
#define REDUCED_BUDGET 60000000u /* of a shape */
#define LEAST_WORK 1e6           /* operations: drawn_shapes.c reaches what takes fewer */
#define MOST_WORK 3e7
#define DRAWN_LARGER 3 /* times, where none of so many had the launch */
#define STEP 0.6       /* of a shape's operations, those that the next may have */
#define DRAWS 96u      /* of which the one that seems to take least is executed */
#define MOST_UNSEEN 4u /* launches of a bench case */
#define RESERVE 2      /* of a candidate's budget such a part is there for them, whatever was used before */

static bool same_launches(const rkb_plan_t *plan, const rkb_plan_t *other) {
   bool same = plan->launch_count == other->launch_count;
   for (uint32_t n = 0; same && n < plan->launch_count; n++)
      same = shapes_launch_name(&plan->launches[n]) == shapes_launch_name(&other->launches[n]);
   return same;
}

/* Whether the candidate has the same launches at the shape as at the bench shape. */
static int resembles(const struct reduced *r, const rkb_case_t *shape, bool *same, rkb_error_t *err) {
   const struct candidate *candidate = r->candidate;
   rkb_plan_t *plan = NULL;
   rkb_finding_t finding = {0};
   const int status = r->verifier->kernel->plan(r->verifier->host, candidate->job, candidate->item,
                                                candidate->build, shape, &plan, &finding, err);
   *same = status == RKB_OK && plan && same_launches(plan, r->sample->plan);
   if (plan)
      r->verifier->kernel->plan_free(plan);
   return status;
}

json_t *reduced_describe(const rkb_case_t *shape) {
   char text[256];
   size_t used = 0;
   text[0] = '\0';
   for (uint32_t d = 0; d < shape->dim_count && used < sizeof text; d++)
      used += (size_t)snprintf(text + used, sizeof text - used, "%s%s = %lld", d ? ", " : "",
                               shape->dims[d].name, (long long)shape->dims[d].value);
   return json_string(text);
}

/* Executes the shape whole, with at most so many thread-instructions, for an outcome of its own; returns the work that it took.  *whole: it sufficed. */
static uint64_t execute_apart(const struct reduced *r, const rkb_case_t *shape, uint64_t most,
                              struct outcome *own, bool *whole, int *status, rkb_error_t *err) {
   const struct outcome *to = r->sample->outcome;
   struct candidate candidate = *r->candidate;
   outcome_init(own, to->debug);
   candidate.once = true;
   candidate.budget = candidate.budget < most ? candidate.budget : most;
   *status = case_run(r->verifier, &candidate, shape, own, err);
   *whole = *status == RKB_OK && own->cases_run == 1;
   own->orders = to->orders; /* the check cases had them */
   return own->work;
}

static void spend(struct reduced *r, uint64_t work) {
   r->candidate->budget -= work < r->candidate->budget ? work : r->candidate->budget;
}

/* The same at once for the outcome of the case. */
static int execute(struct reduced *r, const rkb_case_t *shape, uint64_t most, bool *whole, rkb_error_t *err) {
   struct outcome own;
   int status;
   spend(r, execute_apart(r, shape, most, &own, whole, &status, err));
   if (status == RKB_OK)
      outcome_join(r->sample->outcome, &own);
   outcome_free(&own);
   return status;
}

double reduced_work(const struct reduced *r, double instructions) {
   const struct sample *s = r->sample;
   return instructions /
          (s->instructions > 0 ? s->instructions / (s->the_case->operations + 1) : LIKELY_INSTRUCTIONS);
}

/* Shapes side by side ------------------------------------------------------------------------------------------------------- */

/* One shape, or a smaller one where that took more than it seemed. */
struct attempt {
   const struct reduced *reduced;
   uint32_t longest;                  /* dim that stays as long as it is; UINT32_MAX: none */
   struct outcome outcomes[ATTEMPTS]; /* of those that were executed */
   uint32_t executed;
   uint64_t work;
   uint64_t shorter; /* dims that are smaller than at the bench shape, a bit each */
   json_t *shape;    /* that was executed whole; NULL: none was */
   int status;
   rkb_error_t err;
};

static int try_shape(struct attempt *a, rkb_random_t *stream, double work, bool *whole) {
   const struct reduced *r = a->reduced;
   const struct verifier *me = r->verifier;
   const struct sample *s = r->sample;
   rkb_case_t *shape = NULL;
   bool same = false;
   int status = me->task->case_reduced(me->host, s->the_case, stream, work, a->longest, &shape, &a->err);
   if (status == RKB_OK)
      status = resembles(r, shape, &same, &a->err);
   for (uint32_t d = 0; status == RKB_OK && d < shape->dim_count; d++)
      a->shorter |= shape->dims[d].value < s->the_case->dims[d].value ? UINT64_C(1) << d : 0;
   if (status == RKB_OK && same && r->candidate->budget)
      a->work +=
         execute_apart(r, shape, REDUCED_BUDGET, &a->outcomes[a->executed++], whole, &status, &a->err);
   if (status == RKB_OK && *whole)
      a->shape = reduced_describe(shape);
   if (shape)
      me->task->case_free(shape);
   return status == RKB_ERR_LIMIT ? RKB_OK : status; /* nothing so small fits the domain */
}

static void run_attempt(void *argument, uint32_t number) {
   struct attempt *a = (struct attempt *)argument + number;
   const struct reduced *r = a->reduced;
   rkb_random_t stream =
      r->verifier->random->for_job(r->verifier->host, r->candidate->job,
                                   STREAM_REDUCED | r->sample->case_index << 8 | (a->longest + 1) << 20);
   double work = reduced_work(r, REDUCED_INSTRUCTIONS);
   bool whole = false, wrong = false;
   for (uint32_t n = 0; n < ATTEMPTS && !whole && !wrong && a->status == RKB_OK; n++, work /= SMALLER) {
      a->status = try_shape(a, &stream, work, &whole);
      wrong = a->executed && a->outcomes[a->executed - 1].rank >= RKB_MACHINE_UNKNOWN;
   }
}

/* Takes what came of it, as long as no earlier one has decided. */
static int take_attempt(struct reduced *r, struct attempt *a, rkb_error_t *err) {
   const bool counts = r->sample->outcome->rank < RKB_MACHINE_UNKNOWN;
   for (uint32_t n = 0; n < a->executed; n++) {
      if (counts && a->status == RKB_OK)
         outcome_join(r->sample->outcome, &a->outcomes[n]);
      outcome_free(&a->outcomes[n]);
   }
   if (counts)
      spend(r, a->work);
   if (counts && a->shape)
      json_array_append(r->shapes, a->shape);
   json_decref(a->shape);
   *err = a->err;
   return counts ? a->status : RKB_OK;
}

static int judge_dims(struct reduced *r, const uint32_t *longest, uint32_t count, uint64_t *shorter,
                      rkb_error_t *err) {
   const struct verifier *me = r->verifier;
   struct attempt *attempts = calloc(count + 1, sizeof *attempts);
   int status = RKB_OK;
   if (!attempts)
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for smaller shapes");
   for (uint32_t n = 0; n < count; n++)
      attempts[n] = (struct attempt){.reduced = r, .longest = longest[n]};
   if (me->workers)
      me->workers->share(me->host, count, run_attempt, attempts);
   else
      for (uint32_t n = 0; n < count; n++)
         run_attempt(attempts, n);
   for (uint32_t n = 0; n < count; n++) {
      const int taken = take_attempt(r, &attempts[n], err);
      *shorter |= attempts[n].shorter;
      status = status == RKB_OK ? taken : status;
   }
   free(attempts);
   return status;
}

/* Dims that are shorter where all are made smaller. */
static int find_shorter(struct reduced *r, uint64_t *shorter, rkb_error_t *err) {
   const struct verifier *me = r->verifier;
   const rkb_case_t *bench = r->sample->the_case;
   rkb_random_t stream =
      me->random->for_job(me->host, r->candidate->job, STREAM_REDUCED | r->sample->case_index << 8);
   rkb_case_t *shape = NULL;
   const int status = me->task->case_reduced(me->host, bench, &stream, reduced_work(r, REDUCED_INSTRUCTIONS),
                                             UINT32_MAX, &shape, err);
   *shorter = 0;
   for (uint32_t d = 0; status == RKB_OK && d < shape->dim_count; d++)
      *shorter |= shape->dims[d].value < bench->dims[d].value ? UINT64_C(1) << d : 0;
   if (shape)
      me->task->case_free(shape);
   return status == RKB_ERR_LIMIT ? RKB_OK : status;
}

/* One with all dims smaller, and some where a drawn one of those stays as long as it is; where none has the bench shape's launches, with each. */
static int judge_shapes(struct reduced *r, rkb_error_t *err) {
   const uint32_t dims = r->sample->the_case->dim_count,
                  first = dims ? (uint32_t)r->verifier->random->below(&r->stream, dims) : 0;
   uint32_t longest[1 + MOST_LONG] = {UINT32_MAX}, count = 1, n = 0;
   uint64_t shorter, seen = 0, ignored = 0;
   int status = find_shorter(r, &shorter, err);
   for (; n < dims && count <= MOST_LONG; n++)
      if (shorter >> (first + n) % dims & 1)
         longest[count++] = (first + n) % dims;
   if (status == RKB_OK)
      status = judge_dims(r, longest, count, &seen, err);
   for (; n < dims && status == RKB_OK && r->sample->outcome->rank < RKB_MACHINE_UNKNOWN &&
          !json_array_size(r->shapes);
        n++)
      if (seen >> (first + n) % dims & 1)
         status = judge_dims(r, (uint32_t[]){(first + n) % dims}, 1, &ignored, err);
   return status;
}

const rkb_plan_launch_t *reduced_unseen(const struct sample *s, uint32_t *from) {
   while (*from < s->plan->launch_count) {
      const rkb_plan_launch_t *launch = &s->plan->launches[(*from)++];
      const uint64_t name = shapes_launch_name(launch);
      uint32_t known = 0;
      while (known < s->outcome->stored_count && s->outcome->stored[known].launch != name)
         known++;
      if (known == s->outcome->stored_count)
         return launch;
   }
   return NULL;
}

/* The first launch of the plan that no case has executed whole; NULL: all were. */
static const rkb_plan_launch_t *never_whole(const struct sample *s) {
   uint32_t from = 0;
   return reduced_unseen(s, &from);
}

/* About how much the launches do: every thread goes along the longest dim.  Tiles that a short dim leaves nearly empty cost as much as full ones. */
static double cost_of(const rkb_plan_t *plan, const rkb_case_t *shape) {
   int64_t longest = 1;
   for (uint32_t d = 0; d < shape->dim_count; d++)
      longest = shape->dims[d].value > longest ? shape->dims[d].value : longest;
   return (double)shapes_plan_threads(plan) * (double)longest;
}

/* Whether the candidate has the launch at the shape, and about what it costs there. */
static int has_launch(const struct reduced *r, const rkb_case_t *shape, uint64_t name, bool *has,
                      double *cost, rkb_error_t *err) {
   const struct candidate *candidate = r->candidate;
   rkb_plan_t *plan = NULL;
   rkb_finding_t finding = {0};
   const int status = r->verifier->kernel->plan(r->verifier->host, candidate->job, candidate->item,
                                                candidate->build, shape, &plan, &finding, err);
   *has = false;
   for (uint32_t n = 0; status == RKB_OK && plan && n < plan->launch_count; n++)
      *has |= shapes_launch_name(&plan->launches[n]) == name;
   *cost = *has ? cost_of(plan, shape) : 0;
   if (plan)
      r->verifier->kernel->plan_free(plan);
   return status;
}

/* Of shapes of so many operations at most, the one with the launch that seems to take least; *best is NULL where none has it. */
static int draw_with_launch(struct reduced *r, double work, uint64_t name, rkb_case_t **best,
                            rkb_error_t *err) {
   const struct verifier *me = r->verifier;
   double least = 0;
   int status = RKB_OK;
   *best = NULL;
   for (uint32_t n = 0; n < DRAWS && status == RKB_OK; n++) {
      rkb_case_t *drawn = NULL;
      bool has = false;
      double cost = 0;
      status = me->task->case_draw(me->host, &r->stream, work, &drawn, err);
      if (status == RKB_OK)
         status = has_launch(r, drawn, name, &has, &cost, err);
      if (has && (!*best || cost < least)) {
         rkb_case_t *worse = *best;
         *best = drawn;
         drawn = worse;
         least = cost;
      }
      if (drawn)
         me->task->case_free(drawn);
   }
   return status == RKB_ERR_LIMIT ? RKB_OK : status; /* nothing so small fits the domain */
}

/* The same among ever larger shapes, until there is one. */
static int draw_growing(struct reduced *r, uint64_t name, rkb_case_t **best, rkb_error_t *err) {
   int status = RKB_OK;
   *best = NULL;
   for (double work = LEAST_WORK; work <= MOST_WORK && !*best && status == RKB_OK; work *= DRAWN_LARGER)
      status = draw_with_launch(r, work, name, best, err);
   return status;
}

/* Small shapes like the bench shape, with the same residues, each with another dim as long as it is, ever larger ones; of the first size at which some
 * have the launch, the one that seems to take least.  Between them and the bench shape may lie shapes that lack the launch. */
static int reduce_with_launch(struct reduced *r, uint64_t name, rkb_case_t **best, rkb_error_t *err) {
   const struct verifier *me = r->verifier;
   const rkb_case_t *bench = r->sample->the_case;
   double least = 0;
   int status = RKB_OK;
   *best = NULL;
   for (double work = LEAST_WORK; work <= MOST_WORK && !*best && status == RKB_OK; work *= DRAWN_LARGER)
      for (uint32_t longest = 0; longest <= bench->dim_count && status == RKB_OK;
           longest++) { /* dim_count: none */
         rkb_case_t *smaller = NULL;
         bool has = false;
         double cost = 0;
         status = me->task->case_reduced(me->host, bench, &r->stream, work, longest, &smaller, err);
         if (status == RKB_OK)
            status = has_launch(r, smaller, name, &has, &cost, err);
         if (has && (!*best || cost < least)) {
            rkb_case_t *worse = *best;
            *best = smaller;
            smaller = worse;
            least = cost;
         }
         if (smaller)
            me->task->case_free(smaller);
         if (status == RKB_ERR_LIMIT) /* nothing so small fits the domain */
            status = RKB_OK;
      }
   return status;
}

/* From the bench shape to a smaller one, again and again, as long as the launch stays; *best is NULL where it stays at none. */
static int descend_with_launch(struct reduced *r, uint64_t name, rkb_case_t **best, rkb_error_t *err) {
   const struct verifier *me = r->verifier;
   const rkb_case_t *bench = r->sample->the_case;
   int status = RKB_OK;
   *best = NULL;
   for (uint32_t failed = 0, first = 0; failed <= bench->dim_count && status == RKB_OK;) {
      const rkb_case_t *from = *best ? *best : bench;
      if (!failed)
         first = (uint32_t)me->random->below(&r->stream, bench->dim_count + 1);
      const uint32_t longest = (first + failed) % (bench->dim_count + 1); /* dim_count: none; each has its turn */
      rkb_case_t *smaller = NULL;
      bool has = false;
      double cost = 0;
      status =
         me->task->case_reduced(me->host, from, &r->stream, STEP * from->operations, longest, &smaller, err);
      if (status == RKB_OK)
         status = has_launch(r, smaller, name, &has, &cost, err);
      failed = has ? 0 : failed + 1;
      if (has) {
         rkb_case_t *larger = *best;
         *best = smaller;
         smaller = larger;
      }
      if (smaller)
         me->task->case_free(smaller);
      if (status == RKB_ERR_LIMIT) /* nothing so small fits the domain */
         status = RKB_OK;
   }
   return status;
}

/* Finds a shape with the launch of that name; *best is NULL where there is none. */
typedef int (*find_shape_t)(struct reduced *r, uint64_t name, rkb_case_t **best, rkb_error_t *err);

/* Executes shapes of the whole domain until each launch of the bench shape has been executed whole, or until one cannot be. */
static int judge_unseen(struct reduced *r, rkb_error_t *err) {
   static const find_shape_t ways[] = {draw_growing, reduce_with_launch, descend_with_launch};
   const struct sample *s = r->sample;
   json_t *shapes = json_array();
   const rkb_plan_launch_t *unseen;
   int status = RKB_OK;
   bool whole = true;
   for (uint32_t n = 0; n < MOST_UNSEEN && whole && status == RKB_OK &&
                        s->outcome->rank < RKB_MACHINE_UNKNOWN && (unseen = never_whole(s)) != NULL;
        n++) {
      const uint64_t name = shapes_launch_name(unseen);
      whole = false;
      for (uint32_t way = 0; way < sizeof ways / sizeof ways[0] && !whole && status == RKB_OK &&
                             s->outcome->rank < RKB_MACHINE_UNKNOWN;
           way++) {
         rkb_case_t *shape = NULL;
         status = ways[way](r, name, &shape, err);
         if (status == RKB_OK && shape && r->candidate->budget)
            status = execute(r, shape, UNSEEN_BUDGET, &whole, err);
         if (status == RKB_OK && whole)
            json_array_append_new(shapes, reduced_describe(shape));
         if (shape)
            r->verifier->task->case_free(shape);
      }
   }
   if (!never_whole(s))
      json_array_extend(r->shapes, shapes);
   else if (status == RKB_OK && s->outcome->rank < RKB_MACHINE_UNKNOWN)
      status = reduced_judge_borrowed(r, err);
   json_decref(shapes);
   return status;
}

/* Dear blocks of bench shapes may have used all of the budget.  Once a candidate, since work is bounded. */
static void take_reserve(struct candidate *candidate) {
   const uint64_t reserve = candidate->given / RESERVE;
   if (!candidate->reserved && candidate->budget < reserve) {
      candidate->budget = reserve;
      candidate->reserved = true;
   }
}

static void tell(const struct reduced *r) {
   const struct sample *s = r->sample;
   const rkb_plan_launch_t *unseen = never_whole(s);
   if (json_array_size(r->shapes)) {
      json_array_append_new(s->outcome->reduced, json_pack("{s:s, s:s, s:O}", "case", s->the_case->name,
                                                           "outputs", s->unjudged, "shapes", r->shapes));
   } else if (json_array_size(r->borrowed)) {
      json_array_append_new(s->outcome->reduced,
                            json_pack("{s:s, s:s, s:O}", "case", s->the_case->name, "outputs", s->unjudged,
                                      "shapes_outside_conditions", r->borrowed));
   } else if (unseen) {
      outcome_note(
         s->outcome, RKB_MACHINE_UNKNOWN, "coverage.unjudged",
         json_pack("{s:s, s:s, s:i}", "case", s->the_case->name, "outputs", s->unjudged, "line",
                   (int)unseen->line),
         "launch %.80s of case %s is executed whole at no shape, and nothing of %.120s was judged there%s%s",
         unseen->expression, s->the_case->name, s->unjudged,
         r->not_borrowed[0] ? "; outside its condition: " : "", r->not_borrowed);
   }
}

int sample_judge_reduced(struct sample *s, rkb_error_t *err) {
   const struct verifier *me = s->verifier;
   struct reduced r = {.verifier = me,
                       .candidate = s->candidate,
                       .sample = s,
                       .shapes = json_array(),
                       .borrowed = json_array()};
   int status = RKB_OK;
   if (s->unjudged[0] && s->outcome->rank < RKB_MACHINE_UNKNOWN && me->config->shapes &&
       RKB_HAS(me->task, case_reduced)) {
      r.stream = me->random->for_job(me->host, s->candidate->job, STREAM_REDUCED | s->case_index << 8);
      take_reserve(r.candidate);
      status = judge_shapes(&r, err);
      if (status == RKB_OK && !json_array_size(r.shapes))
         status = judge_unseen(&r, err);
      if (status == RKB_OK && s->outcome->rank < RKB_MACHINE_UNKNOWN)
         tell(&r);
   }
   json_decref(r.shapes);
   json_decref(r.borrowed);
   return status;
}
