/* Finds offsets that wrap around where tensors reach beyond 2^31, on reads and writes alike.  A far block then computes near rows again,
 * with right values, and the far rows are never written.  Along each axis of a grid the first two blocks show the step from block to block
 * in an output.  Some drawn far blocks and the last one should write where that step leads.  A block that does not is compared with the
 * block whose place it takes, because two blocks of a right launch do not write exactly the same words of an output.  Far blocks that write
 * nothing at all are found too.  A launch may leave an output to the first or the last of its blocks; then the search looks for the place where
 * these end or begin, and looks at them alone.  docs/verdicts.md.  One worker thread a candidate. */
#include "bench_values.h"

#include <stdlib.h>

#define FAR_BYTES (INT64_C(1) << 31)
#define FAR_BLOCKS 3u /* drawn along an axis, beside the last */
#define MOST_WRAPPED                                                                                         \
   (2 + 2 * (FAR_BLOCKS +                                                                                    \
             1)) /* blocks of a run: the first two, the far ones, and those that they stand in for */
#define PROBES (MOST_WRAPPED - 1u) /* blocks of a run that looks for the place where a range of blocks ends */
#define LEAST_RANGE 6u             /* blocks of a range that is looked at */

/* One axis of one launch's grid. */
struct wraps {
   struct sample part;
   uint32_t launch, axis;
   uint64_t apart;               /* from block to block along the axis */
   uint64_t steps[MOST_WRAPPED]; /* of the blocks that are executed: index along the axis; the others are 0 */
   uint64_t numbers[MOST_WRAPPED];
   uint32_t count;
   uint64_t base, last;         /* the blocks that are looked at: indices along the axis, the last one too */
   rkb_machine_blocks_t *lists; /* by launch */
   uint64_t told;               /* buffers, a bit each, of which a far block writes where the step leads */
};

static void add_step(struct wraps *w, uint64_t step) {
   bool known = false;
   for (uint32_t n = 0; n < w->count; n++)
      known |= w->steps[n] == step;
   if (known || w->count == MOST_WRAPPED)
      return;
   w->steps[w->count] = step;
   w->numbers[w->count++] = step * w->apart;
}

static void close_run(struct wraps *w) {
   rkb_machine_close(w->part.machine);
   w->part.machine = NULL;
   sample_free_buffers(&w->part, w->part.buffers);
   w->part.buffers = NULL;
}

/* Executes the blocks, without values where these do not steer them: only where they write is asked.  *clean: they came to their end, and
 * nothing was found. */
static int run_blocks(struct wraps *w, bool *clean, rkb_error_t *err) {
   struct sample *part = &w->part;
   rkb_machine_report_t report;
   const rkb_machine_options_t options = {.sample = w->lists,
                                          .memory_bytes = part->verifier->config->memory,
                                          .thread_instructions = part->candidate->budget,
                                          .fetch = sample_fetch,
                                          .fetch_argument = part};
   *clean = false;
   close_run(w);
   if (part->candidate->budget == 0)
      return RKB_OK;
   w->lists[w->launch] = (rkb_machine_blocks_t){.numbers = w->numbers, .count = w->count};
   int status = sample_make_buffers(part, false, &part->buffers, err);
   if (status == RKB_OK)
      status = sample_run_for_stores(part, &options, part->buffers, &part->machine, &report, err);
   if (status == RKB_OK) {
      sample_spend(part, report.work);
      *clean = report.finding_count == 0;
   }
   return status;
}

static bool extent_of(const struct wraps *w, uint64_t step, uint32_t buffer, rkb_machine_extent_t *extent) {
   for (uint32_t n = 0; n < w->count; n++)
      if (w->steps[n] == step)
         return rkb_machine_extent(w->part.machine, w->launch, n, buffer, extent) && extent->words;
   return false;
}

static bool writes(const struct wraps *w, uint64_t step, uint32_t buffer) {
   rkb_machine_extent_t extent;
   return extent_of(w, step, buffer, &extent);
}

