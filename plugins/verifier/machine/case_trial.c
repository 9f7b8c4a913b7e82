/* One case: the plan is executed on input families one after the other, on the same scratch and module variables.  So every family after
 * the first is also a repetition, which finds counters that are never reset and results that are stored for later runs.  The first run has
 * every check.  If no input reached control or an address, and the run left no state for the next one, races depend on the shape alone, and
 * later runs leave them out. */
#include "case_trial.h"
#include "machine/state/loop_turns.h"
#include "noted_decisions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A kernel counts as hung when a single warp executes far more instructions than the whole case can need: one thread that did
 * all of it alone would take a few for each operation and byte of the reference.  1e6 covers the smallest cases. */
#define FORESEEN_SEED UINT32_MAX /* of the candidate's seeds: no input has it */
#define HANG_FACTOR 50.0
#define HANG_LEAST 1e6
/* The candidate's environments in the order of its cases.  Buffers lie close together in the last, because an index error may reach another buffer
 * there.  A kernel with variables is decoded for each. */
static const uint8_t environments[CANDIDATE_ENVIRONMENTS] = {0, 2, 3, 1};
#define DEBUG_FACTOR 16u /* unoptimised code takes so many instructions more, at most */

static uint32_t width_of(const rkb_plan_buffer_t *buffer) {
   return buffer->elements ? (uint32_t)(buffer->bytes / buffer->elements) : 1;
}

int trial_fill(const struct trial *t, rkb_machine_buffer_t *buffers, rkb_error_t *err) {
   int status = RKB_OK;
   for (uint32_t n = 0; n < t->plan->buffer_count && status == RKB_OK; n++) {
      const rkb_plan_buffer_t *buffer = &t->plan->buffers[n];
      rkb_machine_buffer_t *data = &buffers[n];
      data->defined = true;
      if (buffer->role == RKB_IN || buffer->role == RKB_INOUT)
         status =
            t->verifier->task->inputs_fill(t->inputs, buffer->tensor, 0, buffer->elements, data->data, err);
      else if (buffer->fill == RKB_FILL_VALUE)
         plan_fill(buffer, buffer->elements, data->data);
      else
         data->defined = false;
   }
   return status;
}

rkb_machine_buffer_t *trial_buffers(const struct trial *t) {
   rkb_machine_buffer_t *buffers = calloc(t->plan->buffer_count + 1, sizeof *buffers);
   bool made = buffers != NULL;
   for (uint32_t n = 0; made && n < t->plan->buffer_count; n++) {
      buffers[n].data = malloc(t->plan->buffers[n].bytes + 64);
      made = buffers[n].data != NULL;
      if (made)
         /* poison: no number a kernel would leave by chance */
         memset(buffers[n].data, 0xa5, t->plan->buffers[n].bytes);
   }
   if (!made) {
      trial_free_buffers(t, buffers);
      return NULL;
   }
   return buffers;
}

void trial_free_buffers(const struct trial *t, rkb_machine_buffer_t *buffers) {
   for (uint32_t n = 0; buffers && n < t->plan->buffer_count; n++)
      free(buffers[n].data);
   free(buffers);
}

uint64_t trial_bytes(const struct trial *t) {
   uint64_t total = 0;
   for (uint32_t n = 0; n < t->plan->buffer_count; n++)
      total += t->plan->buffers[n].bytes;
   return total;
}

static int allocate(struct trial *t, rkb_error_t *err) {
   if (trial_bytes(t) > t->verifier->config->memory)
      return rkb_fail(err, RKB_ERR_LIMIT, "case %s needs more than the machine's memory", t->the_case->name);
   t->buffers = trial_buffers(t);
   return t->buffers
             ? RKB_OK
             : rkb_fail(err, RKB_ERR_NOMEM, "no memory for the buffers of case %s", t->the_case->name);
}

/* Judging ------------------------------------------------------------------------------------------------------ */

static void note_judgement(struct trial *t, const rkb_plan_buffer_t *buffer, const rkb_judgement_t *j,
                           bool shadowed) {
   struct outcome *outcome = t->outcome;
   outcome->elements += j->judged;
   outcome->ambiguous += j->ambiguous;
   outcome->dont_care += j->dont_care;
   if (j->judged || !json_object_get(outcome->outputs, buffer->name))
      json_object_set_new(outcome->outputs, buffer->name, json_boolean(j->judged));
   outcome->worst_hard = j->worst_hard > outcome->worst_hard ? j->worst_hard : outcome->worst_hard;
   outcome->worst_stat = j->worst_stat > outcome->worst_stat ? j->worst_stat : outcome->worst_stat;
   outcome_judgement(outcome, t->the_case, t->family->name, t->seed, buffer->name, j, shadowed);
}

