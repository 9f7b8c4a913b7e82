/* Checks the outputs and inputs that a batch of timed runs left in memory. */
#include "sitting.h"
#include <stdlib.h>
#include <string.h>

static const char *const who[CONTENDERS] = {"the candidate's", "the incumbent's"};

/* The sum of an output that was judged and is right: an output with an equal sum need not be read again. */
struct judged {
   uint64_t sum;
   bool right;
};

/* Judges elements of an output.  What an arena holds belongs to its last turn. */
static int check_output(const struct timer *me, const struct subject *s, uint32_t contender, uint32_t set,
                        const reading_t *reading, uint64_t sum, struct judged *judged,
                        struct sitting *sitting, rkb_error_t *err) {
   const uint32_t t = reading->tensor;
   rkb_judgement_t j = {.size = sizeof j};
   int status = me->task->judge(me->host, s->inputs[set], t, reading->data, NULL, &reading->sample->points,
                                reading->sample->elements, s->contenders[contender].transform, &j, err);
   if (status == RKB_OK && j.standing_is_reject) {
      sitting->right = false;
      snprintf(sitting->wrong, sizeof sitting->wrong,
               "after a timed run %s %s[%llu] is %.9g and should be %.9g within %.3g (%s)", who[contender],
               s->the_case->tensors[t].name, (unsigned long long)j.element, j.got, j.want, j.bound, j.reason);
   }
   *judged = (struct judged){sum, status == RKB_OK && !j.standing_is_reject};
   return status;
}

/* Checks the outputs of one arena, reading in one request those that were not judged with these bits before. */
static int check_outputs(const struct timer *me, const struct subject *s, uint32_t contender,
                         uint32_t instance, uint32_t set, const uint64_t *sums, struct judged *judged,
                         struct sitting *sitting, rkb_error_t *err) {
   const rkb_case_t *c = s->the_case;
   reading_t *readings = calloc((size_t)c->tensor_count + 1, sizeof *readings);
   char *block = NULL;
   uint32_t count = 0;
   int status = readings ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   for (uint32_t t = 0; t < c->tensor_count && status == RKB_OK; t++)
      if (c->tensors[t].role != RKB_IN && c->tensors[t].elements > 0 && s->samples[set][t].points.count > 0 &&
          !(judged[t].right && judged[t].sum == sums[t]))
         readings[count++] =
            (reading_t){t, c->tensors[t].bytes / c->tensors[t].elements, &s->samples[set][t], NULL};
   if (status == RKB_OK && count)
      status = readings_take(me->device, s->session, instance, readings, count, &block, err);
   for (uint32_t i = 0; i < count && status == RKB_OK && sitting->right; i++) {
      const uint32_t t = readings[i].tensor;
      status = check_output(me, s, contender, set, &readings[i], sums[t], &judged[t], sitting, err);
   }
   free(block);
   free(readings);
   return status;
}

int sitting_sums(const struct timer *me, const struct subject *s, uint32_t instance, uint32_t set,
                 uint64_t *sums, rkb_error_t *err) {
   const rkb_case_t *c = s->the_case;
   uint64_t *keys = calloc((size_t)c->tensor_count + 1, sizeof *keys);
   uint32_t *buffers = calloc((size_t)c->tensor_count + 1, sizeof *buffers);
   int status = keys && buffers ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   for (uint32_t t = 0; t < c->tensor_count && status == RKB_OK; t++) {
      buffers[t] = t;
      keys[t] = c->tensors[t].role == RKB_IN ? s->sums[set].keys[t]
                                             : (s->seeds[set] + 1) * 0x9e3779b97f4a7c15u ^ ~(uint64_t)t;
   }
   if (status == RKB_OK)
      status = me->device->sums(s->session, instance, c->tensor_count, buffers, keys, sums, err);
   free(buffers);
   free(keys);
   return status;
}

/* Evaluates what outputs should be, once for a set of values, and keeps it for the next candidate. */
static int expect(const struct timer *me, struct subject *s, rkb_error_t *err) {
   rkb_wanted_t list[SETS];
   for (uint32_t set = 0; set < SETS; set++)
      list[set] = (rkb_wanted_t){s->the_case, s->family, s->seeds[set], me->store != NULL, s->samples[set]};
   s->expected = true;
   return me->task->samples_open(me->host, me->store, list, SETS, (uint64_t)me->config->points,
                                 me->config->budget, err);
}

/* Every byte of an input is summed, so that a write past a neighbouring buffer shows. */
static void check_input(const struct subject *s, uint32_t contender, uint32_t set, uint32_t t, uint64_t sum,
                        struct sitting *sitting) {
   if (sum == s->sums[set].sums[t])
      return;
   sitting->right = false;
   snprintf(sitting->wrong, sizeof sitting->wrong, "after the timed runs %s input %s was overwritten",
            who[contender], s->the_case->tensors[t].name);
}

/* Checks one arena: what it holds belongs to its last turn, on this set of values. */
static int check_arena(const struct timer *me, const struct subject *s, uint32_t contender, uint32_t instance,
                       uint32_t set, struct judged *judged, struct sitting *sitting, rkb_error_t *err) {
   const rkb_case_t *c = s->the_case;
   uint64_t *sums = calloc((size_t)c->tensor_count + 1, sizeof *sums);
   int status =
      sums ? sitting_sums(me, s, instance, set, sums, err) : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   for (uint32_t t = 0; t < c->tensor_count && status == RKB_OK && sitting->right; t++)
      if (c->tensors[t].elements > 0 && c->tensors[t].role == RKB_IN)
         check_input(s, contender, set, t, sums[t], sitting);
   if (status == RKB_OK && sitting->right)
      status = check_outputs(me, s, contender, instance, set, sums, judged, sitting, err);
   free(sums);
   return status;
}

int sitting_check(const struct timer *me, struct subject *s, const struct turns *turns,
                  struct sitting *sitting, rkb_error_t *err) {
   const uint32_t tensors = s->the_case->tensor_count;
   uint32_t *last_set = calloc(sitting_instance(CONTENDERS, 0), sizeof *last_set);
   struct judged *judged = calloc((size_t)CONTENDERS * SETS * tensors + 1, sizeof *judged);
   int status = last_set && judged ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   stopwatch_turn(s->watch, PHASE_EXPECT);
   if (status == RKB_OK && !s->expected)
      status = expect(me, s, err);
   stopwatch_turn(s->watch, PHASE_COMPARE);
   for (uint32_t i = 0; i < turns->count && status == RKB_OK; i++)
      last_set[turns->list[i].instance] = turns->list[i].set;
   for (uint32_t c = 0; c < s->contender_count; c++)
      for (uint32_t a = 0; a < turns->arenas && status == RKB_OK && sitting->right; a++) {
         const uint32_t instance = sitting_instance(c, a), set = last_set[instance];
         status =
            check_arena(me, s, c, instance, set, judged + (size_t)(c * SETS + set) * tensors, sitting, err);
      }
   free(judged);
   free(last_set);
   return status;
}
