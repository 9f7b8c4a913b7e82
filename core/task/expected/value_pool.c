/* A walk over cases and families.  Owns one family's samples at a time. */
#include "task/expected/value_pool.h"

#include <stdlib.h>
#include "base/memory.h"
#include "task/expected/expected_store.h"

static const uint32_t kinds[] = {RKB_CASE_BENCH, RKB_CASE_CHECK};
enum { KINDS = sizeof kinds / sizeof *kinds };

static uint32_t families_of(const rkb_value_pool_t *pool, const rkb_case_t *c) {
   return rkb_sample_families(pool->sampling.task, c, pool->families, pool->bench_families);
}

uint64_t rkb_value_pool_outputs(const rkb_value_pool_t *pool) {
   const rkb_case_t *c;
   uint64_t sum = 0;
   for (int kind = 0; kind < KINDS; kind++)
      for (uint32_t i = 0; (c = rkb_task_case(pool->sampling.task, kinds[kind], i)) != NULL; i++) {
         uint64_t outputs = 0;
         for (uint32_t t = 0; t < c->tensor_count; t++)
            outputs += c->tensors[t].role != RKB_IN && c->tensors[t].elements > 0;
         sum += outputs * families_of(pool, c) * rkb_sample_pool(c, pool->seeds);
      }
   return sum;
}

static int evaluate_family(const rkb_value_pool_t *pool, const rkb_case_t *c, const rkb_family_t *family,
                           rkb_error_t *err) {
   const uint32_t seeds = (uint32_t)rkb_sample_pool(c, pool->seeds), sample_count = seeds * c->tensor_count;
   rkb_wanted_t *list = rkb_try_allocate((size_t)seeds + 1, sizeof *list, err);
   rkb_sample_t *samples = rkb_try_allocate((size_t)sample_count + 1, sizeof *samples, err);
   int status = list && samples ? RKB_OK : RKB_ERR_NOMEM;
   for (uint32_t i = 0; status == RKB_OK && i < seeds; i++)
      list[i] = (rkb_wanted_t){.the_case = c,
                               .family = family,
                               .seed = rkb_store_seed(pool->sampling.store, c->name, i),
                               .stored = true,
                               .samples = samples + (size_t)i * c->tensor_count};
   if (status == RKB_OK)
      status = rkb_samples_open(&pool->sampling, list, seeds, err);
   for (uint32_t i = 0; samples && i < sample_count; i++)
      rkb_sample_close(&samples[i]);
   free(samples);
   free(list);
   return status;
}

int rkb_value_pool_evaluate(const rkb_value_pool_t *pool, rkb_error_t *err) {
   const rkb_task_t *task = pool->sampling.task;
   const rkb_case_t *c;
   int status = RKB_OK;
   for (int kind = 0; kind < KINDS; kind++)
      for (uint32_t i = 0; status == RKB_OK && (c = rkb_task_case(task, kinds[kind], i)) != NULL; i++) {
         const uint32_t families = families_of(pool, c);
         if (pool->began)
            pool->began(pool->sampling.argument, c);
         for (uint32_t f = 0; f < families && status == RKB_OK; f++)
            status = evaluate_family(pool, c, rkb_task_family(task, c, f), err);
      }
   return status;
}
