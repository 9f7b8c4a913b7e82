/* Which elements of an output will be held against the reference is decided before any value of it is made: by the blocks that wrote it, by the run's secret, and by
 * what expected values cost.  So where matrices are multiplied, the sampled blocks run without values first, and these elements are chosen and
 * their expected values computed.  What the reference read for them is all that they depend on.  A second run of the same blocks makes
 * nothing else: other inputs are undefined in it, and so is what comes of them.  Where that decides something, or a held element is undefined in the
 * end, the blocks are executed with all values as without this file.  docs/decisions/held-elements.md.  One worker thread a sample. */
#include "held_elements.h"

#include <stdlib.h>
#include <string.h>

#define SMALL_INPUT 65536u /* elements of an input that is made whole: a bias, scales */

/* A call for expected values. */
struct call {
   uint32_t buffer;
   uint64_t count, *elements;
   double *numbers; /* three for each element */
   uint8_t *flags;
   int status;
};

struct held_elements {
   struct call *calls;
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
      struct call *larger = realloc(held->calls, room * sizeof *larger);
      if (!larger)
         return rkb_fail(err, RKB_ERR_NOMEM, "no memory for expected values");
      held->calls = larger;
      held->room = room;
   }
   struct call call = {.buffer = buffer,
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
      const struct call *call = &held->calls[n];
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

static void free_asked(const struct sample *s, uint64_t **asked) {
   for (uint32_t n = 0; asked && n < s->plan->buffer_count; n++)
      free(asked[n]);
   free(asked);
}

static void set_bit(uint64_t *bits, uint64_t at) {
   bits[at / 64] |= UINT64_C(1) << at % 64;
}

/* The same as below, of rows of whole words: a word's neighbours are in it, and in the word of the row beside it. */
static void add_words(const uint64_t *noted, uint64_t words, uint64_t width, uint64_t *bits) {
   const uint64_t even = UINT64_C(0x5555555555555555);
   for (uint64_t w = 0; w < words; w++) {
      const uint64_t pairs = noted[w] | (noted[w] & even) << 1 | (noted[w] >> 1 & even),
                     beside = (w / width & 1) ? w - width : w + width;
      if (!noted[w])
         continue;
      bits[w] |= pairs;
      if (beside < words)
         bits[beside] |= pairs;
   }
}

/* The elements with those beside them in the last two dims.  Where results are rounded to a narrow type, a register has two neighbours of a row, and a value only if
 * both have.  NULL: no memory. */
static uint64_t *with_neighbours(const uint64_t *noted, const rkb_tensor_t *tensor) {
   const uint64_t words = tensor->elements / 64 + 1, width = (uint64_t)tensor->shape[tensor->rank - 1];
   uint64_t *bits = calloc(words, sizeof *bits);
   if (bits && width % 64 == 0)
      add_words(noted, tensor->elements / 64, width / 64, bits);
   for (uint64_t w = 0; bits && width % 64 && w < (tensor->elements + 63) / 64; w++)
      for (uint64_t left = noted[w]; left; left &= left - 1) {
         const uint64_t element = 64 * w + (uint64_t)__builtin_ctzll(left), row = element / width,
                        column = element % width;
         for (uint64_t n = 0; n < 4; n++) {
            const uint64_t beside = (row ^ (n >> 1)) * width + (column ^ (n & 1));
            if ((column ^ (n & 1)) < width && beside < tensor->elements)
               set_bit(bits, beside);
         }
      }
   return bits;
}

/* By buffer of the plan: what is made of inputs, for the elements that the reference read.  NULL: no memory. */
static uint64_t **asked_of(const struct sample *s) {
   uint64_t **asked = calloc(s->plan->buffer_count + 1, sizeof *asked);
   bool made = asked != NULL;
   for (uint32_t n = 0; made && n < s->plan->buffer_count; n++) {
      const rkb_plan_buffer_t *b = &s->plan->buffers[n];
      const uint64_t *noted = b->role == RKB_IN && b->elements > SMALL_INPUT
                                 ? s->verifier->task->inputs_noted(s->inputs, b->tensor)
                                 : NULL;
      if (noted)
         made = (asked[n] = with_neighbours(noted, &s->the_case->tensors[b->tensor])) != NULL;
   }
   if (made)
      return asked;
   free_asked(s, asked);
   return NULL;
}

static bool are_held(const struct sample *s, const rkb_machine_t *machine) {
   bool all = true;
   for (uint32_t n = 0; n < s->held->count; n++) {
      const struct call *call = &s->held->calls[n];
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
   uint64_t **asked = status == RKB_OK ? asked_of(s) : NULL;
   if (status == RKB_OK && !asked)
      status = rkb_fail(err, RKB_ERR_NOMEM, "no memory for the elements that are asked for");
   own.asked = (const uint64_t *const *)asked;
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
   free_asked(s, asked);
   return status;
}
