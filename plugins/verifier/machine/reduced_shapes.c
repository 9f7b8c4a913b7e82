/* Judges outputs of which nothing could be judged at a bench shape, because too many blocks would have had to be executed.  The whole chain
 * of launches is executed instead at smaller shapes that resemble it: the same launches, attributes and residues of dims, once with all
 * dims made smaller, and for some drawn dims once with that dim as long as at the bench shape (task/case_reduced.c).  Every output is
 * judged there.
 *
 * If none of these has the launches, because their conditions give such small shapes to other kernels, each launch is executed at another
 * shape (launch_shapes.c).  The same is done where a launch has several blocks along an axis of its grid at the bench shape alone.
 *
 * A launch that no case executes whole, and whose results no bench shape judges, would be accepted unseen: the verdict is unknown then.
 * docs/decisions/sampled-blocks.md.  One worker thread a candidate. */
#include "reduced_shapes.h"

#include <string.h>

#define SMALLER 6 /* so many times smaller, if a shape took more than it seemed */
#define ATTEMPTS 2u
#define MOST_LONG 3u
#define REDUCED_BUDGET 60000000u /* of a shape */
#define MOST_UNSEEN 4u /* launches of a bench case */
#define MOST_AXES 4u   /* of its launches' grids */
#define AXIS_BUDGET 100000000u /* thread-instructions of a shape with several blocks along one */
#define RESERVE 2      /* a candidate's budget, divided by this, is there for them, whatever was used before */

static bool same_launches(const struct candidate *candidate, const rkb_plan_t *plan,
                          const rkb_plan_t *other) {
   bool same = plan->launch_count == other->launch_count;
   for (uint32_t n = 0; same && n < plan->launch_count; n++)
      same = shapes_launch_name(candidate, &plan->launches[n]) ==
             shapes_launch_name(candidate, &other->launches[n]);
   return same;
}

/* Whether the candidate has the same launches at the shape as at the bench shape. */
static int resembles(const struct reduced *r, const rkb_case_t *shape, bool *same, rkb_error_t *err) {
   const struct candidate *candidate = r->candidate;
   rkb_plan_t *plan = NULL;
   rkb_finding_t finding = {0};
   const int status = r->verifier->kernel->plan(r->verifier->host, candidate->job, candidate->item,
                                                candidate->build, shape, &plan, &finding, err);
   *same = status == RKB_OK && plan && same_launches(candidate, plan, r->sample->plan);
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

/* Judges one shape with all dims smaller, and some in which one drawn dim of those stays as long as it is.  If none of them has the bench shape's launches,
 * lets each other dim stay long in turn. */
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
      const uint64_t name = shapes_launch_name(s->candidate, launch);
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

typedef int (*find_shape_t)(struct reduced *r, const struct wanted_launch *wanted, rkb_case_t **best,
                            rkb_error_t *err);
static const find_shape_t ways[] = {launch_shapes_draw, launch_shapes_reduce, launch_shapes_descend};

/* Executes a shape with the launch whole, within so much work; *whole: there is one, and the work sufficed. */
static int judge_wanted(struct reduced *r, const struct wanted_launch *wanted, uint64_t most, json_t *shapes,
                        bool *whole, rkb_error_t *err) {
   int status = RKB_OK;
   *whole = false;
   for (uint32_t way = 0; way < sizeof ways / sizeof ways[0] && !*whole && status == RKB_OK &&
                          r->sample->outcome->rank < RKB_MACHINE_UNKNOWN;
        way++) {
      rkb_case_t *shape = NULL;
      status = ways[way](r, wanted, &shape, err);
      if (status == RKB_OK && shape && r->candidate->budget)
         status = execute(r, shape, most, whole, err);
      if (status == RKB_OK && *whole)
         json_array_append_new(shapes, reduced_describe(shape));
      if (shape)
         r->verifier->task->case_free(shape);
   }
   return status;
}

/* Executes shapes of the whole domain until each launch of the bench shape has been executed whole, or until one cannot be. */
static int judge_unseen(struct reduced *r, rkb_error_t *err) {
   const struct sample *s = r->sample;
   json_t *shapes = json_array();
   const rkb_plan_launch_t *unseen;
   int status = RKB_OK;
   bool whole = true;
   for (uint32_t n = 0; n < MOST_UNSEEN && whole && status == RKB_OK &&
                        s->outcome->rank < RKB_MACHINE_UNKNOWN && (unseen = never_whole(s)) != NULL;
        n++)
      status = judge_wanted(r, &(struct wanted_launch){shapes_launch_name(s->candidate, unseen), ANY_AXIS},
                            UNSEEN_BUDGET, shapes, &whole, err);
   if (!never_whole(s))
      json_array_extend(r->shapes, shapes);
   else if (status == RKB_OK && s->outcome->rank < RKB_MACHINE_UNKNOWN)
      status = reduced_judge_borrowed(r, err);
   json_decref(shapes);
   return status;
}

/* Whether the launch has more than one block along the axis at the bench shape, and had one at all shapes that were executed whole. */
static bool lacks_axis(const struct sample *s, const rkb_plan_launch_t *launch, uint32_t axis) {
   const struct outcome *outcome = s->outcome;
   for (uint32_t n = 0; launch->grid[axis] > 1 && n < outcome->stored_count; n++)
      if (outcome->stored[n].launch == shapes_launch_name(s->candidate, launch))
         return !(outcome->stored[n].axes >> axis & 1);
   return false;
}

/* A sum that is split among blocks has one part where the shape is small, and then nothing shows what becomes of the second part.  So each axis along
 * which a launch has several blocks at the bench shape has several at a shape that is executed whole. */
static int judge_axes(struct reduced *r, rkb_error_t *err) {
   static const char names[] = "xyz";
   const struct sample *s = r->sample;
   int status = RKB_OK;
   for (uint32_t n = 0, tried = 0; n < s->plan->launch_count; n++)
      for (uint32_t axis = 0; axis < 3; axis++) {
         const rkb_plan_launch_t *launch = &s->plan->launches[n];
         bool whole = false;
         if (status != RKB_OK || s->outcome->rank >= RKB_MACHINE_UNKNOWN || !lacks_axis(s, launch, axis))
            continue;
         if (tried++ < MOST_AXES)
            status = judge_wanted(r, &(struct wanted_launch){shapes_launch_name(s->candidate, launch), axis},
                                  AXIS_BUDGET, r->shapes, &whole, err);
         if (status == RKB_OK && !whole)
            json_array_append_new(
               s->outcome->not_run,
               json_sprintf(
                  "case %s: launch %s has one block along %c at all shapes that were executed whole",
                  s->the_case->name, launch->expression, names[axis]));
      }
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
      if (status == RKB_OK && json_array_size(r.shapes))
         status = judge_axes(&r, err);
      if (status == RKB_OK && s->outcome->rank < RKB_MACHINE_UNKNOWN)
         tell(&r);
   }
   launch_draws_free(r.draws);
   json_decref(r.shapes);
   json_decref(r.borrowed);
   return status;
}
