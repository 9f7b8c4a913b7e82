/* What a batch of timed runs left behind, compared with what it should be. */
#include "sitting.h"
#include <stdlib.h>
#include <string.h>

static const char *const who[CONTENDERS] = {"the candidate's", "the incumbent's"};

/* Bits of an output that were judged and are right; equal ones need not travel again. */
struct judged {
   uint64_t sum;
   bool right;
};

static int read_sample(const struct timer *me, const struct subject *s, uint32_t instance, uint32_t t,
                       uint64_t width, const sample_t *sample, char *data, rkb_error_t *err) {
   int status = RKB_OK;
   for (uint64_t i = 0, run; i < sample->count && status == RKB_OK; i += run) {
      for (run = 1; i + run < sample->count && sample->elements[i + run] == sample->elements[i] + run;)
         run++;
      status = me->device->read(s->session, instance, t, sample->elements[i] * width, run * width,
                                data + i * width, err);
   }
   return status;
}

/* The outputs an arena holds belong to its last turn: judge elements of them. */
static int check_output(const struct timer *me, const struct subject *s, uint32_t contender,
                        uint32_t instance, uint32_t set, uint32_t t, struct judged *judged,
                        struct sitting *sitting, rkb_error_t *err) {
   const rkb_tensor_t *tensor = &s->the_case->tensors[t];
   const sample_t *sample = &s->samples[set][t];
   uint64_t width = tensor->bytes / tensor->elements, sum = 0;
   rkb_judgement_t j = {.size = sizeof j};
   rkb_points_t points = sample_points(sample);
   /* Nobody but this program knows the key. */
   int status = me->device->sum(s->session, instance, t,
                                (s->seeds[set] + 1) * 0x9e3779b97f4a7c15u ^ ~(uint64_t)t, &sum, err);
   if (status != RKB_OK || (judged->right && judged->sum == sum))
      return status;
   char *data = malloc(sample->count * width + 1);
   status = data ? read_sample(me, s, instance, t, width, sample, data, err)
                 : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   if (status == RKB_OK)
      status = me->task->judge(me->host, s->inputs[set], t, data, NULL, &points, sample->elements,
                               s->contenders[contender].transform, &j, err);
   if (status == RKB_OK && j.standing_is_reject) {
      sitting->right = false;
      snprintf(sitting->wrong, sizeof sitting->wrong,
               "after a timed run %s %s[%llu] is %.9g and should be %.9g within %.3g (%s)", who[contender],
               tensor->name, (unsigned long long)j.element, j.got, j.want, j.bound, j.reason);
   }
   *judged = (struct judged){sum, status == RKB_OK && !j.standing_is_reject};
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

/* What outputs should be is evaluated once for a set of values, and kept for the next candidate. */
static int expect(const struct timer *me, struct subject *s, rkb_error_t *err) {
   const sampler_t sampler = {
      me->host, me->task, me->random, me->store, (uint64_t)me->config->points, me->config->budget};
   wanted_t list[SETS];
   for (uint32_t set = 0; set < SETS; set++)
      list[set] = (wanted_t){s->the_case, s->family, s->seeds[set], me->store != NULL, s->samples[set]};
   s->expected = true;
   return samples_evaluate(&sampler, me->workers, list, SETS, err);
}

/* One tensor in every arena. */
static int check_tensor(const struct timer *me, const struct subject *s, uint32_t arenas,
                        const uint32_t *last_set, uint32_t t, struct sitting *sitting, rkb_error_t *err) {
   struct judged judged[CONTENDERS][SETS] = {{{0}}};
   bool input = s->the_case->tensors[t].role == RKB_IN;
   int status = RKB_OK;
   for (uint32_t c = 0; c < s->contender_count; c++)
      for (uint32_t a = 0; a < arenas && status == RKB_OK && sitting->right; a++) {
         uint32_t instance = sitting_instance(c, a), set = last_set[instance];
         if (input)
            status = check_input(me, s, c, instance, set, t, sitting, err);
         else if (s->samples[set][t].count > 0)
            status = check_output(me, s, c, instance, set, t, &judged[c][set], sitting, err);
      }
   return status;
}

int sitting_check(const struct timer *me, struct subject *s, uint32_t arenas, const rkb_turn_t *turns,
                  uint32_t count, struct sitting *sitting, rkb_error_t *err) {
   uint32_t *last_set = calloc(sitting_instance(CONTENDERS, 0), sizeof *last_set);
   int status = last_set ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   stopwatch_turn(s->watch, PHASE_EXPECT);
   if (status == RKB_OK && !s->expected)
      status = expect(me, s, err);
   stopwatch_turn(s->watch, PHASE_COMPARE);
   for (uint32_t i = 0; i < count && status == RKB_OK; i++)
      last_set[turns[i].instance] = turns[i].set;
   for (uint32_t t = 0; t < s->the_case->tensor_count && status == RKB_OK && sitting->right; t++)
      if (s->the_case->tensors[t].elements > 0)
         status = check_tensor(me, s, arenas, last_set, t, sitting, err);
   free(last_set);
   return status;
}
