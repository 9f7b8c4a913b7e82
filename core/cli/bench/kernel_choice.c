/* Chooses the kernel of a row that is measured for publication.  The quick gate decides.  If kernels are too close for one sitting
 * to tell, each is measured in full.  The chosen kernel is measured once more for publication, because the fastest of several
 * measurements is likely too low. */
#include <math.h>
#include <string.h>
#include <rkb/items.h>
#include "base/memory.h"
#include "cli/bench/bench.h"

/* Sittings of one kernel have differed by up to this share (docs/results/README.md, 'How it was measured');
 * the events' resolution is included. */
#define APART_SHARE 0.02
#define APART_US 0.5
/* Above this time, one sitting measures more precisely than the least gain that counts (docs/timing.md, 'What the samples are worth'). */
#define LONGEST_US 1000.0
enum { MOST_CONTENDERS = 4 };

/* The geometric mean of an accepted kernel's times; infinite when it has none. */
static double time_of(const json_t *measured, const char *name) {
   const json_t *us = json_object_get(measured, name);
   bool accepted = strcmp(json_string_value(json_object_get(measured, "standing")), RKB_ACCEPT) == 0;
   return accepted && us ? json_number_value(us) : INFINITY;
}

/* The index of the kernel with the least time of that name; 0 when no kernel has one. */
static uint32_t least_of(const json_t *tried, const char *name) {
   uint32_t least = 0;
   for (uint32_t i = 1; i < json_array_size(tried); i++)
      if (time_of(json_array_get(tried, i), name) < time_of(json_array_get(tried, least), name))
         least = i;
   return least;
}

/* The number of kernels that are faster, or equally fast and named earlier. */
static uint32_t rank_of(const json_t *tried, uint32_t kernel) {
   const double us = time_of(json_array_get(tried, kernel), "us");
   uint32_t rank = 0;
   for (uint32_t i = 0; i < json_array_size(tried); i++) {
      const double other = time_of(json_array_get(tried, i), "us");
      rank += other < us || (other == us && i < kernel);
   }
   return rank;
}

/* Finds the kernels that may be the fastest, by the quick gate; the first few if there are many.  A single
 * one needs no contest. */
static uint32_t find_contenders(const json_t *tried, uint32_t contenders[MOST_CONTENDERS]) {
   const double least = time_of(json_array_get(tried, least_of(tried, "us")), "us");
   uint32_t count = 0;
   if (least > LONGEST_US)
      return 0;
   for (uint32_t i = 0; i < json_array_size(tried); i++)
      if (time_of(json_array_get(tried, i), "us") <= least * (1 + APART_SHARE) + APART_US &&
          rank_of(tried, i) < MOST_CONTENDERS)
         contenders[count++] = i;
   return count > 1 ? count : 0;
}

static int try_quickly(const rkb_bench_t *bench, const rkb_bench_work_t *work,
                       const rkb_bench_kernel_t *kernel, json_t *tried, rkb_error_t *err) {
   json_t *result = NULL;
   int status = rkb_bench_measure(bench, work, kernel, false, &result, err);
   if (status != RKB_OK)
      return status;
   json_object_del(result, "cases");
   json_object_del(result, "worker");
   return json_array_append_new(tried, result) == 0 ? RKB_OK : rkb_fail_memory(err, 0);
}

/* Times a kernel in full.  If the kernel is rejected in this run, it gets no "full_us". */
static int try_in_full(const rkb_bench_t *bench, const rkb_bench_work_t *work,
                       const rkb_bench_kernel_t *kernel, json_t *tried, rkb_error_t *err) {
   json_t *result = NULL;
   int status = rkb_bench_measure(bench, work, kernel, true, &result, err);
   if (status == RKB_OK && isfinite(time_of(result, "us")))
      json_object_set(tried, "full_us", json_object_get(result, "us"));
   json_decref(result);
   return status;
}

int rkb_bench_choose(const rkb_bench_t *bench, const rkb_bench_work_t *work,
                     const rkb_bench_kernels_t *kernels, uint32_t *chosen, json_t **tried, rkb_error_t *err) {
   uint32_t contenders[MOST_CONTENDERS], count;
   int status = RKB_OK;
   *chosen = 0;
   *tried = json_array();
   if (!*tried)
      return rkb_fail_memory(err, 0);
   if (kernels->count < 2)
      return RKB_OK;
   for (uint32_t i = 0; i < kernels->count && status == RKB_OK; i++)
      status = try_quickly(bench, work, &kernels->list[i], *tried, err);
   if (status != RKB_OK)
      return status;
   *chosen = least_of(*tried, "us");
   count = find_contenders(*tried, contenders);
   for (uint32_t i = 0; i < count && status == RKB_OK; i++)
      status =
         try_in_full(bench, work, &kernels->list[contenders[i]], json_array_get(*tried, contenders[i]), err);
   if (isfinite(time_of(json_array_get(*tried, least_of(*tried, "full_us")), "full_us")))
      *chosen = least_of(*tried, "full_us");
   return status;
}
