/* Chooses and evaluates the elements.  The time budget decides how many elements are compared, never whether
 * they are right; every verdict states their number.  A sample owns one block of memory. */
#include "task/expected/expected_sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/memory.h"
#include "reference/evaluation_threads.h"
#include "system/parallel_parts.h"
#include "task/expected/expected_store.h"

enum { RUN_ELEMENTS = 32 }; /* neighbours in a run */

/* The limit for rkb_task_inputs_limit.  A run of elements that needs more work is not compared on the device,
 * and the verdict says so. */
#define RUN_MOST_WORK 4e9
/* Outputs up to these sizes are evaluated whole.  Stored outputs cost disk space, the others cost memory. */
#define ALL_KEPT (UINT64_C(1) << 18)
#define ALL_FRESH (UINT64_C(1) << 22)
/* A reference with at most this many operations is cheaper to evaluate whole than by elements. */
#define WHOLE_OPERATIONS 2e8
/* A case with at most this many bytes can be evaluated whole in memory: an element takes 25 bytes in the
 * evaluation and 2 to 4 bytes in the case.  The limit on operations alone does not suffice, because the
 * gradient of a gather takes few operations for a large table. */
#define WHOLE_BYTES 100e6
/* Putting all sets of a case with this many bytes on the device takes a large part of a second. */
#define FEW_SETS_BYTES 64e6
#define HUGE_BYTES 1e9

/* One wanted case, family and seed.  Its outputs are evaluated one after another from the same inputs, which
 * keep the values that several outputs share.  Evaluating one output uses free cores by itself. */
typedef struct part {
   const rkb_sampling_t *sampling;
   const rkb_wanted_t *wanted;
   int threads; /* the threads that the evaluation may use */
   int status;
   rkb_error_t err;
} part_t;

/* A sample while it is filled in; uses the sample's own memory. */
typedef struct filling {
   uint64_t *elements; /* ascending within a run; runs in the order drawn */
   double *numbers;    /* values, hard bounds, stat bounds: `room` numbers of each */
   uint8_t *flags;
   uint64_t count, room; /* elements known so far, elements wanted */
} filling_t;

