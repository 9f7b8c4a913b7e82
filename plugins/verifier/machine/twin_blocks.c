/* Finds blocks of a bench shape that write the words of other blocks in place of their own, as a block does whose index lost a bit.  The
 * words that such a block writes are right, and the rest of the output is never written.  Two blocks of a right launch do not store exactly
 * the same words.  Mostly an affine function of the index gives the place where the executed blocks begin to write, and so whether two
 * blocks write the same place.  If there is no such function, the first blocks along each axis give a step.  Executed blocks that do not
 * write where the step leads are compared with the blocks whose places they take, and some drawn blocks with others that differ in one bit.
 * docs/decisions/twin-blocks.md.  One worker thread a sample. */
#include "bench_values.h"

#include <stdlib.h>
#include <string.h>

#define MOST_PAIRS 4u /* of a launch, by a step that its first blocks tell */
#define DRAWN_PAIRS                                                                                          \
   3u /* of a launch, that differ in one bit of an index; beside one that differs in the highest */
#define MOST_EXECUTED 16u /* blocks of a run */
#define TWIN_SHARE                                                                                           \
   0.03 /* of the candidate's work so far: most that is spent to look for blocks that nothing points to */

struct twins {
   struct sample part;
   const struct sample *whole;
   rkb_random_t stream;
   uint32_t launch;
   const uint32_t *grid;
   uint64_t apart[3]; /* from block to block along each axis */
   uint64_t numbers[MOST_EXECUTED];
   uint32_t count, room;        /* room: how many the work allows */
   rkb_machine_blocks_t *lists; /* by launch */
};

static void add_block(struct twins *t, uint64_t block) {
   for (uint32_t n = 0; n < t->count; n++)
      if (t->numbers[n] == block)
         return;
   if (t->count < t->room)
      t->numbers[t->count++] = block;
}

static void add_pair(struct twins *t, uint64_t block, uint64_t twin) {
   if (t->count + 2 > t->room)
      return;
   add_block(t, block);
   add_block(t, twin);
}

/* Found ------------------------------------------------------------------------------------------------------------- */

/* An output, or scratch, of which blocks store words as their own. */
static bool is_divided(const struct sample *s, uint32_t buffer) {
   return s->plan->buffers[buffer].role != RKB_IN;
}

static uint64_t number_at(const struct sample *s, uint32_t launch, uint32_t place) {
   return s->blocks.launches[launch].numbers[place];
}

/* The block before the place that has words between the same bytes. */
static uint64_t stored_first(const struct sample *s, const uint64_t *numbers, uint32_t launch, uint32_t place,
                             uint32_t buffer) {
   rkb_machine_extent_t own, other;
   uint32_t found = 0;
   rkb_machine_extent(s->machine, launch, place, buffer, &own);
   for (uint32_t n = 0; n < place; n++)
      if (rkb_machine_extent(s->machine, launch, n, buffer, &other) && other.low < own.high &&
          own.low < other.high)
         found = n;
   return numbers[found];
}

static void note(const struct sample *s, const uint64_t *numbers, uint32_t launch, uint32_t place,
                 uint32_t buffer, uint64_t words) {
   const uint64_t block = numbers[place], other = stored_first(s, numbers, launch, place, buffer);
   outcome_note(
      s->outcome, RKB_MACHINE_SUSPECT, "output.unwritten",
      json_pack("{s:s, s:s, s:i, s:I, s:I, s:I}", "case", s->the_case->name, "buffer",
                s->plan->buffers[buffer].name, "launch", (int)launch, "block", (json_int_t)block,
                "other_block", (json_int_t)other, "words", (json_int_t)words),
      "launch %u in case %s: block %llu stores %llu words of %s that block %llu stores too; what should be there of one of them is "
      "nowhere",
      launch, s->the_case->name, (unsigned long long)block, (unsigned long long)words,
      s->plan->buffers[buffer].name, (unsigned long long)other);
}

/* Words that two of the executed blocks stored. */
static void find_shared(const struct sample *s, const uint64_t *numbers, uint32_t launch, uint32_t count) {
   rkb_machine_extent_t extent;
   for (uint32_t b = 0; b < s->plan->buffer_count; b++)
      for (uint32_t place = 0; place < count && is_divided(s, b) && s->outcome->rank == 0; place++)
         if (rkb_machine_extent(s->machine, launch, place, b, &extent) && extent.again)
            note(s, numbers, launch, place, b, extent.again);
}

/* Executed ---------------------------------------------------------------------------------------------------------- */

static void close_run(struct twins *t) {
   rkb_machine_close(t->part.machine);
   t->part.machine = NULL;
   sample_free_buffers(&t->part, t->part.buffers);
   t->part.buffers = NULL;
}

