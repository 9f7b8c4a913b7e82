/* Inputs made by counter and sent to the device.  They are kept here too, to see afterwards whether they were changed. */
#include "gpu.h"
#include <stdlib.h>

int values_open(const struct gpu *me, const rkb_case_t *c, const rkb_family_t *family, uint64_t seed,
                bool pooled, struct values *v, rkb_error_t *err) {
   *v = (struct values){.the_case = c,
                        .family = family,
                        .seed = seed,
                        .pooled = pooled,
                        .tensors = calloc(c->tensor_count, sizeof *v->tensors),
                        .samples = calloc(c->tensor_count, sizeof *v->samples)};
   int status = v->tensors && v->samples ? me->task->inputs_open(me->host, c, family, seed, &v->inputs, err)
                                         : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   if (status == RKB_OK)
      me->task->inputs_limit(v->inputs, RUN_MOST_WORK);
   for (uint32_t t = 0; t < c->tensor_count && status == RKB_OK; t++) {
      const rkb_tensor_t *tensor = &c->tensors[t];
      if (tensor->role == RKB_OUT)
         continue;
      v->tensors[t] = malloc(tensor->bytes ? tensor->bytes : 1);
      status = v->tensors[t] ? me->task->inputs_fill(v->inputs, t, 0, tensor->elements, v->tensors[t], err)
                             : rkb_fail(err, RKB_ERR_NOMEM, "no memory for %s", tensor->name);
   }
   if (status != RKB_OK)
      values_free(me, v);
   return status;
}

void values_free(const struct gpu *me, struct values *v) {
   for (uint32_t t = 0; v->the_case && t < v->the_case->tensor_count; t++) {
      if (v->tensors)
         free(v->tensors[t]);
      if (v->samples)
         sample_close(&v->samples[t]);
   }
   free(v->tensors);
   free(v->samples);
   if (v->inputs)
      me->task->inputs_free(v->inputs);
   *v = (struct values){0};
}

int values_stage(const struct gpu *me, struct candidate *candidate, const struct values *v, uint32_t set,
                 rkb_error_t *err) {
   int status = RKB_OK;
   for (uint32_t t = 0; t < v->the_case->tensor_count && status == RKB_OK; t++) {
      uint64_t bytes = v->the_case->tensors[t].bytes;
      if (v->tensors[t])
         status = me->device->stage(candidate->session, set, t, bytes, 0, v->tensors[t], bytes, err);
   }
   return status;
}
