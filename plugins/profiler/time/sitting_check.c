/* What a batch of timed runs left behind, compared with what it should be. */
#include "sitting.h"
#include <stdlib.h>
#include <string.h>

static const char *const who[CONTENDERS] = {"the candidate's", "the incumbent's"};

/* The outputs an arena holds belong to its last turn: judge elements of them. */
static int check_output(const struct timer *me, const struct subject *s, uint32_t contender,
                        uint32_t instance, uint32_t set, uint32_t t, const sample_t *sample,
                        struct sitting *sitting, rkb_error_t *err) {
   const rkb_tensor_t *tensor = &s->the_case->tensors[t];
   uint64_t width = tensor->bytes / tensor->elements;
   char *data = malloc(sample->count * width + 1);
   rkb_judgement_t j = {.size = sizeof j};
   rkb_points_t points = sample_points(sample);
   int status = data ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   for (uint64_t i = 0, run; i < sample->count && status == RKB_OK; i += run) {
      for (run = 1; i + run < sample->count && sample->elements[i + run] == sample->elements[i] + run;)
         run++;
      status = me->device->read(s->session, instance, t, sample->elements[i] * width, run * width,
                                data + i * width, err);
   }
   if (status == RKB_OK)
      status = me->task->judge(me->host, s->inputs[set], t, data, NULL, &points, sample->elements,
                               s->contenders[contender].transform, &j, err);
   if (status == RKB_OK && j.standing_is_reject) {
      sitting->right = false;
      snprintf(sitting->wrong, sizeof sitting->wrong,
               "after a timed run %s %s[%llu] is %.9g and should be %.9g within %.3g (%s)", who[contender],
               tensor->name, (unsigned long long)j.element, j.got, j.want, j.bound, j.reason);
   }
   free(data);
   return status;
}

/* Every byte of an input, added up by the device: a write past a neighbouring buffer shows there too. */
static int check_input(const struct timer *me, const struct subject *s, uint32_t contender, uint32_t instance,
                       uint32_t set, uint32_t t, struct sitting *sitting, rkb_error_t *err) {
   uint64_t sum = 0;
   int status = me->device->sum(s->session, instance, t, s->sums[set].keys[t], &sum, err);
   if (status == RKB_OK && sum != s->sums[set].sums[t]) {
      sitting->right = false;
      snprintf(sitting->wrong, sizeof sitting->wrong, "after the timed runs %s input %s was overwritten",
               who[contender], s->the_case->tensors[t].name);
   }
   return status;
}

/* One tensor in every arena.  What is expected is evaluated once for a set of values, and kept for the next candidate. */
static int check_tensor(const struct timer *me, const struct subject *s, uint32_t arenas,
                        const uint32_t *last_set, uint32_t t, struct sitting *sitting, rkb_error_t *err) {
   const sampler_t sampler = {
      me->host, me->task, me->random, me->store, (uint64_t)me->config->points, me->config->budget};
   sample_t samples[SETS] = {{0}};
   bool input = s->the_case->tensors[t].role == RKB_IN;
   int status = RKB_OK;
   stopwatch_turn(s->watch, PHASE_EXPECT);
   for (uint32_t set = 0; set < SETS && status == RKB_OK && !input; set++)
      status = sample_open(&sampler, s->inputs[set], s->the_case, s->family->name, s->seeds[set], t,
                           me->store != NULL, &samples[set], err);
   stopwatch_turn(s->watch, PHASE_COMPARE);
   for (uint32_t c = 0; c < s->contender_count; c++)
      for (uint32_t a = 0; a < arenas && status == RKB_OK && sitting->right; a++) {
         uint32_t instance = sitting_instance(c, a), set = last_set[instance];
         if (input)
            status = check_input(me, s, c, instance, set, t, sitting, err);
         else if (samples[set].count > 0)
            status = check_output(me, s, c, instance, set, t, &samples[set], sitting, err);
      }
   for (uint32_t set = 0; set < SETS; set++)
      sample_close(&samples[set]);
   return status;
}

int sitting_check(const struct timer *me, const struct subject *s, uint32_t arenas, const rkb_turn_t *turns,
                  uint32_t count, struct sitting *sitting, rkb_error_t *err) {
   uint32_t *last_set = calloc(sitting_instance(CONTENDERS, 0), sizeof *last_set);
   int status = last_set ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   for (uint32_t i = 0; i < count && status == RKB_OK; i++)
      last_set[turns[i].instance] = turns[i].set;
   for (uint32_t t = 0; t < s->the_case->tensor_count && status == RKB_OK && sitting->right; t++)
      if (s->the_case->tensors[t].elements > 0)
         status = check_tensor(me, s, arenas, last_set, t, sitting, err);
   free(last_set);
   return status;
}
