/* Choosing and evaluating the elements.  The time budget decides how many are compared, never whether they are right; how
 * many it was is part of every verdict. */
#include "expected_sample.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef _OPENMP
#include <omp.h>
#endif

/* Whole outputs up to these sizes: kept ones cost disk, others memory. */
#define ALL_KEPT (UINT64_C(1) << 18)
#define ALL_FRESH (UINT64_C(1) << 22)
/* Operations of a reference that is cheaper to evaluate whole than by elements. */
#define WHOLE_OPERATIONS 2e8
/* Bytes of a case that takes a good part of a second to be put on the device, in all its sets. */
#define FEW_SETS_BYTES 64e6

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

/* What is known of a reference that was evaluated whole. */
static void take_whole(const sampler_t *sampler, const rkb_expected_t *expected, uint32_t tensor,
                       sample_t *sample) {
   rkb_points_t points = sampler->task->expected_points(expected, tensor);
   for (uint64_t i = 0; i < sample->room; i++) {
      uint64_t at = sample->elements[i];
      sample->numbers[i] = points.value[at];
      sample->numbers[sample->room + i] = points.hard[at];
      sample->numbers[2 * sample->room + i] = points.stat[at];
      sample->flags[i] = points.flags[at];
   }
   sample->count = sample->room;
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

/* One of the wanted.  Its outputs come one after the other from the same inputs, which keep what one has in common with the
 * next; evaluating one takes free cores by itself. */
typedef struct part {
   const sampler_t *sampler;
   const wanted_t *wanted;
   int threads; /* that it may take */
   int status;
   rkb_error_t err;
} part_t;

static bool is_whole(const rkb_case_t *c) {
   return c->operations <= WHOLE_OPERATIONS;
}

static void key_of(const part_t *p, uint32_t tensor, const sample_t *sample, char *key, size_t size) {
   uint64_t chosen = 0; /* which elements they are is not kept with them */
   for (uint64_t i = 0; i < sample->room; i++)
      chosen = (chosen ^ sample->elements[i]) * 0xd6e8feb86659fd93u;
   snprintf(key, size, "%s|%s|%llu|%s|%llu|%llx", p->wanted->the_case->name, p->wanted->family->name,
            (unsigned long long)p->wanted->seed, p->wanted->the_case->tensors[tensor].name,
            (unsigned long long)sample->room, (unsigned long long)chosen);
}

static int choose_elements(const part_t *p, uint32_t tensor, sample_t *sample, rkb_error_t *err) {
   const uint64_t elements = p->wanted->the_case->tensors[tensor].elements;
   const bool whole = is_whole(p->wanted->the_case);
   const uint64_t limit = p->wanted->keep || !whole ? ALL_KEPT : ALL_FRESH;
   uint64_t most = p->sampler->most / RUN_ELEMENTS * RUN_ELEMENTS;
   most = most ? most : RUN_ELEMENTS;
   const bool all = elements <= most || (whole && elements <= limit);
   if (!make_room(sample, all ? elements : most)) {
      sample_close(sample);
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   }
   sample->all = all;
   if (all)
      for (uint64_t i = 0; i < sample->room; i++)
         sample->elements[i] = i;
   else
      choose(p->sampler, elements, p->wanted->seed + tensor, sample);
   return RKB_OK;
}

/* How many are known comes first, then the numbers. */
static bool load(const part_t *p, uint32_t tensor, sample_t *sample) {
   char key[512];
   double *kept = p->wanted->keep ? malloc((3 * sample->room + 1) * sizeof *kept) : NULL;
   key_of(p, tensor, sample, key, sizeof key);
   const bool found =
      kept && store_load(p->sampler->store, key, kept, 3 * sample->room + 1, sample->flags, sample->room);
   if (found) {
      memcpy(sample->numbers, kept + 1, 3 * sample->room * sizeof *kept);
      sample->count = kept[0] > 0 && kept[0] <= (double)sample->room ? (uint64_t)kept[0] : 0;
   } else {
      memset(sample->flags, 0, sample->room);
      memset(sample->numbers, 0, 3 * sample->room * sizeof *sample->numbers);
   }
   free(kept);
   return found;
}

static void save(const part_t *p, uint32_t tensor, const sample_t *sample) {
   char key[512];
   double *kept = p->wanted->keep ? malloc((3 * sample->room + 1) * sizeof *kept) : NULL;
   if (!kept)
      return;
   key_of(p, tensor, sample, key, sizeof key);
   kept[0] = (double)sample->count;
   memcpy(kept + 1, sample->numbers, 3 * sample->room * sizeof *kept);
   store_save(p->sampler->store, key, kept, 3 * sample->room + 1, sample->flags, sample->room);
   free(kept);
}

/* One output; *expected is of all outputs, once one of them had to be evaluated whole. */
static int open_output(const part_t *p, const rkb_inputs_t *inputs, uint32_t t, rkb_expected_t **expected,
                       rkb_error_t *err) {
   const rkb_task_api_t *task = p->sampler->task;
   sample_t *sample = &p->wanted->samples[t];
   int status = choose_elements(p, t, sample, err);
   if (status != RKB_OK || load(p, t, sample))
      return status;
   if (!is_whole(p->wanted->the_case))
      status = evaluate_runs(p->sampler, inputs, t, sample, err);
   else if (!*expected)
      status = task->expect(p->sampler->host, inputs, expected, err);
   if (status == RKB_OK && *expected)
      take_whole(p->sampler, *expected, t, sample);
   if (status == RKB_OK)
      save(p, t, sample);
   return status;
}

static int open_outputs(const part_t *p, const rkb_inputs_t *inputs, rkb_error_t *err) {
   const rkb_case_t *c = p->wanted->the_case;
   rkb_expected_t *expected = NULL;
   int status = RKB_OK;
   for (uint32_t t = 0; t < c->tensor_count && status == RKB_OK; t++)
      if (c->tensors[t].role != RKB_IN && c->tensors[t].elements > 0)
         status = open_output(p, inputs, t, &expected, err);
   if (expected)
      p->sampler->task->expected_free(expected);
   return status;
}

/* What side by side evaluations may take each, so that all together have no more threads than one alone would. */
static int threads_of(uint32_t count) {
#ifdef _OPENMP
   const int all = omp_get_max_threads();
   return count < (uint32_t)all && count ? all / (int)count : 1;
#else
   (void)count;
   return 1;
#endif
}

/* Of the calling thread from now on; returns what it was. */
static int use_threads(int threads) {
#ifdef _OPENMP
   const int before = omp_get_max_threads();
   omp_set_num_threads(threads);
   return before;
#else
   return threads;
#endif
}

static void evaluate(void *argument, uint32_t n) {
   part_t *p = (part_t *)argument + n;
   const rkb_task_api_t *task = p->sampler->task;
   const wanted_t *w = p->wanted;
   rkb_inputs_t *inputs = NULL;
   p->status = task->inputs_open(p->sampler->host, w->the_case, w->family, w->seed, &inputs, &p->err);
   if (p->status != RKB_OK)
      return;
   task->inputs_limit(inputs, RUN_MOST_WORK);
   const int before = use_threads(p->threads);
   p->status = open_outputs(p, inputs, &p->err);
   use_threads(before);
   task->inputs_free(inputs);
}

int samples_evaluate(const sampler_t *sampler, const rkb_workers_api_t *workers, const wanted_t *list,
                     uint32_t count, rkb_error_t *err) {
   part_t *parts = calloc((size_t)count + 1, sizeof *parts);
   const int threads = threads_of(count);
   int status = RKB_OK;
   if (!parts)
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   for (uint32_t i = 0; i < count; i++)
      parts[i] = (part_t){.sampler = sampler, .wanted = &list[i], .threads = threads};
   if (count)
      workers->share(sampler->host, count, evaluate, parts);
   for (uint32_t i = 0; i < count && status == RKB_OK; i++) {
      status = parts[i].status;
      *err = parts[i].err;
   }
   free(parts);
   return status;
}

#define HUGE_BYTES 1e9

uint32_t sample_families(const rkb_host_t *host, const rkb_task_api_t *task, const rkb_case_t *c,
                         const sample_families_t *most) {
   const int64_t wanted = c->bytes > HUGE_BYTES ? 1 : c->kind == RKB_CASE_CHECK ? most->check : most->bench;
   uint32_t count = 0;
   while (count < wanted && task->family_at(host, c, count))
      count++;
   return count;
}

uint64_t sample_pool(const rkb_case_t *c, uint64_t most) {
   return (!is_whole(c) || c->bytes > FEW_SETS_BYTES) && most > 2 ? 2 : most;
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
