/* One case: the plan executed on input families one after the other, on the same scratch and module variables, so that every
 * family after the first is also the repetition that finds counters never reset and answers remembered.  The first run has
 * every check; when no input reached control or an address, races depend on the shape alone and later runs leave them out. */
#include "verifier.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A kernel counts as hung when a single warp executes far more instructions than the whole case can need: one thread that did
 * all of it alone would take a few for each operation and byte of the reference.  1e6 covers the smallest cases. */
#define HANG_FACTOR 50.0
#define HANG_LEAST 1e6
#define DEBUG_FACTOR 16u /* unoptimised code takes so many instructions more, at most */

/* Every family is executed on some cases; which others it is executed on is a matter of work (config family_work).  A case whose
 * single run takes more than LARGE_RUN thread-instructions takes only families that no case had before it; the family with the
 * task's usual numbers, which also decides precision where sums are long, is always executed.  Cases of a few operations tell
 * little, and do not count. */
#define LARGE_RUN 30000000u
#define TELLING_CASES 3 /* of a family that is made to show a low precision or a wrong guard */
#define OTHER_CASES 2
#define TELLING_OPERATIONS 1000
#define MOST_FAMILIES 64

struct trial {
   const struct verifier *verifier;
   struct candidate *candidate;
   const rkb_case_t *the_case;
   struct outcome *outcome;
   struct schedule *schedule;
   uint32_t turn;
   rkb_plan_t *plan;
   rkb_machine_t *machine;
   rkb_machine_buffer_t *buffers;
   const rkb_family_t *family;
   uint64_t seed;
   rkb_inputs_t *inputs;
   bool oblivious, over_budget;
   uint64_t budget;   /* thread-instructions left for this case */
   uint64_t largest;  /* of one run */
   uint64_t repeated; /* thread-instructions of all runs but the first two */
   char skipped[192]; /* names of families left out */
};

static uint32_t width_of(const rkb_plan_buffer_t *buffer) {
   return buffer->elements ? (uint32_t)(buffer->bytes / buffer->elements) : 1;
}

