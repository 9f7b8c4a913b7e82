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
/* Runs that are executed together, and what their buffers may take: shadows take twice as much again. */
#define MOST_TOGETHER 16
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

static void note_family(struct trial *t) {
   if (t->the_case->operations >= TELLING_OPERATIONS)
      json_object_set_new(t->outcome->families, t->family->name, json_integer(1));
}

/* The first family runs at least twice: a plan must be right when repeated with new inputs. */
static int run_family(struct trial *t, bool first, rkb_error_t *err) {
   const int64_t asked = t->verifier->config->trials, trials = first && asked < 2 ? 2 : asked;
   int status = RKB_OK;
   for (int64_t n = 0; n < trials && status == RKB_OK && may_go_on(t); n++) {
      t->seed = (uint64_t)n + 1;
      if (t->verifier->host->job_cancelled(t->verifier->host, t->candidate->job))
         return rkb_fail(err, RKB_ERR_CANCELLED, "cancelled");
      status = trial_run(t, first && n == 0, err);
   }
   if (status == RKB_OK)
      note_family(t);
   return status;
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

/* Together ---------------------------------------------------------------------------------------------------------- */

struct member {
   const rkb_family_t *family;
   uint64_t seed;
   rkb_inputs_t *inputs;
   rkb_machine_buffer_t *buffers;
};

/* A run's inputs and buffers; scratch holds what the runs before left there. */
static int open_member(struct trial *t, struct member *member, rkb_error_t *err) {
   const rkb_task_api_t *task = t->verifier->task;
   int status = task->inputs_open(t->verifier->host, t->the_case, member->family, member->seed, &member->inputs, err);
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

static int judge_member(struct trial *t, const struct member *member, uint32_t set, rkb_error_t *err) {
   t->family = member->family;
   t->seed = member->seed;
   t->inputs = member->inputs;
   trial_count(t, rkb_machine_take(t->machine, set));
   const int status = trial_judge(t, member->buffers, err);
   t->inputs = NULL;
   if (status == RKB_OK && (int64_t)member->seed == t->verifier->config->trials)
      note_family(t);
   return status;
}

/* *done: they were executed and judged; else nothing was done, and each is to be run by itself. */
static int run_members(struct trial *t, struct member *members, uint32_t count, bool *done, rkb_error_t *err) {
   const rkb_machine_buffer_t *sets[MOST_TOGETHER];
   int status = RKB_OK;
   *done = false;
   for (uint32_t n = 0; n < count && status == RKB_OK; n++) {
      status = open_member(t, &members[n], err);
      sets[n] = members[n].buffers;
   }
   if (status == RKB_OK) {
      rkb_machine_set_budget(t->machine, t->budget);
      *done = rkb_machine_run_together(t->machine, sets, count);
   }
   if (*done) {
      rkb_machine_report_t report;
      trial_take_report(t, &report);
      if (!t->oblivious)
         trial_note_deciding(t, report.control_taint | report.address_taint);
      for (uint32_t n = 0; n < count && status == RKB_OK && may_go_on(t); n++)
         status = judge_member(t, &members[n], n, err);
   }
   for (uint32_t n = 0; n < count; n++) {
      if (members[n].inputs)
         t->verifier->task->inputs_free(members[n].inputs);
      trial_free_buffers(t, members[n].buffers);
   }
   return status;
}

/* How many runs may be executed together; below two it is not worth the name. */
static uint32_t most_together(const struct trial *t) {
   const uint64_t bytes = trial_bytes(t) + 1, by_memory = TOGETHER_BYTES / bytes,
                  by_budget = t->largest ? t->budget / 2 / t->largest : MOST_TOGETHER;
   uint64_t most = by_memory < by_budget ? by_memory : by_budget;
   return most < MOST_TOGETHER ? (uint32_t)most : MOST_TOGETHER;
}

/* Takes the families from *chosen that were executed; what is left there is not of the kind. */
static int run_together(struct trial *t, uint64_t *chosen, rkb_error_t *err) {
   const int64_t trials = t->verifier->config->trials;
   int status = RKB_OK;
   bool done = true;
   while (*chosen && done && status == RKB_OK && may_go_on(t)) {
      struct member members[MOST_TOGETHER] = {0};
      const uint32_t most = most_together(t);
      uint32_t count = 0;
      uint64_t taken = 0;
      for (uint64_t left = *chosen; left && count + trials <= most; left &= left - 1) {
         const uint32_t index = (uint32_t)__builtin_ctzll(left);
         taken |= 1ull << index;
         for (int64_t n = 0; n < trials; n++)
            members[count++] = (struct member){
               .family = t->verifier->task->family_at(t->verifier->host, t->the_case, index), .seed = (uint64_t)n + 1};
      }
      if (t->verifier->host->job_cancelled(t->verifier->host, t->candidate->job))
         return rkb_fail(err, RKB_ERR_CANCELLED, "cancelled");
      if (count < 2)
         break;
      status = run_members(t, members, count, &done, err);
      *chosen &= done ? ~taken : ~0ull;
   }
   return status;
}

int families_run(struct trial *t, rkb_error_t *err) {
   t->family = t->verifier->task->family_at(t->verifier->host, t->the_case, 0);
   if (!t->family)
      return RKB_OK;
   int status = run_family(t, true, err);
   uint64_t chosen = status == RKB_OK && may_go_on(t) ? choose_families(t) : 0;
   if (chosen && status == RKB_OK)
      status = run_together(t, &chosen, err);
   for (; chosen && status == RKB_OK && may_go_on(t); chosen &= chosen - 1) {
      t->family =
         t->verifier->task->family_at(t->verifier->host, t->the_case, (uint32_t)__builtin_ctzll(chosen));
      status = run_family(t, false, err);
   }
   if (t->skipped[0]) {
      char text[256];
      snprintf(text, sizeof text, "not executed on the input families %s", t->skipped);
      trial_leave_out(t, text);
   }
   return status;
}
