/* Finds that no block writes some words of an output, from how much of the output the randomly chosen blocks wrote.  Every word has a
 * writer in a right kernel.  So all blocks together write at least as many bytes as the output has, and randomly chosen blocks write, on
 * average, their share of them.  If the sample wrote so little that chance explains it less than once in ten thousand, words are missing,
 * even if all words that it wrote are right.  Blocks that the sample has for their places alone, such as the first one, count for what they
 * wrote and no more (docs/decisions/idle-blocks.md).  One worker thread a sample. */
#include "bench_values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UNLIKELY 1e-4 /* probability that the sample of a right kernel wrote as little */
#define LEAST_CHOSEN 8u
#define MOST_MORE                                                                                            \
   2.0 /* a block that goes round the grid once more writes at most so many times what the fullest chosen block wrote */
#define STEPS 60 /* of halving an interval */
#define ROUNDING 1e-9
#define POINTS 48u        /* elements that are asked whether they are right unwritten */
#define LEAST_NEEDED 0.94 /* of an output, where as many points were all wrong: with 5 % it is no less */
#define LEAST_JUDGED 16u
#define MARGIN 0.15 /* where some were right: two and a half standard deviations of so many points, or more */
#define MOST_WORK 5e7 /* of the expected values of those */

/* What the executed blocks of a launch wrote of a buffer. */
struct told {
   uint64_t most;         /* the most bytes of a block that chance chose */
   uint64_t most_of_all;  /* the most bytes of any block */
   double sum, chosen;    /* of the bytes of those, and how many */
   double known, settled; /* of the bytes of the others, and how many */
};

static bool is_chance(const struct sampled_launch *list, uint32_t place) {
   return place < list->spread || list->drawn[place];
}

/* Blocks that ended soon and stored nothing count as blocks that write nothing; other blocks that were begun may write as much as any that chance chose. */
static void add_followed(const struct sample *s, const rkb_launch_counters_t *c, struct told *told) {
   if (!s->followed || !s->followed[c->launch].idle)
      return;
   const struct followed *followed = &s->followed[c->launch];
   told->sum += (double)told->most * (followed->count - followed->idle);
   told->chosen += followed->count;
}

static struct told told_of(const struct sample *s, const rkb_launch_counters_t *c, uint32_t buffer) {
   const struct sampled_launch *list = &s->blocks.launches[c->launch];
   const uint32_t executed = sample_executed_places(s->plan, c);
   struct told told = {.most = 0};
   for (uint32_t place = 0; place < list->count && place < executed; place++) {
      rkb_machine_extent_t extent;
      const uint64_t bytes =
         rkb_machine_extent(s->machine, c->launch, place, buffer, &extent) ? extent.once : 0;
      told.most_of_all = bytes > told.most_of_all ? bytes : told.most_of_all;
      if (is_chance(list, place)) {
         told.most = bytes > told.most ? bytes : told.most;
         told.sum += (double)bytes;
         told.chosen++;
      } else {
         told.known += (double)bytes;
         told.settled++;
      }
   }
   add_followed(s, c, &told);
   return told;
}

/* How far the mean of numbers from 0 to 1 may lie above that of so many drawn ones (Chernoff's bound). */
static double most_likely_mean(double mean, double count) {
   double low = mean, high = 1;
   for (int step = 0; step < STEPS; step++) {
      const double middle = (low + high) / 2,
                   apart = (mean > 0 ? mean * log(mean / middle) : 0) +
                           (mean < 1 ? (1 - mean) * log((1 - mean) / (1 - middle)) : 0);
      if (count * apart <= -log(UNLIKELY))
         low = middle;
      else
         high = middle;
   }
   return mean >= 1 ? 1 : high;
}

static bool may_store(const struct sample *s, uint32_t launch, uint32_t buffer) {
   return s->stores[launch] >> (buffer < 63 ? buffer : 63) & 1;
}

/* Bytes of the buffer that the blocks of the launch write, at most; infinity: too little is known.  A block that was executed for its place may have written
 * more than any that chance chose, as the first blocks do if they go round the grid once more.  Then as many other blocks may write that much as chance may
 * have missed. */
static double most_written(const struct sample *s, const rkb_launch_counters_t *c, uint32_t buffer) {
   const struct told told = told_of(s, c, buffer);
   if (!may_store(s, c->launch, buffer) && told.most == 0)
      return told.known;
   if (c->executed == c->blocks || told.chosen < LEAST_CHOSEN || told.most == 0)
      return INFINITY;
   const double most = (double)told.most, mean = told.sum / told.chosen / most,
                more = fmin((double)told.most_of_all / most, MOST_MORE) - 1,
                unseen = 1 - pow(UNLIKELY, 1 / told.chosen);
   return told.known +
          ((double)c->blocks - told.settled) * most * (most_likely_mean(mean, told.chosen) + unseen * more);
}

/* The part of the output that all blocks of launches from first on write at most; infinity: too little is known. */
static double filled_at_most(const struct sample *s, const rkb_machine_report_t *report, uint32_t first,
                             uint32_t buffer) {
   double written = 0;
   for (uint32_t n = first; n < report->launch_count; n++)
      written += most_written(s, &report->launches[n], buffer);
   return written / (double)s->plan->buffers[buffer].bytes;
}

