/* Outputs of which nothing could be judged at a bench shape: too many blocks would have had to be executed.  The whole chain of launches is
 * executed instead at smaller shapes that resemble it: the same launches, attributes and residues of dims, once with all dims made smaller
 * and for some drawn dims with that one as long as at the bench shape (task/case_reduced.c).  Every output is judged there.
 *
 * A launch that no case executes whole, and whose results no bench shape judges, would be accepted unseen: the verdict is unknown then.
 * docs/decisions/sampled-blocks.md.  One worker thread a candidate. */
#include "bench_values.h"

#include <string.h>

#define REDUCED_INSTRUCTIONS 1.5e7 /* thread-instructions of a shape, as the bench shape's blocks tell */
#define LIKELY_INSTRUCTIONS 4.0  /* an operation, where they do not tell */
#define SMALLER 6                /* times, where that was more than it seemed */
#define ATTEMPTS 2u
#define MOST_LONG 3u
#define REDUCED_BUDGET 60000000u /* of a shape */
#define MOST_WASTED 240000000u   /* on shapes that took more, of a bench case */

/* A bench case with outputs that were not judged. */
struct reduced {
   const struct verifier *verifier;
   struct candidate *candidate;
   const struct sample *sample;
   rkb_random_t stream;
   uint64_t wasted;
   json_t *shapes; /* descriptions of those that were executed whole */
};

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
   const int status = r->verifier->kernel->plan(r->verifier->host, candidate->job, candidate->item, candidate->build, shape,
                                                &plan, &finding, err);
   *same = status == RKB_OK && plan && same_launches(plan, r->sample->plan);
   if (plan)
      r->verifier->kernel->plan_free(plan);
   return status;
}

static json_t *describe(const rkb_case_t *shape) {
   char text[256];
   size_t used = 0;
   text[0] = '\0';
   for (uint32_t d = 0; d < shape->dim_count && used < sizeof text; d++)
      used += (size_t)snprintf(text + used, sizeof text - used, "%s%s = %lld", d ? ", " : "", shape->dims[d].name,
                               (long long)shape->dims[d].value);
   return json_string(text);
}

/* Executes the shape whole; *whole: within its budget. */
static int execute(struct reduced *r, const rkb_case_t *shape, bool *whole, rkb_error_t *err) {
   struct outcome *to = r->sample->outcome, own;
   struct candidate candidate = *r->candidate;
   outcome_init(&own, to->debug);
   candidate.once = true;
   candidate.budget = candidate.budget < REDUCED_BUDGET ? candidate.budget : REDUCED_BUDGET;
   const int status = case_run(r->verifier, &candidate, shape, &own, err);
   r->candidate->budget -= own.work < r->candidate->budget ? own.work : r->candidate->budget;
   *whole = status == RKB_OK && own.cases_run == 1;
   r->wasted += *whole ? 0 : own.work;
   own.orders = to->orders; /* the check cases had them */
   if (status == RKB_OK)
      outcome_join(to, &own);
   outcome_free(&own);
   return status;
}

/* *shorter: dims that are smaller than at the bench shape, a bit each. */
static int judge_shape(struct reduced *r, uint32_t longest, uint64_t *shorter, rkb_error_t *err) {
   const struct verifier *me = r->verifier;
   const struct sample *s = r->sample;
   const double each = s->instructions > 0 ? s->instructions / (s->the_case->operations + 1) : LIKELY_INSTRUCTIONS;
   double work = REDUCED_INSTRUCTIONS / each;
   bool whole = false;
   int status = RKB_OK;
   for (uint32_t n = 0; n < ATTEMPTS && !whole && r->wasted < MOST_WASTED && status == RKB_OK && s->outcome->rank < RKB_MACHINE_UNKNOWN; n++, work /= SMALLER) {
      rkb_case_t *shape = NULL;
      bool same = false;
      status = me->task->case_reduced(me->host, s->the_case, &r->stream, work, longest, &shape, err);
      if (status == RKB_OK)
         status = resembles(r, shape, &same, err);
      for (uint32_t d = 0; status == RKB_OK && d < shape->dim_count; d++)
         *shorter |= shape->dims[d].value < s->the_case->dims[d].value ? UINT64_C(1) << d : 0;
      if (status == RKB_OK && same && r->candidate->budget)
         status = execute(r, shape, &whole, err);
      if (status == RKB_OK && whole)
         json_array_append_new(r->shapes, describe(shape));
      if (shape)
         me->task->case_free(shape);
   }
   return status == RKB_ERR_LIMIT ? RKB_OK : status; /* nothing so small fits the domain */
}

/* One with all dims smaller, and some where a drawn one of those stays as long as it is; where none has the bench shape's launches, with each. */
static int judge_shapes(struct reduced *r, rkb_error_t *err) {
   const uint32_t dims = r->sample->the_case->dim_count;
   uint64_t shorter = 0, ignored = 0;
   int status = judge_shape(r, UINT32_MAX, &shorter, err);
   const uint32_t first = dims ? (uint32_t)r->verifier->random->below(&r->stream, dims) : 0;
   for (uint32_t n = 0, had = 0; n < dims && status == RKB_OK && (had < MOST_LONG || !json_array_size(r->shapes)); n++)
      if (shorter >> (first + n) % dims & 1) {
         status = judge_shape(r, (first + n) % dims, &ignored, err);
         had++;
      }
   return status;
}

/* The first launch of the plan that no case has executed whole; NULL: all were. */
static const rkb_plan_launch_t *never_whole(const struct sample *s) {
   for (uint32_t n = 0; n < s->plan->launch_count; n++) {
      const uint64_t name = shapes_launch_name(&s->plan->launches[n]);
      uint32_t known = 0;
      while (known < s->outcome->stored_count && s->outcome->stored[known].launch != name)
         known++;
      if (known == s->outcome->stored_count)
         return &s->plan->launches[n];
   }
   return NULL;
}

static void tell(const struct reduced *r) {
   const struct sample *s = r->sample;
   const rkb_plan_launch_t *unseen = never_whole(s);
   if (json_array_size(r->shapes)) {
      json_array_append_new(s->outcome->reduced, json_pack("{s:s, s:s, s:O}", "case", s->the_case->name, "outputs", s->unjudged,
                                                           "shapes", r->shapes));
   } else if (unseen) {
      outcome_note(s->outcome, RKB_MACHINE_UNKNOWN, "coverage.unjudged",
                   json_pack("{s:s, s:s, s:i}", "case", s->the_case->name, "outputs", s->unjudged, "line", (int)unseen->line),
                   "launch %.80s of case %s is executed whole at no shape, and nothing of %.120s was judged there",
                   unseen->expression, s->the_case->name, s->unjudged);
   }
}

int sample_judge_reduced(struct sample *s, rkb_error_t *err) {
   const struct verifier *me = s->verifier;
   struct reduced r = {.verifier = me, .candidate = s->candidate, .sample = s, .shapes = json_array()};
   int status = RKB_OK;
   if (s->unjudged[0] && s->outcome->rank < RKB_MACHINE_UNKNOWN && me->config->shapes && RKB_HAS(me->task, case_reduced)) {
      r.stream = me->random->for_job(me->host, s->candidate->job, STREAM_REDUCED | s->case_index << 8);
      status = judge_shapes(&r, err);
      if (status == RKB_OK && s->outcome->rank < RKB_MACHINE_UNKNOWN)
         tell(&r);
   }
   json_decref(r.shapes);
   return status;
}
