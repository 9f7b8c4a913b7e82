/* Executes a sample of the blocks of a bench case on its true inputs, and compares some of the elements that they wrote with the expected
 * values of those elements alone (points mode).  Inputs are made where they are read, outputs are kept where they are written.
 *
 * What blocks that were not executed would have written is undefined here, so an element counts only when every byte it came from was an
 * input or was written by an executed block.  This leaves out outputs that hold a value before it is final: those that several launches
 * take, if not all blocks of these launches were executed.  It leaves out whole plans if atomic operations of blocks that were not executed
 * are missing, or if several launches take a tensor that is changed in place.  The certificate says so. */
#include "compared_elements.h"
#include "noted_decisions.h"

#include <stdlib.h>
#include <string.h>

#define WHOLE_INSTRUCTIONS 20000000u /* most thread-instructions of all blocks together, if all are executed in place of the sample */

void sample_leave_out(struct sample *s, const char *why) {
   char text[448];
   snprintf(text, sizeof text, "case %s: sampled blocks were not judged: %s", s->the_case->name, why);
   json_array_append_new(s->outcome->not_run, json_string(text));
}

int sample_fetch(void *argument, uint32_t buffer, uint64_t first_byte, uint64_t bytes, void *out) {
   struct sample *s = argument;
   const rkb_plan_buffer_t *b = &s->plan->buffers[buffer];
   const uint64_t width = b->bytes / b->elements;
   rkb_error_t err;
   if (sample_is_given(s, buffer))
      return link_fill(s->verifier, s->the_case, s->target->link[buffer], s->inputs, first_byte / width, bytes / width, out);
   if (b->role == 0 || b->role == RKB_OUT) {
      plan_fill(b, bytes / width, out);
      return RKB_OK;
   }
   return s->verifier->task->inputs_fill(s->inputs, b->tensor, first_byte / width, bytes / width, out, &err);
}

int sample_make_buffers(const struct sample *s, bool defined, rkb_machine_buffer_t **buffers,
                        rkb_error_t *err) {
   uint64_t huge = rkb_machine_huge_bytes(s->plan);
   *buffers = calloc(s->plan->buffer_count + 1, sizeof **buffers);
   if (!*buffers)
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for buffers");
   for (uint32_t n = 0; n < s->plan->buffer_count; n++) {
      const rkb_plan_buffer_t *b = &s->plan->buffers[n];
      void *data = rkb_machine_sparse(b->bytes + 64, &huge);
      if (!data)
         return rkb_fail(err, RKB_ERR_LIMIT, "no addresses for %s", b->name);
      if (b->role == RKB_IN) /* the pieces of an input that a sample reads lie one after the other */
         rkb_machine_dense(data, b->bytes, &huge);
      (*buffers)[n] = (rkb_machine_buffer_t){data, defined || b->role == RKB_IN};
   }
   return RKB_OK;
}

void sample_free_buffers(const struct sample *s, rkb_machine_buffer_t *buffers) {
   for (uint32_t n = 0; buffers && n < s->plan->buffer_count; n++)
      rkb_machine_sparse_free(buffers[n].data, s->plan->buffers[n].bytes + 64);
   free(buffers);
}

int sample_start_again(struct sample *s, rkb_error_t *err) {
   rkb_machine_close(s->machine);
   s->machine = NULL;
   sample_free_buffers(s, s->buffers);
   s->buffers = NULL;
   return sample_make_buffers(s, false, &s->buffers, err);
}

/* What the run found ---------------------------------------------------------------------------------------------------- */

static void note_word(void *argument, uint64_t first, uint64_t bytes) {
   (void)first;
   *(bool *)argument |= bytes != 0;
}

/* Whether some word lacks a store or an atomic operation of a block that was not executed. */
static bool has_stale_words(const struct sample *s) {
   bool any = false;
   for (uint32_t n = 0; n < s->plan->buffer_count; n++)
      rkb_machine_wanted(s->machine, n, note_word, &any);
   return any;
}

