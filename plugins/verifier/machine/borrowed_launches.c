/* Executes launches of a bench shape at smaller shapes.  No smaller shape has these launches by itself, because their `when` holds at large shapes alone: it
 * asks for 64-bit indices, or chooses between two kernels by size.  So smaller shapes borrow the bench shape's launches.  Their results are judged as
 * at any shape.  But a wrong result proves nothing, because the kernel's author excluded these shapes.
 *
 * Conditions on parameters and sizes alone (D % 8 == 4) must have the same outcome as at the bench shape.  Otherwise the verdict would cover code that was
 * not executed.  The same holds for branches that depend on loops and memory: each outcome that the sampled blocks of the bench shape have must occur
 * at a smaller shape too.  docs/decisions/sampled-blocks.md.  One worker thread a candidate. */
#include "noted_decisions.h"
#include "reduced_shapes.h"

#include <stdlib.h>

#define SHAPE_WORK 300000000u /* thread-instructions of a shape */
#define MOST_WORK 1500000000u /* of all shapes of a bench case */
#define ATTEMPTS 3u
#define SMALLER 5 /* if a shape took more work than was estimated, the next shape has this many times less */
#define STEP 0.5  /* share of a shape's operations that the next shape may have */
#define GROWTH 4  /* if smaller shapes lack a decision of the bench shape, the next shapes are this many times larger */
#define MOST_GROWTH 16
#define LEAST_TURNS 4u /* turns of a loop at a smaller shape that stand for any more turns at the bench shape */
#define MOST_KERNELS 64u
/* Vectors may run along a dim of at least LONG_DIM, if the dim is a multiple of the vector.  So a shape keeps the remainder of a long dim by the widest
 * vector's elements. */
#define LONG_DIM 64
#define WIDEST 8
#define SEVERAL_BLOCKS 0x7ffffff0u /* number of a condition of our own: the grid has several blocks along an axis; + the axis */

/* The outcomes of a launch's conditions, in their order. */
struct decided {
   uint32_t *outcomes; /* number * 2 + outcome */
   uint32_t count, room;
   bool failed;
};

struct borrower {
   struct reduced *reduced;
   rkb_machine_conditions_t *kernels[MOST_KERNELS]; /* by number in the build */
   struct decided bench, shape;
   uint64_t budget; /* thread-instructions left for all shapes */
   double growth;   /* factor of the shapes' work; it grows while smaller shapes lack a decision of the bench shape */
   struct noted_decisions large,
      small; /* decisions of the bench shape's sampled blocks; of all smaller shapes whose results were right */
};

static void take(void *argument, uint32_t number, bool outcome) {
   struct decided *d = argument;
   if (d->count == d->room) {
      const uint32_t room = d->room ? 2 * d->room : 64;
      uint32_t *larger = realloc(d->outcomes, room * sizeof *larger);
      d->failed |= !larger;
      if (!larger)
         return;
      d->outcomes = larger;
      d->room = room;
   }
   d->outcomes[d->count++] = number * 2 + outcome;
}

/* Appends the outcomes of conditions in the plan's launches, for launches that no case executed whole. */
static bool decide(struct borrower *b, const rkb_plan_t *plan, struct decided *to) {
   const struct sample *s = b->reduced->sample;
   const rkb_plan_launch_t *unseen;
   bool all = true;
   to->count = 0;
   for (uint32_t from = 0; (unseen = reduced_unseen(s, &from)) != NULL;) {
      const rkb_plan_launch_t *launch = NULL;
      for (uint32_t n = 0; n < plan->launch_count; n++)
         if (shapes_launch_name(s->candidate, &plan->launches[n]) == shapes_launch_name(s->candidate, unseen))
            launch = &plan->launches[n];
      if (!launch || launch->kernel >= MOST_KERNELS) {
         all = false;
         continue;
      }
      rkb_machine_conditions_t **conditions = &b->kernels[launch->kernel];
      if (!*conditions)
         *conditions = rkb_machine_conditions_new(b->reduced->candidate->module, launch->entry);
      all &= *conditions != NULL;
      if (*conditions)
         rkb_machine_conditions_decide(*conditions, launch, take, to);
      for (uint32_t d = 0; d < 3; d++)
         take(to, SEVERAL_BLOCKS + d, launch->grid[d] > 1);
   }
   return all && !to->failed;
}

/* Whether long dims keep their remainders.  A kernel may need a remainder that its `when` asks for (T % 4 == 0), and this file does not read conditions. */
static bool keeps_remainders(const rkb_case_t *bench, const rkb_case_t *shape) {
   bool keeps = true;
   for (uint32_t d = 0; d < bench->dim_count; d++)
      keeps &= bench->dims[d].value < LONG_DIM || bench->dims[d].value % WIDEST == shape->dims[d].value % WIDEST;
   return keeps;
}