static uint64_t now_ns(void) {
   struct timespec now;
   clock_gettime(CLOCK_MONOTONIC, &now);
   return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool is_whole(const rkb_case_t *c) {
   return c->operations <= WHOLE_OPERATIONS && (double)c->bytes <= WHOLE_BYTES;
}

/* Chooses the first elements, the last ones, then runs at random places. */
static void choose(uint64_t elements, uint64_t seed, filling_t *filling) {
   rkb_random_t stream = {.key = {(uint32_t)seed, (uint32_t)(seed >> 32)}, .stream = {0x706f696e, 0x74}};
   for (uint64_t first = 0; first < filling->room; first += RUN_ELEMENTS) {
      uint64_t start = first == 0              ? 0
                       : first == RUN_ELEMENTS ? elements - RUN_ELEMENTS
                                               : rkb_random_below(&stream, elements - RUN_ELEMENTS + 1);
      for (uint64_t i = 0; i < RUN_ELEMENTS; i++)
         filling->elements[first + i] = start + i;
   }
}

/* Takes the chosen elements from a reference that was evaluated whole. */
static void take_whole(const rkb_expected_t *expected, uint32_t tensor, filling_t *filling) {
   rkb_points_t points = rkb_task_expected_points(expected, tensor);
   for (uint64_t i = 0; i < filling->room; i++) {
      uint64_t at = filling->elements[i];
      filling->numbers[i] = points.value[at];
      filling->numbers[filling->room + i] = points.hard[at];
      filling->numbers[2 * filling->room + i] = points.stat[at];
      filling->flags[i] = points.flags[at];
   }
   filling->count = filling->room;
}

static int evaluate_runs(const part_t *p, const rkb_inputs_t *inputs, uint32_t tensor, filling_t *filling,
                         rkb_error_t *err) {
   uint64_t end = now_ns() + p->sampling->budget_ns;
   int status = RKB_OK;
   while (filling->count < filling->room && (filling->count == 0 || now_ns() < end)) {
      uint64_t at = filling->count, left = filling->room - at,
               now = left < RUN_ELEMENTS ? left : RUN_ELEMENTS;
      status = rkb_task_expect_points(inputs, tensor, filling->elements + at, now, filling->numbers + at,
                                      filling->numbers + filling->room + at,
                                      filling->numbers + 2 * filling->room + at, filling->flags + at, err);
      if (status != RKB_OK)
         return status == RKB_ERR_LIMIT ? RKB_OK : status;
      filling->count += now;
   }
   return RKB_OK;
}

static void key_of(const part_t *p, uint32_t tensor, const filling_t *filling, char *key, size_t size) {
   uint64_t chosen = 0; /* the numbers of the elements are not stored with the values */
   for (uint64_t i = 0; i < filling->room; i++)
      chosen = (chosen ^ filling->elements[i]) * 0xd6e8feb86659fd93u;
   snprintf(key, size, "%s|%s|%llu|%s|%llu|%llx", p->wanted->the_case->name, p->wanted->family->name,
            (unsigned long long)p->wanted->seed, p->wanted->the_case->tensors[tensor].name,
            (unsigned long long)filling->room, (unsigned long long)chosen);
}

static int make_room(uint64_t room, rkb_sample_t *sample, filling_t *filling, rkb_error_t *err) {
   uint64_t *memory =
      rkb_try_allocate(room + 1, sizeof *filling->elements + 3 * sizeof *filling->numbers + 1, err);
   if (!memory)
      return RKB_ERR_NOMEM;
   *filling = (filling_t){.elements = memory, .numbers = (double *)(memory + room), .room = room};
   filling->flags = (uint8_t *)(filling->numbers + 3 * room);
   *sample = (rkb_sample_t){.memory = memory, .elements = memory, .wanted = room};
   sample->points = (rkb_points_t){.value = filling->numbers,
                                   .hard = filling->numbers + room,
                                   .stat = filling->numbers + 2 * room,
                                   .flags = filling->flags};
   return RKB_OK;
}

static int choose_elements(const part_t *p, uint32_t tensor, rkb_sample_t *sample, filling_t *filling,
                           rkb_error_t *err) {
   const uint64_t elements = p->wanted->the_case->tensors[tensor].elements;
   const bool whole = is_whole(p->wanted->the_case);
   const uint64_t limit = p->wanted->stored || !whole ? ALL_KEPT : ALL_FRESH;
   uint64_t most = p->sampling->points / RUN_ELEMENTS * RUN_ELEMENTS;
   most = most ? most : RUN_ELEMENTS;
   const bool all = elements <= most || (whole && elements <= limit);
   const int status = make_room(all ? elements : most, sample, filling, err);
   if (status != RKB_OK)
      return status;
   if (all)
      for (uint64_t i = 0; i < filling->room; i++)
         filling->elements[i] = i;
   else
      choose(elements, p->wanted->seed + tensor, filling);
   return RKB_OK;
}

/* Loads a stored output.  The number of known elements comes first, then the values and bounds. */
static bool load(const part_t *p, uint32_t tensor, filling_t *filling) {
   char key[512];
   double *kept = p->wanted->stored ? rkb_try_uncleared(3 * filling->room + 1, sizeof *kept, NULL) : NULL;
   key_of(p, tensor, filling, key, sizeof key);
   const bool found = kept && rkb_store_load(p->sampling->store, key, kept, 3 * filling->room + 1,
                                             filling->flags, filling->room);
   if (found) {
      memcpy(filling->numbers, kept + 1, 3 * filling->room * sizeof *kept);
      filling->count = kept[0] > 0 && kept[0] <= (double)filling->room ? (uint64_t)kept[0] : 0;
   }
   free(kept);
   return found;
}

static bool save(const part_t *p, uint32_t tensor, const filling_t *filling) {
   char key[512];
   double *kept = p->wanted->stored ? rkb_try_uncleared(3 * filling->room + 1, sizeof *kept, NULL) : NULL;
   if (!kept)
      return false;
   key_of(p, tensor, filling, key, sizeof key);
   kept[0] = (double)filling->count;
   memcpy(kept + 1, filling->numbers, 3 * filling->room * sizeof *kept);
   const bool saved =
      rkb_store_save(p->sampling->store, key, kept, 3 * filling->room + 1, filling->flags, filling->room);
   free(kept);
   return saved;
}

/* Evaluates an output that was not in the store.  Once one output had to be evaluated whole, *expected holds
 * all of them. */
static int evaluate_output(const part_t *p, const rkb_inputs_t *inputs, uint32_t t, filling_t *filling,
                           rkb_expected_t **expected, rkb_error_t *err) {
   int status = RKB_OK;
   if (!is_whole(p->wanted->the_case))
      status = evaluate_runs(p, inputs, t, filling, err);
   else if (!*expected)
      status = rkb_task_expect(inputs, expected, err);
   if (status == RKB_OK && *expected)
      take_whole(*expected, t, filling);
   return status;
}

static int open_output(const part_t *p, const rkb_inputs_t *inputs, uint32_t t, rkb_expected_t **expected,
                       rkb_error_t *err) {
   const rkb_sampling_t *s = p->sampling;
   rkb_sample_t *sample = &p->wanted->samples[t];
   filling_t filling;
   if (s->is_over && s->is_over(s->argument))
      return rkb_fail(err, RKB_ERR_CANCELLED, "cancelled");
   int status = choose_elements(p, t, sample, &filling, err);
   if (status != RKB_OK)
      return status;
   enum rkb_sample_source source = RKB_SAMPLE_FOUND;
   if (!load(p, t, &filling)) {
      status = evaluate_output(p, inputs, t, &filling, expected, err);
      source = status == RKB_OK && save(p, t, &filling) ? RKB_SAMPLE_STORED : RKB_SAMPLE_UNSTORED;
   }
   sample->points.count = filling.count;
   if (status == RKB_OK && s->told)
      s->told(s->argument, sample, source);
   return status;
}

static int open_outputs(const part_t *p, const rkb_inputs_t *inputs, rkb_error_t *err) {
   const rkb_case_t *c = p->wanted->the_case;
   rkb_expected_t *expected = NULL;
   int status = RKB_OK;
   for (uint32_t t = 0; t < c->tensor_count && status == RKB_OK; t++)
      if (c->tensors[t].role != RKB_IN && c->tensors[t].elements > 0)
         status = open_output(p, inputs, t, &expected, err);
   rkb_task_expected_free(expected);
   return status;
}

static void open_part(void *argument, uint32_t n) {
   part_t *p = (part_t *)argument + n;
   const rkb_wanted_t *w = p->wanted;
   rkb_inputs_t *inputs = NULL;
   p->status = rkb_task_inputs_open(p->sampling->task, w->the_case, w->family, w->seed, &inputs, &p->err);
   if (p->status != RKB_OK)
      return;
   rkb_task_inputs_limit(inputs, RUN_MOST_WORK);
   const int before = rkb_evaluation_use_threads(p->threads);
   p->status = open_outputs(p, inputs, &p->err);
   rkb_evaluation_use_threads(before);
   rkb_task_inputs_free(inputs);
}

int rkb_samples_open(const rkb_sampling_t *sampling, const rkb_wanted_t *list, uint32_t count,
                     rkb_error_t *err) {
   part_t *parts = rkb_try_allocate((size_t)count + 1, sizeof *parts, err);
   const int threads = rkb_evaluation_threads(count);
   int status = RKB_OK;
   if (!parts)
      return RKB_ERR_NOMEM;
   for (uint32_t i = 0; i < count; i++)
      parts[i] = (part_t){.sampling = sampling, .wanted = &list[i], .threads = threads};
   if (count && sampling->workers)
      rkb_workers_run_parts(sampling->workers, count, open_part, parts);
   for (uint32_t i = 0; i < count && !sampling->workers; i++)
      open_part(parts, i);
   for (uint32_t i = 0; i < count && status == RKB_OK; i++) {
      status = parts[i].status;
      *err = parts[i].err;
   }
   free(parts);
   return status;
}

void rkb_sample_close(rkb_sample_t *sample) {
   free(sample->memory);
   *sample = (rkb_sample_t){0};
}

uint32_t rkb_sample_families(const rkb_task_t *task, const rkb_case_t *c, uint32_t check, uint32_t bench) {
   const uint32_t wanted = c->bytes > HUGE_BYTES ? 1 : c->kind == RKB_CASE_CHECK ? check : bench;
   uint32_t count = 0;
   while (count < wanted && rkb_task_family(task, c, count))
      count++;
   return count;
}

uint64_t rkb_sample_pool(const rkb_case_t *c, uint64_t most) {
   return (!is_whole(c) || c->bytes > FEW_SETS_BYTES) && most > 2 ? 2 : most;
}