static bool depends_on_others(const rkb_machine_report_t *report) {
   for (uint32_t n = 0; n < report->finding_count; n++)
      if (strcmp(report->findings[n].reason, "memory.uninitialised") == 0)
         return true;
   return false;
}

/* Whether the finding is one that a block can cause by itself.  If atomic operations of other blocks are missing, their absence may be the cause too. */
static bool is_own_fault(const rkb_machine_finding_t *finding) {
   return strcmp(finding->reason, "plan.trap") == 0 || strcmp(finding->reason, "sync.barrier") == 0 ||
          strcmp(finding->reason, "sync.warp") == 0;
}

static bool is_fault(const rkb_machine_finding_t *finding) {
   return strcmp(finding->reason, "memory.out_of_bounds") == 0 ||
          strcmp(finding->reason, "memory.misaligned") == 0 || strcmp(finding->reason, "input.modified") == 0;
}

void sample_spend(struct sample *s, uint64_t work) {
   s->candidate->budget -= work < s->candidate->budget ? work : s->candidate->budget;
}

int sample_execute(struct sample *s, const rkb_machine_options_t *options, rkb_error_t *err) {
   rkb_machine_report_t report;
   int status = rkb_machine_open(s->candidate->module, s->plan, options, &s->machine, err);
   if (status == RKB_OK)
      status = rkb_machine_run(s->machine, s->buffers, err);
   if (status != RKB_OK)
      return status;
   rkb_machine_report(s->machine, &report);
   sample_spend(s, report.work);
   return RKB_OK;
}

bool sample_outputs_depend(const struct sample *s) {
   uint64_t before = 0;
   bool all = true;
   for (uint32_t n = 0; n < s->plan->launch_count; n++) {
      bool writes = false, reads = false;
      for (uint32_t b = 0; b < s->plan->buffer_count; b++) {
         const uint64_t bit = UINT64_C(1) << (b < 63 ? b : 63);
         const bool takes = plan_takes(&s->plan->launches[n], b);
         writes |= takes && sample_is_output(&s->plan->buffers[b]) && (s->stores[n] & bit);
         reads |= takes && s->plan->buffers[b].role != RKB_IN && (before & bit);
      }
      all &= !writes || reads;
      before |= s->stores[n];
   }
   for (uint32_t b = 0; b < s->plan->buffer_count; b++)
      all &= !sample_is_output(&s->plan->buffers[b]) || !sample_holds_values(s, b);
   return all;
}

/* Costly blocks of a chain of launches mostly leave no final value.  Nothing is compared with their values then, so they are executed without values
 * first.  *enough: the run without values says all that a run with values would say (runs_without_values.c).  If not, the buffers are made anew. */
static int execute_steps(struct sample *s, const rkb_machine_options_t *options, bool *enough,
                         rkb_error_t *err) {
   rkb_machine_options_t own = *options;
   rkb_machine_report_t report;
   own.no_values = true;
   own.checks |= RKB_MACHINE_TAINT;
   int status = sample_run_once(s, &own, s->buffers, &s->machine, &report, err);
   *enough = status == RKB_OK && !report.finding_count && !(report.control_taint | report.address_taint) &&
             !sample_has_final(s);
   if (*enough)
      sample_spend(s, report.work);
   if (status != RKB_OK || *enough)
      return status;
   return sample_start_again(s, err);
}

/* Executes the sampled blocks. */
static int execute_sample(struct sample *s, rkb_machine_options_t *options, rkb_error_t *err) {
   bool enough = false;
   int status = RKB_OK;
   if (s->counts)
      return sample_execute_counting(s, options, err);
   if (s->lone && s->plan->launch_count == 1)
      status = sample_run_to_limit(s, options, &enough, err);
   else if (compared_elements_apply_steered(s))
      status = compared_elements_run_steered(s, options, &enough, err);
   else if (s->dear && !s->lone && sample_outputs_depend(s))
      status = execute_steps(s, options, &enough, err);
   return status == RKB_OK && !enough ? sample_execute(s, options, err) : status;
}

