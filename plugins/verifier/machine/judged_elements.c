/* Judges elements that executed blocks wrote, in outputs and in buffers that hold intermediates of the reference (launch_intermediates.h).  Only the expected
 * values of these elements are computed (points mode).  One worker thread a sample. */
#include "compared_elements.h"

#include <stdlib.h>
#include <string.h>

#define FAR_BYTES (UINT64_C(1) << 31)
#define MOST_WORK 1e6        /* operations of one call for expected values: about ten milliseconds */
#define MOST_WORK_OF_ONE 5e7 /* operations of a call for one element */
#define MOST_BLOCKS 4096u    /* most blocks of which more elements are judged, if a call could not judge all wanted elements */
#define MOST_FURTHER 3u      /* most calls for elements of other blocks, in the same case */
#define MORE_EACH_TIME 3     /* elements of the next call for each element judged so far */
/* Blocks write an element of a buffer more than once, if all blocks of a launch together write more than this many times the buffer's bytes. */
#define MOST_OVERLAP 1.25
#define MOST_ELEMENTS (1u << 22) /* most written elements that are remembered of an output */
/* The list of runs begins small and doubles.  Most samples need little of it, and a list with room for all would make later memory begin on new pages. */
#define FIRST_RUNS (1u << 10)
#define GROWN_BY 2u

/* Makes room for one more run.  False: there is no memory. */
static bool has_room(struct sample *s) {
   if (s->written_run_count < s->written_room)
      return true;
   if (s->written_refused)
      return false;
   const uint64_t room = s->written_room ? GROWN_BY * s->written_room : FIRST_RUNS;
   uint64_t(*grown)[2] = realloc(s->written_runs, room * sizeof *grown);
   s->written_refused = !grown;
   if (!grown)
      return false;
   s->written_runs = grown;
   s->written_room = room;
   return true;
}

static void remember(void *argument, uint64_t first, uint64_t bytes) {
   struct sample *s = argument;
   const uint64_t from = (first + s->width - 1) / s->width, end = (first + bytes) / s->width,
                  left = MOST_ELEMENTS - s->written_count,
                  count = end > from ? (end - from < left ? end - from : left) : 0;
   uint64_t *last = s->written_run_count ? s->written_runs[s->written_run_count - 1] : NULL;
   if (count && last && last[0] + last[1] == from) {
      last[1] += count;
   } else if (count && has_room(s)) {
      s->written_runs[s->written_run_count][0] = from;
      s->written_runs[s->written_run_count++][1] = count;
   } else {
      return;
   }
   s->written_count += count;
}

/* Remembers the elements of a buffer that held values from the start, if their values have changed. */
static void remember_changed(void *argument, uint64_t first, uint64_t bytes) {
   struct sample *s = argument;
   const uint8_t *data = s->buffers[s->output].data;
   _Alignas(16) uint8_t given[1024];
   const uint64_t step = sizeof given / s->width * s->width, last = first + bytes;
   for (uint64_t from = (first + s->width - 1) / s->width * s->width; from + s->width <= last; from += step) {
      const uint64_t size = (last - from < step ? last - from : step) / s->width * s->width;
      if (sample_fetch(s, s->output, from, size, given) != RKB_OK)
         return;
      for (uint64_t at = 0; at < size; at += s->width)
         if (memcmp(given + at, data + from + at, s->width) != 0)
            remember(s, from + at, s->width);
   }
}

bool sample_holds_values(const struct sample *s, uint32_t number) {
   const rkb_plan_buffer_t *buffer = &s->plan->buffers[number];
   return sample_is_given(s, number) || buffer->role == RKB_INOUT ||
          (buffer->role != RKB_IN && buffer->fill == RKB_FILL_VALUE);
}

/* Whether several blocks of a launch with atomic operations write the same elements of a buffer.  A block may then continue from the value that another
 * block left, so an element is final only after the last block wrote it. */
