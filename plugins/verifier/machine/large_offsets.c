/* Tensors beyond 2^31: offsets of 32 bits overflow only in the last blocks of the largest shapes of a domain, which no case executes whole.
 * far_shapes.c draws a shape that has such a tensor.  Its blocks are sampled as at a bench shape (bench_values.c), with inputs made where they are
 * read, and elements that they wrote are judged.  Their cost is bounded, so blocks that loop over such a tensor are left out: the last block of
 * each launch shows how much a block does.  If blocks do much and the expected value of an element is too much work, the last blocks are all that is
 * executed.
 * docs/verdicts.md.  The same is done at shapes that are too much work to be executed whole, and at which the manifest decides something
 * that it decides nowhere else (manifest_decisions.c).  One worker thread a candidate. */
#include "bench_values.h"
#include "far_shapes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Blocks of a launch, and elements of an output: an offset that overflows is wrong in all blocks beyond it, and the last block is among them. */
#define FAR_DRAWN 8u
#define FAR_JUDGED 8192u
#define FAR_BUDGET 60000000u /* thread-instructions, of the sampled blocks */
/* Of a block.  Nothing can be compared where fewer than three come to their ends. */
#define FAR_BLOCK (FAR_BUDGET / 3)
/* Of the last blocks of all launches: then it costs little to execute the sample, whatever is compared. */
#define FAR_LIGHT 2000000u
#define FAR_EXPECTED 5e6 /* operations for the expected value of one element */
#define FAR_INDEX 0xffu  /* a number for random streams, apart from those of bench cases */