/* Executes the sample.  Then executes all blocks, if they are few and the values that the sample left say nothing without the other blocks. */
static int execute_enough(struct sample *s, rkb_machine_options_t *options, rkb_error_t *err) {
   rkb_machine_report_t report;
   int status = execute_sample(s, options, err);
   if (status != RKB_OK)
      return status;
   rkb_machine_report(s->machine, &report);
   const bool needs_others = depends_on_others(&report) || report.atomics_unfinished ||
                             report.variables_unfinished || has_stale_words(s);
   if (!needs_others || sample_whole_instructions(&report) > WHOLE_INSTRUCTIONS)
      return RKB_OK;
   rkb_machine_close(s->machine);
   s->machine = NULL;
   options->sample = NULL;
   options->sample_instructions = 0;
   options->thread_instructions =
      s->candidate->budget < 2 * WHOLE_INSTRUCTIONS ? s->candidate->budget : 2 * WHOLE_INSTRUCTIONS;
   status = compared_elements_drop(s, err);
   return status == RKB_OK ? sample_execute(s, options, err) : status;
}

/* Whether the run's only findings are reads of values that blocks which were not executed would have written. */
static bool only_lacked_values(const rkb_machine_report_t *report) {
   bool only = true;
   for (uint32_t n = 0; n < report->finding_count; n++)
      only &= strcmp(report->findings[n].reason, "memory.uninitialised") == 0;
   return only;
}

/* Takes over the faults that blocks of the run made.  *judged: the values that the blocks wrote may be judged. */
static void take_faults(struct sample *s, bool *judged) {
   rkb_machine_report_t report;
   rkb_machine_report(s->machine, &report);
   *judged = false;
   for (uint32_t n = 0; n < report.finding_count; n++)
      if (is_fault(&report.findings[n]) || (is_own_fault(&report.findings[n]) && !report.atomics_unfinished))
         outcome_finding(s->outcome, &report.findings[n], s->the_case, s->family->name, s->seed);
   for (uint32_t n = 0; n < report.finding_count; n++)
      if (is_own_fault(&report.findings[n]))
         outcome_note(s->outcome, RKB_MACHINE_UNKNOWN, report.findings[n].reason, NULL,
                      "%s (blocks sampled at case %s)", report.findings[n].message, s->the_case->name);
   if (!only_lacked_values(&report)) {
      if (s->outcome->rank < RKB_MACHINE_UNKNOWN)
         sample_leave_out(s, report.findings[0].message);
   } else if (report.variables_unfinished) {
      sample_leave_out(s, "a launch reads variables of the module that blocks which were not executed write");
   } else {
      *judged = true;
   }
   s->stale =
      report.finding_count || report.atomics_unfinished || report.variables_unfinished || has_stale_words(s);
}

/* Finds the instruction that wrote a wrong value, by executing the same blocks a second time. */
static int find_writer(struct sample *s, const rkb_machine_options_t *options, rkb_error_t *err) {
   rkb_machine_t *machine = NULL;
   rkb_machine_finding_t writer;
   uint32_t buffer, width;
   uint64_t byte;
   if (!outcome_wrong_element(s->outcome, s->plan, &buffer, &byte, &width))
      return RKB_OK;
   int status = rkb_machine_open(s->candidate->module, s->plan, options, &machine, err);
   if (status == RKB_OK)
      status = rkb_machine_watch(machine, buffer, byte, width, err);
   if (status == RKB_OK)
      status = rkb_machine_run(machine, s->buffers, err);
   if (status == RKB_OK && rkb_machine_watched(machine, &writer))
      outcome_place(s->outcome, &writer);
   rkb_machine_close(machine);
   return status;
}

int sample_judge_outputs(struct sample *s, const rkb_machine_options_t *options, rkb_error_t *err) {
   const int status = sample_judge_elements(s, err);
   return status == RKB_OK ? find_writer(s, options, err) : status;
}

