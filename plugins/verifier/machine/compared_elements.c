/* Three things decide which elements of an output are compared with the reference: the blocks that wrote the output, the run's secret, and the cost of
 * expected values.  None of them depends on a value of the output.  So for products of matrices, the sampled blocks run without values first.  Then the
 * elements are chosen, and their expected values computed.  The elements depend only on the inputs' elements that the reference read for this.  A second run
 * of the same blocks makes only these elements of inputs.  All other elements of inputs are undefined in it, and so are results computed from them.  If an
 * undefined value decides something, or a compared element is undefined in the end, the blocks are executed with all values.
 *
 * Often parameters alone decide where blocks store.  Then the first run needs only the instructions that decide it, and foreseen_stores.h foresees which
 * blocks of the sample the second run will execute.  docs/decisions/held-elements.md.  One worker thread a sample. */
#include "compared_elements.h"

#include "foreseen_stores.h"
#include "needed_inputs.h"
#include "machine/state/block_paths.h"

#include <stdlib.h>
#include <string.h>

struct compared_elements {
   struct compared_call *calls;
   uint32_t count, room;
   bool asks;
   struct foreseen_stores *foreseen; /* NULL: the sample's machine knows which blocks wrote what */
};

static bool may_choose(const struct sample *s) {
   bool made = true;
   for (uint32_t n = 0; n < s->plan->buffer_count; n++)
      made &= !sample_is_output(&s->plan->buffers[n]) || !sample_holds_values(s, n);
   return made && !s->lone && !s->target && RKB_HAS(s->verifier->task, inputs_noted);
}

bool compared_elements_apply(const struct sample *s) {
   return s->by_warpgroups && s->plan->launch_count == 1 && may_choose(s);
}

bool compared_elements_apply_steered(const struct sample *s) {
   const uint64_t deciding = sample_deciding(s);
   return s->by_copies && deciding && !sample_needs_values(s, deciding) &&
          sample_writing_launch(s) < s->plan->launch_count && may_choose(s);
}

/* Calls ------------------------------------------------------------------------------------------------------------------- */

bool compared_elements_asks(const struct compared_elements *compared) {
   return compared && compared->asks;
}

void compared_elements_free(struct compared_elements *compared) {
   for (uint32_t n = 0; compared && n < compared->count; n++) {
      free(compared->calls[n].elements);
      free(compared->calls[n].numbers);
      free(compared->calls[n].flags);
   }
   if (compared) {
      foreseen_stores_free(compared->foreseen);
      free(compared->calls);
   }
   free(compared);
}

const rkb_machine_t *sample_writers(const struct sample *s) {
   return s->compared && s->compared->foreseen ? foreseen_stores_machine(s->compared->foreseen) : s->machine;
}

int compared_elements_keep(struct compared_elements *compared, uint32_t buffer, const uint64_t *elements,
                           uint64_t count, const double *numbers, const uint8_t *flags, int status,
                           rkb_error_t *err) {
   if (compared->count == compared->room) {
      const uint32_t room = compared->room ? 2 * compared->room : 16;
      struct compared_call *larger = realloc(compared->calls, room * sizeof *larger);
      if (!larger)
         return rkb_fail(err, RKB_ERR_NOMEM, "no memory for expected values");
      compared->calls = larger;
      compared->room = room;
   }
   struct compared_call call = {.buffer = buffer,
                                .count = count,
                                .elements = malloc(count * sizeof *call.elements + 1),
                                .numbers = malloc(3 * count * sizeof *call.numbers + 1),
                                .flags = malloc(count + 1),
                                .status = status};
   compared->calls[compared->count++] = call;
   if (!call.elements || !call.numbers || !call.flags)
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for expected values");
   memcpy(call.elements, elements, count * sizeof *elements);
   memcpy(call.numbers, numbers, 3 * count * sizeof *numbers);
   memcpy(call.flags, flags, count);
   return status;
}

