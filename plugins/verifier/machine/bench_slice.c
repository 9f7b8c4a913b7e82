/* Judges outputs that have no final element after the sample was executed.  There are two causes: the output's blocks read values that blocks of
 * earlier launches write, and too few of those blocks were executed; or other blocks add to the values that the output's blocks wrote.
 *
 * A slice is a few drawn blocks of the launch that writes the output, with all blocks that they need.  The drawn blocks are executed first.  Then they
 * are executed again together with the blocks that write the words they lacked (writer_search.c), and so on until no word is lacking.  The sample shows
 * how much work each of these blocks takes.  If the work is too much, the output is not judged.
 * docs/decisions/sampled-blocks.md.  One worker thread a sample. */
#include "bench_values.h"

#include <stdlib.h>
#include <string.h>

#define SLICE_WORK 100000000u /* most thread-instructions of one execution of a slice */
#define SPREAD_WORK 30000000u /* more drawn blocks are executed while all take less than this */
#define PROBE_WORK 60000000u  /* most thread-instructions of a launch's blocks in a probe */
#define MOST_PROBED 12u       /* more blocks of a launch that a probe executes, beside neighbours of the first block */
#define MOST_ROUNDS 12u       /* most executions of a slice until no word is lacking */
#define MOST_TARGETS 16u      /* drawn blocks that are judged */
#define WITH_ENDS 3u          /* a drawn block, the grid's first and its last */

/* A few more blocks of the earlier launches, executed once to see which block writes which words. */
struct probe {
   struct sample part;
   uint64_t **chosen; /* as in a slice */
   bool made;
};

struct slice {
   struct sample *whole; /* the executed sample, which shows which blocks write which words */
   struct sample part;   /* the blocks of the slice */
   uint32_t target;      /* the launch that is judged */
   uint32_t targets;     /* how many of its blocks are judged */
   uint64_t **chosen;    /* for each launch, a bit for each block: it is in the slice */
   uint64_t **settled;   /* for each buffer, a bit for each word: all blocks that add to the word are chosen */
   uint64_t work, most_work; /* thread-instructions of the last execution, and the most that an execution may take */
   struct probe *probe;
   struct word_runs words;
   const rkb_machine_options_t *lone; /* with values; not NULL while blocks are executed without them */
   bool has_values; /* of blocks that would have been executed without values, the last execution had them */
   bool failed;
   const char *why; /* why it failed */
   double needed;   /* thread-instructions of the execution that would be too much; 0: none would be */
};

/* Blocks ------------------------------------------------------------------------------------------------------------- */

static uint64_t count_bits(const uint64_t *bits, uint64_t count) {
   uint64_t set = 0;
   for (uint64_t n = 0; n < (count + 63) / 64; n++)
      set += (uint64_t)__builtin_popcountll(bits[n]);
   return set;
}

static uint32_t executed_blocks(const struct sample *s, uint32_t launch) {
   rkb_machine_report_t report;
   rkb_machine_report(s->machine, &report);
   return (uint32_t)report.launches[launch].executed;
}

static double block_work(const struct sample *s, uint32_t launch) {
   rkb_machine_report_t report;
   rkb_machine_report(s->machine, &report);
   const rkb_launch_counters_t *c = &report.launches[launch];
   double work = 0;
   for (int k = 0; k < RKB_CLASS_COUNT && c->executed; k++)
      work += (double)c->thread_instructions[k] / (double)c->executed;
   return work;
}

static double estimate(const struct slice *slice) {
   double work = 0;
   for (uint32_t n = 0; n < slice->whole->plan->launch_count; n++)
      work += block_work(slice->whole, n) *
              (double)count_bits(slice->chosen[n], slice->whole->blocks.launches[n].total);
   return work;
}