static bool is_written_again(const struct sample *s, const rkb_machine_report_t *report, uint32_t buffer) {
   const double most = MOST_OVERLAP * (double)s->plan->buffers[buffer].bytes;
   for (uint32_t n = 0; report->atomics_unfinished && n < report->launch_count; n++) {
      const rkb_launch_counters_t *c = &report->launches[n];
      double written = 0;
      rkb_machine_extent_t extent;
      const uint32_t executed = sample_executed_places(s->plan, c);
      for (uint32_t place = 0; place < executed && place < s->blocks.launches[n].count; place++)
         written += rkb_machine_extent(s->machine, n, place, buffer, &extent) ? (double)extent.once : 0;
      if (c->executed && written * (double)c->blocks / (double)c->executed > most)
         return true;
   }
   return false;
}

/* Expected values of elements of the buffer: of a tensor, or of the intermediate that it holds. */
static int expect(const struct sample *s, uint32_t buffer, const uint64_t *elements, uint64_t count, double *numbers,
                  uint8_t *flags, rkb_error_t *err) {
   const struct verifier *me = s->verifier;
   rkb_intermediate_t intermediate;
   if (!s->as)
      return me->task->expect_points(me->host, s->inputs, s->plan->buffers[buffer].tensor, elements, count, numbers,
                                     numbers + count, numbers + 2 * count, flags, err);
   uint64_t *at = me->intermediates->at(s->the_case, s->as->number, &intermediate) ? calloc(count, sizeof *at) : NULL;
   if (!at)
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for points");
   link_elements(s->as, &intermediate, elements, count, at);
   const int status = me->intermediates->expect_points(s->inputs, s->as->number, at, count, numbers, numbers + count,
                                                       numbers + 2 * count, flags, err);
   free(at);
   return status;
}

static int compare(const struct sample *s, uint32_t buffer, const void *data, const rkb_points_t *points,
                   const uint64_t *elements, rkb_judgement_t *judgement, rkb_error_t *err) {
   const struct verifier *me = s->verifier;
   const rkb_plan_buffer_t *b = &s->plan->buffers[buffer];
   return s->as ? me->intermediates->judge(s->inputs, s->as->number, b->dtype, data, points, elements, judgement, err)
                : me->task->judge(me->host, s->inputs, b->tensor, data, NULL, points, elements, s->candidate->transform,
                                  judgement, err);
}

/* The same for elements that compared_elements.h may have chosen before.  While it is choosing, it only keeps the results. */
static int expect_held(const struct sample *s, uint32_t buffer, const uint64_t *elements, uint64_t count,
                       double *numbers, uint8_t *flags, rkb_error_t *err) {
   if (s->compared && !compared_elements_asks(s->compared))
      return compared_elements_find(s->compared, buffer, elements, count, numbers, flags, err);
   const int status = expect(s, buffer, elements, count, numbers, flags, err);
   return s->compared && (status == RKB_OK || status == RKB_ERR_LIMIT)
             ? compared_elements_keep(s->compared, buffer, elements, count, numbers, flags, status, err)
             : status;
}

/* Judges count elements of s->written.  *refused: the comparison refused them, because too many are ambiguous; fewer elements would say no more. */
static int judge_points(struct sample *s, uint32_t buffer, uint64_t first, uint64_t count, bool *refused,
                        rkb_error_t *err) {
   const rkb_plan_buffer_t *b = &s->plan->buffers[buffer];
   const uint64_t *elements = s->written + first;
   double *numbers = calloc(3 * count, sizeof *numbers);
   uint8_t *flags = calloc(count, 1), *data = calloc(count, s->width);
   rkb_judgement_t judgement = {.size = sizeof judgement};
   int status = numbers && flags && data ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "no memory for points");
   if (status == RKB_OK)
      status = expect_held(s, buffer, elements, count, numbers, flags, err);
   if (status == RKB_OK && !compared_elements_asks(s->compared)) {
      const rkb_points_t points = {numbers, numbers + count, numbers + 2 * count, flags, count};
      for (uint64_t n = 0; n < count; n++)
         memcpy(data + n * s->width, (uint8_t *)s->buffers[buffer].data + elements[n] * s->width, s->width);
      status = compare(s, buffer, data, &points, elements, &judgement, err);
      *refused = status == RKB_ERR_LIMIT;
   }
   if (status == RKB_OK) {
      s->judged += judgement.judged;
      s->dont_care += judgement.dont_care;
      sample_note_judged(s, first, count);
      for (uint64_t n = 0; n < count && judgement.judged; n++)
         s->reached |= elements[n] * s->width >= FAR_BYTES;
      outcome_judgement(s->outcome, s->the_case, s->family->name, s->seed, b->name, &judgement, false);
   }
   free(numbers);
   free(flags);
   free(data);
   return status;
}

