/* Which inputs a case is executed on, and in which order: the first family, with every check; then that family once more and
 * the others, executed together where no input steers the kernels (joint_runs.c).  Families that cost little are executed on every
 * case; families that are too costly on a case are postponed (owed); cases.c executes them on the cases where they cost least
 * (costly_families.c).  One worker thread a case. */
#include "case_trial.h"

#include <stdlib.h>
#include <string.h>

/* The limit of the buffers of runs that are executed together.  Their shadows take twice as much in addition. */
#define TOGETHER_BYTES 12000000u
/* Thread-instructions of a drawn shape's runs on the family "peaks", and of its other runs where it has these. */
#define PEAK_WORK 2500000u
#define MOST_BESIDE 20000000u

static bool may_go_on(const struct trial *t) {
   const bool enough = t->outcome->debug && t->outcome->rank; /* one finding of the -G build says it all */
   return t->outcome->rank < RKB_MACHINE_UNKNOWN && !enough && !t->over_budget;
}

static bool is_peaks(const rkb_family_t *family) {
   return strcmp(family->name, "peaks") == 0;
}

/* On how many seeds of the family "peaks" a drawn shape is executed beside its other runs: so few that they do not make these exceed the shape's budget. */
static int64_t peak_seeds(const struct trial *t) {
   const uint64_t most = t->candidate->peaks, runs = t->largest ? PEAK_WORK / t->largest : 0,
                  others = 2 * (uint64_t)t->verifier->config->trials + 2;
   return others * t->largest <= MOST_BESIDE ? (int64_t)(runs < most ? runs : most) : 0;
}

/* A drawn shape tests the shape; the check cases test the families.  Some faults need both, such as a sum that is cut short at one
 * length and infinite where the numbers are large.  To find those, one family is drawn for each shape. */
static uint64_t draw_family(const struct trial *t) {
   const struct verifier *me = t->verifier;
   uint32_t count = 0;
   while (count < MOST_FAMILIES && me->task->family_at(me->host, t->the_case, count) &&
          (!me->config->families || count < me->config->families))
      count++;
   if (count < 2 || t->largest > (uint64_t)me->config->family_work)
      return 0;
   rkb_random_t stream = me->random->for_job(me->host, t->candidate->job, STREAM_DRAWN_FAMILY | t->turn << 8);
   uint64_t chosen = 1ull << (1 + me->random->below(&stream, count - 1));
   for (uint32_t f = 1; f < count && peak_seeds(t) > 0; f++)
      chosen |= (uint64_t)is_peaks(me->task->family_at(me->host, t->the_case, f)) << f;
   return chosen;
}

/* Of the requested families after the first, those whose total cost here is at most config family_work, a bit each.  The others are
 * executed later (costly_families.c). */
static uint64_t choose_families(struct trial *t) {
   if (t->the_case->kind == RKB_CASE_DRAWN)
      return draw_family(t);
   const struct verifier_config *config = t->verifier->config;
   const uint64_t each = t->largest * (uint64_t)config->trials;
   uint64_t chosen = 0, work = 0;
   for (uint32_t f = 1; f < MOST_FAMILIES; f++) {
      if (!t->verifier->task->family_at(t->verifier->host, t->the_case, f))
         break;
      if (config->families && f >= config->families) {
         t->outcome->declined |= 1ull << f;
      } else if (work + each <= (uint64_t)config->family_work) {
         chosen |= 1ull << f;
         work += each;
      } else {
         t->outcome->owed |= 1ull << f;
      }
   }
   return chosen;
}

/* Runs --------------------------------------------------------------------------------------------------------------- */

struct member {
   const rkb_family_t *family;
   uint64_t seed;
   uint64_t order; /* rkb_machine_set_order */
   rkb_inputs_t *inputs;
   rkb_machine_buffer_t *buffers;
};

/* A run's inputs and buffers; scratch holds what the runs before left there. */
static int open_member(struct trial *t, struct member *member, rkb_error_t *err) {
   int status = verifier_inputs_open(t->verifier, t->candidate, t->the_case, member->family, member->seed,
                                     &member->inputs, err);
   if (status != RKB_OK)
      return status;
   member->buffers = trial_buffers(t);
   if (!member->buffers)
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for the buffers of case %s", t->the_case->name);
   for (uint32_t n = 0; n < t->plan->buffer_count; n++)
      if (t->plan->buffers[n].role == 0)
         memcpy(member->buffers[n].data, t->buffers[n].data, t->plan->buffers[n].bytes);
   t->inputs = member->inputs;
   status = trial_fill(t, member->buffers, err);
   t->inputs = NULL;
   return status;
}

static void close_members(struct trial *t, struct member *members, uint32_t count) {
   for (uint32_t n = 0; n < count; n++) {
      if (members[n].inputs)
         t->verifier->task->inputs_free(members[n].inputs);
      trial_free_buffers(t, members[n].buffers);
   }
}