/* Where the block should begin to write, by the first two; false: they do not tell, or it is not far. */
static bool expected_of(const struct wraps *w, uint64_t step, uint32_t buffer, int64_t *first,
                        int64_t *stride, int64_t *expected) {
   rkb_machine_extent_t zero, one;
   if (!extent_of(w, w->base, buffer, &zero) || !extent_of(w, w->base + 1, buffer, &one))
      return false;
   *first = (int64_t)zero.low;
   *stride = (int64_t)one.low - *first;
   *expected = *first + *stride * (int64_t)(step - w->base);
   return *stride > 0 && *expected >= FAR_BYTES && (uint64_t)*expected < w->part.plan->buffers[buffer].bytes;
}

/* The block whose words this one writes, by the step of the first two; 0: none. */
static uint64_t stands_in_for(const struct wraps *w, uint64_t step, uint32_t buffer) {
   rkb_machine_extent_t at;
   int64_t first, stride, expected;
   if (!expected_of(w, step, buffer, &first, &stride, &expected) || !extent_of(w, step, buffer, &at))
      return 0;
   const int64_t off = (int64_t)at.low - first;
   const uint64_t twin = w->base + (uint64_t)(off > 0 ? off / stride : 0);
   return (int64_t)at.low != expected && off > 0 && off % stride == 0 && twin != step ? twin : 0;
}

static void note(struct wraps *w, uint32_t buffer, uint64_t step, const char *what, uint64_t other) {
   const struct sample *s = &w->part;
   char of_other[48] = "";
   if (other)
      snprintf(of_other, sizeof of_other, " that block %llu writes", (unsigned long long)other);
   outcome_note(
      s->outcome, RKB_MACHINE_SUSPECT, "output.unwritten",
      json_pack("{s:s, s:s, s:i, s:s, s:I}", "case", s->the_case->name, "buffer",
                s->plan->buffers[buffer].name, "launch", (int)w->launch, "axis",
                (const char *[]){"x", "y", "z"}[w->axis], "block", (json_int_t)step),
      "launch %u at corner %s: block %llu along %c %s%s of %s, and should begin behind 2^31 bytes by the step of the first two",
      w->launch, s->the_case->name, (unsigned long long)step, "xyz"[w->axis], what, of_other,
      s -> plan -> buffers[buffer].name);
}

/* Whether the launch may leave out words of the output: if an output is filled before the plan runs, blocks need not write all of it. */
static bool must_be_whole(const struct wraps *w, uint32_t buffer) {
   const rkb_plan_buffer_t *output = &w->part.plan->buffers[buffer];
   return output->role == RKB_OUT && output->fill == RKB_FILL_NONE;
}

/* Whether every far block wrote nothing where it should, though the first two did. */
static bool all_silent(const struct wraps *w, uint32_t buffer, uint64_t *silent) {
   int64_t first, stride, expected;
   uint32_t far = 0, without = 0;
   for (uint32_t n = 0; n < w->count && must_be_whole(w, buffer); n++)
      if (w->steps[n] > w->base + 1 && expected_of(w, w->steps[n], buffer, &first, &stride, &expected)) {
         far++;
         if (!writes(w, w->steps[n], buffer)) {
            without++;
            *silent = w->steps[n];
         }
      }
   return far > FAR_BLOCKS && without == far;
}

/* Finds where the blocks end that write the buffer, between a block that does and one that does not.  *writer: then the last or the first of them.
 * *least: bytes that a block before it stored, the fewest; the block itself may be a part of one.  *found: nothing kept the blocks from being executed.  Only one such place is looked for. */
static int find_end(struct wraps *w, uint32_t buffer, uint64_t *writer, uint64_t silent, uint64_t *least,
                    bool *found, rkb_error_t *err) {
   uint64_t own = *least; /* what *writer stored */
   int status = RKB_OK;
   *found = true;
   while (status == RKB_OK && *found && (*writer > silent ? *writer - silent : silent - *writer) > 1) {
      const int64_t from = (int64_t)*writer, apart = (int64_t)silent - from;
      w->count = 0;
      for (int64_t n = 1; n <= (int64_t)PROBES; n++) {
         const int64_t step = from + apart * n / (int64_t)(PROBES + 1);
         if (step != from && step != (int64_t)silent)
            add_step(w, (uint64_t)step);
      }
      status = run_blocks(w, found, err);
      for (uint32_t n = 0; n < w->count && status == RKB_OK && *found; n++) {
         rkb_machine_extent_t extent;
         if (!extent_of(w, w->steps[n], buffer, &extent)) {
            silent = w->steps[n];
            break;
         }
         *writer = w->steps[n];
         *least = own < *least ? own : *least;
         own = extent.once;
      }
   }
   return status;
}