/* *heavy: the launch's last block does more than FAR_BLOCK, whatever the inputs hold, and nothing else was found. */
static int follow_last_block(struct sample *s, rkb_machine_blocks_t *lists, uint32_t launch, bool *heavy,
                             rkb_error_t *err) {
   const uint32_t *grid = s->plan->launches[launch].grid;
   const uint64_t last = (uint64_t)grid[0] * grid[1] * grid[2] - 1;
   const rkb_machine_options_t options = {.sample = lists,
                                          .no_values = true,
                                          .checks = RKB_MACHINE_TAINT,
                                          .memory_bytes = s->verifier->config->memory,
                                          .thread_instructions = FAR_BLOCK,
                                          .fetch = sample_fetch,
                                          .fetch_argument = s};
   rkb_machine_report_t report;
   rkb_machine_t *machine = NULL;
   lists[launch] = (rkb_machine_blocks_t){.numbers = &last, .count = 1};
   int status = sample_make_buffers(s, false, &s->buffers, err);
   if (status == RKB_OK)
      status = sample_run_once(s, &options, s->buffers, &machine, &report, err);
   if (status == RKB_OK) {
      sample_spend(s, report.work);
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

/* *heavy: to execute the sample would be much work for nothing. */
static int know_weight(struct sample *s, bool *heavy, rkb_error_t *err) {
   const uint32_t count = s->plan->launch_count;
   const uint64_t before = s->candidate->budget;
   rkb_machine_blocks_t *lists = calloc(count + 1, sizeof *lists);
   int status = lists ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "no memory for last blocks");
   for (uint32_t n = 0; lists && n < count; n++)
      lists[n] = (rkb_machine_blocks_t){.none = true};
   for (uint32_t n = 0; n < count && status == RKB_OK && !*heavy; n++)
      status = follow_last_block(s, lists, n, heavy, err);
   if (status == RKB_OK && !*heavy && before - s->candidate->budget > FAR_LIGHT)
      status = compares_nothing(s, heavy, err);
   free(lists);
   return status;
}

static int sample_corner(struct sample *s, rkb_error_t *err) {
   const struct verifier *me = s->verifier;
   rkb_random_t stream = me->random->for_job(me->host, s->candidate->job, STREAM_WRAPS);
   bool heavy = false;
   int status = block_sample_draw(me, s->candidate, s->plan, FAR_INDEX, FAR_DRAWN, &s->blocks, err);
   if (status == RKB_OK)
      status = me->task->inputs_open(me->host, s->the_case, s->family, s->seed, &s->inputs, err);
   if (status == RKB_OK)
      status = know_weight(s, &heavy, err);
   if (status == RKB_OK && !heavy)
      status = sample_judge(s, err);
   if (status == RKB_OK && !heavy && s->outcome->rank == 0)
      status = wrapped_offsets_find(s, &stream, err);
   if (s->inputs)
      me->task->inputs_free(s->inputs);
   block_sample_free(&s->blocks);
   return status == RKB_ERR_LIMIT || status == RKB_ERR_NOMEM ? RKB_OK : status; /* too much memory or work: it is left out */
}

/* Only what is wrong decides, or far rows that nobody writes: what the sample leaves out there says nothing of the shapes that the task is used
 * with. */
static void take_outcome(struct outcome *to, struct outcome *own) {
   json_array_extend(to->sampled, own->sampled);
   if (own->rank == RKB_MACHINE_REJECT || own->rank == RKB_MACHINE_SUSPECT)
      outcome_note(to, own->rank, own->reason, json_incref(own->evidence), "%s", own->message);
}

/* *judged: elements; index: a number for random streams. */
static int judge_shape(const struct verifier *me, struct candidate *candidate, rkb_case_t *shape,
                       uint32_t index, struct outcome *outcome, uint64_t *judged, rkb_error_t *err) {
   struct candidate own = *candidate;
   struct outcome found;
   rkb_plan_t *plan = NULL;
   rkb_finding_t finding = {0};
   *judged = 0;
   if (!candidate->budget)
      return RKB_OK;
   int status = me->kernel->plan(me->host, candidate->job, candidate->item, candidate->build, shape, &plan,
                                 &finding, err);
   if (status != RKB_OK || !plan)
      return status;
   outcome_init(&found, outcome->debug);
   for (uint32_t n = 0; n < outcome->stored_count; n++)
      outcome_stored(&found, &outcome->stored[n]);
   own.budget = own.budget < FAR_BUDGET ? own.budget : FAR_BUDGET;
   struct sample s = {.verifier = me,
                      .candidate = &own,
                      .the_case = shape,
                      .case_index = index,
                      .plan = plan,
                      .outcome = &found,
                      .lone = true,
                      .most_judged = FAR_JUDGED,
                      .family = me->task->family_at(me->host, shape, 0),
                      .seed = verifier_seed(me, candidate, 0)};
   const uint64_t before = own.budget;
   status = s.family ? sample_corner(&s, err) : RKB_OK;
   candidate->budget -= before - own.budget;
   take_outcome(outcome, &found);
   *judged = found.first_numbers ? 0 : s.judged; /* rows beyond 2^31 have later numbers */
   outcome_free(&found);
   me->kernel->plan_free(plan);
   return status;
}

int large_offsets_judge(const struct verifier *me, struct candidate *candidate, struct outcome *outcome,
                        rkb_error_t *err) {
   const rkb_device_t *device = me->kernel->device(me->host);
   rkb_case_t *corner = NULL;
   uint64_t judged = 0;
   int status = far_shape_draw(me, candidate, &corner, err);
   if (status == RKB_OK && corner)
      status = judge_shape(me, candidate, corner, FAR_INDEX, outcome, &judged, err);
   if (judged)
      snprintf(outcome->far, sizeof outcome->far, "%s", corner->name);
   if (corner)
      me->task->case_free(corner);
   for (uint32_t n = 0; n < candidate->large_count && status == RKB_OK && outcome->rank == 0; n++)
      if (device && candidate->large[n]->bytes <= device->memory_bytes)
         status = judge_shape(me, candidate, candidate->large[n], FAR_INDEX - 1 - n, outcome, &judged, err);
   return status;
}