int compared_elements_find(const struct compared_elements *compared, uint32_t buffer,
                           const uint64_t *elements, uint64_t count, double *numbers, uint8_t *flags,
                           rkb_error_t *err) {
   for (uint32_t n = 0; n < compared->count; n++) {
      const struct compared_call *call = &compared->calls[n];
      if (call->buffer != buffer || call->count != count ||
          memcmp(call->elements, elements, count * sizeof *elements) != 0)
         continue;
      memcpy(numbers, call->numbers, 3 * count * sizeof *numbers);
      memcpy(flags, call->flags, count);
      return call->status == RKB_OK ? RKB_OK : rkb_fail(err, call->status, "these elements cost too much");
   }
   return rkb_fail(err, RKB_ERR_INVALID, "elements are judged that were not chosen before");
}

/* Runs -------------------------------------------------------------------------------------------------------------------- */

static int open_compared(struct sample *s, struct foreseen_stores *foreseen, rkb_error_t *err) {
   s->compared = calloc(1, sizeof *s->compared);
   if (!s->compared) {
      foreseen_stores_free(foreseen);
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for the elements that are held");
   }
   s->compared->foreseen = foreseen;
   return RKB_OK;
}

/* Chooses the elements by the code that will judge them, which will choose the same elements again. */
static int choose(struct sample *s, rkb_error_t *err) {
   const rkb_random_t points = s->points;
   s->verifier->task->inputs_note(s->inputs);
   s->compared->asks = true;
   const int status = sample_judge_elements(s, err);
   s->compared->asks = false;
   s->points = points;
   return status;
}

static bool are_defined(const struct sample *s, const rkb_machine_t *machine) {
   bool all = true;
   for (uint32_t n = 0; n < s->compared->count; n++) {
      const struct compared_call *call = &s->compared->calls[n];
      const rkb_plan_buffer_t *b = &s->plan->buffers[call->buffer];
      const uint64_t width = b->bytes / b->elements;
      for (uint64_t k = 0; all && k < call->count && call->status == RKB_OK; k++)
         all = rkb_machine_holds(machine, call->buffer, call->elements[k] * width, width);
   }
   return all;
}

/* Whether the run executed as many blocks as s->machine's run, and all compared elements are defined. */
static bool is_enough(const struct sample *s, const rkb_machine_t *machine,
                      const rkb_machine_report_t *report) {
   rkb_machine_report_t before;
   rkb_machine_report(s->machine, &before);
   bool same = !report->finding_count && report->launch_count == before.launch_count;
   for (uint32_t n = 0; same && n < report->launch_count; n++)
      same = report->launches[n].executed == before.launches[n].executed;
   return same && are_defined(s, machine);
}

int compared_elements_drop(struct sample *s, rkb_error_t *err) {
   const struct verifier *me = s->verifier;
   if (!s->compared)
      return RKB_OK;
   compared_elements_free(s->compared);
   s->compared = NULL;
   me->task->inputs_free(s->inputs);
   s->inputs = NULL;
   return me->task->inputs_open(me->host, s->the_case, s->family, s->seed, &s->inputs, err);
}

/* Executes the blocks with only the values that the elements need, on buffers that the caller frees. */
static int execute_held(struct sample *s, const rkb_machine_options_t *options, rkb_machine_t **machine,
                        rkb_machine_buffer_t **buffers, rkb_machine_report_t *report, rkb_error_t *err) {
   rkb_machine_options_t own = *options;
   struct needed_inputs *needed = NULL;
   int status = choose(s, err);
   if (status == RKB_OK)
      status = needed_inputs_make(s, s->compared->calls, s->compared->count, &needed, err);
   if (status == RKB_OK)
      needed_inputs_put(needed, &own);
   own.thread_instructions = s->candidate->budget ? s->candidate->budget : 1; /* 0 would be no limit */
   if (status == RKB_OK)
      status = sample_make_buffers(s, false, buffers, err);
   if (status == RKB_OK)
      status = sample_run_once(s, &own, *buffers, machine, report, err);
   if (status == RKB_OK)
      sample_spend(s, report->work);
   needed_inputs_free(needed);
   return status;
}

static void take_buffers(struct sample *s, rkb_machine_buffer_t **buffers) {
   rkb_machine_buffer_t *const before = s->buffers;
   s->buffers = *buffers;
   *buffers = before;
}