/* The chosen blocks as a sample, in order of their numbers. */
static int list_blocks(struct slice *slice, rkb_error_t *err) {
   const struct sample *s = slice->whole;
   struct block_sample *blocks = &slice->part.blocks;
   block_sample_free(blocks);
   *blocks = (struct block_sample){.launches = calloc(s->plan->launch_count + 1, sizeof *blocks->launches),
                                   .judged = calloc(s->plan->launch_count + 1, sizeof *blocks->judged),
                                   .launch_count = s->plan->launch_count};
   bool made = blocks->launches && blocks->judged;
   for (uint32_t n = 0; made && n < s->plan->launch_count; n++) {
      struct sampled_launch *list = &blocks->launches[n];
      list->total = s->blocks.launches[n].total;
      const uint64_t count = count_bits(slice->chosen[n], list->total);
      list->numbers = calloc(count + 1, sizeof *list->numbers);
      list->classes = calloc(count + 1, sizeof *list->classes);
      list->drawn = calloc(count + 1, sizeof *list->drawn);
      made = list->numbers && list->classes && list->drawn;
      for (uint64_t word = 0; made && word < (list->total + 63) / 64; word++)
         for (uint64_t left = slice->chosen[n][word]; left; left &= left - 1) {
            const uint64_t block = 64 * word + (uint64_t)__builtin_ctzll(left);
            /* A drawn block needs any block of an earlier launch with equal probability, so those blocks count as drawn too. */
            list->drawn[list->count] = n == slice->target || list->count < slice->targets;
            list->classes[list->count] = sample_class(s->plan->launches[n].grid, block);
            list->numbers[list->count++] = block;
         }
      blocks->judged[n] =
         (rkb_machine_blocks_t){.numbers = list->numbers, .count = list->count, .none = !list->count};
   }
   return made ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "no memory for the blocks of a slice");
}

static void close_machine(struct sample *part) {
   if (!part->plan)
      return;
   rkb_machine_close(part->machine);
   part->machine = NULL;
   sample_free_buffers(part, part->buffers);
   part->buffers = NULL;
}

static int execute(struct slice *slice, const rkb_machine_options_t *options, rkb_error_t *err) {
   struct sample *part = &slice->part;
   const uint64_t before = part->candidate->budget;
   close_machine(part);
   int status = list_blocks(slice, err);
   if (status == RKB_OK)
      status = sample_make_buffers(part, false, &part->buffers, err);
   if (status == RKB_OK) {
      rkb_machine_options_t own = *options;
      own.sample = part->blocks.judged;
      own.settled = (const uint64_t *const *)slice->settled; /* NULL for a probe */
      own.sample_instructions = 0;
      own.thread_instructions = before < 2 * slice->most_work ? before : 2 * slice->most_work;
      own.fetch_argument = part;
      own.stores = part->stores;
      own.given = part->target ? part->target->given : 0;
      status = sample_execute(part, &own, err);
   }
   slice->work = before - part->candidate->budget;
   return status;
}

/* Whether the run ended by its work limit alone.  A run with values would reach the limit sooner, and so show nothing more. */
static bool only_cut_off(const rkb_machine_report_t *report) {
   bool only = true;
   for (uint32_t n = 0; n < report->finding_count; n++)
      only &= strcmp(report->findings[n].reason, "limit.budget") == 0;
   return only;
}

/* Executes the blocks of a probe without values, because a probe only asks where the blocks store.  Executes them with values if an input steers them. */
static int execute_probe(struct slice *slice, const rkb_machine_options_t *options, rkb_error_t *err) {
   rkb_machine_options_t own = *options, values = *options;
   rkb_machine_report_t report;
   own.no_values = true;
   own.checks |= RKB_MACHINE_TAINT;
   values.no_values = own.charged = values.charged =
      false; /* the slice may be executed without values itself */
   values.checks &= ~(uint32_t)RKB_MACHINE_TAINT;
   const int status = execute(slice, &own, err);
   if (status != RKB_OK)
      return status;
   rkb_machine_report(slice->part.machine, &report);
   return !only_cut_off(&report) || (report.control_taint | report.address_taint)
             ? execute(slice, &values, err)
             : RKB_OK;
}

/* Makes the probe, if the sample has too few blocks to show which blocks write what.  From each launch before the target it executes the neighbours of
 * the first sampled block along the grid's axes, then more sampled blocks that were not executed, while they are cheap. */
