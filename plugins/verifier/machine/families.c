/* Which input families a case is executed on, and in which order: the first twice, then those that are chosen by what the first
 * one cost and the cases before it had.  Where no input steers the kernels, the chosen ones are executed together
 * (together.c).  One worker thread a case. */
#include "trial.h"

#include <stdlib.h>
#include <string.h>

/* Every family is executed on some cases; which others it is executed on is a matter of work (config family_work).  A case whose
 * single run takes more than LARGE_RUN thread-instructions takes only families that no case had before it; the family with the
 * task's usual numbers, which also decides precision where sums are long, is always executed.  Cases of a few operations tell
 * little, and do not count. */
#define LARGE_RUN 30000000u
#define TELLING_CASES 3 /* of a family that is made to show a low precision or a wrong guard */
#define OTHER_CASES 2
#define TELLING_OPERATIONS 1000
#define MOST_FAMILIES 64
#define MOST_TRIALS 64 /* config trials */
/* What the buffers of runs that are executed together may take; their shadows take twice as much again. */
#define TOGETHER_BYTES 12000000u

/* The schedule is held: whether this case takes the family, which the cases after it then know. */
static bool choose_family(struct trial *t, const rkb_family_t *family) {
   json_t *counts = t->schedule->families;
   const json_int_t before = json_integer_value(json_object_get(counts, family->name));
   const bool counted = t->the_case->operations >= TELLING_OPERATIONS, large = t->largest > LARGE_RUN,
              telling = family->decides_precision || strcmp(family->name, "guarded") == 0;
   if (large && !counted)
      return false; /* costly because of its blocks, and with next to nothing in them */
   const json_int_t enough = large ? 1 : telling ? TELLING_CASES : OTHER_CASES;
   if (before >= enough && t->repeated + t->largest > (uint64_t)t->verifier->config->family_work)
      return false;
   t->repeated += t->largest * (uint64_t)t->verifier->config->trials;
   if (counted)
      json_object_set_new(counts, family->name, json_integer(before + 1));
   return true;
}

static void skip_family(struct trial *t, const rkb_family_t *family) {
   const size_t used = strlen(t->skipped);
   snprintf(t->skipped + used, sizeof t->skipped - used, "%s%s", used ? ", " : "", family->name);
}

static bool may_go_on(const struct trial *t) {
   const bool enough = t->outcome->debug && t->outcome->rank; /* one finding of the -G build says it all */
   return t->outcome->rank < RKB_MACHINE_UNKNOWN && !enough && !t->over_budget;
}

/* Which families this case takes, a bit each, by what its first one cost and the cases before it took. */
static uint64_t choose_families(struct trial *t) {
   const int64_t most = t->verifier->config->families;
   uint64_t chosen = 0;
   t->outcome->abandoned = !schedule_begin_turn(t->schedule, t->turn);
   if (t->outcome->abandoned)
      return 0;
   if (t->the_case->operations >= TELLING_OPERATIONS)
      json_object_set_new(
         t->schedule->families, t->family->name,
         json_integer(json_integer_value(json_object_get(t->schedule->families, t->family->name)) + 1));
   for (uint32_t f = 1;; f++) {
      const rkb_family_t *family = t->verifier->task->family_at(t->verifier->host, t->the_case, f);
      if (!family)
         break;
      if (f < MOST_FAMILIES && !(most && f >= most) && choose_family(t, family))
         chosen |= 1ull << f;
      else
         skip_family(t, family);
   }
   t->outcome->settled = true;
   schedule_end_turn(t->schedule, t->turn);
   return chosen;
}

/* Runs --------------------------------------------------------------------------------------------------------------- */

struct member {
   const rkb_family_t *family;
   uint64_t seed;
   rkb_inputs_t *inputs;
   rkb_machine_buffer_t *buffers;
};