int compared_elements_run(struct sample *s, const rkb_machine_options_t *options, bool *enough,
                          rkb_error_t *err) {
   rkb_machine_t *machine = NULL;
   rkb_machine_buffer_t *buffers = NULL;
   rkb_machine_report_t report;
   *enough = false;
   rkb_machine_report(s->machine, &report);
   if (report.atomics_unfinished || report.variables_unfinished) /* all blocks may have to be executed */
      return RKB_OK;
   int status = open_compared(s, NULL, err);
   if (status == RKB_OK)
      status = execute_held(s, options, &machine, &buffers, &report, err);
   *enough = status == RKB_OK && is_enough(s, machine, &report);
   if (*enough) /* s->machine knows which blocks wrote what */
      take_buffers(s, &buffers);
   else if (status == RKB_OK)
      status = compared_elements_drop(s, err);
   rkb_machine_close(machine);
   sample_free_buffers(s, buffers);
   return status;
}

int compared_elements_run_steered(struct sample *s, const rkb_machine_options_t *options, bool *enough,
                                  rkb_error_t *err) {
   rkb_machine_options_t own = *options;
   rkb_machine_report_t report;
   own.no_values = own.stored_runs = true;
   own.valued = sample_deciding(s);
   own.checks |= RKB_MACHINE_TAINT;
   *enough = false;
   int status = sample_run_once(s, &own, s->buffers, &s->machine, &report, err);
   if (status == RKB_OK && !report.finding_count && !sample_is_steered(&own, &report))
      status = compared_elements_run(s, options, enough, err);
   if (status != RKB_OK || *enough)
      return status;
   return sample_start_again(s, err);
}

/* Whether an element was chosen of a block of each control path, as the choice does when it knows the paths. */
static bool has_all_paths(const struct sample *s, const rkb_machine_t *machine, uint32_t places) {
   uint8_t *chosen = calloc(places + 1, 1);
   bool all = chosen != NULL;
   uint32_t launch, place;
   for (uint32_t n = 0; all && n < s->compared->count; n++) {
      const struct compared_call *call = &s->compared->calls[n];
      const uint64_t width = s->plan->buffers[call->buffer].bytes / s->plan->buffers[call->buffer].elements;
      for (uint64_t k = 0; k < call->count && call->status == RKB_OK; k++)
         if (rkb_machine_met_by(sample_writers(s), call->buffer, call->elements[k] * width, &launch,
                                &place) &&
             place < places)
            chosen[place] = 1;
   }
   for (uint32_t n = 0; all && n < places; n++) {
      bool any = chosen[n];
      for (uint32_t k = 0; !any && k < places; k++)
         any = chosen[k] && rkb_machine_path(machine, 0, k) == rkb_machine_path(machine, 0, n);
      all = any;
   }
   free(chosen);
   return all;
}

int compared_elements_run_foreseen(struct sample *s, const rkb_machine_options_t *options,
                                   const rkb_machine_report_t *counted, bool *enough, bool *foreseen,
                                   rkb_error_t *err) {
   rkb_machine_options_t own = *options;
   struct foreseen_stores *stores = NULL;
   rkb_machine_buffer_t *buffers = NULL;
   rkb_machine_report_t report;
   *enough = *foreseen = false;
   int status = foreseen_stores_run(s, options, counted, &stores, err);
   if (status != RKB_OK || !stores)
      return status;
   foreseen_stores_put(stores, &own);
   status = open_compared(s, stores, err);
   if (status == RKB_OK)
      status = execute_held(s, &own, &s->machine, &buffers, &report, err);
   *foreseen = status == RKB_OK;
   if (status == RKB_OK && !report.finding_count && !report.atomics_unfinished &&
       !report.variables_unfinished) {
      *foreseen = foreseen_stores_hold(stores, s, &report) &&
                  has_all_paths(s, s->machine, foreseen_stores_blocks(stores));
      *enough = *foreseen && are_defined(s, s->machine);
   }
   if (*enough) {
      foreseen_stores_keep(stores, s);
      take_buffers(s, &buffers);
   } else {
      rkb_machine_close(s->machine);
      s->machine = NULL;
      if (status == RKB_OK)
         status = compared_elements_drop(s, err);
   }
   sample_free_buffers(s, buffers);
   return status;
}