static int judge_output(struct trial *t, const rkb_machine_buffer_t *buffers, uint32_t n,
                        rkb_expected_t *expected, rkb_error_t *err) {
   const rkb_plan_buffer_t *buffer = &t->plan->buffers[n];
   rkb_points_t points = t->verifier->task->expected_points(expected, buffer->tensor);
   rkb_judgement_t judgement = {.size = sizeof judgement};
   double *shadow = NULL;
   if (buffer->dtype == RKB_F32) {
      shadow = malloc(buffer->bytes / 4 * sizeof *shadow + 1);
      if (!shadow)
         return rkb_fail(err, RKB_ERR_NOMEM, "no memory for the shadow of %s", buffer->name);
      rkb_machine_shadow(t->machine, n, shadow);
   }
   int status = t->verifier->task->judge(t->verifier->host, t->inputs, buffer->tensor, buffers[n].data,
                                         shadow, &points, NULL, t->candidate->transform, &judgement, err);
   if (status == RKB_OK)
      note_judgement(t, buffer, &judgement, shadow != NULL);
   else if (status == RKB_ERR_LIMIT && t->the_case->kind == RKB_CASE_CHECK) /* too many are ambiguous */
      snprintf(t->outcome->undecided, sizeof t->outcome->undecided, "%s", err->message);
   free(shadow);
   return status;
}

static int judge_outputs(struct trial *t, const rkb_machine_buffer_t *buffers, rkb_error_t *err) {
   rkb_expected_t *expected = NULL;
   int status = t->verifier->task->expect(t->verifier->host, t->inputs, &expected, err);
   for (uint32_t n = 0;
        n < t->plan->buffer_count && status == RKB_OK && t->outcome->rank < RKB_MACHINE_REJECT; n++)
      if (t->plan->buffers[n].role == RKB_OUT || t->plan->buffers[n].role == RKB_INOUT)
         status = judge_output(t, buffers, n, expected, err);
   if (expected)
      t->verifier->task->expected_free(expected);
   return status;
}

/* The instruction that wrote a wrong value, from a second execution of the same run.  Its place and registers join the evidence;
 * without one (nothing wrote there this time) the evidence stays as it is. */
static int find_writer(struct trial *t, rkb_error_t *err) {
   rkb_machine_finding_t writer;
   uint32_t buffer, width;
   uint64_t byte;
   if (!outcome_wrong_element(t->outcome, t->plan, &buffer, &byte, &width))
      return RKB_OK;
   int status = rkb_machine_watch(t->machine, buffer, byte, width, err);
   if (status == RKB_OK)
      status = trial_fill(t, t->buffers, err);
   if (status == RKB_OK) {
      rkb_machine_set_checks(t->machine, trial_values(t));
      status = rkb_machine_run(t->machine, t->buffers, err);
   }
   if (status == RKB_OK && rkb_machine_watched(t->machine, &writer))
      outcome_place(t->outcome, &writer);
   rkb_machine_unwatch(t->machine);
   return status;
}

int trial_judge(struct trial *t, const rkb_machine_buffer_t *buffers, rkb_error_t *err) {
   int status = t->outcome->rank < RKB_MACHINE_UNKNOWN ? judge_outputs(t, buffers, err) : RKB_OK;
   if (status == RKB_OK)
      status = find_writer(t, err);
   return status;
}

void trial_find_undefined(rkb_machine_t *machine, const rkb_plan_t *plan) {
   for (uint32_t n = 0; n < plan->buffer_count; n++) {
      const rkb_plan_buffer_t *buffer = &plan->buffers[n];
      uint64_t first;
      bool written;
      if (buffer->role != RKB_OUT && buffer->role != RKB_INOUT)
         continue;
      uint64_t count = rkb_machine_undefined(machine, n, width_of(buffer), &first, &written);
      if (count)
         rkb_machine_find_undefined(machine, n, first, width_of(buffer), written, count);
   }
}

/* Taint -------------------------------------------------------------------------------------------------------- */

static void note_deciding(struct trial *t, uint64_t taint) {
   struct outcome *outcome = t->outcome;
   for (uint32_t n = 0; n < t->plan->buffer_count; n++) {
      const char *name = t->plan->buffers[n].name;
      bool known = false;
      for (size_t k = 0; k < json_array_size(outcome->deciding_inputs); k++)
         known |= strcmp(json_string_value(json_array_get(outcome->deciding_inputs, k)), name) == 0;
      const uint32_t last = RKB_MACHINE_BUFFER_BITS - 1;
      if ((taint >> (n < last ? n : last) & 1) && !known)
         json_array_append_new(outcome->deciding_inputs, json_string(name));
   }
   outcome->oblivious &= taint == 0;
}

