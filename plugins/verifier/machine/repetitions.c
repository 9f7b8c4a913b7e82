/* Finds results that depend on what an earlier run left in module variables (scratch begins undefined).  Where the first run of a case left
 * something, or inputs decide whether a run does, the case is run again on the same inputs, then on inputs of which the second half is new,
 * then on inputs of which one element is as it was.  Each of the last two is also run on a machine that has executed nothing before, and
 * the outputs must be the same, bit for bit.  A result that the kernel stored for inputs that looked the same is not.  No reference is
 * needed for that, so the inputs may be any mixture of two seeds.  docs/decisions/repetition.md.  One worker thread a case. */
#include "case_trial.h"

#include <stdlib.h>
#include <string.h>

struct repetition {
   struct trial *t;
   rkb_inputs_t *old, *new;     /* of the candidate's seeds 1 and 2, on the case's own family */
   rkb_machine_buffer_t *clean; /* of the machine without a past */
   uint64_t kept;               /* element of each tensor that is old again; UINT64_MAX: none */
   const char *changed;         /* against the run before, in words */
};

static uint64_t width_of(const rkb_plan_buffer_t *buffer) {
   return buffer->elements ? buffer->bytes / buffer->elements : 1;
}

/* The first half of every input is old, the second new. */
static int mix(const struct repetition *r, const rkb_plan_buffer_t *buffer, uint8_t *data, rkb_error_t *err) {
   const rkb_task_api_t *task = r->t->verifier->task;
   const uint64_t half = buffer->elements / 2, width = width_of(buffer);
   int status = task->inputs_fill(r->old, buffer->tensor, 0, half, data, err);
   if (status == RKB_OK)
      status =
         task->inputs_fill(r->new, buffer->tensor, half, buffer->elements - half, data + half * width, err);
   if (status == RKB_OK && r->kept < buffer->elements)
      status = task->inputs_fill(r->old, buffer->tensor, r->kept, 1, data + r->kept * width, err);
   return status;
}

static int fill(const struct repetition *r, rkb_machine_buffer_t *buffers, rkb_error_t *err) {
   const rkb_plan_t *plan = r->t->plan;
   int status = RKB_OK;
   for (uint32_t n = 0; n < plan->buffer_count && status == RKB_OK; n++) {
      const rkb_plan_buffer_t *buffer = &plan->buffers[n];
      buffers[n].defined = true;
      if (buffer->role == RKB_IN || buffer->role == RKB_INOUT)
         status = mix(r, buffer, buffers[n].data, err);
      else if (buffer->fill == RKB_FILL_VALUE)
         plan_fill(buffer, buffer->elements, buffers[n].data);
      else
         buffers[n].defined = false;
   }
   return status;
}

/* Runs what fill gives on a machine; *clean: it came to its end and nothing was found. */
static int run(const struct repetition *r, rkb_machine_t *machine, rkb_machine_buffer_t *buffers, uint32_t checks,
               bool *clean, rkb_error_t *err) {
   rkb_machine_report_t report;
   int status = fill(r, buffers, err);
   if (status == RKB_OK) {
      rkb_machine_set_checks(machine, checks);
      rkb_machine_set_budget(machine, r->t->budget);
      status = rkb_machine_run(machine, buffers, err);
   }
   if (status != RKB_OK)
      return status;
   rkb_machine_report(machine, &report);
   trial_count(r->t, report.thread_instructions, report.work);
   if (report.complete)
      trial_find_undefined(machine, r->t->plan);
   rkb_machine_report(machine, &report);
   for (uint32_t n = 0; n < report.finding_count; n++)
      r->t->over_budget |= strcmp(report.findings[n].reason, "limit.budget") == 0;
   *clean = report.complete && report.finding_count == 0;
   return RKB_OK;
}

/* In a machine of its own, without shadows, because only the bits of its outputs are looked at.  A kernel that is wrong there is so for the
 * mixture of inputs alone, which the task never promised. */
static int run_clean(const struct repetition *r, bool *clean, rkb_error_t *err) {
   struct trial *t = r->t;
   rkb_machine_t *machine = NULL;
   int status = rkb_machine_open(t->candidate->module, t->plan, &t->options, &machine, err);
   if (status == RKB_OK)
      status = run(r, machine, r->clean, 0, clean, err);
   rkb_machine_close(machine);
   return status;
}

static uint64_t first_difference(const uint8_t *a, const uint8_t *b, uint64_t bytes) {
   uint64_t at = 0;
   while (at < bytes && a[at] == b[at])
      at++;
   return at;
}

static json_t *bits_of(const uint8_t *at, uint64_t width) {
   uint64_t bits = 0;
   memcpy(&bits, at, width < sizeof bits ? width : sizeof bits);
   return json_sprintf("0x%0*llx", (int)(2 * width), (unsigned long long)bits);
}