/* Outputs that reach so far. */
static bool is_looked_at(const struct sample *s, uint32_t buffer) {
   return sample_is_output(&s->plan->buffers[buffer]) &&
          s->plan->buffers[buffer].bytes >= (uint64_t)FAR_BYTES;
}

static void compare(struct wraps *w, uint32_t buffer, const uint64_t *far, uint32_t count) {
   rkb_machine_extent_t at, other;
   for (uint32_t n = 0; n < count && w->part.outcome->rank == 0; n++) {
      const uint64_t twin = stands_in_for(w, far[n], buffer);
      if (twin && extent_of(w, far[n], buffer, &at) && extent_of(w, twin, buffer, &other) &&
          at.low == other.low && at.high == other.high && at.words == other.words)
         note(w, buffer, far[n], "writes the words", twin);
   }
}

/* far: FAR_BLOCKS + 1 of the blocks from base to last, the last one among them. */
static void draw_far(const struct wraps *w, rkb_random_t *stream, uint64_t *far) {
   for (uint32_t n = 0; n < FAR_BLOCKS; n++)
      far[n] = w->last - w->part.verifier->random->below(stream, (w->last - w->base + 4) / 4);
   far[FAR_BLOCKS] = w->last;
}

static int run_first_and_far(struct wraps *w, const uint64_t *far, bool *clean, rkb_error_t *err) {
   w->count = 0;
   add_step(w, w->base);
   add_step(w, w->base + 1);
   for (uint32_t n = 0; n <= FAR_BLOCKS; n++)
      add_step(w, far[n]);
   return run_blocks(w, clean, err);
}

/* The last run was that of run_first_and_far.  buffer: one of them, or -1 for all. */
static int find_wrapped(struct wraps *w, const uint64_t *far, int64_t buffer, rkb_error_t *err) {
   const struct sample *s = &w->part;
   bool more = false, clean = true;
   for (uint32_t b = 0; b < s->plan->buffer_count; b++)
      for (uint32_t n = 0; is_looked_at(s, b) && (buffer < 0 || buffer == b) && n <= FAR_BLOCKS; n++) {
         const uint64_t twin = stands_in_for(w, far[n], b);
         if (twin && twin <= w->last) {
            add_step(w, twin);
            more = true;
         }
      }
   const int status = more && s->outcome->rank == 0 ? run_blocks(w, &clean, err)
                                                    : RKB_OK; /* the blocks of the last run too */
   for (uint32_t b = 0;
        status == RKB_OK && more && clean && s->outcome->rank == 0 && b < s->plan->buffer_count; b++)
      if (is_looked_at(s, b) && (buffer < 0 || buffer == b))
         compare(w, b, far, FAR_BLOCKS + 1);
   return status;
}

static bool writes_anything(const struct wraps *w, uint64_t step) {
   bool any = false;
   for (uint32_t b = 0; b < w->part.plan->buffer_count; b++)
      any |= writes(w, step, b);
   return any;
}

/* The executed block beside this one that does not write the buffer; `without`: there is none. */
static uint64_t nearest_silent(const struct wraps *w, uint32_t buffer, uint64_t step, bool above,
                               uint64_t without) {
   uint64_t nearest = without;
   for (uint32_t n = 0; n < w->count; n++)
      if (!writes(w, w->steps[n], buffer) &&
          (above ? w->steps[n] > step && w->steps[n] < nearest : w->steps[n] < step && w->steps[n] > nearest))
         nearest = w->steps[n];
   return nearest;
}