static int probe_writers(struct slice *slice, const rkb_machine_options_t *options, rkb_error_t *err) {
   struct sample *s = slice->whole;
   struct slice more = {.whole = s, .most_work = SLICE_WORK, .part = *s, .target = slice->target, .chosen = slice->probe->chosen};
   bool any = false;
   slice->probe->made = true;
   for (uint32_t n = 0; n < slice->target; n++) {
      const uint32_t *grid = s->plan->launches[n].grid;
      const struct sampled_launch *list = &s->blocks.launches[n];
      const double each = block_work(s, n);
      double work = 0;
      uint64_t apart = 1;
      for (uint32_t d = 0; d < 3 && list->count; apart *= grid[d++]) {
         const uint64_t first = list->numbers[0], at = first / apart % grid[d];
         const uint64_t block = at + 1 < grid[d] ? first + apart : first - apart;
         if (grid[d] == 1 || (work += each) > PROBE_WORK)
            continue;
         more.chosen[n][block / 64] |= UINT64_C(1) << (block % 64);
         any = true;
      }
      const uint32_t had = executed_blocks(s, n);
      for (uint32_t k = had; k < list->count && k < had + MOST_PROBED && (work += each) < PROBE_WORK / 2; k++)
         more.chosen[n][list->numbers[k] / 64] |= UINT64_C(1) << (list->numbers[k] % 64);
   }
   if (!any)
      return RKB_OK;
   more.part.machine = NULL;
   more.part.buffers = NULL;
   more.part.blocks = (struct block_sample){.launches = NULL};
   const int status = execute_probe(&more, options, err);
   slice->probe->part = more.part;
   s->probe = status == RKB_OK ? &slice->probe->part : NULL;
   return status;
}

/* Words -------------------------------------------------------------------------------------------------------------- */

static void add_words(void *argument, uint64_t first, uint64_t bytes) {
   struct slice *slice = argument;
   struct word_runs *words = &slice->words;
   if (words->count == words->room) {
      const uint32_t room = words->room ? 2 * words->room : 256;
      uint64_t(*larger)[2] = realloc(words->runs, room * sizeof *larger);
      if (!larger) {
         slice->failed = true;
         slice->why = "no memory for the words that are missing";
         return;
      }
      words->runs = larger;
      words->room = room;
   }
   words->runs[words->count][0] = first;
   words->runs[words->count++][1] = first + bytes;
}

static uint64_t settled_bytes(const struct sample *s, uint32_t buffer) {
   return ((s->plan->buffers[buffer].bytes / 4 + 1) / 64 + 1) * sizeof(uint64_t);
}

/* Marks the slice's words of a buffer as settled.  A tensor of gigabytes has tens of megabytes of these bits, and few are set.  Sparse memory needs no
 * clearing; memory from the heap would be cleared whole. */
static bool settle(struct slice *slice, uint32_t buffer) {
   uint64_t no_huge_pages = 0;
   if (!slice->settled[buffer])
      slice->settled[buffer] =
         (uint64_t *)(void *)rkb_machine_sparse(settled_bytes(slice->whole, buffer), &no_huge_pages);
   if (!slice->settled[buffer])
      return false;
   for (uint32_t n = 0; n < slice->words.count; n++)
      for (uint64_t word = slice->words.runs[n][0] / 4; word < slice->words.runs[n][1] / 4; word++)
         slice->settled[buffer][word / 64] |= UINT64_C(1) << (word % 64);
   return true;
}

static bool writes(const struct sample *s, uint32_t launch, uint32_t buffer) {
   rkb_machine_extent_t extent;
   bool any = sample_may_store(s, launch, buffer);
   for (uint32_t place = 0; place < s->blocks.launches[launch].count; place++)
      any |= rkb_machine_extent(s->machine, launch, place, buffer, &extent);
   return any;
}

/* Adds the blocks that write slice->words to the slice.  *more: at least one of them was not in the slice yet. */
static int choose_writers(struct slice *slice, uint32_t buffer, const rkb_machine_options_t *options,
                          bool *more, rkb_error_t *err) {
   const struct sample *s = slice->whole;
   int status = RKB_OK;
   for (uint32_t n = 0; n <= slice->target && !slice->failed && status == RKB_OK; n++) {
      const uint64_t total = s->blocks.launches[n].total, before = count_bits(slice->chosen[n], total);
      if (!total || !writes(s, n, buffer))
         continue;
      bool found = sample_find_writers(s, n, buffer, &slice->words, slice->chosen[n]);
      if (!found && !slice->probe->made) {
         status = probe_writers(slice, options, err);
         found = status == RKB_OK && sample_find_writers(s, n, buffer, &slice->words, slice->chosen[n]);
      }
      if (!found && status == RKB_OK) {
         if (block_work(s, n) * (double)total > (double)slice->most_work || block_work(s, n) == 0) {
            slice->failed = true;
            slice->needed = block_work(s, n) * (double)total;
            slice->why = "which blocks write what others read is not known, and all are too many";
            return RKB_OK;
         }
         for (uint64_t block = 0; block < total; block++)
            slice->chosen[n][block / 64] |= UINT64_C(1) << (block % 64);
      }
      *more |= count_bits(slice->chosen[n], total) != before;
   }
   return status;
}