/* Where atomic operations on floating-point numbers add up in another order, the last bits may be others. */
static void compare(const struct repetition *r) {
   struct trial *t = r->t;
   for (uint32_t n = 0; n < t->plan->buffer_count; n++) {
      const rkb_plan_buffer_t *buffer = &t->plan->buffers[n];
      const uint8_t *got = t->buffers[n].data, *want = r->clean[n].data;
      if ((buffer->role != RKB_OUT && buffer->role != RKB_INOUT) || memcmp(got, want, buffer->bytes) == 0)
         continue;
      const uint64_t width = width_of(buffer), element = first_difference(got, want, buffer->bytes) / width;
      outcome_note(
         t->outcome, t->outcome->float_atomics ? RKB_MACHINE_SUSPECT : RKB_MACHINE_REJECT, "state.result",
         json_pack("{s:s, s:s, s:s, s:I, s:o, s:o}", "case", t->the_case->name, "changed", r->changed,
                   "buffer", buffer->name, "element", (json_int_t)element, "got_bits",
                   bits_of(got + element * width, width), "want_bits",
                   bits_of(want + element * width, width)),
         "%s[%llu] depends on what an earlier run left: after a run on other inputs (%s) it is not what the same "
         "inputs give at first (case %s)",
         buffer->name, (unsigned long long)element, r->changed, t->the_case->name);
      return;
   }
}

static int repeat_mixed(struct repetition *r, rkb_error_t *err) {
   struct trial *t = r->t;
   bool clean = false, same = false;
   int status = run(r, t->machine, t->buffers, trial_values(t), &same, err);
   if (status == RKB_OK)
      status = run_clean(r, &clean, err);
   if (status != RKB_OK || !clean || t->over_budget)
      return status;
   if (!same)
      trial_take_findings(t);
   else
      compare(r);
   return RKB_OK;
}

/* Runs the kernels on the first run's inputs again.  The results are judged as always, and the kernels must take the same way to them. */
static int repeat_same(struct trial *t, rkb_error_t *err) {
   const uint64_t before = t->largest;
   bool followed;
   int status;
   t->seed = verifier_seed(t->verifier, t->candidate, 1);
   t->largest = 0;
   status = trial_run(t, false, NULL, 0, &followed, err);
   const uint64_t now = t->largest;
   t->largest = now > before ? now : before;
   if (status == RKB_OK && !t->over_budget && now != before)
      outcome_note(
         t->outcome, RKB_MACHINE_SUSPECT, "state.path",
         json_pack("{s:s, s:I, s:I}", "case", t->the_case->name, "first", (json_int_t)before, "again",
                   (json_int_t)now),
         "on the same inputs again the kernels execute %llu thread-instructions, and %llu the first time: they go by what "
         "the first run left (case %s)",
         (unsigned long long)now, (unsigned long long)before, t->the_case->name);
   return status;
}

/* A drawn element of the second half of the largest input.  A kernel that remembers inputs cannot know which element to ignore. */
static uint64_t element_to_keep(const struct trial *t) {
   const rkb_plan_t *plan = t->plan;
   rkb_random_t stream =
      t->verifier->random->for_job(t->verifier->host, t->candidate->job, STREAM_KEPT | t->turn << 8);
   uint64_t most = 0;
   for (uint32_t n = 0; n < plan->buffer_count; n++)
      if ((plan->buffers[n].role == RKB_IN || plan->buffers[n].role == RKB_INOUT) &&
          plan->buffers[n].elements > most)
         most = plan->buffers[n].elements;
   return most / 2 + t->verifier->random->below(&stream, most - most / 2);
}

static bool goes_on(const struct trial *t) {
   return t->outcome->rank < RKB_MACHINE_UNKNOWN && !t->over_budget;
}

static int repeat_others(struct trial *t, rkb_error_t *err) {
   const rkb_task_api_t *task = t->verifier->task;
   struct repetition r = {.t = t, .kept = UINT64_MAX, .changed = "the second half of each input is new"};
   int status = task->inputs_open(t->verifier->host, t->the_case, t->family,
                                  verifier_seed(t->verifier, t->candidate, 1), &r.old, err);
   if (status == RKB_OK)
      status = task->inputs_open(t->verifier->host, t->the_case, t->family,
                                 verifier_seed(t->verifier, t->candidate, 2), &r.new, err);
   if (status == RKB_OK && !(r.clean = trial_buffers(t)))
      status = rkb_fail(err, RKB_ERR_NOMEM, "no memory for the buffers of case %s", t->the_case->name);
   if (status == RKB_OK)
      status = repeat_mixed(&r, err);
   if (status == RKB_OK && goes_on(t)) {
      r.kept = element_to_keep(t);
      r.changed = "one element of the largest input is new";
      status = repeat_mixed(&r, err);
   }
   trial_free_buffers(t, r.clean);
   if (r.new)
      task->inputs_free(r.new);
   if (r.old)
      task->inputs_free(r.old);
   return status;
}

int repetitions_run(struct trial *t, rkb_error_t *err) {
   if (!goes_on(t))
      return RKB_OK;
   const int status = repeat_same(t, err);
   return status == RKB_OK && goes_on(t) ? repeat_others(t, err) : status;
}
