/* Three things decide which elements of an output will be held against the reference: the blocks that wrote it, the run's secret, and what expected values
 * cost.  None of them needs a value of the output.  So where matrices are multiplied, the sampled blocks run without values first, and these elements are
 * chosen and their expected values computed.  What the reference read for them is all that they depend on.  A second run of the same blocks makes these
 * elements of inputs alone.  All other elements of inputs are undefined in it, and so are results computed from them.  If an undefined value decides something,
 * or a held element is undefined in the end, the blocks are executed with all values.  docs/decisions/held-elements.md.  One worker thread a sample. */
#include "held_elements.h"

#include "asked_elements.h"

#include <stdlib.h>
#include <string.h>

struct held_elements {
   struct held_call *calls;
   uint32_t count, room;
   bool asks;
};

bool held_elements_apply(const struct sample *s) {
   const rkb_plan_t *plan = s->plan;
   bool made = true;
   for (uint32_t n = 0; n < plan->buffer_count; n++)
      made &= !sample_is_output(&plan->buffers[n]) || !sample_holds_values(s, n);
   return s->by_warpgroups && plan->launch_count == 1 && !s->lone && !s->target && made &&
          RKB_HAS(s->verifier->task, inputs_noted);
}

/* Calls ------------------------------------------------------------------------------------------------------------------- */

bool held_elements_asks(const struct held_elements *held) {
   return held && held->asks;
}

void held_elements_free(struct held_elements *held) {
   for (uint32_t n = 0; held && n < held->count; n++) {
      free(held->calls[n].elements);
      free(held->calls[n].numbers);
      free(held->calls[n].flags);
   }
   if (held)
      free(held->calls);
   free(held);
}

int held_elements_keep(struct held_elements *held, uint32_t buffer, const uint64_t *elements, uint64_t count,
                       const double *numbers, const uint8_t *flags, int status, rkb_error_t *err) {
   if (held->count == held->room) {
      const uint32_t room = held->room ? 2 * held->room : 16;
      struct held_call *larger = realloc(held->calls, room * sizeof *larger);
      if (!larger)
         return rkb_fail(err, RKB_ERR_NOMEM, "no memory for expected values");
      held->calls = larger;
      held->room = room;
   }
   struct held_call call = {.buffer = buffer,
                            .count = count,
                            .elements = malloc(count * sizeof *call.elements + 1),
                            .numbers = malloc(3 * count * sizeof *call.numbers + 1),
                            .flags = malloc(count + 1),
                            .status = status};
   held->calls[held->count++] = call;
   if (!call.elements || !call.numbers || !call.flags)
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for expected values");
   memcpy(call.elements, elements, count * sizeof *elements);
   memcpy(call.numbers, numbers, 3 * count * sizeof *numbers);
   memcpy(call.flags, flags, count);
   return status;
}

int held_elements_find(const struct held_elements *held, uint32_t buffer, const uint64_t *elements,
                       uint64_t count, double *numbers, uint8_t *flags, rkb_error_t *err) {
   for (uint32_t n = 0; n < held->count; n++) {
      const struct held_call *call = &held->calls[n];
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

/* The elements, as sample_judge_elements will choose them again. */
static int choose(struct sample *s, rkb_error_t *err) {
   const rkb_random_t points = s->points;
   s->held = calloc(1, sizeof *s->held);
   if (!s->held)
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for the elements that are held");
   s->verifier->task->inputs_note(s->inputs);
   s->held->asks = true;
   const int status = sample_judge_elements(s, err);
   s->held->asks = false;
   s->points = points;
   return status;
}

static bool are_held(const struct sample *s, const rkb_machine_t *machine) {
   bool all = true;
   for (uint32_t n = 0; n < s->held->count; n++) {
      const struct held_call *call = &s->held->calls[n];
      const rkb_plan_buffer_t *b = &s->plan->buffers[call->buffer];
      const uint64_t width = b->bytes / b->elements;
      for (uint64_t k = 0; all && k < call->count && call->status == RKB_OK; k++)
         all = rkb_machine_holds(machine, call->buffer, call->elements[k] * width, width);
   }
   return all;
}

/* Whether the run executed what s->machine's run did and made all that is held. */
static bool is_enough(const struct sample *s, const rkb_machine_t *machine,
                      const rkb_machine_report_t *report) {
   rkb_machine_report_t before;
   rkb_machine_report(s->machine, &before);
   return !report->finding_count && report->launch_count == 1 && before.launch_count == 1 &&
          report->launches[0].executed == before.launches[0].executed && are_held(s, machine);
}

int held_elements_drop(struct sample *s, rkb_error_t *err) {
   const struct verifier *me = s->verifier;
   if (!s->held)
      return RKB_OK;
   held_elements_free(s->held);
   s->held = NULL;
   me->task->inputs_free(s->inputs);
   s->inputs = NULL;
   return me->task->inputs_open(me->host, s->the_case, s->family, s->seed, &s->inputs, err);
}

int held_elements_run(struct sample *s, const rkb_machine_options_t *options, bool *enough,
                      rkb_error_t *err) {
   rkb_machine_options_t own = *options;
   rkb_machine_t *machine = NULL;
   rkb_machine_buffer_t *buffers = NULL;
   rkb_machine_report_t report;
   *enough = false;
   rkb_machine_report(s->machine, &report);
   if (report.atomics_unfinished || report.variables_unfinished) /* all blocks may have to be executed */
      return RKB_OK;
   int status = choose(s, err);
   struct asked_elements *asked = NULL;
   if (status == RKB_OK)
      status = asked_elements_make(s, s->held->calls, s->held->count, &asked, err);
   if (status == RKB_OK)
      asked_elements_put(asked, &own);
   own.thread_instructions = s->candidate->budget ? s->candidate->budget : 1; /* 0 would be no limit */
   if (status == RKB_OK)
      status = sample_make_buffers(s, false, &buffers, err);
   if (status == RKB_OK)
      status = sample_run_once(s, &own, buffers, &machine, &report, err);
   if (status == RKB_OK) {
      sample_spend(s, report.work);
      *enough = is_enough(s, machine, &report);
   }
   if (*enough) { /* s->machine knows which blocks wrote what */
      rkb_machine_buffer_t *const without = s->buffers;
      s->buffers = buffers;
      buffers = without;
   } else if (status == RKB_OK) {
      status = held_elements_drop(s, err);
   }
   rkb_machine_close(machine);
   sample_free_buffers(s, buffers);
   asked_elements_free(asked);
   return status;
}
