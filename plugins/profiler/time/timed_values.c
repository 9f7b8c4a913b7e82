/* Draws the values that a case is timed with.  Runs on a worker. */
#include "sitting.h"

#include <stdlib.h>

int subject_draw(const struct timer *me, struct subject *subject, rkb_random_t *stream, rkb_error_t *err) {
   const uint64_t pool = me->task->pool_size(subject->the_case, RKB_EXPECTED_POOL),
                  first = me->random->below(stream, pool);
   int status = RKB_OK;
   subject->family = me->task->family_at(me->host, subject->the_case, 0);
   for (uint32_t set = 0; set < SETS && status == RKB_OK; set++) {
      subject->seeds[set] = me->store
                               ? me->task->pool_seed(me->store, subject->the_case, (first + set) % pool)
                               : me->random->next(stream) >> 1;
      status = me->task->inputs_open(me->host, subject->the_case, subject->family, subject->seeds[set],
                                     &subject->inputs[set], err);
      subject->samples[set] = calloc(subject->the_case->tensor_count + 1, sizeof *subject->samples[set]);
      if (status == RKB_OK &&
          (!subject->samples[set] || !sums_open(subject->the_case->tensor_count, &subject->sums[set])))
         status = rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   }
   return status;
}

void subject_free(const struct timer *me, struct subject *subject) {
   for (uint32_t set = 0; set < SETS; set++) {
      for (uint32_t t = 0; subject->samples[set] && t < subject->the_case->tensor_count; t++)
         me->task->sample_close(&subject->samples[set][t]);
      free(subject->samples[set]);
      subject->samples[set] = NULL;
      if (subject->inputs[set])
         me->task->inputs_free(subject->inputs[set]);
      subject->inputs[set] = NULL;
      sums_close(&subject->sums[set]);
   }
   subject->expected = subject->compared = false;
}