/* Adds the blocks that write the words which the last execution lacked.  Of an output, only the words of the target's drawn blocks matter, and the first
 * round has found all of these. */
static int choose_more(struct slice *slice, uint32_t round, const rkb_machine_options_t *options, bool *more,
                       rkb_error_t *err) {
   const rkb_plan_t *plan = slice->whole->plan;
   int status = RKB_OK;
   *more = false;
   for (uint32_t b = 0; b < plan->buffer_count && !slice->failed && status == RKB_OK; b++) {
      const bool output = sample_may_store(slice->whole, slice->target, b);
      slice->words.count = 0;
      if (round == 0 || !output)
         rkb_machine_wanted(slice->part.machine, b, add_words, slice);
      if (!slice->words.count || slice->failed)
         continue;
      if (!settle(slice, b)) {
         slice->failed = true;
         slice->why = "no memory for the words that are complete";
         return RKB_OK;
      }
      status = choose_writers(slice, b, options, more, err);
   }
   return status;
}

/* Executing a slice with all blocks that it needs ---------------------------------------------------------------------------------------- */

static void free_settled(struct slice *slice) {
   for (uint32_t b = 0; slice->settled && b < slice->whole->plan->buffer_count; b++) {
      rkb_machine_sparse_free(slice->settled[b], settled_bytes(slice->whole, b));
      slice->settled[b] = NULL;
   }
}

static bool is_end(const struct sampled_launch *list, uint32_t n) {
   return list->numbers[n] == 0 || list->numbers[n] == list->total - 1;
}

/* Chooses the blocks to be judged: one drawn block, then the grid's first and last block, then the other drawn blocks.  If the sample has no drawn block,
 * because the grid is small, one executed block is chosen. */
static bool drawn_target(struct slice *slice, uint32_t wanted) {
   enum { ONE, ENDS, OTHERS, ANY };
   const struct sampled_launch *list = &slice->whole->blocks.launches[slice->target];
   for (uint32_t n = 0; n < slice->whole->plan->launch_count; n++)
      memset(slice->chosen[n], 0, (slice->whole->blocks.launches[n].total / 64 + 1) * sizeof **slice->chosen);
   free_settled(slice);
   slice->targets = 0;
   for (int pass = ONE; pass <= ANY; pass++)
      for (uint32_t n = 0; n < list->count && slice->targets < wanted; n++) {
         uint64_t *word = &slice->chosen[slice->target][list->numbers[n] / 64],
                  bit = UINT64_C(1) << (list->numbers[n] % 64);
         if (*word & bit || (pass == ONE && (slice->targets || !list->drawn[n])) ||
             (pass == ENDS && !is_end(list, n)) || (pass == OTHERS && !list->drawn[n]) ||
             (pass == ANY && slice->targets))
            continue;
         *word |= bit;
         slice->targets++;
      }
   return slice->targets != 0;
}

/* Whether the second execution is likely to be the one that is judged: most chains have two launches, and it takes too much work for more drawn blocks.
 * It has values then.  If it is not the one, these were computed for nothing.  first: the estimate for the first execution. */
static bool is_likely_last(const struct slice *slice, double first) {
   rkb_machine_report_t report;
   if (!slice->lone || !slice->part.machine || first == 0 ||
       WITH_ENDS * estimate(slice) * ((double)slice->work / first) <= (double)slice->most_work)
      return false;
   rkb_machine_report(slice->part.machine, &report);
   return !(report.control_taint | report.address_taint);
}

/* Executes drawn blocks of the launch with all blocks that they need.  Sets slice->failed if that is too much work. */
static int execute_closed(struct slice *slice, uint32_t wanted, const rkb_machine_options_t *options,
                          rkb_error_t *err) {
   bool more = drawn_target(slice, wanted);
   const double first = estimate(slice);
   int status = RKB_OK;
   for (uint32_t round = 0; status == RKB_OK && more && !slice->failed; round++) {
      if (round == MOST_ROUNDS || estimate(slice) > (double)slice->most_work || slice->part.candidate->budget == 0) {
         slice->failed = true;
         slice->needed = estimate(slice);
         slice->why = "the blocks that write what its blocks read are too many to execute";
         return RKB_OK;
      }
      const bool last = round == 1 && is_likely_last(slice, first);
      status = execute(slice, last ? slice->lone : options, err);
      if (status == RKB_OK)
         status = choose_more(slice, round, options, &more, err);
      slice->has_values = last;
   }
   return status;
}

