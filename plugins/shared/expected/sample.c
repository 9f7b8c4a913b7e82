/* Choosing and evaluating the elements.  The time budget decides how many are compared, never whether they are right; how
 * many it was is part of every verdict. */
#include "expected/sample.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Whole outputs up to these sizes: kept ones cost disk, others memory. */
#define ALL_KEPT (UINT64_C(1) << 18)
#define ALL_FRESH (UINT64_C(1) << 22)
/* Operations of a reference that is cheaper to evaluate whole than by elements. */
#define WHOLE_OPERATIONS 2e8

static uint64_t now_ns(void) {
   struct timespec now;
   clock_gettime(CLOCK_MONOTONIC, &now);
   return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The first elements, the last ones, then runs from anywhere. */
static void choose(const sampler_t *sampler, uint64_t elements, uint64_t seed, sample_t *sample) {
   rkb_random_t stream = {.key = {(uint32_t)seed, (uint32_t)(seed >> 32)}, .stream = {0x706f696e, 0x74}};
   for (uint64_t first = 0; first < sample->room; first += RUN_ELEMENTS) {
      uint64_t start = first == 0              ? 0
                       : first == RUN_ELEMENTS ? elements - RUN_ELEMENTS
                                               : sampler->random->below(&stream, elements - RUN_ELEMENTS + 1);
      for (uint64_t i = 0; i < RUN_ELEMENTS; i++)
         sample->elements[first + i] = start + i;
   }
}

static int evaluate_whole(const sampler_t *sampler, const rkb_inputs_t *inputs, uint32_t tensor,
                          sample_t *sample, rkb_error_t *err) {
   rkb_expected_t *expected = NULL;
   int status = sampler->task->expect(sampler->host, inputs, &expected, err);
   if (status != RKB_OK)
      return status;
   rkb_points_t points = sampler->task->expected_points(expected, tensor);
   for (uint64_t i = 0; i < sample->room; i++) {
      uint64_t at = sample->elements[i];
      sample->numbers[i] = points.value[at];
      sample->numbers[sample->room + i] = points.hard[at];
      sample->numbers[2 * sample->room + i] = points.stat[at];
      sample->flags[i] = points.flags[at];
   }
   sample->count = sample->room;
   sampler->task->expected_free(expected);
   return RKB_OK;
}

static int evaluate_runs(const sampler_t *sampler, const rkb_inputs_t *inputs, uint32_t tensor,
                         sample_t *sample, rkb_error_t *err) {
   uint64_t end = now_ns() + sampler->budget_ns;
   int status = RKB_OK;
   while (sample->count < sample->room && (sample->count == 0 || now_ns() < end)) {
      uint64_t at = sample->count, left = sample->room - at, now = left < RUN_ELEMENTS ? left : RUN_ELEMENTS;
      status = sampler->task->expect_points(sampler->host, inputs, tensor, sample->elements + at, now,
                                            sample->numbers + at, sample->numbers + sample->room + at,
                                            sample->numbers + 2 * sample->room + at, sample->flags + at, err);
      if (status != RKB_OK)
         return status == RKB_ERR_LIMIT ? RKB_OK : status;
      sample->count += now;
   }
   return RKB_OK;
}

static bool make_room(sample_t *sample, uint64_t room) {
   *sample = (sample_t){.elements = malloc((room + 1) * sizeof *sample->elements),
                        .numbers = malloc((3 * room + 1) * sizeof *sample->numbers),
                        .flags = malloc(room + 2),
                        .room = room};
   return sample->elements && sample->numbers && sample->flags;
}

int sample_open(const sampler_t *sampler, const rkb_inputs_t *inputs, const rkb_case_t *c, const char *family,
                uint64_t seed, uint32_t tensor, bool keep, sample_t *sample, rkb_error_t *err) {
   const rkb_tensor_t *info = &c->tensors[tensor];
   bool whole = c->operations <= WHOLE_OPERATIONS;
   uint64_t most = sampler->most / RUN_ELEMENTS * RUN_ELEMENTS, limit = keep || !whole ? ALL_KEPT : ALL_FRESH;
   char key[512];
   most = most ? most : RUN_ELEMENTS;
   bool all = info->elements <= most || (whole && info->elements <= limit);
   if (!make_room(sample, all ? info->elements : most)) {
      sample_close(sample);
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   }
   sample->all = all;
   if (all)
      for (uint64_t i = 0; i < sample->room; i++)
         sample->elements[i] = i;
   else
      choose(sampler, info->elements, seed + tensor, sample);
   snprintf(key, sizeof key, "%s|%s|%llu|%s|%llu", c->name, family, (unsigned long long)seed, info->name,
            (unsigned long long)sample->room);
   double known = 0;
   double *kept = keep ? malloc((3 * sample->room + 1) * sizeof *kept) : NULL;
   if (kept && store_load(sampler->store, key, kept, 3 * sample->room + 1, sample->flags, sample->room)) {
      memcpy(sample->numbers, kept + 1, 3 * sample->room * sizeof *kept);
      sample->count = (known = kept[0]) > 0 && known <= (double)sample->room ? (uint64_t)known : 0;
      free(kept);
      return RKB_OK;
   }
   memset(sample->flags, 0, sample->room);
   memset(sample->numbers, 0, 3 * sample->room * sizeof *sample->numbers);
   int status = whole ? evaluate_whole(sampler, inputs, tensor, sample, err)
                      : evaluate_runs(sampler, inputs, tensor, sample, err);
   if (status == RKB_OK && kept) {
      kept[0] = (double)sample->count;
      memcpy(kept + 1, sample->numbers, 3 * sample->room * sizeof *kept);
      store_save(sampler->store, key, kept, 3 * sample->room + 1, sample->flags, sample->room);
   }
   free(kept);
   if (status != RKB_OK)
      sample_close(sample);
   return status;
}

uint64_t sample_pool(const rkb_case_t *c, uint64_t most) {
   return c->operations > WHOLE_OPERATIONS && most > 2 ? 2 : most;
}

void sample_close(sample_t *sample) {
   free(sample->elements);
   free(sample->numbers);
   free(sample->flags);
   *sample = (sample_t){0};
}

rkb_points_t sample_points(const sample_t *s) {
   return (rkb_points_t){s->numbers, s->numbers + s->room, s->numbers + 2 * s->room, s->flags, s->count};
}
