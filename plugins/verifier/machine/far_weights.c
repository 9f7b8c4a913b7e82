/* How much work the sampled blocks of a far shape are (large_offsets.c).  The last block of each launch tells, since it is the one that is wrong where an
 * offset overflows.  An author could let this block, or others that the sample always has, waste work to have nothing compared.  So if they are too much
 * work, drawn blocks tell whether others are: then drawn blocks alone are executed.  If near blocks take little and far ones very much, the kernel is
 * unknown.  One worker thread a candidate. */
#include "bench_values.h"

#include <stdlib.h>
#include <string.h>

#define FAR_BLOCK (FAR_BUDGET / 3) /* of a block: nothing can be compared where fewer than three come to their ends */
#define FAR_LIGHT 2000000u /* of the last blocks of all launches: then it costs little to execute the sample, whatever is compared */
#define LIGHT_BLOCK (FAR_BLOCK / 16)
#define PROBED 3u /* drawn blocks among near ones, and among far ones */
#define LEAST_BLOCKS 64u /* of a launch in which near and far blocks are compared */
#define FAR_EXPECTED 5e6 /* operations for the expected value of one element */

static uint64_t blocks_of(const struct sample *s, uint32_t launch) {
   const uint32_t *grid = s->plan->launches[launch].grid;
   return (uint64_t)grid[0] * grid[1] * grid[2];
}

static void note_last(struct sample *s, const rkb_machine_report_t *report, uint32_t launch) {
   uint64_t products = 0;
   for (uint32_t n = 0; launch < report->launch_count && n < RKB_TENSOR_TYPE_COUNT; n++)
      products += report->launches[launch].tensor_products[n];
   s->last_work = report->work > s->last_work ? report->work : s->last_work;
   s->last_products = products > s->last_products ? products : s->last_products;
}

/* *work: what the block did.  *heavy: that is more than most, whatever the inputs hold, and nothing else was found. */
static int follow_block(struct sample *s, rkb_machine_blocks_t *lists, uint32_t launch, uint64_t block, uint64_t most, uint64_t *work,
                        bool *heavy, rkb_error_t *err) {
   const rkb_machine_options_t options = {.sample = lists,
                                          .no_values = true,
                                          .checks = RKB_MACHINE_TAINT,
                                          .memory_bytes = s->verifier->config->memory,
                                          .thread_instructions = most,
                                          .fetch = sample_fetch,
                                          .fetch_argument = s};
   rkb_machine_report_t report;
   rkb_machine_t *machine = NULL;
   lists[launch] = (rkb_machine_blocks_t){.numbers = &block, .count = 1};
   int status = sample_make_buffers(s, false, &s->buffers, err);
   if (status == RKB_OK)
      status = sample_run_once(s, &options, s->buffers, &machine, &report, err);
   if (status == RKB_OK) {
      sample_spend(s, report.work);
      *work = report.work;
      note_last(s, &report, launch);
      *heavy = report.finding_count == 1 && strcmp(report.findings[0].reason, "limit.budget") == 0 &&
               !sample_is_steered(&options, &report);
   }
   rkb_machine_close(machine);
   sample_free_buffers(s, s->buffers);
   s->buffers = NULL;
   lists[launch] = (rkb_machine_blocks_t){.none = true};
   return status;
}

/* *nothing: the expected value of the last element is too much work in each output. */
static int compares_nothing(const struct sample *s, bool *nothing, rkb_error_t *err) {
   const struct verifier *me = s->verifier;
   rkb_inputs_t *inputs = NULL; /* whose limit is not that of s->inputs */
   int status = me->task->inputs_open(me->host, s->the_case, s->family, s->seed, &inputs, err);
   *nothing = true;
   if (status == RKB_OK)
      me->task->inputs_limit(inputs, FAR_EXPECTED);
   for (uint32_t b = 0; b < s->plan->buffer_count && *nothing && status == RKB_OK; b++) {
      const rkb_plan_buffer_t *buffer = &s->plan->buffers[b];
      if (!sample_is_output(buffer))
         continue;
      const uint64_t last = s->the_case->tensors[buffer->tensor].elements - 1;
      double value, hard, stat;
      uint8_t flags;
      status = me->task->expect_points(me->host, inputs, buffer->tensor, &last, 1, &value, &hard, &stat,
                                       &flags, err);
      *nothing = status == RKB_ERR_LIMIT;
      if (status == RKB_ERR_LIMIT)
         status = RKB_OK;
   }
   if (inputs)
      me->task->inputs_free(inputs);
   return status;
}