/* A run's inputs and buffers; scratch holds what the runs before left there. */
static int open_member(struct trial *t, struct member *member, rkb_error_t *err) {
   const rkb_task_api_t *task = t->verifier->task;
   int status =
      task->inputs_open(t->verifier->host, t->the_case, member->family, member->seed, &member->inputs, err);
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
   trial_count(t, rkb_machine_take(t->machine, set));
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
   *ran = 1;
   if (status == RKB_OK)
      status = trial_run(t, first, others, count - 1, &followed, err);
   for (uint32_t n = 1; followed && n < count && status == RKB_OK && may_go_on(t); n++) {
      status = judge_member(t, &members[n], n, err);
      *ran = n + 1;
   }
   close_members(t, members + 1, count - 1);
   return status;
}

/* How many runs may be executed together: by memory, and so that the budget is one of runs one after the other. */
static uint32_t most_together(const struct trial *t) {
   const uint64_t by_memory = TOGETHER_BYTES / (trial_bytes(t) + 1),
                  by_budget = t->largest ? t->budget / 2 / t->largest : MOST_TOGETHER,
                  most = by_memory < by_budget ? by_memory : by_budget;
   return most == 0 ? 1 : most < MOST_TOGETHER ? (uint32_t)most : MOST_TOGETHER;
}

/* Runs in their order, as many together as may be; once they do not follow, one by one. */
static int run_list(struct trial *t, bool first, struct member *members, uint32_t count, rkb_error_t *err) {
   const uint64_t last_seed = count ? members[count - 1].seed : 0;
   bool together = true;
   int status = RKB_OK;
   while (count && status == RKB_OK && may_go_on(t)) {
      const uint32_t most = together ? most_together(t) : 1, asked = count < most ? count : most;
      uint32_t ran = 0;
      if (t->verifier->host->job_cancelled(t->verifier->host, t->candidate->job))
         return rkb_fail(err, RKB_ERR_CANCELLED, "cancelled");
      status = run_members(t, first, members, asked, &ran, err);
      for (uint32_t n = 0; n < ran && status == RKB_OK; n++)
         if (members[n].seed == last_seed && t->the_case->operations >= TELLING_OPERATIONS)
            json_object_set_new(t->outcome->families, members[n].family->name, json_integer(1));
      together = together && (asked == 1 || ran > 1);
      first = false;
      members += ran;
      count -= ran;
   }
   return status;
}

/* The first family runs at least twice: a plan must be right when repeated with new inputs. */
static int run_first(struct trial *t, rkb_error_t *err) {
   const int64_t asked = t->verifier->config->trials;
   struct member members[MOST_TRIALS] = {0};
   uint32_t count = 0;
   for (int64_t n = 0; n < (asked < 2 ? 2 : asked); n++)
      members[count++] = (struct member){.family = t->family, .seed = (uint64_t)n + 1};
   return run_list(t, true, members, count, err);
}

static int run_chosen(struct trial *t, uint64_t chosen, rkb_error_t *err) {
   struct member *members = calloc(MOST_FAMILIES * (size_t)t->verifier->config->trials, sizeof *members);
   uint32_t count = 0;
   if (!members)
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for the runs of case %s", t->the_case->name);
   for (; chosen; chosen &= chosen - 1)
      for (int64_t n = 0; n < t->verifier->config->trials; n++)
         members[count++] =
            (struct member){.family = t->verifier->task->family_at(t->verifier->host, t->the_case,
                                                                   (uint32_t)__builtin_ctzll(chosen)),
                            .seed = (uint64_t)n + 1};
   const int status = run_list(t, false, members, count, err);
   free(members);
   return status;
}

int families_run(struct trial *t, rkb_error_t *err) {
   t->family = t->verifier->task->family_at(t->verifier->host, t->the_case, 0);
   if (!t->family)
      return RKB_OK;
   int status = run_first(t, err);
   uint64_t chosen = status == RKB_OK && may_go_on(t) ? choose_families(t) : 0;
   if (chosen && status == RKB_OK)
      status = run_chosen(t, chosen, err);
   if (t->skipped[0]) {
      char text[256];
      snprintf(text, sizeof text, "not executed on the input families %s", t->skipped);
      trial_leave_out(t, text);
   }
   return status;
}