void sample_list_unjudged(struct sample *s) {
   size_t used = 0;
   s->unjudged[0] = '\0';
   for (uint32_t n = 0; n < s->plan->buffer_count; n++)
      if (sample_is_output(&s->plan->buffers[n]) && !(s->judged_buffers && s->judged_buffers[n]) && used < sizeof s->unjudged)
         used += (size_t)snprintf(s->unjudged + used, sizeof s->unjudged - used, "%s%s", used ? ", " : "",
                                  s->plan->buffers[n].name);
}

/* Lists the outputs of which nothing was judged. */
static void list_unjudged(struct sample *s) {
   s->unjudged[0] = '\0';
   if (s->judged_buffers)
      sample_list_unjudged(s);
}

static void tell_unjudged(struct sample *s) {
   list_unjudged(s);
   if (s->unjudged[0])
      json_array_append_new(
         s->outcome->not_run,
         json_sprintf(
            "case %s: no element of %s was judged: none is final, or too much would have had to be executed",
            s->the_case->name, s->unjudged));
}

/* Whether to judge the case again on its own family.  On a family of large values all results may overflow, and the run then says nothing. */
static bool says_nothing(const struct sample *s) {
   return !s->judged && s->dont_care && s->outcome->rank < RKB_MACHINE_UNKNOWN &&
          s->family != s->verifier->task->family_at(s->verifier->host, s->the_case, 0);
}

/* Judges outputs that depend on blocks that were not sampled: first by slices (bench_slice.c), then launches by themselves.  A probe of the slices shows
 * which blocks write what; the second step uses it too. */
static int follow_back(struct sample *s, const rkb_machine_options_t *options, rkb_error_t *err) {
   struct probe *probe = sample_probe_new(s);
   int status = probe ? sample_judge_slices(s, probe, options, err)
                      : rkb_fail(err, RKB_ERR_NOMEM, "no memory for the blocks of a slice");
   if (status == RKB_OK && s->outcome->rank < RKB_MACHINE_UNKNOWN)
      status = sample_judge_links(s, options, err);
   sample_probe_free(s, probe);
   return status;
}

static int judge_run(struct sample *s, const rkb_machine_options_t *options, rkb_error_t *err) {
   rkb_machine_report_t report;
   bool judged;
   take_faults(s, &judged);
   if (!judged)
      return RKB_OK;
   int status = sample_judge_outputs(s, options, err);
   compared_elements_free(s->compared); /* these hold only elements that were chosen up to here */
   s->compared = NULL;
   rkb_machine_report(s->machine, &report);
   if (status == RKB_OK && s->judged)
      sample_describe(s, &report);
   if (status == RKB_OK && s->outcome->rank < RKB_MACHINE_UNKNOWN && !s->lone)
      status = follow_back(s, options, err);
   if (status == RKB_OK && (s->judged || s->linked))
      s->outcome->bench_judged++;
   s->outcome->bench_linked += s->linked;
   if (status == RKB_OK && s->outcome->rank < RKB_MACHINE_UNKNOWN && !says_nothing(s))
      tell_unjudged(s);
   return status;
}

/* The family is mostly the case's own, and sometimes another one, so that a kernel cannot know on which family it is judged. */
#define OTHER_FAMILY 4u /* one case in this many has another family */

static const rkb_family_t *draw_family(struct sample *s) {
   const struct verifier *me = s->verifier;
   const uint32_t count = me->task->family_count(me->host, s->the_case, 1, RKB_EXPECTED_BENCH_FAMILIES);
   const bool other = me->random->below(&s->points, OTHER_FAMILY) == 0;
   return me->task->family_at(
      me->host, s->the_case, other && count > 1 ? 1 + (uint32_t)me->random->below(&s->points, count - 1) : 0);
}

static rkb_random_t points_of(const struct sample *s) {
   return s->verifier->random->for_job(s->verifier->host, s->candidate->job,
                                       STREAM_POINTS | s->case_index << 8);
}