static void fill_value(const rkb_plan_buffer_t *buffer, void *data) {
   const double value = buffer->fill_value;
   if (value == 0) {
      memset(data, 0, buffer->bytes);
      return;
   }
   for (uint64_t n = 0; n < buffer->elements; n++)
      switch (buffer->dtype) {
      case RKB_F32:
         ((float *)data)[n] = (float)value;
         break;
      case RKB_F64:
         ((double *)data)[n] = value;
         break;
      case RKB_I32:
         ((int32_t *)data)[n] = (int32_t)value;
         break;
      case RKB_I64:
         ((int64_t *)data)[n] = (int64_t)value;
         break;
      case RKB_U8:
         ((uint8_t *)data)[n] = (uint8_t)value;
         break;
      case RKB_F16:
         ((_Float16 *)data)[n] = (_Float16)value;
         break;
      default: { /* bfloat16: the upper half of the float, to nearest even */
         float narrow = (float)value;
         uint32_t bits;
         memcpy(&bits, &narrow, sizeof bits);
         ((uint16_t *)data)[n] = (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
      }
      }
}

static int fill_buffers(struct trial *t, rkb_error_t *err) {
   int status = RKB_OK;
   for (uint32_t n = 0; n < t->plan->buffer_count && status == RKB_OK; n++) {
      const rkb_plan_buffer_t *buffer = &t->plan->buffers[n];
      rkb_machine_buffer_t *data = &t->buffers[n];
      data->defined = true;
      if (buffer->role == RKB_IN || buffer->role == RKB_INOUT)
         status =
            t->verifier->task->inputs_fill(t->inputs, buffer->tensor, 0, buffer->elements, data->data, err);
      else if (buffer->fill == RKB_FILL_VALUE)
         fill_value(buffer, data->data);
      else
         data->defined = false;
   }
   return status;
}

static int allocate(struct trial *t, rkb_error_t *err) {
   t->buffers = calloc(t->plan->buffer_count + 1, sizeof *t->buffers);
   bool made = t->buffers != NULL;
   uint64_t total = 0;
   for (uint32_t n = 0; made && n < t->plan->buffer_count; n++) {
      total += t->plan->buffers[n].bytes;
      if (total > t->verifier->config->memory)
         return rkb_fail(err, RKB_ERR_LIMIT, "case %s needs more than the machine's memory",
                         t->the_case->name);
      t->buffers[n].data = malloc(t->plan->buffers[n].bytes + 64);
      made = t->buffers[n].data != NULL;
      if (made)
         /* poison: no number a kernel would leave by chance */
         memset(t->buffers[n].data, 0xa5, t->plan->buffers[n].bytes);
   }
   return made ? RKB_OK
               : rkb_fail(err, RKB_ERR_NOMEM, "no memory for the buffers of case %s", t->the_case->name);
}

/* Judging ------------------------------------------------------------------------------------------------------ */

static void note_judgement(struct trial *t, const rkb_plan_buffer_t *buffer, const rkb_judgement_t *j) {
   struct outcome *outcome = t->outcome;
   outcome->elements += j->judged;
   outcome->ambiguous += j->ambiguous;
   outcome->dont_care += j->dont_care;
   outcome->worst_hard = j->worst_hard > outcome->worst_hard ? j->worst_hard : outcome->worst_hard;
   outcome->worst_stat = j->worst_stat > outcome->worst_stat ? j->worst_stat : outcome->worst_stat;
   outcome_judgement(outcome, t->the_case, t->family->name, t->seed, buffer->name, j);
}

static int judge_output(struct trial *t, uint32_t n, rkb_expected_t *expected, rkb_error_t *err) {
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
   int status = t->verifier->task->judge(t->verifier->host, t->inputs, buffer->tensor, t->buffers[n].data,
                                         shadow, &points, NULL, t->candidate->transform, &judgement, err);
   if (status == RKB_OK)
      note_judgement(t, buffer, &judgement);
   free(shadow);
   return status;
}

static int judge_outputs(struct trial *t, rkb_error_t *err) {
   rkb_expected_t *expected = NULL;
   int status = t->verifier->task->expect(t->verifier->host, t->inputs, &expected, err);
   for (uint32_t n = 0;
        n < t->plan->buffer_count && status == RKB_OK && t->outcome->rank < RKB_MACHINE_REJECT; n++)
      if (t->plan->buffers[n].role == RKB_OUT || t->plan->buffers[n].role == RKB_INOUT)
         status = judge_output(t, n, expected, err);
   if (expected)
      t->verifier->task->expected_free(expected);
   return status;
}

/* The instruction that wrote a wrong value, from a second execution of the same run.  Its place and registers join the evidence;
 * without one (nothing wrote there this time) the evidence stays as it is. */
static int find_writer(struct trial *t, rkb_error_t *err) {
   rkb_machine_finding_t writer;
   uint32_t buffer = 0;
   const char *name = json_string_value(json_object_get(t->outcome->evidence, "buffer"));
   const json_t *element = json_object_get(t->outcome->evidence, "element");
   while (name && buffer < t->plan->buffer_count && strcmp(t->plan->buffers[buffer].name, name) != 0)
      buffer++;
   if (!name || !element || buffer == t->plan->buffer_count)
      return RKB_OK;
   const uint32_t width = width_of(&t->plan->buffers[buffer]);
   int status =
      rkb_machine_watch(t->machine, buffer, (uint64_t)json_integer_value(element) * width, width, err);
   if (status == RKB_OK)
      status = fill_buffers(t, err);
   if (status == RKB_OK) {
      rkb_machine_set_checks(t->machine,
                             RKB_MACHINE_SHADOW); /* as in the runs before: what memory keeps stays whole */
      status = rkb_machine_run(t->machine, t->buffers, err);
   }
   if (status == RKB_OK && rkb_machine_watched(t->machine, &writer))
      outcome_place(t->outcome, &writer);
   rkb_machine_unwatch(t->machine);
   return status;
}

static void find_undefined(struct trial *t) {
   for (uint32_t n = 0; n < t->plan->buffer_count; n++) {
      const rkb_plan_buffer_t *buffer = &t->plan->buffers[n];
      uint64_t first;
      bool written;
      if (buffer->role != RKB_OUT && buffer->role != RKB_INOUT)
         continue;
      uint64_t count = rkb_machine_undefined(t->machine, n, width_of(buffer), &first, &written);
      if (count)
         rkb_machine_find_undefined(t->machine, n, first, width_of(buffer), written, count);
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
      if ((taint >> (n < 63 ? n : 63) & 1) && !known)
         json_array_append_new(outcome->deciding_inputs, json_string(name));
   }
   outcome->oblivious &= taint == 0;
}

static int find_ignored(struct trial *t, uint64_t used, rkb_error_t *err) {
   int status = RKB_OK;
   for (uint32_t n = 0; n < t->plan->buffer_count && status == RKB_OK; n++) {
      const rkb_plan_buffer_t *buffer = &t->plan->buffers[n];
      bool matters = false;
      if (buffer->role != RKB_IN || n >= 63 || (used >> n & 1) || buffer->elements == 0)
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

static void take_report(struct trial *t, rkb_machine_report_t *report) {
   struct outcome *outcome = t->outcome;
   rkb_machine_report(t->machine, report);
   outcome->runs++;
   outcome->thread_instructions += report->thread_instructions;
   outcome->memory_peak =
      report->memory_peak > outcome->memory_peak ? report->memory_peak : outcome->memory_peak;
   outcome->relaxed_acquire |= report->relaxed_acquire;
   outcome->order_unknown |= report->order_unknown;
   outcome->one_schedule |= report->one_schedule;
   if (report->float_atomics && !outcome->float_atomics) {
      outcome->float_atomics = true;
      memcpy(outcome->float_atomic_symbol, report->float_atomic_symbol, sizeof outcome->float_atomic_symbol);
   }
   t->largest = report->thread_instructions > t->largest ? report->thread_instructions : t->largest;
   t->budget -= report->thread_instructions < t->budget ? report->thread_instructions : t->budget;
   t->candidate->budget -=
      report->thread_instructions < t->candidate->budget ? report->thread_instructions : t->candidate->budget;
}

static int run_once(struct trial *t, bool first, rkb_error_t *err) {
   rkb_machine_report_t report;
   int status =
      t->verifier->task->inputs_open(t->verifier->host, t->the_case, t->family, t->seed, &t->inputs, err);
   if (status == RKB_OK)
      status = fill_buffers(t, err);
   if (status == RKB_OK) {
      rkb_machine_set_checks(t->machine, first ? RKB_MACHINE_RACES | RKB_MACHINE_SHADOW | RKB_MACHINE_TAINT
                                         : t->oblivious
                                            ? RKB_MACHINE_SHADOW
                                            : RKB_MACHINE_RACES | RKB_MACHINE_SHADOW | RKB_MACHINE_TAINT);
      rkb_machine_set_budget(t->machine, t->budget);
      status = rkb_machine_run(t->machine, t->buffers, err);
   }
   if (status == RKB_OK) {
      take_report(t, &report);
      if (report.complete)
         find_undefined(t);
      rkb_machine_report(t->machine, &report);
      for (uint32_t n = 0; n < report.finding_count; n++) {
         if (strcmp(report.findings[n].reason, "limit.budget") == 0)
            t->over_budget = true; /* what was run whole decides; the rest is named in the certificate */
         else
            outcome_finding(t->outcome, &report.findings[n], t->the_case, t->family->name, t->seed);
      }
      if (report.complete && (first || !t->oblivious)) {
         t->oblivious = first ? !(report.control_taint | report.address_taint) : t->oblivious;
         note_deciding(t, report.control_taint | report.address_taint);
      }
      if (report.complete && t->outcome->rank < RKB_MACHINE_UNKNOWN)
         status = judge_outputs(t, err);
      if (status == RKB_OK && report.complete && t->outcome->rank == RKB_MACHINE_REJECT &&
          strncmp(t->outcome->reason, "numeric.", 8) == 0)
         status = find_writer(t, err);
      if (status == RKB_OK && first && report.complete && t->outcome->rank < RKB_MACHINE_UNKNOWN)
         status = find_ignored(t, report.used_taint, err);
   }
   if (t->inputs)
      t->verifier->task->inputs_free(t->inputs);
   t->inputs = NULL;
   return status;
}

static void leave_out(struct trial *t, const char *why) {
   char text[256];
   snprintf(text, sizeof text, "case %s: %s", t->the_case->name, why);
   json_array_append_new(t->outcome->not_run, json_string(text));
}

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

/* The first family runs at least twice: a plan must be right when repeated with new inputs. */
static int run_family(struct trial *t, bool first, rkb_error_t *err) {
   const int64_t asked = t->verifier->config->trials, trials = first && asked < 2 ? 2 : asked;
   int status = RKB_OK;
   for (int64_t n = 0; n < trials && status == RKB_OK && may_go_on(t); n++) {
      t->seed = (uint64_t)n + 1;
      if (t->verifier->host->job_cancelled(t->verifier->host, t->candidate->job))
         return rkb_fail(err, RKB_ERR_CANCELLED, "cancelled");
      status = run_once(t, first && n == 0, err);
   }
   if (status == RKB_OK && t->the_case->operations >= TELLING_OPERATIONS)
      json_object_set_new(t->outcome->families, t->family->name, json_integer(1));
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

static int run_families(struct trial *t, rkb_error_t *err) {
   t->family = t->verifier->task->family_at(t->verifier->host, t->the_case, 0);
   if (!t->family)
      return RKB_OK;
   int status = run_family(t, true, err);
   uint64_t chosen = status == RKB_OK && may_go_on(t) ? choose_families(t) : 0;
   for (; chosen && status == RKB_OK && may_go_on(t); chosen &= chosen - 1) {
      t->family =
         t->verifier->task->family_at(t->verifier->host, t->the_case, (uint32_t)__builtin_ctzll(chosen));
      status = run_family(t, false, err);
   }
   if (t->skipped[0]) {
      char text[256];
      snprintf(text, sizeof text, "not executed on the input families %s", t->skipped);
      leave_out(t, text);
   }
   return status;
}

int trial_case(const struct verifier *verifier, struct candidate *candidate, const rkb_case_t *the_case,
               struct schedule *schedule, uint32_t turn, struct outcome *outcome, rkb_error_t *err) {
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
      leave_out(&t, "the budget of thread-instructions was used up");
      return RKB_OK;
   }
   int status = verifier->kernel->plan(verifier->host, candidate->job, candidate->item, candidate->build,
                                       the_case, &t.plan, &finding, err);
   if (status == RKB_OK && !t.plan) {
      outcome_note(outcome, RKB_MACHINE_REJECT, finding.reason,
                   json_pack("{s:s, s:i, s:i}", "case", the_case->name, "line", (int)finding.line, "column",
                             (int)finding.column),
                   "%s (case %s)", finding.message, the_case->name);
      return RKB_OK;
   }
   rkb_machine_options_t options = {
      .memory_bytes = verifier->config->memory,
      .thread_instructions = t.budget,
      .hang_limit = (outcome->debug ? DEBUG_FACTOR : 1) *
                    (uint64_t)(HANG_FACTOR * (the_case->operations + the_case->bytes) + HANG_LEAST)};
   if (status == RKB_OK)
      status = allocate(&t, err);
   if (status == RKB_OK)
      status = rkb_machine_open(candidate->module, t.plan, &options, &t.machine, err);
   if (status == RKB_OK)
      status = run_families(&t, err);
   if (status == RKB_ERR_LIMIT) {
      leave_out(&t, err->message);
      status = RKB_OK;
   } else if (status == RKB_OK && t.over_budget) {
      outcome->over_budget = true;
      leave_out(&t,
                "the budget of thread-instructions ran out before all of its input families were executed");
   } else if (status == RKB_OK && outcome->rank < RKB_MACHINE_UNKNOWN) {
      outcome->cases_run++;
      json_array_append_new(outcome->case_names, json_string(the_case->name));
   }
   rkb_machine_close(t.machine);
   for (uint32_t n = 0; t.buffers && n < t.plan->buffer_count; n++)
      free(t.buffers[n].data);
   free(t.buffers);
   if (t.plan)
      verifier->kernel->plan_free(t.plan);
   return status;
}