static int judge_member(struct trial *t, const struct member *member, uint32_t set, rkb_error_t *err) {
   t->family = member->family;
   t->seed = member->seed;
   t->inputs = member->inputs;
   uint64_t work;
   const uint64_t executed = rkb_machine_take(t->machine, set, &work);
   trial_count(t, executed, work);
   const int status = trial_judge(t, member->buffers, err);
   t->inputs = NULL;
   return status;
}

/* Runs the first of the members, and the others with it where they can be; returns how many were run. */
static int run_members(struct trial *t, bool first, struct member *members, uint32_t count, uint32_t *ran,
                       rkb_error_t *err) {
   const rkb_machine_buffer_t *others[MOST_TOGETHER];
   bool followed = false;
   int status = RKB_OK;
   for (uint32_t n = 1; n < count && status == RKB_OK; n++) {
      status = open_member(t, &members[n], err);
      others[n - 1] = members[n].buffers;
   }
   t->family = members[0].family;
   t->seed = members[0].seed;
   t->order = members[0].order;
   *ran = 1;
   if (status == RKB_OK)
      status = trial_run(t, first, others, count - 1, &followed, err);
   for (uint32_t n = 1; followed && n < count && status == RKB_OK && may_go_on(t); n++) {
      status = judge_member(t, &members[n], n, err);
      *ran = n + 1;
   }
   close_members(t, members + 1, count - 1);
   if (status == RKB_OK)
      status = order_explain(t, err);
   t->order = RKB_MACHINE_ASCENDING;
   return status;
}

/* How many runs may be executed together.  Memory limits it, and so does the budget, which must count as if the runs were executed
 * one after the other. */
static uint32_t most_together(const struct trial *t) {
   const uint64_t by_memory = TOGETHER_BYTES / (trial_bytes(t) + 1),
                  by_budget = t->largest ? t->budget / 2 / t->largest : MOST_TOGETHER,
                  most = by_memory < by_budget ? by_memory : by_budget;
   return most == 0 ? 1 : most < MOST_TOGETHER ? (uint32_t)most : MOST_TOGETHER;
}

/* How many of the runs are in the first one's order of blocks and warps. */
static uint32_t alike(const struct member *members, uint32_t count) {
   uint32_t n = 1;
   while (n < count && members[n].order == members[0].order)
      n++;
   return n;
}

/* A kernel that is right only if the first block comes first may keep in a variable of the module that this block came.  No later run on
 * the same machine would show this. */
static int forget_past(struct trial *t, rkb_error_t *err) {
   rkb_machine_close(t->machine);
   t->machine = NULL;
   return rkb_machine_open(t->candidate->module, t->plan, &t->options, &t->machine, err);
}

/* Executes runs in their order, as many at once as allowed.  When a joint run fails, the rest is executed one by one. */
static int run_list(struct trial *t, bool first, struct member *members, uint32_t count, rkb_error_t *err) {
   bool together = true;
   int status = RKB_OK;
   while (count && status == RKB_OK && may_go_on(t)) {
      const uint32_t most = together ? most_together(t) : 1, same = alike(members, count),
                     asked = same < most ? same : most;
      uint32_t ran = 0;
      if (t->verifier->host->job_cancelled(t->verifier->host, t->candidate->job))
         return rkb_fail(err, RKB_ERR_CANCELLED, "cancelled");
      if (t->keeps_state && members[0].order == RKB_MACHINE_DESCENDING)
         status = forget_past(t, err);
      if (status == RKB_OK)
         status = run_members(t, first, members, asked, &ran, err);
      together = together && (asked == 1 || ran > 1);
      first = false;
      members += ran;
      count -= ran;
   }
   return status;
}

/* Those of the candidate's seeds from first to last, on the family. */
static uint32_t list_trials(const struct trial *t, struct member *members, const rkb_family_t *family,
                            int64_t first, int64_t last) {
   uint32_t count = 0;
   for (int64_t seed = first; seed <= last; seed++)
      members[count++] =
         (struct member){.family = family, .seed = verifier_seed(t->verifier, t->candidate, (uint64_t)seed)};
   return count;
}

static uint64_t shuffled_order(const struct trial *t, rkb_random_t *stream) {
   return RKB_MACHINE_SHUFFLED + (t->verifier->random->next(stream) >> 2);
}

/* If the order of the threads may matter, the second run of the case is in descending order and later runs are in two shuffled ones.  If there
 * is no later run, one is added, unless runs are large.  Returns how many were added. */