/* The certificate ----------------------------------------------------------------------------------------------------------- */

static void mark_before(struct slice *slice) {
   for (uint32_t n = 0; n < slice->target; n++)
      for (uint32_t place = 0; place < slice->part.blocks.launches[n].count; place++)
         slice->part.judged_blocks[n][place] = UINT64_MAX; /* judged values were computed from this launch's stores */
}

static int judge(struct slice *slice, const rkb_machine_options_t *options, rkb_error_t *err) {
   struct sample *part = &slice->part;
   rkb_machine_report_t report;
   rkb_machine_report(part->machine, &report);
   if (report.finding_count) {
      slice->failed = true;
      slice->why = "a block lacks what no executed block wrote";
      return RKB_OK;
   }
   rkb_machine_options_t own = *options;
   own.sample = part->blocks.judged;
   own.fetch_argument = part;
   own.stores = part->stores;
   own.given = part->target ? part->target->given : 0;
   own.settled = (const uint64_t *const *)slice->settled;
   own.sample_instructions = 0;
   int status = sample_make_marks(part, err);
   if (status == RKB_OK)
      status = sample_judge_outputs(part, &own, err);
   if (status == RKB_OK && part->judged) {
      mark_before(slice);
      sample_describe(part, &report);
   }
   return status;
}

static void free_chosen(const struct sample *s, uint64_t **chosen) {
   for (uint32_t n = 0; chosen && n < s->plan->launch_count; n++)
      free(chosen[n]);
   free(chosen);
}

static uint64_t **make_chosen(const struct sample *s) {
   uint64_t **chosen = calloc(s->plan->launch_count + 1, sizeof *chosen);
   bool made = chosen != NULL;
   for (uint32_t n = 0; made && n < s->plan->launch_count; n++)
      made = (chosen[n] = calloc(s->blocks.launches[n].total / 64 + 1, sizeof **chosen)) != NULL;
   if (made)
      return chosen;
   free_chosen(s, chosen);
   return NULL;
}

/* Whether the slice is executed without values first: products of warpgroups take most of its time, and all that is multiplied comes from inputs.  If the slice is
 * then executed with more blocks, no value of the first executions is compared with anything. */
static bool begins_without_values(const struct slice *slice) {
   const struct link_target *target = slice->part.target;
   return slice->whole->by_warpgroups && !sample_deciding(slice->whole) && !(target && target->given);
}

/* Executes one drawn block with all blocks that it needs.  *values: with values; else only their work and their stores are known. */
static int execute_one(struct slice *slice, const rkb_machine_options_t *options, bool *values,
                       rkb_error_t *err) {
   const uint64_t before = slice->part.candidate->budget;
   rkb_machine_options_t own = *options;
   rkb_machine_report_t report;
   *values = !begins_without_values(slice);
   if (*values)
      return execute_closed(slice, 1, options, err);
   own.no_values = own.charged = true;
   own.checks |= RKB_MACHINE_TAINT;
   slice->lone = options;
   const int status = execute_closed(slice, 1, &own, err);
   slice->lone = NULL;
   if (status != RKB_OK || slice->failed || !slice->part.machine)
      return status;
   *values = slice->has_values;
   if (*values)
      return RKB_OK;
   rkb_machine_report(slice->part.machine, &report);
   *values = report.finding_count || (report.control_taint | report.address_taint);
   if (!*values)
      return RKB_OK;
   slice->part.candidate->budget = before;
   return execute_closed(slice, 1, options, err);
}

/* The same blocks with values.  The work of the execution without them is not charged. */
static int execute_with_values(struct slice *slice, const rkb_machine_options_t *options, rkb_error_t *err) {
   slice->part.candidate->budget += slice->work;
   return execute(slice, options, err);
}