bool sample_takes_own_family(const struct sample *s) {
   struct sample own = *s;
   own.points = points_of(s);
   return draw_family(&own) == s->verifier->task->family_at(s->verifier->host, s->the_case, 0);
}

/* Opens the inputs on which this candidate is judged.  They replace the inputs of the counting run, whose family an author can know in advance.
 * own: takes the case's own family; else draws the family. */
static int open_inputs(struct sample *s, bool own, rkb_error_t *err) {
   const struct verifier *me = s->verifier;
   me->task->inputs_free(s->inputs);
   s->inputs = NULL;
   s->points = points_of(s);
   s->family = draw_family(s);
   if (own)
      s->family = me->task->family_at(me->host, s->the_case, 0);
   return me->task->inputs_open(me->host, s->the_case, s->family, s->seed, &s->inputs, err);
}

/* The machine counts sectors of 32 bytes and lines of 128 bytes while it judges.  A better alignment than the plainest environment's would change
 * these counts. */
#define LINE_BYTES 128u

/* The environment in which a bench case is judged: any but the plainest.  It is the same for all candidates of a run, since the places of buffers
 * decide which sectors are left out where too many are counted, and the speed model compares candidates. */
static uint64_t environment_of(const struct sample *s) {
   const struct verifier *me = s->verifier;
   rkb_random_t stream =
      me->random->for_job(me->host, s->candidate->job, RKB_RANDOM_OF_RUN | STREAM_ENVIRONMENT | (s->case_index + 1) << 8);
   for (uint32_t n = 0; n < s->plan->buffer_count; n++)
      if (s->plan->buffers[n].alignment % LINE_BYTES)
         return 0;
   const uint64_t first = me->random->next(&stream) >> 1 & ~UINT64_C(3);
   return first + 1 + me->random->below(&stream, CANDIDATE_ENVIRONMENTS - 1);
}

static int know_stores(struct sample *s, rkb_error_t *err) {
   s->judged_buffers = calloc(s->plan->buffer_count + 1, sizeof *s->judged_buffers);
   s->stores = calloc(s->plan->launch_count + 1, sizeof *s->stores);
   if (!s->judged_buffers || !s->stores)
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for what launches write");
   for (uint32_t n = 0; n < s->plan->launch_count; n++)
      s->stores[n] = sample_buffers_written(s, n);
   return RKB_OK;
}

/* Decisions ----------------------------------------------------------------------------------------------------------- */

int sample_note_decisions(const struct sample *sample, struct noted_decisions *noted, uint64_t *unknown, rkb_error_t *err) {
   struct sample own = *sample, *s = &own;
   rkb_machine_options_t options = {.sample = s->blocks.judged,
                                    .sample_instructions = JUDGED_INSTRUCTIONS,
                                    .memory_bytes = s->verifier->config->memory,
                                    .thread_instructions = s->candidate->budget ? s->candidate->budget : 1, /* 0 would be no limit */
                                    .decisions = true,
                                    .fetch = sample_fetch,
                                    .fetch_argument = s};
   s->machine = NULL;
   s->buffers = NULL;
   s->judged_buffers = NULL;
   s->stores = NULL;
   int status = know_stores(s, err);
   options.stores = s->stores;
   if (status == RKB_OK)
      status = sample_make_buffers(s, false, &s->buffers, err);
   if (status == RKB_OK)
      status = sample_execute(s, &options, err);
   *unknown = status == RKB_OK && !noted_take(noted, s->candidate, s->machine, s->plan) ? UINT64_MAX : 0;
   for (uint32_t n = 0; status == RKB_OK && n < s->plan->launch_count; n++)
      /* A block with a finding may have ended early, before some of its decisions, because it lacked a value that another block writes. */
      if (n >= MOST_NOTED || rkb_machine_found(s->machine, n) || !rkb_machine_decisions(s->machine, n))
         *unknown |= UINT64_C(1) << (n < MOST_NOTED ? n : MOST_NOTED - 1);
   rkb_machine_close(s->machine);
   sample_free_buffers(s, s->buffers);
   free(s->judged_buffers);
   free(s->stores);
   return status;
}