static bool is_looked_at(const struct sample *s, const rkb_machine_report_t *report, uint32_t buffer) {
   const rkb_plan_buffer_t *b = &s->plan->buffers[buffer];
   return report->launch_count == s->plan->launch_count && sample_is_output(b) && b->bytes;
}

static bool holds_values(const rkb_plan_buffer_t *buffer) {
   return buffer->role == RKB_INOUT || buffer->fill == RKB_FILL_VALUE;
}

static void note(const struct sample *s, uint32_t number, double share) {
   const rkb_plan_buffer_t *b = &s->plan->buffers[number];
   outcome_note(
      s->outcome, RKB_MACHINE_SUSPECT, "output.unwritten",
      json_pack("{s:s, s:s, s:f}", "case", s->the_case->name, "buffer", b->name, "share", share),
      "in case %s all blocks write at most %.3g %% of %s, by what those wrote that chance chose; what is there without them is wrong",
      s->the_case->name, 100 * share, b->name);
}

/* A block that wrote nothing of the output ----------------------------------------------------------------------------------- */

/* Whether, besides executed blocks that wrote nothing there, a block of the launch may write the element; false: that is not known. */
static bool any_other_writer(const struct sample *s, const rkb_launch_counters_t *c, uint32_t buffer,
                             uint64_t byte, bool *any) {
   const struct sampled_launch *list = &s->blocks.launches[c->launch];
   const uint32_t executed = sample_executed_places(s->plan, c);
   const rkb_plan_buffer_t *b = &s->plan->buffers[buffer];
   const uint64_t words = list->total / 64 + 1;
   uint64_t run[1][2] = {{byte, byte + b->bytes / b->elements}}, *chosen = calloc(words, sizeof *chosen);
   const struct word_runs wanted = {.runs = run, .count = 1, .room = 1};
   const bool told = chosen && sample_find_writers(s, c->launch, buffer, &wanted, chosen);
   rkb_machine_extent_t extent;
   *any = false;
   for (uint32_t place = 0; told && place < list->count && place < executed; place++) {
      chosen[list->numbers[place] / 64] &= ~(UINT64_C(1) << list->numbers[place] % 64);
      *any |= rkb_machine_extent(s->machine, c->launch, place, buffer, &extent) && extent.low <= byte &&
              byte < extent.high;
   }
   for (uint64_t n = 0; told && n < words; n++)
      *any |= chosen[n] != 0;
   free(chosen);
   return told;
}

/* The launch alone may write the output, and an executed block wrote nothing where it would begin by what the others wrote: no other block would
 * write there, so nobody does. */
static bool has_idle_block(const struct sample *s, const rkb_launch_counters_t *c, uint32_t buffer,
                           uint64_t *idle) {
   const struct sampled_launch *list = &s->blocks.launches[c->launch];
   const uint32_t executed = sample_executed_places(s->plan, c);
   const rkb_plan_buffer_t *b = &s->plan->buffers[buffer];
   rkb_machine_extent_t extent;
   double first;
   bool other;
   for (uint32_t place = 0; place < list->count && place < executed && c->executed < c->blocks; place++) {
      if (rkb_machine_extent(s->machine, c->launch, place, buffer, &extent))
         continue;
      *idle = list->numbers[place];
      if (!sample_would_begin(s, c->launch, buffer, *idle, &first))
         return false;
      if (first >= 0 && first + (double)(b->bytes / b->elements) <= (double)b->bytes &&
          any_other_writer(s, c, buffer, (uint64_t)first, &other) && !other)
         return true;
   }
   return false;
}

static bool find_idle_block(const struct sample *s, const rkb_machine_report_t *report, uint32_t buffer,
                            bool tell) {
   const rkb_launch_counters_t *only = NULL;
   uint32_t writers = 0;
   uint64_t idle;
   for (uint32_t n = 0; n < report->launch_count; n++)
      if (may_store(s, report->launches[n].launch, buffer)) {
         only = &report->launches[n];
         writers++;
      }
   if (writers != 1 || !has_idle_block(s, only, buffer, &idle))
      return false;
   if (tell)
      outcome_note(
         s->outcome, RKB_MACHINE_SUSPECT, "output.unwritten",
         json_pack("{s:s, s:s, s:i, s:I}", "case", s->the_case->name, "buffer", s->plan->buffers[buffer].name,
                   "launch", (int)only->launch, "block", (json_int_t)idle),
         "in case %s block %llu writes nothing of %s, and no other block writes what it should by where the executed ones write",
         s->the_case->name, (unsigned long long)idle, s->plan->buffers[buffer].name);
   return true;
}