/* *alike: the shape can borrow the launches, and their conditions have the same outcomes as at the bench shape. */
static int borrows(struct borrower *b, const rkb_case_t *shape, bool *alike, rkb_error_t *err) {
   const struct verifier *me = b->reduced->verifier;
   const struct candidate *candidate = b->reduced->candidate;
   rkb_plan_t *plan = NULL;
   rkb_finding_t finding = {0};
   const int status = me->kernel->plan_borrowed(me->host, candidate->job, candidate->item, candidate->build,
                                                shape, b->reduced->sample->plan, &plan, &finding, err);
   *alike = status == RKB_OK && plan && decide(b, plan, &b->shape) && b->shape.count == b->bench.count;
   for (uint32_t n = 0; *alike && n < b->bench.count; n++)
      *alike = b->shape.outcomes[n] == b->bench.outcomes[n];
   if (plan)
      me->kernel->plan_free(plan);
   return status;
}

/* Halves dims as long as the shape can borrow the launches.  *best: the smallest such shape with at least about `least` operations; NULL: there is none.
 * longest: the dim that stays long.  strict: long dims have to keep their remainders too. */
static int find_shape(struct borrower *b, double least, uint32_t longest, bool strict, rkb_case_t **best,
                      rkb_error_t *err) {
   struct reduced *r = b->reduced;
   const struct verifier *me = r->verifier;
   const rkb_case_t *bench = r->sample->the_case;
   int status = RKB_OK;
   *best = NULL;
   for (uint32_t failed = 0;
        failed <= bench->dim_count && status == RKB_OK && (!*best || (*best)->operations > least);) {
      const rkb_case_t *from = *best ? *best : bench;
      const uint32_t kept = failed ? (longest + failed) % (bench->dim_count + 1) : longest;
      rkb_case_t *smaller = NULL;
      bool alike = false;
      /* First tries to reach the number of operations in one step.  If that shape is not like the bench shape, goes step by step. */
      const double work = !*best && !failed ? least : STEP * from->operations;
      status = me->task->case_reduced(me->host, from, &r->stream, work, kept, &smaller, err);
      if (status == RKB_OK)
         status = borrows(b, smaller, &alike, err);
      alike &= status == RKB_OK && (!strict || keeps_remainders(bench, smaller));
      failed = alike ? 0 : failed + 1;
      if (alike) {
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

/* Executes the shape.  *right: it was executed whole, and its results are right.  *costly: it was not executed whole, and nothing wrong was found. */
static int execute(struct borrower *b, const rkb_case_t *shape, bool *right, bool *costly, rkb_error_t *err) {
   struct reduced *r = b->reduced;
   struct outcome *to = r->sample->outcome, own;
   struct candidate candidate = *r->candidate;
   struct noted_decisions noted = {.count = 0};
   outcome_init(&own, to->debug);
   candidate.once = true;
   candidate.noted = &noted;
   candidate.lender = r->sample->plan;
   candidate.budget = b->budget < SHAPE_WORK ? b->budget : SHAPE_WORK;
   const int status = case_run(r->verifier, &candidate, shape, &own, err);
   r->candidate->budget -= own.work < r->candidate->budget ? own.work : r->candidate->budget;
   b->budget -= own.work < b->budget ? own.work : b->budget;
   to->runs += own.runs;
   to->work += own.work;
   to->thread_instructions += own.thread_instructions;
   *right = status == RKB_OK && own.cases_run == 1 && own.rank == 0;
   *costly = status == RKB_OK && !*right && own.rank == 0;
   if (!*right)
      snprintf(r->not_borrowed, sizeof r->not_borrowed, "%.150s",
               own.rank                       ? own.message
               : json_array_size(own.not_run) ? json_string_value(json_array_get(own.not_run, 0))
                                              : "");
   if (*right && (noted.failed || !noted_join(&b->small, &noted))) { /* without its decisions, the shape says nothing */
      *right = false;
      snprintf(r->not_borrowed, sizeof r->not_borrowed, "what so many launches decide could not be kept");
   }
   noted_free(&noted);
   outcome_free(&own);
   return status;
}

static bool is_known(const struct reduced *r, const json_t *shape) {
   bool known = false;
   for (size_t n = 0; n < json_array_size(r->borrowed); n++)
      known |= json_equal(json_array_get(r->borrowed, n), shape) != 0;
   return known;
}

/* Judges a shape in which one dim stays long.  If it takes more work than was estimated, tries smaller shapes.  *wrong: a result was wrong. */
static int judge_shape(struct borrower *b, uint32_t longest, bool *wrong, rkb_error_t *err) {
   struct reduced *r = b->reduced;
   double work = b->growth * reduced_work(r, REDUCED_INSTRUCTIONS);
   const uint32_t attempts = b->growth > 1 ? 1 : ATTEMPTS; /* smaller shapes were tried before */
   bool costly = true;
   int status = RKB_OK;
   for (uint32_t n = 0; n < attempts && costly && !*wrong && status == RKB_OK && b->budget;
        n++, work /= SMALLER) {
      rkb_case_t *shape = NULL;
      bool right = false;
      status = find_shape(b, work, longest, true, &shape, err);
      if (status == RKB_OK && !shape)
         status = find_shape(b, work, longest, false, &shape, err);
      costly = false;
      json_t *text = shape ? reduced_describe(shape) : json_null();
      if (status == RKB_OK && shape && !is_known(r, text)) {
         status = execute(b, shape, &right, &costly, err);
         *wrong = status == RKB_OK && !right && !costly;
      }
      if (right)
         json_array_append(r->borrowed, text);
      json_decref(text);
      if (shape)
         r->verifier->task->case_free(shape);
   }
   return status;
}

/* Notes the decisions of the launches' sampled blocks at the bench shape.  *known is cleared if not all of them are known. */
static int note_bench(struct borrower *b, bool *known, rkb_error_t *err) {
   struct reduced *r = b->reduced;
   const struct sample *s = r->sample;
   const rkb_plan_launch_t *unseen;
   uint64_t unknown = 0;
   const int status = sample_note_decisions(s, &b->large, &unknown, err);
   for (uint32_t from = 0; status == RKB_OK && *known && (unseen = reduced_unseen(s, &from)) != NULL;)
      *known = !(unknown >> (from < MOST_NOTED ? from - 1 : MOST_NOTED - 1) & 1);
   if (!*known)
      snprintf(r->not_borrowed, sizeof r->not_borrowed,
               "what it decides there depends on values of other blocks");
   return status;
}

/* Whether the launches decide something at the bench shape that they decided at no smaller shape. */
static bool lacks(struct borrower *b) {
   struct reduced *r = b->reduced;
   const rkb_plan_launch_t *unseen;
   struct noted_lack lack;
   bool lacking = false;
   for (uint32_t from = 0; !lacking && (unseen = reduced_unseen(r->sample, &from)) != NULL;)
      lacking =
         noted_lacks(&b->small, &b->large, shapes_launch_name(r->candidate, unseen), LEAST_TURNS, &lack);
   if (lacking && lack.turns)
      snprintf(r->not_borrowed, sizeof r->not_borrowed,
               "the loop at line %u takes %u turns there, and at most %u at smaller shapes", lack.line,
               lack.most, lack.had);
   else if (lacking)
      snprintf(r->not_borrowed, sizeof r->not_borrowed,
               "at line %u it decides there what it decides at no smaller shape", lack.line);
   return lacking;
}

static void close_borrower(struct borrower *b) {
   for (uint32_t n = 0; n < MOST_KERNELS; n++)
      rkb_machine_conditions_free(b->kernels[n]);
   free(b->bench.outcomes);
   free(b->shape.outcomes);
   noted_free(&b->large);
   noted_free(&b->small);
}

int reduced_judge_borrowed(struct reduced *r, rkb_error_t *err) {
   const struct verifier *me = r->verifier;
   const uint32_t dims = r->sample->the_case->dim_count;
   struct borrower b = {.reduced = r,
                        .budget = r->candidate->budget < MOST_WORK ? r->candidate->budget : MOST_WORK};
   int status = RKB_OK;
   bool wrong = false, known = true, lacking = true;
   if (!RKB_HAS(me->kernel, plan_borrowed) || !decide(&b, r->sample->plan, &b.bench)) {
      close_borrower(&b);
      return RKB_OK;
   }
   snprintf(r->not_borrowed, sizeof r->not_borrowed, "what it decides there it decides at no smaller shape");
   const uint32_t first = (uint32_t)me->random->below(&r->stream, dims + 1); /* `dims` itself: no dim stays long */
   status = note_bench(&b, &known, err);
   for (b.growth = 1; b.growth <= MOST_GROWTH && known && lacking && !wrong && status == RKB_OK && b.budget;
        b.growth *= GROWTH) {
      for (uint32_t n = 0; n <= dims && !wrong && status == RKB_OK; n++)
         status = judge_shape(&b, (first + n) % (dims + 1), &wrong, err);
      lacking = json_array_size(r->borrowed) && !wrong && status == RKB_OK && lacks(&b);
   }
   if (wrong || lacking || !known)
      json_array_clear(r->borrowed);
   close_borrower(&b);
   return status;
}