/* Judges the first elements.  *count: how many to judge; then how many were judged, which is less if expected values are costly. */
static int judge_first(struct sample *s, uint32_t buffer, uint64_t *count, bool *refused, rkb_error_t *err) {
   s->verifier->task->inputs_limit(s->inputs, MOST_WORK);
   int status = judge_points(s, buffer, 0, *count, refused, err);
   while (status == RKB_ERR_LIMIT && !*refused && *count > 1) {
      *count = (*count + 3) / 4;
      status = judge_points(s, buffer, 0, *count, refused, err);
   }
   if (status == RKB_ERR_LIMIT && !*refused) {
      s->verifier->task->inputs_limit(s->inputs, MOST_WORK_OF_ONE);
      status = judge_points(s, buffer, 0, *count, refused, err);
      *refused = true; /* judge no more elements of this buffer */
   }
   return status;
}

/* Returns the launch and the place of the block that wrote the element; UINT64_MAX: not known. */
static uint64_t block_of(const struct sample *s, uint64_t element) {
   uint32_t launch, place;
   return rkb_machine_met_by(sample_writers(s), s->output, element * s->width, &launch, &place)
             ? (uint64_t)launch << 32 | place
             : UINT64_MAX;
}

/* Moves elements whose block also wrote one of the first `had` elements to the places after these; returns how many. */
static uint64_t gather_blocks(struct sample *s, uint64_t had, uint64_t all) {
   uint64_t blocks[MOST_BLOCKS], count = had < MOST_BLOCKS ? had : MOST_BLOCKS, found = 0;
   for (uint64_t k = 0; k < count; k++)
      blocks[k] = block_of(s, s->written[k]);
   for (uint64_t n = had; n < all; n++) {
      const uint64_t element = s->written[n], block = block_of(s, element);
      uint64_t k = 0;
      while (k < count && (blocks[k] != block || block == UINT64_MAX))
         k++;
      if (k == count)
         continue;
      s->written[n] = s->written[had + found];
      s->written[had + found++] = element;
   }
   return found;
}

/* Judges more elements of the blocks that were judged, if expected values of other blocks would cost too much.  Values that elements of a block share, such
 * as the sum of a row, are known already. */
static int judge_same_blocks(struct sample *s, uint32_t buffer, uint64_t had, uint64_t all,
                             rkb_error_t *err) {
   const uint64_t more = gather_blocks(s, had, all);
   bool refused = false;
   int status = more ? judge_points(s, buffer, had, more, &refused, err) : RKB_OK;
   if (status == RKB_ERR_LIMIT && !refused && more >= 16)
      status = judge_points(s, buffer, had, more / 16, &refused, err);
   return status == RKB_ERR_LIMIT ? RKB_OK : status;
}

/* After the first `count` elements, judges as many of other blocks in each call, and then more elements of all these blocks. */
static int judge_further(struct sample *s, uint32_t buffer, uint64_t count, uint64_t wanted, uint64_t all,
                         rkb_error_t *err) {
   uint64_t had = count;
   bool refused = false;
   int status = RKB_OK;
   for (uint32_t n = 0; n < MOST_FURTHER && had < wanted && status == RKB_OK && !refused &&
                        s->outcome->rank < RKB_MACHINE_UNKNOWN;
        n++) {
      const uint64_t next = count < wanted - had ? count : wanted - had;
      status = judge_points(s, buffer, had, next, &refused, err);
      had += status == RKB_OK ? next : 0;
   }
   if (status == RKB_OK && !refused && s->outcome->rank < RKB_MACHINE_UNKNOWN)
      return judge_same_blocks(s, buffer, had, all, err);
   return status == RKB_ERR_LIMIT ? RKB_OK : status;
}

