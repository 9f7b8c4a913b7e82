/* One verdict from all that was found: standing, reason, message and evidence. */
#include "verifier.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void outcome_note(struct outcome *outcome, uint32_t rank, const char *reason, json_t *evidence,
                  const char *fmt, ...) {
   /* The optimiser may turn an undefined program into one that happens to be right, so the optimised PTX decides. */
   if (rank == RKB_MACHINE_REJECT && outcome->debug)
      rank = RKB_MACHINE_SUSPECT;
   if (rank == RKB_MACHINE_SUSPECT && strncmp(reason, "race.", 5) == 0)
      outcome->suspect_races = true;
   else if (rank == RKB_MACHINE_SUSPECT)
      outcome->suspect_values = true;
   if (rank <= outcome->rank) { /* the first of equal weight stands */
      json_decref(evidence);
      return;
   }
   va_list ap;
   outcome->rank = rank;
   json_decref(outcome->evidence);
   outcome->evidence = evidence;
   snprintf(outcome->reason, sizeof outcome->reason, "%s", reason);
   const int said =
      snprintf(outcome->message, sizeof outcome->message, "%s", outcome->debug ? "in the -G build, " : "");
   va_start(ap, fmt);
   vsnprintf(outcome->message + said, sizeof outcome->message - (size_t)said, fmt, ap);
   va_end(ap);
}

void outcome_finding(struct outcome *outcome, const rkb_machine_finding_t *finding,
                     const rkb_case_t *the_case, const char *family, uint64_t seed) {
   const bool lesser = outcome->debug && outcome->rank;
   if (lesser || finding->standing <= outcome->rank) {
      outcome_note(outcome, finding->standing, finding->reason, NULL, "%s", finding->message);
      return;
   }
   char *text = rkb_machine_finding_json(finding);
   json_t *evidence = text ? json_loads(text, 0, NULL) : NULL;
   free(text);
   if (evidence) {
      json_object_set_new(evidence, "case", json_string(the_case->name));
      json_object_set_new(evidence, "family", json_string(family));
      json_object_set_new(evidence, "seed", json_integer((json_int_t)seed));
   }
   const char *file = finding->file ? strrchr(finding->file, '/') : NULL;
   if (finding->line)
      outcome_note(outcome, finding->standing, finding->reason, evidence, "%s:%u: %s (case %s)",
                   file            ? file + 1
                   : finding->file ? finding->file
                                   : "source",
                   finding->line, finding->message, the_case->name);
   else
      outcome_note(outcome, finding->standing, finding->reason, evidence, "%s (case %s)", finding->message,
                   the_case->name);
}

bool outcome_wrong_element(const struct outcome *outcome, const rkb_plan_t *plan, uint32_t *buffer,
                           uint64_t *byte, uint32_t *width) {
   const char *name = json_string_value(json_object_get(outcome->evidence, "buffer"));
   const json_t *element = json_object_get(outcome->evidence, "element");
   uint32_t n = 0;
   if (outcome->rank != RKB_MACHINE_REJECT || strncmp(outcome->reason, "numeric.", 8) != 0 || !name ||
       !element)
      return false;
   while (n < plan->buffer_count && strcmp(plan->buffers[n].name, name) != 0)
      n++;
   if (n == plan->buffer_count || plan->buffers[n].elements == 0)
      return false;
   *buffer = n;
   *width = (uint32_t)(plan->buffers[n].bytes / plan->buffers[n].elements);
   *byte = (uint64_t)json_integer_value(element) * *width;
   return true;
}

void outcome_place(struct outcome *outcome, const rkb_machine_finding_t *finding) {
   static const char *const keys[] = {"kernel",   "launch", "opcode", "file",     "line",
                                      "ptx_line", "block",  "thread", "registers"};
   char *text = rkb_machine_finding_json(finding);
   json_t *place = text ? json_loads(text, 0, NULL) : NULL;
   free(text);
   for (size_t n = 0; place && n < sizeof keys / sizeof *keys; n++)
      if (json_object_get(place, keys[n]))
         json_object_set(outcome->evidence, keys[n], json_object_get(place, keys[n]));
   json_decref(place);
}

