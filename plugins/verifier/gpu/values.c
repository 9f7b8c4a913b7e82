/* Inputs made by counter: drawn when the device has to be sent them, and again when something is wrong with them. */
#include "gpu.h"
#include <stdlib.h>

int values_open(const struct gpu *me, const rkb_case_t *c, const rkb_family_t *family, uint64_t seed,
                bool pooled, struct values *v, rkb_error_t *err) {
   *v = (struct values){.the_case = c,
                        .family = family,
                        .seed = seed,
                        .pooled = pooled,
                        .samples = calloc(c->tensor_count, sizeof *v->samples)};
   int status = v->samples && sums_open(c->tensor_count, &v->sums)
                   ? me->task->inputs_open(me->host, c, family, seed, &v->inputs, err)
                   : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   if (status == RKB_OK)
      me->task->inputs_limit(v->inputs, RUN_MOST_WORK);
   else
      values_free(me, v);
   return status;
}

void values_free(const struct gpu *me, struct values *v) {
   for (uint32_t t = 0; v->samples && t < v->the_case->tensor_count; t++)
      sample_close(&v->samples[t]);
   free(v->samples);
   sums_close(&v->sums);
   if (v->inputs)
      me->task->inputs_free(v->inputs);
   *v = (struct values){0};
}

int values_stage(const struct gpu *me, struct candidate *candidate, struct values *v, uint32_t set,
                 rkb_error_t *err) {
   const staging_t staging = {me->host,
                              me->task,
                              me->device,
                              v->pooled ? me->store : NULL,
                              candidate->session,
                              v->the_case,
                              v->inputs,
                              v->family->name,
                              v->seed,
                              set};
   return staging_send(&staging, &v->sums, err);
}

/* One output of one set, with inputs of its own: those of a set are one thread's at a time. */
struct part {
   const struct gpu *me;
   struct values *values;
   uint32_t tensor;
   int status;
   rkb_error_t err;
};

static void evaluate(void *argument, uint32_t n) {
   struct part *part = (struct part *)argument + n;
   const struct gpu *me = part->me;
   const struct values *v = part->values;
   const sampler_t sampler = {
      me->host, me->task, me->random, me->store, (uint64_t)me->config->points, me->config->budget};
   rkb_inputs_t *inputs = NULL;
   part->status = me->task->inputs_open(me->host, v->the_case, v->family, v->seed, &inputs, &part->err);
   if (part->status != RKB_OK)
      return;
   me->task->inputs_limit(inputs, RUN_MOST_WORK);
   part->status = sample_open(&sampler, inputs, v->the_case, v->family->name, v->seed, part->tensor,
                              v->pooled, &v->samples[part->tensor], &part->err);
   me->task->inputs_free(inputs);
}

int values_expect(const struct gpu *me, struct values values[2], rkb_error_t *err) {
   const rkb_case_t *c = values[0].the_case;
   struct part *parts = calloc(2 * (size_t)c->tensor_count + 1, sizeof *parts);
   uint32_t count = 0;
   int status = parts ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   for (uint32_t set = 0; set < 2 && parts; set++) {
      for (uint32_t t = 0; t < c->tensor_count && !values[set].expected; t++)
         if (c->tensors[t].role != RKB_IN && c->tensors[t].elements > 0)
            parts[count++] = (struct part){.me = me, .values = &values[set], .tensor = t};
      values[set].expected = true;
   }
   if (count)
      me->workers->share(me->host, count, evaluate, parts);
   for (uint32_t i = 0; i < count && status == RKB_OK; i++) {
      status = parts[i].status;
      *err = parts[i].err;
   }
   free(parts);
   return status;
}