static int find_ignored(struct trial *t, uint64_t used, rkb_error_t *err) {
   int status = RKB_OK;
   for (uint32_t n = 0; n < t->plan->buffer_count && status == RKB_OK; n++) {
      const rkb_plan_buffer_t *buffer = &t->plan->buffers[n];
      bool matters = false;
      if (buffer->role != RKB_IN || n >= RKB_MACHINE_BUFFER_BITS - 1 || (used >> n & 1) || buffer->elements == 0)
         continue;
      status = t->verifier->task->input_matters(t->verifier->host, t->inputs, buffer->tensor, &matters, err);
      if (status == RKB_OK && matters)
         outcome_note(t->outcome, RKB_MACHINE_REJECT, "input.ignored",
                      json_pack("{s:s, s:s, s:s, s:I}", "buffer", buffer->name, "case", t->the_case->name,
                                "family", t->family->name, "seed", (json_int_t)t->seed),
                      "nothing the kernel writes or decides depends on %s (case %s)", buffer->name,
                      t->the_case->name);
   }
   return status;
}

/* Runs ---------------------------------------------------------------------------------------------------------- */

void trial_count(struct trial *t, uint64_t thread_instructions, uint64_t work) {
   t->outcome->runs++;
   t->outcome->thread_instructions += thread_instructions;
   t->largest = thread_instructions > t->largest ? thread_instructions : t->largest;
   t->outcome->work += work;
   t->budget -= work < t->budget ? work : t->budget;
   t->candidate->budget -= work < t->candidate->budget ? work : t->candidate->budget;
}

static void take_report(struct trial *t, rkb_machine_report_t *report) {
   struct outcome *outcome = t->outcome;
   rkb_machine_report(t->machine, report);
   outcome->memory_peak =
      report->memory_peak > outcome->memory_peak ? report->memory_peak : outcome->memory_peak;
   outcome->waits |= report->waits;
   outcome->relaxed_acquire |= report->relaxed_acquire;
   outcome->relaxed_arrival |= report->relaxed_arrival;
   outcome->copies_assumed |= report->copies_assumed;
   outcome->tensor_named |= report->tensor_named;
   outcome->tensor_executed |= report->tensor_executed;
   outcome->order_unknown |= report->order_unknown;
   outcome->one_schedule |= report->one_schedule;
   outcome->variable_atomics |= report->variable_atomics;
   if (report->float_atomics && !outcome->float_atomics) {
      outcome->float_atomics = true;
      memcpy(outcome->float_atomic_symbol, report->float_atomic_symbol, sizeof outcome->float_atomic_symbol);
   }
}

void trial_take(struct trial *t, const rkb_machine_finding_t *findings, uint32_t count) {
   for (uint32_t n = 0; n < count; n++) {
      if (strcmp(findings[n].reason, "limit.budget") == 0)
         t->over_budget = true; /* what was run whole decides; the rest is named in the certificate */
      else
         outcome_finding(t->outcome, &findings[n], t->the_case, t->family->name, t->seed);
   }
}

void trial_take_findings(struct trial *t) {
   rkb_machine_report_t report;
   rkb_machine_report(t->machine, &report);
   trial_take(t, report.findings, report.finding_count);
}

static bool has_doubles(const rkb_plan_t *plan) {
   bool any = false;
   for (uint32_t n = 0; n < plan->buffer_count; n++)
      any |= plan->buffers[n].dtype == RKB_F32 &&
             (plan->buffers[n].role == RKB_OUT || plan->buffers[n].role == RKB_INOUT);
   return any;
}

uint32_t trial_values(const struct trial *t) {
   return t->doubles ? RKB_MACHINE_SHADOW : 0;
}

/* Of one run of the case, so that its other runs do not count as shapes. */
static void take_turns(struct trial *t) {
   for (uint32_t n = 0; n < t->plan->launch_count; n++) {
      uint32_t count;
      const rkb_machine_loop_t *loops = rkb_machine_loops(t->machine, n, &count);
      for (uint32_t k = 0; k < count; k++)
         outcome_turns(t->outcome,
                       &(struct loop_turns){.launch = shapes_launch_name(t->candidate, &t->plan->launches[n]),
                                            .block = loops[k].block,
                                            .most = loops[k].turns,
                                            .ahead = loops[k].ahead});
   }
}

