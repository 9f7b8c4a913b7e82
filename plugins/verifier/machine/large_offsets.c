/* Tensors beyond 2^31: offsets of 32 bits overflow only in the last blocks of the largest shapes of a domain, which no case executes whole.
 * far_shapes.c draws a shape that has such a tensor.  Its blocks are sampled as at a bench shape (bench_values.c), with inputs made where they are
 * read, and elements that they wrote are judged.  Their cost is bounded, so blocks that loop over such a tensor are left out (far_weights.c).
 * docs/verdicts.md.  The same is done at shapes that are too much work to be executed whole, and at which the manifest decides something
 * that it decides nowhere else (manifest_decisions.c), and at shapes with many blocks (wide_shapes.c).  One worker thread a candidate. */
#include "bench_values.h"
#include "far_shapes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Blocks of a launch, and elements of an output: an offset that overflows is wrong in all blocks beyond it, and the last block is among them. */
#define FAR_DRAWN 8u
#define FAR_JUDGED 8192u

/* Executes drawn blocks alone, since others of the sample are too much work. */
static int sample_drawn(struct sample *s, rkb_random_t *stream, rkb_error_t *err) {
   enum far_weight weight;
   s->candidate->budget = s->candidate->more;
   s->candidate->more = 0;
   int status = s->candidate->budget ? far_weights_drawn(s, stream, &weight, err) : RKB_ERR_LIMIT;
   if (status != RKB_OK || weight == FAR_HEAVY)
      return status;
   if (weight == FAR_DEARER) {
      outcome_note(s->outcome, RKB_MACHINE_UNKNOWN, "limit.budget", json_pack("{s:s}", "case", s->the_case->name),
                   "at corner %s the last blocks of a launch take more than %u times as many thread-instructions as others, and the sample too many to be executed",
                   s->the_case->name, FAR_TIMES);
      return RKB_OK;
   }
   for (uint32_t n = 0; n < s->plan->launch_count; n++)
      block_sample_keep_drawn(&s->blocks, n);
   s->drawn_alone = true;
   return sample_judge(s, err);
}

static int sample_corner(struct sample *s, rkb_error_t *err) {
   const struct verifier *me = s->verifier;
   rkb_random_t stream = me->random->for_job(me->host, s->candidate->job, STREAM_WRAPS);
   enum far_weight weight = FAR_FEASIBLE;
   uint64_t told = 0;
   int status = block_sample_draw(me, s->candidate, s->plan, FAR_INDEX, FAR_DRAWN, &s->blocks, err);
   if (status == RKB_OK)
      status = me->task->inputs_open(me->host, s->the_case, s->family, s->seed, &s->inputs, err);
   if (status == RKB_OK)
      status = far_weights_know(s, &weight, err);
   if (status == RKB_OK && weight == FAR_FEASIBLE)
      status = sample_judge(s, err);
   if (status == RKB_OK && s->outcome->rank == 0 && !s->judged && (weight == FAR_HEAVY || s->candidate->budget == 0))
      status = sample_drawn(s, &stream, err);
   if (status == RKB_OK && (weight == FAR_FEASIBLE || s->drawn_alone) && s->outcome->rank == 0)
      status = wrapped_offsets_find(s, &stream, &told, err);
   if (status == RKB_OK && (weight == FAR_FEASIBLE || s->drawn_alone) && s->outcome->rank == 0)
      status = far_places_find(s, told, &stream, err);
   if (s->inputs)
      me->task->inputs_free(s->inputs);
   block_sample_free(&s->blocks);
   return status == RKB_ERR_LIMIT || status == RKB_ERR_NOMEM ? RKB_OK : status; /* too much memory or work: it is left out */
}

/* Only what is wrong decides, far rows that nobody writes, and far blocks that are much dearer than near ones: what else the sample leaves out there says nothing of the shapes that the task is used
 * with. */
static void take_outcome(struct outcome *to, struct outcome *own) {
   json_array_extend(to->sampled, own->sampled);
   const bool decides = own->rank == RKB_MACHINE_REJECT || own->rank == RKB_MACHINE_SUSPECT ||
                        (own->rank == RKB_MACHINE_UNKNOWN && strcmp(own->reason, "limit.budget") == 0);
   if (decides)
      outcome_note(to, own->rank, own->reason, json_incref(own->evidence), "%s", own->message);
}

int large_offsets_judge_shape(const struct verifier *me, struct candidate *candidate, rkb_case_t *shape,
                              uint32_t index, bool races, struct outcome *outcome, uint64_t *judged,
                              bool *all, rkb_error_t *err) {
   struct candidate own = *candidate;
   struct outcome found;
   rkb_plan_t *plan = NULL;
   rkb_finding_t finding = {0};
   *judged = 0;
   *all = false;
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
   own.more = candidate->budget - own.budget < FAR_BUDGET / 2 ? 0 : FAR_BUDGET / 2;
   const uint64_t before = own.budget + own.more;
   struct sample s = {.verifier = me,
                      .candidate = &own,
                      .the_case = shape,
                      .case_index = index,
                      .plan = plan,
                      .outcome = &found,
                      .lone = true,
                      .races = races,
                      .most_judged = FAR_JUDGED,
                      .family = me->task->family_at(me->host, shape, 0),
                      .seed = verifier_seed(me, candidate, 0)};
   status = s.family ? sample_corner(&s, err) : RKB_OK;
   candidate->budget -= before - own.budget - own.more;
   take_outcome(outcome, &found);
   *judged = found.first_numbers && !s.reached ? 0 : s.judged; /* far rows have later numbers */
   *all = *judged && !s.unjudged[0];
   outcome_free(&found);
   me->kernel->plan_free(plan);
   return status;
}

int large_offsets_judge(const struct verifier *me, struct candidate *candidate, struct outcome *outcome,
                        rkb_error_t *err) {
   const rkb_device_t *device = me->kernel->device(me->host);
   rkb_case_t *corner = NULL;
   uint64_t judged = 0;
   bool all;
   int status = far_shape_draw(me, candidate, &corner, err);
   if (status == RKB_OK && corner)
      status =
         large_offsets_judge_shape(me, candidate, corner, FAR_INDEX, false, outcome, &judged, &all, err);
   outcome->far_judged = judged != 0;
   if (corner)
      snprintf(outcome->far, sizeof outcome->far, "%s", corner->name);
   if (corner)
      me->task->case_free(corner);
   for (uint32_t n = 0; n < candidate->large_count && status == RKB_OK && outcome->rank == 0; n++)
      if (device && candidate->large[n]->bytes <= device->memory_bytes)
         status = large_offsets_judge_shape(me, candidate, candidate->large[n], FAR_INDEX - 1 - n, false,
                                            outcome, &judged, &all, err);
   return status == RKB_OK ? wide_shapes_judge(me, candidate, outcome, err) : status;
}