int sample_judge_slice(struct sample *s, struct sample *part, uint32_t target, struct probe *probe, uint64_t most_work,
                       const rkb_machine_options_t *options, const char **why, rkb_error_t *err) {
   struct slice slice = {.whole = s, .part = *part, .target = target, .probe = probe, .most_work = most_work};
   slice.part.machine = NULL;
   slice.part.buffers = NULL;
   slice.part.blocks = (struct block_sample){.launches = NULL};
   slice.part.judged_blocks = NULL;
   slice.part.outputs = NULL;
   slice.part.share = 0;
   slice.part.judged = slice.part.dont_care = slice.part.final_elements = 0;
   slice.settled = calloc(s->plan->buffer_count + 1, sizeof *slice.settled);
   bool made = (slice.chosen = make_chosen(s)) && slice.settled, values = true;
   int status = made ? execute_one(&slice, options, &values, err)
                     : rkb_fail(err, RKB_ERR_NOMEM, "no memory for the blocks of a slice");
   uint64_t most = slice.work ? SPREAD_WORK / slice.work : MOST_TARGETS;
   if (most < WITH_ENDS && WITH_ENDS * slice.work <= most_work)
      most = WITH_ENDS;
   if (status == RKB_OK && !slice.failed && most <= 1 && !values && slice.part.machine)
      status = execute_with_values(&slice, options, err);
   if (status == RKB_OK && !slice.failed && most > 1) {
      status = execute_closed(&slice, most < MOST_TARGETS ? (uint32_t)most : MOST_TARGETS, options, err);
      if (status == RKB_OK && slice.failed && most == WITH_ENDS) {
         slice.failed = false; /* if the grid's ends need too much work, the drawn block is judged alone */
         status = execute_closed(&slice, 1, options, err);
      }
   }
   if (status == RKB_OK && !slice.failed && slice.part.machine)
      status = judge(&slice, options, err);
   *why = slice.failed ? slice.why : NULL;
   part->needed = slice.needed;
   part->judged = slice.part.judged;
   part->dont_care = slice.part.dont_care;
   part->points = slice.part.points;
   close_machine(&slice.part);
   sample_free_marks(&slice.part);
   block_sample_free(&slice.part.blocks);
   free_chosen(s, slice.chosen);
   free_settled(&slice);
   free(slice.settled);
   free(slice.words.runs);
   return status;
}

static int judge_launch(struct sample *s, uint32_t target, struct probe *probe,
                        const rkb_machine_options_t *options, rkb_error_t *err) {
   struct sample part = *s;
   const char *why = NULL;
   const int status = sample_judge_slice(s, &part, target, probe, SLICE_WORK, options, &why, err);
   if (why) {
      char text[320], needed[64] = "";
      if (part.needed > 0)
         snprintf(needed, sizeof needed, " (about %.2g thread-instructions)", part.needed);
      snprintf(text, sizeof text, "launch %u, %.80s, with those before it: %s%s", target, s->plan->launches[target].expression, why, needed);
      sample_leave_out(s, text);
   }
   s->judged += part.judged;
   s->dont_care += part.dont_care;
   s->points = part.points;
   return status;
}

bool sample_has_unjudged(const struct sample *s, uint32_t launch) {
   bool any = false;
   for (uint32_t b = 0; b < s->plan->buffer_count; b++) {
      const rkb_plan_buffer_t *buffer = &s->plan->buffers[b];
      any |= (buffer->role == RKB_OUT || buffer->role == RKB_INOUT) && buffer->elements &&
             !s->judged_buffers[b] && sample_may_store(s, launch, b);
   }
   return any;
}

struct probe *sample_probe_new(const struct sample *s) {
   struct probe *probe = calloc(1, sizeof *probe);
   if (probe && !(probe->chosen = make_chosen(s))) {
      free(probe);
      probe = NULL;
   }
   return probe;
}

void sample_probe_free(struct sample *s, struct probe *probe) {
   s->probe = NULL;
   if (!probe)
      return;
   close_machine(&probe->part);
   block_sample_free(&probe->part.blocks);
   free_chosen(s, probe->chosen);
   free(probe);
}

int sample_judge_slices(struct sample *s, struct probe *probe, const rkb_machine_options_t *options,
                        rkb_error_t *err) {
   int status = RKB_OK;
   for (uint32_t n = s->plan->launch_count; n-- > 0 && status == RKB_OK;)
      if (options->sample && s->outcome->rank < RKB_MACHINE_UNKNOWN && sample_has_unjudged(s, n))
         status = judge_launch(s, n, probe, options, err);
   return status;
}
