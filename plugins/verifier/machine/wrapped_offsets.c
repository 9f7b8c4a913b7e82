/* Finds offsets that wrap around where tensors reach beyond 2^31, on reads and writes alike.  A far block then computes near rows again,
 * with right values, and the far rows are never written.  Along each axis of a grid the first two blocks show the step from block to block
 * in an output.  Some drawn far blocks and the last one should write where that step leads.  A block that does not is compared with the
 * block whose place it takes, because two blocks of a right launch do not write exactly the same words of an output.  Far blocks that write
 * nothing at all are found too.  docs/verdicts.md.  One worker thread a candidate. */
#include "bench_values.h"

#include <stdlib.h>

#define FAR_BYTES (INT64_C(1) << 31)
#define FAR_BLOCKS 3u /* drawn along an axis, beside the last */
#define MOST_WRAPPED                                                                                         \
   (2 + 2 * (FAR_BLOCKS +                                                                                    \
             1)) /* blocks of a run: the first two, the far ones, and those that they stand in for */

/* One axis of one launch's grid. */
struct wraps {
   struct sample part;
   uint32_t launch, axis;
   uint64_t apart;               /* from block to block along the axis */
   uint64_t steps[MOST_WRAPPED]; /* of the blocks that are executed: index along the axis; the others are 0 */
   uint64_t numbers[MOST_WRAPPED];
   uint32_t count;
   rkb_machine_blocks_t *lists; /* by launch */
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

/* Where the block should begin to write, by the first two; false: they do not tell, or it is not far. */
static bool expected_of(const struct wraps *w, uint64_t step, uint32_t buffer, int64_t *first,
                        int64_t *stride, int64_t *expected) {
   rkb_machine_extent_t zero, one;
   if (!extent_of(w, 0, buffer, &zero) || !extent_of(w, 1, buffer, &one))
      return false;
   *first = (int64_t)zero.low;
   *stride = (int64_t)one.low - *first;
   *expected = *first + *stride * (int64_t)step;
   return *stride > 0 && *expected >= FAR_BYTES && (uint64_t)*expected < w->part.plan->buffers[buffer].bytes;
}

/* The block whose words this one writes, by the step of the first two; 0: none. */
static uint64_t stands_in_for(const struct wraps *w, uint64_t step, uint32_t buffer) {
   rkb_machine_extent_t at;
   int64_t first, stride, expected;
   if (!expected_of(w, step, buffer, &first, &stride, &expected) || !extent_of(w, step, buffer, &at))
      return 0;
   const int64_t off = (int64_t)at.low - first;
   return (int64_t)at.low != expected && off > 0 && off % stride == 0 && (uint64_t)(off / stride) != step
             ? (uint64_t)(off / stride)
             : 0;
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

/* Whether every far block wrote nothing where it should, though the first two did.  If an output is filled before the plan runs, blocks need not write all of
 * it. */
static bool all_silent(const struct wraps *w, uint32_t buffer, uint64_t *silent) {
   const rkb_plan_buffer_t *output = &w->part.plan->buffers[buffer];
   rkb_machine_extent_t at;
   int64_t first, stride, expected;
   uint32_t far = 0, without = 0;
   if (output->role != RKB_OUT || output->fill != RKB_FILL_NONE)
      return false;
   for (uint32_t n = 0; n < w->count; n++)
      if (w->steps[n] > 1 && expected_of(w, w->steps[n], buffer, &first, &stride, &expected)) {
         far++;
         if (!extent_of(w, w->steps[n], buffer, &at)) {
            without++;
            *silent = w->steps[n];
         }
      }
   return far > FAR_BLOCKS && without == far;
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

static int find_along(struct wraps *w, rkb_random_t *stream, rkb_error_t *err) {
   const struct sample *s = &w->part;
   const uint32_t extent = s->plan->launches[w->launch].grid[w->axis];
   uint64_t far[FAR_BLOCKS + 1], silent = 0;
   bool clean;
   w->count = 0;
   add_step(w, 0);
   add_step(w, 1);
   for (uint32_t n = 0; n < FAR_BLOCKS; n++)
      far[n] = extent - 1 - s->verifier->random->below(stream, (extent + 3) / 4);
   far[FAR_BLOCKS] = extent - 1;
   for (uint32_t n = 0; n <= FAR_BLOCKS; n++)
      add_step(w, far[n]);
   int status = run_blocks(w, &clean, err);
   bool more = false;
   for (uint32_t b = 0; status == RKB_OK && clean && b < s->plan->buffer_count; b++) {
      if (!sample_is_output(&s->plan->buffers[b]) || s->plan->buffers[b].bytes < (uint64_t)FAR_BYTES)
         continue;
      if (s->outcome->rank == 0 && all_silent(w, b, &silent))
         note(w, b, silent, "writes nothing", 0);
      for (uint32_t n = 0; n <= FAR_BLOCKS; n++) {
         const uint64_t twin = stands_in_for(w, far[n], b);
         if (twin && twin < extent) {
            add_step(w, twin);
            more = true;
         }
      }
   }
   if (status == RKB_OK && more && s->outcome->rank == 0)
      status = run_blocks(w, &clean, err);
   for (uint32_t b = 0;
        status == RKB_OK && more && clean && s->outcome->rank == 0 && b < s->plan->buffer_count; b++)
      if (sample_is_output(&s->plan->buffers[b]))
         compare(w, b, far, FAR_BLOCKS + 1);
   close_run(w);
   return status;
}

int wrapped_offsets_find(const struct sample *s, rkb_random_t *stream, rkb_error_t *err) {
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
   return status;
}