int sample_make_marks(struct sample *s, rkb_error_t *err) {
   bool made = (s->judged_blocks = calloc(s->blocks.launch_count + 1, sizeof *s->judged_blocks)) != NULL;
   for (uint32_t n = 0; made && n < s->blocks.launch_count; n++)
      made =
         (s->judged_blocks[n] = calloc(s->blocks.launches[n].count + 1, sizeof **s->judged_blocks)) != NULL;
   return made ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "no memory for the blocks that are judged");
}

void sample_free_marks(struct sample *s) {
   for (uint32_t n = 0; s->judged_blocks && n < s->blocks.launch_count; n++)
      free(s->judged_blocks[n]);
   free(s->judged_blocks);
   s->judged_blocks = NULL;
   json_decref(s->outputs);
   s->outputs = NULL;
   s->share = 0;
}

static int judge_inputs(struct sample *s, bool own, rkb_error_t *err) {
   rkb_machine_options_t options = {.sample = s->blocks.judged,
                                    .sample_instructions = JUDGED_INSTRUCTIONS,
                                    .memory_bytes = s->verifier->config->memory,
                                    .thread_instructions = s->candidate->budget,
                                    .environment = environment_of(s),
                                    .path_key = s->candidate->key,
                                    .past = true,
                                    .atomics_past = !s->outcome->variable_atomics,
                                    .fetch = sample_fetch,
                                    .fetch_argument = s,
                                    .kept = s->kept};
   s->divided = false;
   s->facet = NULL;
   if (s->candidate->budget == 0) {
      s->outcome->unsampled = true;
      sample_leave_out(s, "the budget of thread-instructions was used up");
      return RKB_OK;
   }
   int status = open_inputs(s, own, err);
   if (status == RKB_OK)
      status = know_stores(s, err);
   options.stores = s->stores;
   if (status == RKB_OK)
      status = sample_make_marks(s, err);
   if (status == RKB_OK)
      status = sample_make_buffers(s, false, &s->buffers, err);
   if (status == RKB_OK)
      status = execute_enough(s, &options, err);
   if (status == RKB_OK) {
      rkb_machine_report_t report;
      rkb_machine_report(s->machine, &report);
      s->instructions = sample_whole_instructions(&report);
      status = judge_run(s, &options, err);
   }
   if (status == RKB_OK && !s->target && s->outcome->rank == 0 && s->machine)
      status = later_numbers_judge(s, &options, err);
   if (status == RKB_OK && !s->lone)
      status = sample_find_unwritten(s, &options, err);
   if (status == RKB_OK && !s->lone && !s->divided && s->outcome->rank == 0)
      status = twin_blocks_find(s, err);
   if (status == RKB_OK && !s->lone && !s->target && !s->asks_all && s->outcome->rank == 0)
      status = sample_find_past(s, err);
   if (status == RKB_OK && (!s->lone || (s->races && s->facet)) && !s->target && s->outcome->rank == 0)
      status = sample_find_races(s, err);
   list_unjudged(s);
   if (status == RKB_OK && s->machine && s->unjudged[0])
      idle_launches_judge(s);
   if (status == RKB_ERR_LIMIT) {
      sample_leave_out(s, err->message);
      status = RKB_OK;
   }
   rkb_machine_close(s->machine);
   s->machine = NULL;
   sample_free_buffers(s, s->buffers);
   s->buffers = NULL;
   sample_free_marks(s);
   list_unjudged(s);
   free(s->judged_buffers);
   free(s->stores);
   free(s->followed);
   s->followed = NULL;
   compared_elements_free(s->compared);
   s->compared = NULL;
   s->judged_buffers = NULL;
   s->stores = NULL;
   return status;
}

int sample_judge(struct sample *s, rkb_error_t *err) {
   const int status = judge_inputs(s, false, err);
   return status == RKB_OK && says_nothing(s) ? judge_inputs(s, true, err) : status;
}
