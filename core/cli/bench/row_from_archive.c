/* Makes a row from a run's archive.  Its times are those of the search's gate, until the kernel is measured
 * again in full. */
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "cli/bench/bench.h"
#include "cli/shared/run_archive.h"
#include "kernel/kernel.h"

/* The index of the kernel file that equals this candidate with its tune assignment written in; count when
 * there is none. */
static uint32_t file_of(const rkb_bench_kernels_t *kernels, const rkb_candidate_record_t *candidate) {
   rkb_error_t ignored;
   char *wanted = NULL;
   uint32_t found = kernels->count;
   if (rkb_tune_write(candidate->source, candidate->tune, &wanted, &ignored) != RKB_OK)
      return found;
   for (uint32_t i = 0; i < kernels->count && found == kernels->count; i++) {
      char *text = NULL;
      if (rkb_bench_kernel_text(&kernels->list[i], &text, &ignored) == RKB_OK && strcmp(text, wanted) == 0)
         found = i;
      free(text);
   }
   free(wanted);
   return found;
}

static const rkb_bench_work_t *work_of(const rkb_bench_work_t *works, uint32_t count,
                                       const rkb_candidate_record_t *candidate) {
   for (uint32_t i = 0; i < count; i++)
      if (strcmp(works[i].name, candidate->task) == 0 &&
          strcmp(works[i].direction, candidate->direction) == 0)
         return &works[i];
   return NULL;
}

static json_t *measured_of(const rkb_candidate_record_t *candidate, const char *path) {
   json_t *measured = rkb_bench_measured(path, candidate->standing, candidate->reason, candidate->tune);
   for (uint32_t i = 0; measured && i < candidate->measurement_count; i++)
      rkb_bench_add_measurement(measured, &candidate->measurements[i]);
   for (uint32_t i = 0; measured && i < candidate->verdict_count; i++)
      rkb_bench_add_verdict(measured, &candidate->verdicts[i]);
   return measured;
}

static int take(const rkb_bench_t *bench, const rkb_bench_work_t *work,
                const rkb_candidate_record_t *candidate, time_t when, rkb_error_t *err) {
   rkb_bench_kernels_t kernels;
   int status = rkb_bench_kernels_find(work, &kernels, err);
   uint32_t file = status == RKB_OK ? file_of(&kernels, candidate) : 0;
   if (status == RKB_OK && file == kernels.count)
      status = rkb_fail(err, RKB_ERR_INVALID, "the best candidate is none of the kernel files of %s %s",
                        work->name, work->direction);
   if (status == RKB_OK) {
      json_t *row = rkb_bench_row_new(bench, work, &kernels, file, when, 0,
                                      measured_of(candidate, kernels.list[file].path), json_array());
      status = row ? rkb_bench_row_write(bench, work, row, err) : rkb_fail_memory(err, 0);
      json_decref(row);
   }
   rkb_bench_kernels_free(&kernels);
   return status;
}

int rkb_bench_row_from_run(const rkb_bench_t *bench, const rkb_bench_work_t *works, uint32_t count,
                           const char *directory, rkb_error_t *err) {
   rkb_candidate_record_t *best = NULL;
   int64_t number = 0;
   rkb_archive_t *archive = rkb_open_run(directory);
   if (!archive)
      return rkb_fail(err, RKB_ERR_INVALID, "%s is not a run", directory);
   char *created = rkb_archive_get_fact(archive, "created_ms");
   int status = rkb_best_candidate(archive, &number, err);
   if (status == RKB_OK && number == 0)
      status = rkb_fail(err, RKB_ERR_INVALID, "%s has no accepted candidate", directory);
   if (status == RKB_OK)
      status = rkb_archive_load_candidate(archive, number, &best, err);
   const rkb_bench_work_t *work = status == RKB_OK ? work_of(works, count, best) : NULL;
   if (status == RKB_OK && !work)
      status = rkb_fail(err, RKB_ERR_INVALID, "%s is of another task", directory);
   if (status == RKB_OK)
      status = take(bench, work, best, (time_t)(created ? strtoll(created, NULL, 10) / 1000 : 0), err);
   free(created);
   rkb_candidate_record_free(best);
   rkb_archive_close(archive);
   return status;
}