/* Makes every check where something may be new: in the first run, in the first run in descending order, and while inputs steer the kernels.  Runs that follow
 * another need to know what inputs reach. */
static uint32_t checks_of(const struct trial *t, bool first, bool followed) {
   const uint32_t others = t->candidate->ends ? 0
                           : first || !t->oblivious || t->order == RKB_MACHINE_DESCENDING
                              ? RKB_MACHINE_RACES | RKB_MACHINE_TAINT
                           : followed ? RKB_MACHINE_TAINT
                                      : 0;
   return others | trial_values(t);
}

/* What a launch of a run that was complete stored, and along which axes of its grid it had several blocks. */
static void take_stores(struct trial *t, uint32_t number) {
   const rkb_plan_launch_t *launch = &t->plan->launches[number];
   struct stored_buffers stored = {.launch = shapes_launch_name(t->candidate, launch),
                                   .buffers = rkb_machine_stored(t->machine, number)};
   for (uint32_t axis = 0; axis < 3 && launch_shapes_tell(t->verifier, t->the_case); axis++)
      stored.axes |= (uint32_t)(launch->grid[axis] > 1) << axis;
   outcome_stored(t->outcome, &stored);
}

static int judge_run(struct trial *t, bool first, const rkb_machine_report_t *report, rkb_error_t *err) {
   if (first || !t->oblivious) {
      if (first) /* a later run may go by what this one left */
         t->oblivious = !(report->control_taint | report->address_taint) && !report->leaves_state;
      note_deciding(t, report->control_taint | report->address_taint);
   }
   if (first)
      t->one_schedule = report->one_schedule;
   if (first)
      t->keeps_state = report->leaves_state || (!t->oblivious && report->may_keep_state);
   int status = trial_judge(t, t->buffers, err);
   if (status == RKB_OK && first && t->outcome->rank < RKB_MACHINE_UNKNOWN)
      status = find_ignored(t, report->used_taint, err);
   return status;
}

int trial_run(struct trial *t, bool first, const rkb_machine_buffer_t *const *others, uint32_t other_count,
              bool *followed, rkb_error_t *err) {
   const rkb_machine_buffer_t *sets[MOST_TOGETHER] = {t->buffers};
   rkb_machine_report_t report;
   int status =
      verifier_inputs_open(t->verifier, t->candidate, t->the_case, t->family, t->seed, &t->inputs, err);
   if (status == RKB_OK)
      status = trial_fill(t, t->buffers, err);
   if (status == RKB_OK) {
      for (uint32_t n = 0; n < other_count; n++)
         sets[1 + n] = others[n];
      rkb_machine_set_order(t->machine, t->order);
      rkb_machine_set_checks(t->machine, checks_of(t, first, other_count > 0));
      rkb_machine_set_budget(t->machine, t->budget);
      status = rkb_machine_run_together(t->machine, sets, 1 + other_count, followed, err);
   }
   if (status == RKB_OK) {
      take_report(t, &report);
      trial_count(t, report.thread_instructions, report.work);
      if (report.complete)
         trial_find_undefined(t->machine, t->plan);
      status = trial_take_with_second_accesses(t, err);
      if (report.complete)
         order_had(t);
      for (uint32_t n = 0; report.complete && n < t->plan->launch_count; n++)
         take_stores(t, n);
      if (report.complete && first)
         take_turns(t);
      if (report.complete && status == RKB_OK)
         status = judge_run(t, first, &report, err);
   }
   if (t->inputs)
      t->verifier->task->inputs_free(t->inputs);
   t->inputs = NULL;
   return status;
}

void trial_leave_out(struct trial *t, const char *why) {
   char text[256];
   snprintf(text, sizeof text, "case %s: %s", t->the_case->name, why);
   json_array_append_new(t->outcome->not_run, json_string(text));
}

/* The name, and of a shape that no file lists its dims. */
static void describe_shape(const rkb_case_t *the_case, char *text, size_t size) {
   size_t used = (size_t)snprintf(text, size, "%s", the_case->name);
   for (uint32_t d = 0; the_case->kind == RKB_CASE_DRAWN && d < the_case->dim_count && used < size; d++)
      used += (size_t)snprintf(text + used, size - used, "%s %s = %lld", d ? "," : ":", the_case->dims[d].name,
                               (long long)the_case->dims[d].value);
}

/* A check case of which a run is missing for want of budget or memory: an acceptance would speak for it.  Families that are left out by
 * design, because other cases had them, are named. */
