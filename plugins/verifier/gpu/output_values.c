/* Inputs made by counter: drawn when the device has to be sent them, and again when something is wrong with them. */
#include "gpu.h"
#include <stdlib.h>

int values_open(const struct gpu *me, const rkb_case_t *c, const rkb_family_t *family, uint64_t seed,
                bool pooled, struct values *v, rkb_error_t *err) {
   *v = (struct values){.the_case = c,
                        .family = family,
                        .seed = seed,
                        .pooled = pooled,
                        .samples = calloc(c->tensor_count + 1, sizeof *v->samples),
                        .judged = calloc(c->tensor_count + 1, sizeof *v->judged),
                        .right = calloc(c->tensor_count + 1, sizeof *v->right),
                        .whole = calloc(c->tensor_count + 1, sizeof *v->whole),
                        .compared = calloc(c->tensor_count + 1, sizeof *v->compared)};
   int status = v->samples && v->judged && v->right && v->whole && v->compared && sums_open(c->tensor_count, &v->sums)
                   ? me->task->inputs_open(me->host, c, family, seed, &v->inputs, err)
                   : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   if (status != RKB_OK)
      values_free(me, v);
   return status;
}

void values_free(const struct gpu *me, struct values *v) {
   for (uint32_t t = 0; v->samples && t < v->the_case->tensor_count; t++)
      me->task->sample_close(&v->samples[t]);
   free(v->samples);
   free(v->judged);
   free(v->right);
   free(v->whole);
   free(v->compared);
   sums_close(&v->sums);
   if (v->inputs)
      me->task->inputs_free(v->inputs);
   *v = (struct values){0};
}

int values_stage(const struct gpu *me, struct candidate *candidate, struct values values[2],
                 rkb_error_t *err) {
   staging_t sets[2];
   for (uint32_t set = 0; set < 2; set++)
      sets[set] = (staging_t){.host = me->host,
                              .task = me->task,
                              .device = me->device,
                              .workers = me->workers,
                              .store = values[set].pooled ? me->store : NULL,
                              .session = candidate->session,
                              .the_case = values[set].the_case,
                              .inputs = values[set].inputs,
                              .family = values[set].family,
                              .seed = values[set].seed,
                              .set = set,
                              .sums = &values[set].sums};
   return staging_send(sets, 2, err);
}