/* Executes the blocks to see where they write, so without values where possible.  What they read of launches that are not executed here is
 * nothing. */
static int run_blocks(struct twins *t, rkb_error_t *err) {
   struct sample *part = &t->part;
   rkb_machine_report_t report;
   const rkb_machine_options_t options = {.sample = t->lists,
                                          .memory_bytes = part->verifier->config->memory,
                                          .thread_instructions = part->candidate->budget,
                                          .fetch = sample_fetch,
                                          .fetch_argument = part};
   const unsigned long long before = part->candidate->budget;
   close_run(t);
   t->lists[t->launch] = (rkb_machine_blocks_t){.numbers = t->numbers, .count = t->count};
   int status = sample_make_buffers(part, false, &part->buffers, err);
   if (status == RKB_OK)
      status = sample_run_for_stores(part, &options, part->buffers, &part->machine, &report, err);
   if (status == RKB_OK)
      sample_spend(part, report.work);
   part->candidate->for_twins += before - part->candidate->budget;
   if (status == RKB_OK)
      find_shared(part, t->numbers, t->launch, t->count);
   return status;
}

/* Where block, if it is the first or next to it along an axis, begins to write. */
static bool start_of(const struct twins *t, uint64_t block, uint32_t buffer, int64_t *start) {
   rkb_machine_extent_t extent;
   for (uint32_t n = 0; n < t->count; n++)
      if (t->numbers[n] == block && rkb_machine_extent(t->part.machine, t->launch, n, buffer, &extent)) {
         *start = (int64_t)extent.low;
         return true;
      }
   return false;
}

/* The block whose words the executed one at place writes, if it moved along one axis alone; its own number: none. */
static uint64_t stands_in_for(const struct twins *t, uint32_t place, uint32_t buffer) {
   const uint64_t block = number_at(t->whole, t->launch, place);
   rkb_machine_extent_t at;
   int64_t first, next, step[3] = {0}, off;
   if (!rkb_machine_extent(t->whole->machine, t->launch, place, buffer, &at) ||
       !start_of(t, 0, buffer, &first))
      return block;
   off = (int64_t)at.low - first;
   for (uint32_t d = 0; d < 3; d++) {
      if (t->grid[d] > 1 && start_of(t, t->apart[d], buffer, &next))
         step[d] = next - first;
      off -= step[d] * (int64_t)(block / t->apart[d] % t->grid[d]);
   }
   for (uint32_t d = 0; d < 3 && off; d++) {
      const int64_t index = (int64_t)(block / t->apart[d] % t->grid[d]);
      if (step[d] && off % step[d] == 0 && index + off / step[d] >= 0 && index + off / step[d] < t->grid[d])
         return block + (uint64_t)(off / step[d]) * t->apart[d];
   }
   return block;
}

/* Pairs ------------------------------------------------------------------------------------------------------------- */

/* Two blocks that differ in one bit of the index along the axis, which has as many bits. */
static void add_bit(struct twins *t, uint32_t axis, uint32_t bit) {
   const struct verifier *me = t->part.verifier;
   const uint64_t total = (uint64_t)t->grid[0] * t->grid[1] * t->grid[2],
                  block = me->random->below(&t->stream, total),
                  index = block / t->apart[axis] % t->grid[axis],
                  high = (UINT64_C(1) << bit) +
                         (index & ((UINT64_C(1) << bit) - 1)) % (t->grid[axis] - (UINT64_C(1) << bit)),
                  low = high - (UINT64_C(1) << bit), first = block - index * t->apart[axis];
   add_pair(t, first + high * t->apart[axis], first + low * t->apart[axis]);
}

/* Pairs that differ in the highest bit of the longest axis, which any index that is too narrow has lost, and pairs that differ in other bits. */
static void add_bits(struct twins *t) {
   const struct verifier *me = t->part.verifier;
   uint32_t longest = 0, axes[3], count = 0;
   for (uint32_t d = 0; d < 3; d++) {
      longest = t->grid[d] > t->grid[longest] ? d : longest;
      if (t->grid[d] > 1)
         axes[count++] = d;
   }
   add_bit(t, longest, 31 - (uint32_t)__builtin_clz(t->grid[longest] - 1));
   for (uint32_t n = 0; n < DRAWN_PAIRS; n++) {
      const uint32_t axis = axes[me->random->below(&t->stream, count)];
      add_bit(t, axis,
              (uint32_t)me->random->below(&t->stream, 32 - (uint32_t)__builtin_clz(t->grid[axis] - 1)));
   }
}

/* Pairs an executed block with the block that it stands in for, by the step from the first block to the next.  Takes the blocks nearest to
 * the first, where the step is surest to hold. */