bool idle_blocks_seen(const struct sample *s, const rkb_machine_report_t *report, bool tell) {
   bool seen = false;
   for (uint32_t n = 0; !seen && n < s->plan->buffer_count; n++)
      seen = is_looked_at(s, report, n) && !holds_values(&s->plan->buffers[n]) &&
             find_idle_block(s, report, n, tell);
   for (uint32_t n = 0; !seen && n < s->plan->buffer_count; n++) {
      if (!is_looked_at(s, report, n) || holds_values(&s->plan->buffers[n]))
         continue;
      const double share = filled_at_most(s, report, 0, n);
      seen = share < 1 - ROUNDING;
      if (seen && tell)
         note(s, n, share);
   }
   return seen;
}

/* What is there without some launches ---------------------------------------------------------------------------------------- */

/* Elements of an output, and what they hold. */
struct held {
   uint64_t elements[POINTS];
   uint8_t data[POINTS * sizeof(double)];
   uint32_t count;
};

/* Before the plan runs. */
static int take_first(struct sample *s, uint32_t buffer, struct held *held) {
   const rkb_plan_buffer_t *b = &s->plan->buffers[buffer];
   const uint64_t width = b->bytes / b->elements;
   int status = RKB_OK;
   for (; held->count < POINTS && status == RKB_OK; held->count++) {
      const uint64_t element = s->verifier->random->below(&s->points, b->elements);
      held->elements[held->count] = element;
      status = sample_fetch(s, buffer, element * width, width, held->data + held->count * width);
   }
   return status;
}

/* The first element that each executed block of the launch wrote: hardly ever did executed blocks of later launches write there too. */
static void take_left(struct sample *s, const rkb_launch_counters_t *c, uint32_t buffer, struct held *held) {
   const rkb_plan_buffer_t *b = &s->plan->buffers[buffer];
   const struct sampled_launch *list = &s->blocks.launches[c->launch];
   const uint32_t executed = sample_executed_places(s->plan, c);
   const uint64_t width = b->bytes / b->elements;
   for (uint32_t place = 0; place < list->count && place < executed && held->count < POINTS; place++) {
      rkb_machine_extent_t extent;
      if (!is_chance(list, place) || !rkb_machine_extent(s->machine, c->launch, place, buffer, &extent))
         continue;
      held->elements[held->count] = extent.low / width;
      memcpy(held->data + held->count * width,
             (const uint8_t *)s->buffers[buffer].data + extent.low / width * width, width);
      held->count++;
   }
}

/* How many of them are wrong; *count: of how many that were judged. */
static int count_wrong(struct sample *s, uint32_t buffer, const struct held *held, uint64_t *wrong,
                       uint64_t *count, rkb_error_t *err) {
   const struct verifier *me = s->verifier;
   const uint32_t tensor = s->plan->buffers[buffer].tensor;
   double numbers[3][POINTS];
   uint8_t flags[POINTS];
   rkb_judgement_t judgement = {.size = sizeof judgement};
   me->task->inputs_limit(s->inputs, MOST_WORK);
   int status = me->task->expect_points(me->host, s->inputs, tensor, held->elements, held->count, numbers[0],
                                        numbers[1], numbers[2], flags, err);
   if (status == RKB_OK) {
      const rkb_points_t points = {numbers[0], numbers[1], numbers[2], flags, held->count};
      status = me->task->judge(me->host, s->inputs, tensor, held->data, NULL, &points, held->elements,
                               s->candidate->transform, &judgement, err);
   }
   const bool told = status == RKB_OK;
   *wrong = told ? judgement.outside : 0;
   *count = told ? judgement.judged : 0;
   return status == RKB_ERR_LIMIT ? RKB_OK
                                  : status; /* too dear, or too many are ambiguous: nothing is known */
}

/* Of an output, the part that must be written when so many points were wrong without. */
static double needed(uint64_t wrong, uint64_t count) {
   return count < LEAST_JUDGED ? 0
          : wrong == count     ? pow(0.05, 1 / (double)count)
                               : (double)wrong / (double)count - MARGIN;
}

/* Launches from first on write little of the output: what the others left there, or what was there from the start, has to be right. */
static int judge_without(struct sample *s, const rkb_machine_report_t *report, uint32_t first,
                         uint32_t buffer, rkb_error_t *err) {
   const double share = filled_at_most(s, report, first, buffer);
   struct held held = {.count = 0};
   uint64_t wrong = 0, count = 0;
   int status = RKB_OK;
   if (share >= LEAST_NEEDED || (first && share <= 0)) /* nothing comes after what is there */
      return RKB_OK;
   if (first)
      take_left(s, &report->launches[first - 1], buffer, &held);
   else if (holds_values(&s->plan->buffers[buffer]))
      status = take_first(s, buffer, &held);
   if (status == RKB_OK && held.count >= LEAST_JUDGED)
      status = count_wrong(s, buffer, &held, &wrong, &count, err);
   if (status == RKB_OK && share < needed(wrong, count))
      note(s, buffer, share);
   return status;
}

int idle_blocks_judge(struct sample *s, const rkb_machine_report_t *report, rkb_error_t *err) {
   int status = RKB_OK;
   for (uint32_t n = 0; n < s->plan->buffer_count; n++)
      for (uint32_t first = 0; is_looked_at(s, report, n) && first < report->launch_count &&
                               status == RKB_OK && s->outcome->rank == 0;
           first++)
         status = judge_without(s, report, first, n, err);
   return status;
}