static json_t *number(double value) {
   return isfinite(value) ? json_real(value) : json_string(isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
}

void outcome_judgement(struct outcome *outcome, const rkb_case_t *the_case, const char *family, uint64_t seed,
                       const char *buffer, const rkb_judgement_t *j, bool shadowed) {
   if (!j->standing_is_reject && !j->suspect)
      return;
   json_t *evidence =
      json_pack("{s:s, s:s, s:I, s:s, s:I, s:o, s:o, s:o, s:s, s:s*, s:I}", "case", the_case->name, "family",
                family, "seed", (json_int_t)seed, "buffer", buffer, "element", (json_int_t)j->element, "got",
                number(j->got), "want", number(j->want), "bound", number(j->bound), "bound_name",
                j->bound_name ? j->bound_name : "", "fault",
                !shadowed  ? NULL
                : j->logic ? "logic"
                           : "rounding",
                "outside", (json_int_t)j->outside);
   outcome_note(
      outcome, j->standing_is_reject ? RKB_MACHINE_REJECT : RKB_MACHINE_SUSPECT, j->reason, evidence,
      "%s[%llu] is %.9g and should be %.9g, within %.3g (%s bound, %llu of %llu outside; %s; case %s, family %s, seed %llu)",
      buffer, (unsigned long long)j->element, j->got, j->want, j->bound, j->bound_name ? j->bound_name : "",
      (unsigned long long)j->outside, (unsigned long long)j->judged,
      !shadowed  ? "logic or rounding: without a double beside it"
      : j->logic ? "the same in double precision: an error of logic"
                 : "rounding",
      the_case->name, family, (unsigned long long)seed);
}

static void measure(const struct verifier *verifier, rkb_job_t job, const char *name, double value,
                    const char *unit) {
   rkb_measurement_t m = {.name = name,
                          .unit = unit,
                          .better = "lower",
                          .method = "counted by the checking machine",
                          .value = value,
                          .spread = -1};
   rkb_emit_measurement(verifier->host, job, &m);
}

/* Elements that were taken on trust, for a sentence; empty when there were none. */
static void describe_trust(const struct outcome *outcome, char *out, size_t size) {
   int used = 0;
   out[0] = '\0';
   if (outcome->ambiguous)
      used = snprintf(out, size, ", %llu of them ambiguous", (unsigned long long)outcome->ambiguous);
   if (outcome->dont_care)
      snprintf(out + used, size - (size_t)used, ", %llu more not judged (NaN, or out of range in this precision)",
               (unsigned long long)outcome->dont_care);
}

/* What a kernel names and never executes, for a sentence; empty where there is nothing. */
static void describe_unused(const struct outcome *outcome, char *out, size_t size) {
   size_t used = 0;
   out[0] = '\0';
   for (uint32_t n = 0; rkb_machine_tensor_name(n) && used < size; n++)
      if ((outcome->tensor_named & ~outcome->tensor_executed) >> n & 1)
         used += (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "; never executes its ",
                                  rkb_machine_tensor_name(n));
}

/* What the samples at the bench shapes leave out, for a sentence; empty when there were none. */
static void describe_sample(const struct outcome *outcome, char *out, size_t size) {
   int used = 0;
   out[0] = '\0';
   if (outcome->missed > 0)
      used = snprintf(out, size,
                      "; of sampled launches %.*g %% of the blocks could be wrong and be missed with 5 %%",
                      outcome->missed < 0.995 ? 2 : 3 /* not 1e+02 */, 100 * outcome->missed);
   if (outcome->first_number_cases && used < (int)size)
      used += snprintf(out + used, size - (size_t)used,
                       "; at %u bench cases blocks draw numbers, and numbers beyond the first were judged at smaller shapes alone",
                       outcome->first_number_cases);
   if (outcome->bench_linked && used < (int)size)
      used += snprintf(out + used, size - (size_t)used, "; %u outputs at bench shapes were judged launch by launch", outcome->bench_linked);
   if (outcome->far[0] && used < (int)size)
      used += snprintf(out + used, size - (size_t)used, outcome->far_judged ? "; blocks beyond 2^31 were judged at %s" : "; nothing was judged at %s, beyond 2^31",
                       outcome->far);
   if (json_array_size(outcome->reduced) && used < (int)size)
      used += snprintf(out + used, size - (size_t)used, "; some outputs of %u bench cases were judged at smaller shapes alone",
                       (uint32_t)json_array_size(outcome->reduced));
   if (outcome->bench_cases > outcome->bench_judged && used < (int)size)
      snprintf(out + used, size - (size_t)used, "; at %u of %u bench cases no result was judged",
               outcome->bench_cases - outcome->bench_judged, outcome->bench_cases);
}

int outcome_emit(const struct verifier *verifier, rkb_job_t job, const struct outcome *outcome) {
   static const char *const standings[] = {RKB_ACCEPT, RKB_SUSPECT, RKB_UNKNOWN, RKB_REJECT};
   const bool accepted = outcome->rank == 0;
   char message[912], trust[128], left_out[400], unused[128], *evidence = NULL, *certificate = NULL;
   describe_trust(outcome, trust, sizeof trust);
   describe_unused(outcome, unused, sizeof unused);
   describe_sample(outcome, left_out, sizeof left_out);
   snprintf(
      message, sizeof message, "%u runs of %u shapes, %llu elements within %.2g of the hard bound%s%s%s%s%s",
      outcome->runs, outcome->cases_run, (unsigned long long)outcome->elements, outcome->worst_hard, trust,
      !outcome->oblivious     ? ""
      : outcome->one_schedule ? "; memory and races at these shapes in the tried orders for all input values"
                              : "; memory and races at these shapes for all input values",
      outcome->float_atomics ? "; the order of its atomics decides the last bits" : "", left_out, unused);
   if (outcome->evidence)
      evidence = json_dumps(outcome->evidence, JSON_COMPACT | JSON_SORT_KEYS);
   if (outcome->rank <= RKB_MACHINE_SUSPECT && outcome->cases_run && !outcome->debug) {
      json_t *facets = outcome_certificate(outcome);
      certificate = json_dumps(facets, JSON_COMPACT | JSON_SORT_KEYS);
      json_decref(facets);
   }
   int status = rkb_emit_verdict_full(verifier->host, job, standings[outcome->rank], outcome->reason,
                                      accepted ? message : outcome->message, evidence, certificate);
   free(evidence);
   free(certificate);
   if (status == RKB_OK) {
      measure(verifier, job, "thread_instructions", (double)outcome->thread_instructions, "1");
      if (isfinite(outcome->worst_hard)) /* a wrong value where the bound is 0 is infinitely far outside */
         measure(verifier, job, "worst_hard", outcome->worst_hard, "1");
      measure(verifier, job, "memory_bytes", (double)outcome->memory_peak, "bytes");
   }
   return status;
}

void outcome_init(struct outcome *outcome, bool debug) {
   *outcome = (struct outcome){.debug = debug,
                               .oblivious = true,
                               .orders = ORDER_DESCENDING | ORDER_SHUFFLED,
                               .outputs = json_object(),
                               .case_names = json_array(),
                               .not_run = json_array(),
                               .sampled = json_array(),
                               .reduced = json_array(),
                               .deciding_inputs = json_array()};
}

static void join_names(json_t *list, const json_t *more) {
   for (size_t n = 0; n < json_array_size(more); n++) {
      json_t *name = json_array_get(more, n);
      bool known = false;
      for (size_t k = 0; k < json_array_size(list); k++)
         known |= json_equal(json_array_get(list, k), name);
      if (!known)
         json_array_append(list, name);
   }
}

void outcome_stored(struct outcome *outcome, const struct stored_buffers *stored) {
   uint32_t n = 0;
   while (n < outcome->stored_count && outcome->stored[n].launch != stored->launch)
      n++;
   if (n == outcome->stored_room) {
      const uint32_t room = n ? 2 * n : 16;
      struct stored_buffers *more = realloc(outcome->stored, room * sizeof *more);
      if (!more)
         return;
      outcome->stored = more;
      outcome->stored_room = room;
   }
   if (n == outcome->stored_count)
      outcome->stored[outcome->stored_count++] = (struct stored_buffers){.launch = stored->launch};
   outcome->stored[n].buffers |= stored->buffers;
   outcome->stored[n].axes |= stored->axes;
}

void outcome_turns(struct outcome *outcome, const struct loop_turns *turns) {
   uint32_t n = 0;
   while (n < outcome->loop_count &&
          (outcome->loops[n].launch != turns->launch || outcome->loops[n].block != turns->block))
      n++;
   if (n == outcome->loop_room) {
      const uint32_t room = n ? 2 * n : 16;
      struct loop_turns *more = realloc(outcome->loops, room * sizeof *more);
      if (!more)
         return;
      outcome->loops = more;
      outcome->loop_room = room;
   }
   if (n == outcome->loop_count) {
      outcome->loops[outcome->loop_count++] = *turns;
      return;
   }
   if (turns->most > outcome->loops[n].most)
      outcome->loops[n].most = turns->most;
}

static void join_outputs(json_t *into, json_t *from) {
   const char *name;
   json_t *judged;
   json_object_foreach(from, name, judged)
      if (json_is_true(judged) || !json_object_get(into, name))
         json_object_set(into, name, judged);
}

void outcome_join(struct outcome *outcome, struct outcome *next) {
   for (uint32_t n = 0; n < next->stored_count; n++)
      outcome_stored(outcome, &next->stored[n]);
   for (uint32_t n = 0; n < next->loop_count; n++)
      outcome_turns(outcome, &next->loops[n]);
   if (next->rank > outcome->rank) { /* the first of equal weight stands */
      outcome->rank = next->rank;
      memcpy(outcome->reason, next->reason, sizeof outcome->reason);
      memcpy(outcome->message, next->message, sizeof outcome->message);
      json_decref(outcome->evidence);
      outcome->evidence = json_incref(next->evidence);
   }
   outcome->cases_run += next->cases_run;
   outcome->runs += next->runs;
   outcome->elements += next->elements;
   outcome->ambiguous += next->ambiguous;
   outcome->dont_care += next->dont_care;
   join_outputs(outcome->outputs, next->outputs);
   outcome->worst_hard = next->worst_hard > outcome->worst_hard ? next->worst_hard : outcome->worst_hard;
   outcome->worst_stat = next->worst_stat > outcome->worst_stat ? next->worst_stat : outcome->worst_stat;
   json_array_extend(outcome->case_names, next->case_names);
   json_array_extend(outcome->not_run, next->not_run);
   outcome->oblivious &= next->oblivious;
   join_names(outcome->deciding_inputs, next->deciding_inputs);
   outcome->suspect_races |= next->suspect_races;
   outcome->suspect_values |= next->suspect_values;
   outcome->waits |= next->waits;
   outcome->relaxed_acquire |= next->relaxed_acquire;
   outcome->relaxed_arrival |= next->relaxed_arrival;
   outcome->copies_assumed |= next->copies_assumed;
   outcome->tensor_named |= next->tensor_named;
   outcome->tensor_executed |= next->tensor_executed;
   outcome->order_unknown |= next->order_unknown;
   outcome->one_schedule |= next->one_schedule;
   outcome->variable_atomics |= next->variable_atomics;
   outcome->orders &= next->orders;
   if (!outcome->unexecuted)
      memcpy(outcome->unexecuted_case, next->unexecuted_case, sizeof outcome->unexecuted_case);
   outcome->unexecuted += next->unexecuted;
   if (!outcome->undecided[0])
      memcpy(outcome->undecided, next->undecided, sizeof outcome->undecided);
   if (next->float_atomics && !outcome->float_atomics) {
      outcome->float_atomics = true;
      memcpy(outcome->float_atomic_symbol, next->float_atomic_symbol, sizeof outcome->float_atomic_symbol);
   }
   outcome->thread_instructions += next->thread_instructions;
   outcome->work += next->work;
   outcome->memory_peak = next->memory_peak > outcome->memory_peak ? next->memory_peak : outcome->memory_peak;
}

void outcome_free(struct outcome *outcome) {
   json_decref(outcome->evidence);
   json_decref(outcome->outputs);
   json_decref(outcome->case_names);
   json_decref(outcome->not_run);
   json_decref(outcome->sampled);
   json_decref(outcome->reduced);
   json_decref(outcome->deciding_inputs);
   free(outcome->stored);
   free(outcome->loops);
}