static void add_by_steps(struct twins *t, uint32_t buffer) {
   const struct sampled_launch *list = &t->whole->blocks.launches[t->launch];
   uint64_t pairs[MOST_PAIRS + 1][2];
   uint32_t count = 0;
   for (uint32_t place = 0; place < list->count; place++) {
      const uint64_t block = list->numbers[place], twin = stands_in_for(t, place, buffer);
      uint32_t at = count;
      if (twin == block)
         continue;
      for (; at > 0 && pairs[at - 1][1] > twin; at--)
         memcpy(pairs[at], pairs[at - 1], sizeof *pairs);
      pairs[at][0] = block;
      pairs[at][1] = twin;
      count += count < MOST_PAIRS;
   }
   t->count = 0;
   for (uint32_t n = 0; n < count; n++)
      add_pair(t, pairs[n][0], pairs[n][1]);
}

static int find_by_steps(struct twins *t, uint32_t buffer, rkb_error_t *err) {
   t->count = 0;
   add_block(t, 0);
   for (uint32_t d = 0; d < 3; d++)
      if (t->grid[d] > 1)
         add_block(t, t->apart[d]);
   add_bits(t);
   int status = run_blocks(t, err);
   if (status == RKB_OK && t->part.outcome->rank == 0)
      add_by_steps(t, buffer);
   if (status == RKB_OK && t->count && t->part.outcome->rank == 0)
      status = run_blocks(t, err);
   return status;
}

/* Of a launch --------------------------------------------------------------------------------------------------------- */

/* How many blocks of the launch its share of the work allows. */
static uint32_t room_of(const struct sample *s, const rkb_launch_counters_t *c) {
   const struct candidate *candidate = s->candidate;
   const double left =
      TWIN_SHARE * (double)(candidate->given - candidate->budget) - (double)candidate->for_twins;
   double each = 1;
   for (int k = 0; k < RKB_CLASS_COUNT; k++)
      each += (double)c->thread_instructions[k] / (double)c->executed;
   return left < 0 ? 0 : left / each < MOST_EXECUTED ? (uint32_t)(left / each) : MOST_EXECUTED;
}

static int find_in_launch(struct twins *t, const rkb_launch_counters_t *c, rkb_error_t *err) {
   const struct sample *s = t->whole;
   rkb_machine_extent_t extent;
   int status = RKB_OK;
   find_shared(s, s->blocks.launches[c->launch].numbers, c->launch, s->blocks.launches[c->launch].count);
   t->launch = c->launch;
   t->grid = s->plan->launches[c->launch].grid;
   t->apart[0] = 1;
   t->apart[1] = t->grid[0];
   t->apart[2] = (uint64_t)t->grid[0] * t->grid[1];
   for (uint32_t b = 0; b < s->plan->buffer_count && status == RKB_OK && s->outcome->rank == 0; b++) {
      uint64_t meeting[2];
      bool wrote = false;
      for (uint32_t place = 0; place < s->blocks.launches[c->launch].count && !wrote; place++)
         wrote = is_divided(s, b) && rkb_machine_extent(s->machine, c->launch, place, b, &extent);
      if (!wrote || s->candidate->budget == 0)
         continue;
      if (!sample_starts_told(s, c->launch, b, meeting)) {
         t->room = room_of(s, c);
         status = t->room > 1 ? find_by_steps(t, b, err) : RKB_OK;
      } else if (meeting[0] != meeting[1]) {
         t->count = 0;
         t->room = 2;
         add_pair(t, meeting[0], meeting[1]);
         status = run_blocks(t, err);
      }
   }
   close_run(t);
   for (uint32_t k = 0; k < s->plan->launch_count; k++)
      t->lists[k] = (rkb_machine_blocks_t){.none = true};
   return status;
}

int twin_blocks_find(const struct sample *s, rkb_error_t *err) {
   const uint32_t count = s->plan->launch_count;
   struct twins t = {.part = *s, .whole = s, .lists = calloc(count + 1, sizeof *t.lists)};
   rkb_machine_report_t report;
   int status =
      t.lists ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "no memory for blocks that write in place of others");
   t.part.machine = NULL;
   t.part.buffers = NULL;
   rkb_machine_report(s->machine, &report);
   for (uint32_t k = 0; k < count && status == RKB_OK; k++)
      t.lists[k] = (rkb_machine_blocks_t){.none = true};
   t.stream =
      s->verifier->random->for_job(s->verifier->host, s->candidate->job, STREAM_TWINS | s->case_index << 8);
   for (uint32_t n = 0; n < report.launch_count && status == RKB_OK && s->outcome->rank == 0; n++)
      if (report.launches[n].executed && report.launches[n].executed < report.launches[n].blocks)
         status = find_in_launch(&t, &report.launches[n], err);
   free(t.lists);
   return status == RKB_ERR_LIMIT ? RKB_OK : status; /* too much memory: it is left out */
}
