/* Cases with their values.  Owns both. */
#include "gpu.h"
#include <stdlib.h>

/* Two different seeds: from the pool, whose expected values may be stored already, or new ones. */
static bool draw_seeds(const struct gpu *me, const rkb_case_t *c, rkb_random_t *stream, uint64_t *seeds) {
   uint64_t pool = me->task->pool_size(c, (uint64_t)me->config->pool),
            first = me->random->below(stream, pool), step = 1 + me->random->below(stream, pool - 1);
   bool pooled = me->store && c->kind != RKB_CASE_DRAWN;
   for (uint32_t set = 0; set < 2; set++)
      seeds[set] = pooled ? me->task->pool_seed(me->store, c, (first + set * step) % pool)
                          : me->random->next(stream) >> 1;
   return pooled;
}

int trial_open(const struct gpu *me, const rkb_case_t *c, rkb_case_t *drawn, rkb_random_t *stream,
               struct trial *trial, rkb_error_t *err) {
   *trial = (struct trial){.the_case = c,
                           .drawn = drawn,
                           .families = me->task->family_count(me->host, c, (uint32_t)me->config->families,
                                                              (uint32_t)me->config->bench_families)};
   trial->values = calloc(trial->families + 1, sizeof *trial->values);
   int status = trial->values ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   for (uint32_t f = 0; f < trial->families && status == RKB_OK; f++) {
      uint64_t seeds[2];
      bool pooled = draw_seeds(me, c, stream, seeds);
      for (uint32_t set = 0; set < 2 && status == RKB_OK; set++)
         status = values_open(me, c, me->task->family_at(me->host, c, f), seeds[set], pooled,
                              &trial->values[f][set], err);
   }
   if (status != RKB_OK)
      trial_close(me, trial);
   return status;
}

void trial_close(const struct gpu *me, struct trial *trial) {
   for (uint32_t f = 0; trial->values && f < trial->families; f++)
      for (uint32_t set = 0; set < 2; set++)
         if (trial->values[f][set].the_case)
            values_free(me, &trial->values[f][set]);
   free(trial->values);
   if (trial->drawn)
      me->task->case_free(trial->drawn);
   *trial = (struct trial){0};
}

int trials_expect(const struct gpu *me, struct trial *trials, uint32_t trial_count, rkb_error_t *err) {
   uint32_t most = 0, count = 0;
   for (uint32_t i = 0; i < trial_count; i++)
      most += 2 * trials[i].families;
   rkb_wanted_t *list = calloc((size_t)most + 1, sizeof *list);
   if (!list)
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   for (uint32_t i = 0; i < trial_count; i++)
      for (uint32_t n = 0; n < 2 * trials[i].families; n++) {
         struct values *v = &trials[i].values[n / 2][n % 2];
         if (!v->expected)
            list[count++] = (rkb_wanted_t){v->the_case, v->family, v->seed, v->pooled, v->samples};
         v->expected = true;
      }
   int status = count ? me->task->samples_open(me->host, me->store, list, count, (uint64_t)me->config->points,
                                               me->config->budget, err)
                      : RKB_OK;
   free(list);
   return status;
}