static rkb_machine_blocks_t *new_lists(const struct sample *s, rkb_error_t *err) {
   rkb_machine_blocks_t *lists = calloc(s->plan->launch_count + 1, sizeof *lists);
   for (uint32_t n = 0; lists && n < s->plan->launch_count; n++)
      lists[n] = (rkb_machine_blocks_t){.none = true};
   if (!lists)
      rkb_fail(err, RKB_ERR_NOMEM, "no memory for the blocks of a far shape");
   return lists;
}

int far_weights_know(struct sample *s, enum far_weight *weight, rkb_error_t *err) {
   const uint32_t count = s->plan->launch_count;
   const uint64_t before = s->candidate->budget;
   rkb_machine_blocks_t *lists = new_lists(s, err);
   int status = lists ? RKB_OK : RKB_ERR_NOMEM;
   bool heavy = false, nothing = false;
   uint64_t work;
   for (uint32_t n = 0; n < count && status == RKB_OK && !heavy; n++)
      if (blocks_of(s, n))
         status = follow_block(s, lists, n, blocks_of(s, n) - 1, FAR_BLOCK, &work, &heavy, err);
   if (status == RKB_OK && !heavy && before - s->candidate->budget > FAR_LIGHT)
      status = compares_nothing(s, &nothing, err);
   free(lists);
   *weight = heavy ? FAR_HEAVY : nothing ? FAR_FOR_NOTHING : FAR_FEASIBLE;
   return status;
}

/* How many of some drawn blocks, from first up to, but not including, end, do more than most.  *dearest: the work of one of them. */
static int count_heavy(struct sample *s, rkb_machine_blocks_t *lists, uint32_t launch, uint64_t first, uint64_t end, uint64_t most,
                       rkb_random_t *stream, uint32_t *count, uint64_t *dearest, rkb_error_t *err) {
   int status = RKB_OK;
   *count = 0;
   *dearest = 0;
   for (uint32_t n = 0; n < PROBED && status == RKB_OK; n++) {
      uint64_t work = 0;
      bool heavy = false;
      status = follow_block(s, lists, launch, first + s->verifier->random->below(stream, end - first), most, &work, &heavy, err);
      *count += heavy;
      *dearest = work > *dearest ? work : *dearest;
   }
   return status;
}

/* Near blocks are those of the second sixteenth: before 2^31 bytes, where elements of four bytes reach beyond 2^31.  They are so many that work which
 * grows with a block's index is not taken for waste. */
static int weigh_launch(struct sample *s, rkb_machine_blocks_t *lists, uint32_t launch, rkb_random_t *stream, enum far_weight *weight,
                        rkb_error_t *err) {
   const uint64_t blocks = blocks_of(s, launch);
   uint32_t near = 0, far = 0;
   uint64_t work, other;
   if (blocks < LEAST_BLOCKS)
      return RKB_OK;
   int status = count_heavy(s, lists, launch, blocks / 16, blocks / 8, LIGHT_BLOCK, stream, &near, &work, err);
   if (status == RKB_OK && near == 0)
      status = count_heavy(s, lists, launch, blocks - blocks / 8, blocks, FAR_TIMES * work, stream, &far, &other, err);
   *weight = near ? FAR_HEAVY : 2 * far > PROBED ? FAR_DEARER : FAR_FEASIBLE;
   return status;
}

int far_weights_drawn(struct sample *s, rkb_random_t *stream, enum far_weight *weight, rkb_error_t *err) {
   rkb_machine_blocks_t *lists = new_lists(s, err);
   int status = lists ? RKB_OK : RKB_ERR_NOMEM;
   *weight = FAR_FEASIBLE;
   for (uint32_t n = 0; n < s->plan->launch_count && status == RKB_OK && *weight == FAR_FEASIBLE; n++)
      status = weigh_launch(s, lists, n, stream, weight, err);
   free(lists);
   return status;
}