static void note_unexecuted(const rkb_case_t *the_case, struct outcome *outcome) {
   if (the_case->kind != RKB_CASE_CHECK)
      return;
   outcome->unexecuted = 1;
   snprintf(outcome->unexecuted_case, sizeof outcome->unexecuted_case, "%s", the_case->name);
}

int trial_case(const struct verifier *verifier, struct candidate *candidate, const rkb_case_t *the_case,
               const struct owed *owed, struct schedule *schedule, uint32_t turn, struct outcome *outcome,
               rkb_error_t *err) {
   struct trial t = {.verifier = verifier,
                     .candidate = candidate,
                     .the_case = the_case,
                     .outcome = outcome,
                     .schedule = schedule,
                     .turn = turn,
                     .budget = candidate->budget};
   rkb_finding_t finding = {0};
   if (candidate->budget == 0) {
      outcome->over_budget = true;
      note_unexecuted(the_case, outcome);
      trial_leave_out(&t, "the budget of thread-instructions was used up");
      return RKB_OK;
   }
   int status = candidate->lender
                   ? verifier->kernel->plan_borrowed(verifier->host, candidate->job, candidate->item, candidate->build,
                                                     the_case, candidate->lender, &t.plan, &finding, err)
                   : verifier->kernel->plan(verifier->host, candidate->job, candidate->item, candidate->build,
                                            the_case, &t.plan, &finding, err);
   if (status == RKB_OK && !t.plan) {
      char shape[512];
      describe_shape(the_case, shape, sizeof shape);
      outcome_note(outcome, RKB_MACHINE_REJECT, finding.reason,
                   json_pack("{s:s, s:i, s:i}", "case", the_case->name, "line", (int)finding.line, "column",
                             (int)finding.column),
                   "%s (case %s)", finding.message, shape);
      return RKB_OK;
   }
   t.options = (rkb_machine_options_t){
      .memory_bytes = verifier->config->memory,
      .thread_instructions = t.budget,
      .foresee = candidate->foresee,
      .foresee_seed = verifier_seed(verifier, candidate, FORESEEN_SEED),
      .decisions = candidate->noted != NULL,
      .loops = true,
      .environment = turn % CANDIDATE_ENVIRONMENTS
                        ? candidate->environment + environments[turn % CANDIDATE_ENVIRONMENTS]
                        : 0,
      .hang_limit = (outcome->debug ? DEBUG_FACTOR : 1) *
                    (uint64_t)(HANG_FACTOR * (the_case->operations + the_case->bytes) + HANG_LEAST)};
   t.doubles = t.plan && has_doubles(t.plan);
   if (status == RKB_OK)
      status = allocate(&t, err);
   uint32_t *resident = status == RKB_OK ? waiting_resident(verifier, candidate, t.plan) : NULL;
   t.options.resident = resident;
   if (status == RKB_OK)
      status = rkb_machine_open(candidate->module, t.plan, &t.options, &t.machine, err);
   if (status == RKB_OK)
      status = owed ? families_run_owed(&t, owed, err) : families_run(&t, err);
   if (status == RKB_ERR_LIMIT) {
      note_unexecuted(the_case, outcome);
      trial_leave_out(&t, err->message);
      status = RKB_OK;
   } else if (status == RKB_OK && t.over_budget) {
      rkb_machine_report_t report = {.uneven = false};
      if (t.machine)
         rkb_machine_report(t.machine, &report);
      outcome->uneven = report.uneven;
      outcome->over_budget = true;
      if (candidate->once && candidate->first_budget &&
          t.one_schedule) /* one run of two would speak for both */
         outcome->orders = t.orders;
      note_unexecuted(the_case, outcome);
      const bool sampled =
         candidate->first_budget && !candidate->once && !outcome->executed; /* wide_shapes.c */
      trial_leave_out(
         &t, sampled
                ? "its blocks together take too much work, so a sample of them was executed"
                : "the budget of thread-instructions ran out before all of its input families were executed");
   } else if (status == RKB_OK && outcome->rank < RKB_MACHINE_UNKNOWN && !owed && !candidate->ends) {
      outcome->cases_run++;
      outcome->orders = t.one_schedule ? t.orders : outcome->orders;
      json_array_append_new(outcome->case_names, json_string(the_case->name));
   }
   if (t.machine && candidate->noted)
      candidate->noted->failed |= !noted_take(candidate->noted, candidate, t.machine, t.plan);
   rkb_machine_close(t.machine);
   free(resident);
   if (t.plan)
      trial_free_buffers(&t, t.buffers);
   if (t.plan)
      verifier->kernel->plan_free(t.plan);
   return status;
}