/* Executes blocks that lie evenly between two others. */
static int run_between(struct wraps *w, uint64_t low, uint64_t high, bool *clean, rkb_error_t *err) {
   w->count = 0;
   for (uint64_t n = 1; n <= PROBES; n++)
      add_step(w, low + (high - low) * n / (PROBES + 1));
   return run_blocks(w, clean, err);
}

/* Blocks of the axis that write an output. */
struct range {
   uint64_t low, high; /* the first and the last */
   uint64_t least;     /* bytes that one of them stored, the fewest */
};

/* Whether the range would store as many bytes as the output has, had each block stored as little as the least of those executed. */
static bool suffices(const struct wraps *w, uint32_t buffer, const struct range *range) {
   const rkb_plan_t *plan = w->part.plan;
   const uint32_t *grid = plan->launches[w->launch].grid;
   const double beside = (double)grid[0] * grid[1] * grid[2] / grid[w->axis];
   return (double)range->least * beside * (double)(range->high - range->low + 1) >=
          (double)plan->buffers[buffer].bytes;
}

static bool others_write(const struct wraps *w, uint32_t buffer) {
   bool any = false;
   for (uint32_t n = 0; n < w->part.plan->launch_count; n++)
      any |= n != w->launch && (sample_buffers_written(&w->part, n) >> (buffer < 63 ? buffer : 63) & 1);
   return any;
}

/* The blocks of the range are too few.  The kernel is suspect unless something else may write the rest: another launch, or blocks of the axis that
 * lie apart.  far: blocks of the last run, all in the range.  end: the last block of the axis. */
static int judge_rest(struct wraps *w, uint32_t buffer, const struct range *range, const uint64_t *far,
                      uint64_t end, rkb_error_t *err) {
   bool apart = others_write(w, buffer), clean = true;
   for (uint32_t n = 0; n <= FAR_BLOCKS; n++)
      apart |= !writes(w, far[n], buffer);
   int status = apart ? RKB_OK : run_between(w, range->high, end + 1, &clean, err);
   for (uint32_t n = 0; n < w->count && !apart && status == RKB_OK && clean; n++)
      apart |= w->steps[n] > range->high && writes(w, w->steps[n], buffer);
   if (status == RKB_OK && !apart)
      note(w, buffer, range->high + 1, "writes nothing", 0);
   return status;
}

/* Looks at an output that only a range of blocks of the axis writes, as where a launch leaves one output to its first blocks and another to those
 * behind.  writer: one of them.  is_silent: so far it looks as if the launch left out far places of the output.  The last run was that of
 * run_first_and_far or of run_between. */
static int judge_range(struct wraps *w, uint32_t buffer, uint64_t writer, bool is_silent,
                       rkb_random_t *stream, rkb_error_t *err) {
   const uint64_t end = w->last, above = nearest_silent(w, buffer, writer, true, end + 1),
                  below = writer > 1 ? nearest_silent(w, buffer, writer, false, 0) : 0;
   struct range range = {.low = writer > 1 ? writer : 0, .high = writer};
   uint64_t far[FAR_BLOCKS + 1];
   rkb_machine_extent_t own;
   bool found = extent_of(w, writer, buffer, &own);
   int status = RKB_OK;
   range.least = own.once;
   if (range.low)
      status = find_end(w, buffer, &range.low, below, &range.least, &found, err);
   if (status == RKB_OK && found)
      status = find_end(w, buffer, &range.high, above, &range.least, &found, err);
   if (status == RKB_OK && found && range.high - range.low + 1 >= LEAST_RANGE) {
      w->base = range.low;
      w->last = range.high;
      draw_far(w, stream, far);
      status = run_first_and_far(w, far, &found, err);
   } else {
      found = false;
   }
   if (status != RKB_OK)
      return status;
   const bool few = found && range.high < end && must_be_whole(w, buffer) && !suffices(w, buffer, &range);
   if (is_silent && (few || !found))
      note(w, buffer, end, "writes nothing", 0);
   else if (few)
      return judge_rest(w, buffer, &range, far, end, err);
   if (!found)
      return RKB_OK;
   return find_wrapped(w, far, buffer, err);
}