/* Judges elements of every executed block, then more until expected values cost too much. */
static int judge_output(struct sample *s, uint32_t buffer, rkb_error_t *err) {
   const rkb_plan_buffer_t *b = &s->plan->buffers[buffer];
   const uint64_t before = s->judged;
   s->output = buffer;
   s->width = (uint32_t)(b->bytes / b->elements);
   s->written_count = s->written_run_count = 0;
   rkb_machine_written(sample_writers(s), buffer,
                       sample_holds_values(s, buffer) ? remember_changed : remember, s);
   if (s->written_refused)
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for the elements written");
   const uint64_t final = s->written_count;
   uint64_t all, count = (uint64_t)s->verifier->config->bench_points;
   bool refused = false;
   int status = sample_choose(s, &all, err);
   if (status != RKB_OK || all == 0)
      return status;
   count = count < all ? count : all;
   const uint64_t wanted = count;
   status = judge_first(s, buffer, &count, &refused, err);
   bool more = count == wanted && !refused;
   for (uint64_t had = count; status == RKB_OK && more && had < all && s->outcome->rank < RKB_MACHINE_UNKNOWN;
        had += count) {
      count = MORE_EACH_TIME * had < all - had ? MORE_EACH_TIME * had : all - had;
      status = judge_points(s, buffer, had, count, &refused, err);
      if (status == RKB_ERR_LIMIT && !refused) { /* tries a few last elements */
         more = false;
         count = count / 4 + 1;
         status = judge_points(s, buffer, had, count, &refused, err);
         status = status == RKB_ERR_LIMIT ? RKB_OK : status;
      }
   }
   if (status == RKB_OK && count < wanted && !refused)
      status = judge_further(s, buffer, count, wanted, all, err);
   if (s->judged > before)
      sample_note_output(s, b->name, s->judged - before, final);
   s->judged_buffers[buffer] |= s->judged > before;
   s->final_elements += s->judged > before ? final : 0;
   return status;
}

bool sample_is_output(const rkb_plan_buffer_t *buffer) {
   return (buffer->role == RKB_OUT || buffer->role == RKB_INOUT) && buffer->elements;
}

static void note_bytes(void *argument, uint64_t first, uint64_t bytes) {
   (void)first;
   *(bool *)argument |= bytes != 0;
}

bool sample_has_final(const struct sample *s) {
   bool any = false;
   for (uint32_t n = 0; n < s->plan->buffer_count; n++)
      if (sample_is_output(&s->plan->buffers[n]))
         rkb_machine_written(s->machine, n, note_bytes, &any);
   return any;
}

/* Whether elements of the buffer are judged.  It is an output; or one launch is judged by itself, and the buffer holds an intermediate after it. */
static bool is_judged(struct sample *s, uint32_t buffer) {
   const struct link_target *target = s->target;
   bool later = false;
   s->as = NULL;
   if (!target)
      return sample_is_output(&s->plan->buffers[buffer]);
   if (buffer >= MOST_LINKED || !(s->stores[target->launch] >> buffer & 1))
      return false;
   for (uint32_t n = target->launch + 1; n < s->plan->launch_count; n++)
      later |= s->known_stores[n] >> buffer & 1;
   if (sample_is_output(&s->plan->buffers[buffer]) && !later)
      return true;
   s->as = link_after(s->candidate->links, target->launch, buffer);
   return link_fits(s->verifier, s->candidate->links, s->the_case, &s->plan->buffers[buffer], s->as);
}

int sample_judge_elements(struct sample *s, rkb_error_t *err) {
   rkb_machine_report_t report;
   int status = RKB_OK;
   rkb_machine_report(sample_writers(s), &report);
   s->written = NULL;
   s->written_runs = NULL;
   s->written_room = 0;
   s->written_refused = false;
   for (uint32_t n = 0; n < s->plan->buffer_count && status == RKB_OK; n++)
      if (is_judged(s, n) && !is_written_again(s, &report, n))
         status = judge_output(s, n, err);
   if (status == RKB_ERR_LIMIT) {
      if (!compared_elements_asks(s->compared))
         sample_leave_out(s, err->message);
      status = RKB_OK;
   }
   free(s->written);
   free(s->written_runs);
   s->written = NULL;
   s->written_runs = NULL;
   return status;
}