static uint32_t order_members(const struct trial *t, struct member *members, uint32_t count) {
   if (!t->one_schedule || !count)
      return 0;
   const bool adds = count == 1 && t->largest <= LARGE_RUN;
   if (adds)
      members[count] =
         (struct member){.family = members[0].family, .seed = verifier_seed(t->verifier, t->candidate, 1)};
   rkb_random_t stream =
      t->verifier->random->for_job(t->verifier->host, t->candidate->job, STREAM_ORDERS | t->turn << 8);
   const uint64_t orders[] = {shuffled_order(t, &stream), shuffled_order(t, &stream)};
   members[0].order = RKB_MACHINE_DESCENDING;
   for (uint32_t n = 1; n < count + adds; n++)
      members[n].order = orders[n > (count + adds) / 2];
   return adds;
}

/* The trials of the case's own family from the given one on, and those of the chosen families. */
static int run_chosen(struct trial *t, int64_t first, int64_t last, uint64_t chosen, rkb_error_t *err) {
   const int64_t trials = t->verifier->config->trials;
   struct member *members =
      calloc((MOST_FAMILIES + 1) * (size_t)trials + t->candidate->peaks + 2, sizeof *members);
   if (!members)
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for the runs of case %s", t->the_case->name);
   uint32_t count = list_trials(t, members, t->family, first, last);
   for (uint64_t left = chosen; left; left &= left - 1) {
      const rkb_family_t *family =
         t->verifier->task->family_at(t->verifier->host, t->the_case, (uint32_t)__builtin_ctzll(left));
      const int64_t several = is_peaks(family) ? peak_seeds(t) : 0;
      count += list_trials(t, members + count, family, 1, several > trials ? several : trials);
   }
   count += order_members(t, members, count);
   const int status = run_list(t, false, members, count, err);
   if (status == RKB_OK && may_go_on(t))
      t->outcome->executed |= chosen;
   free(members);
   return status;
}

/* A plan must be right when repeated.  If the first run of a large plan leaves nothing and no input steers the plan, a repetition does the
 * same on other numbers.  The other trials and families have such numbers, so no run is added for it.  A plan that another order of the
 * threads may change is run in that order. */
static int64_t least_trials(const struct trial *t) {
   const bool again = t->largest <= LARGE_RUN && t->the_case->kind != RKB_CASE_DRAWN;
   return t->oblivious && !t->one_schedule && !again ? 1 : 2;
}

/* A drawn shape that is executed once, because it costs much.  Where the order of the threads may matter, an acceptance says that each drawn shape was executed
 * in another one too.  Reduced and borrowed shapes are executed for their values: the check cases had the orders. */
static int run_other_orders(struct trial *t, rkb_error_t *err) {
   return t->one_schedule && t->candidate->first_budget ? run_chosen(t, 2, 2, 0, err) : RKB_OK;
}

static int run_first(struct trial *t, rkb_error_t *err) {
   struct member first = {.family = t->family, .seed = verifier_seed(t->verifier, t->candidate, 1)};
   const uint64_t most = t->candidate->first_budget, later = most && t->budget > most ? t->budget - most : 0;
   t->budget -= later;
   const int status = run_list(t, true, &first, 1, err);
   t->budget += later;
   return status;
}

/* Whether the kernel ends at a grid of blocks that wait for each other, if blocks begin in ascending and in descending order. */
static int run_to_the_end(struct trial *t, rkb_error_t *err) {
   struct member members[2] = {{.family = t->family, .seed = verifier_seed(t->verifier, t->candidate, 1)},
                               {.family = t->family,
                                .seed = verifier_seed(t->verifier, t->candidate, 2),
                                .order = RKB_MACHINE_DESCENDING}};
   return run_list(t, false, members, 2, err);
}

int families_run(struct trial *t, rkb_error_t *err) {
   t->family = t->verifier->task->family_at(t->verifier->host, t->the_case, 0);
   if (!t->family)
      return RKB_OK;
   if (t->candidate->ends)
      return run_to_the_end(t, err);
   const int status = run_first(t, err);
   if (status != RKB_OK || !may_go_on(t))
      return status;
   t->outcome->abandoned = !schedule_matters(t->schedule, t->turn);
   if (t->outcome->abandoned)
      return RKB_OK;
   t->outcome->executed |= 1;
   t->outcome->largest = t->largest;
   t->outcome->steered = !t->oblivious;
   if (t->candidate->once)
      return run_other_orders(t, err);
   const int64_t trials = t->verifier->config->trials, least = least_trials(t);
   const uint64_t chosen = choose_families(t);
   const int repeated = t->keeps_state ? repetitions_run(t, err) : RKB_OK;
   if (repeated != RKB_OK || !may_go_on(t))
      return repeated;
   return run_chosen(t, 2, trials < least ? least : trials, chosen, err);
}

int families_run_owed(struct trial *t, const struct owed *owed, rkb_error_t *err) {
   t->family = t->verifier->task->family_at(t->verifier->host, t->the_case, 0);
   t->oblivious = !owed->steered;
   t->largest = owed->largest;
   return run_chosen(t, 1, 0, owed->families, err);
}