/* The first of the executed blocks that writes the buffer; `without`: none does. */
static uint64_t first_writer(const struct wraps *w, uint32_t buffer, uint64_t without) {
   uint64_t first = without;
   for (uint32_t n = 0; n < w->count; n++)
      if (w->steps[n] < first && writes(w, w->steps[n], buffer))
         first = w->steps[n];
   return first;
}

/* Looks at one output.  *current: the last run is still that of run_first_and_far. */
static int judge_output(struct wraps *w, uint32_t buffer, rkb_random_t *stream, bool *current,
                        rkb_error_t *err) {
   const uint64_t none = w->last + 1;
   const bool at_first = writes(w, 0, buffer) && writes(w, 1, buffer);
   uint64_t silent = w->last, writer = at_first ? 1 : first_writer(w, buffer, none);
   const bool is_silent = all_silent(w, buffer, &silent);
   bool clean = true;
   int status = RKB_OK;
   if (is_silent && !writes_anything(w, silent)) {
      note(w, buffer, silent, "writes nothing", 0);
      return RKB_OK;
   }
   if ((at_first && writes(w, w->last, buffer)) ||
       (writer == none && !(sample_buffers_written(&w->part, w->launch) >> (buffer < 63 ? buffer : 63) & 1)))
      return RKB_OK;
   *current = false;
   if (writer == none) { /* blocks between the first and the far ones may */
      status = run_between(w, 0, w->last, &clean, err);
      writer = status == RKB_OK && clean ? first_writer(w, buffer, none) : none;
   }
   return writer > 0 && writer != none ? judge_range(w, buffer, writer, is_silent, stream, err) : status;
}

static int find_along(struct wraps *w, rkb_random_t *stream, rkb_error_t *err) {
   const struct sample *s = &w->part;
   /* The grid's last block may be much work (large_offsets.c), and the one before it is as far. */
   const uint64_t last = s->plan->launches[w->launch].grid[w->axis] - 1 - s->drawn_alone;
   uint64_t far[FAR_BLOCKS + 1];
   bool clean = false, current = false;
   int status = RKB_OK;
   w->base = 0;
   w->last = last;
   draw_far(w, stream, far);
   for (uint32_t b = 0; b <= s->plan->buffer_count; b++) {
      if (b < s->plan->buffer_count && !is_looked_at(s, b))
         continue;
      w->base = 0;
      w->last = last;
      if (!current)
         status = run_first_and_far(w, far, &clean, err);
      if (status != RKB_OK || !clean || s->outcome->rank)
         break;
      current = true;
      for (uint32_t n = 0; n <= FAR_BLOCKS && b < 63 && b < s->plan->buffer_count; n++) {
         int64_t first, stride, expected;
         rkb_machine_extent_t at;
         w->told |= (uint64_t)(expected_of(w, far[n], b, &first, &stride, &expected) && extent_of(w, far[n], b, &at) &&
                               (int64_t)at.low == expected)
                    << b;
      }
      status = b < s->plan->buffer_count ? judge_output(w, b, stream, &current, err)
                                         : find_wrapped(w, far, -1, err);
   }
   close_run(w);
   return status;
}

int wrapped_offsets_find(const struct sample *s, rkb_random_t *stream, uint64_t *told, rkb_error_t *err) {
   const uint32_t count = s->plan->launch_count;
   struct wraps w = {.part = *s, .lists = calloc(count + 1, sizeof *w.lists)};
   int status = w.lists ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "no memory for far blocks");
   w.part.machine = NULL;
   w.part.buffers = NULL;
   for (uint32_t n = 0; n < count && status == RKB_OK; n++) {
      for (uint32_t k = 0; k < count; k++)
         w.lists[k] = (rkb_machine_blocks_t){.none = true};
      w.launch = n;
      w.apart = 1;
      for (w.axis = 0; w.axis < 3 && status == RKB_OK; w.apart *= s->plan->launches[n].grid[w.axis++])
         if (s->plan->launches[n].grid[w.axis] > 4 && s->outcome->rank == 0)
            status = find_along(&w, stream, err);
   }
   free(w.lists);
   *told = w.told;
   return status;
}
