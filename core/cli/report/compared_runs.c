/* Gathers the runs of a comparison (compared_runs.h).  The main thread alone. */
#include "cli/report/compared_runs.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "sweep/sweep_plan.h"

enum { MAX_RUNS = 10000 };

static uint32_t find(char *const *names, uint32_t count, const char *name) {
   uint32_t i = 0;
   while (i < count && strcmp(names[i], name) != 0)
      i++;
   return i;
}

static void add_name(char ***names, uint32_t *count, const char *name) {
   if (find(*names, *count, name) < *count)
      return;
   *names = rkb_grow(*names, *count + 1, sizeof **names);
   (*names)[(*count)++] = rkb_duplicate(name);
}

uint32_t rkb_compared_runs_arm(const rkb_compared_runs_t *runs, const char *name) {
   return find(runs->arms, runs->arm_count, name);
}

uint32_t rkb_compared_runs_subject(const rkb_compared_runs_t *runs, const char *name) {
   return find(runs->subjects, runs->subject_count, name);
}

static int add_run(rkb_compared_runs_t *runs, const char *directory, const char *arm, rkb_error_t *err) {
   rkb_run_series_t series;
   const char *why;
   if (runs->count + runs->left_out_count >= MAX_RUNS)
      return rkb_fail(err, RKB_ERR_LIMIT, "more than %d runs cannot be compared at once", MAX_RUNS);
   int status = rkb_run_series_read(directory, arm, &series, &why, err);
   if (status != RKB_OK)
      return status;
   if (why) {
      runs->left_out = rkb_grow(runs->left_out, runs->left_out_count + 1, sizeof *runs->left_out);
      runs->left_out[runs->left_out_count++] = (rkb_left_out_t){rkb_duplicate(directory), why};
      return RKB_OK;
   }
   if (runs->count > 0 && strcmp(series.objective, runs->list[0].objective) != 0) {
      status = rkb_fail(err, RKB_ERR_INVALID, "%.200s minimises %s, and %.200s %s: they cannot be compared",
                        runs->list[0].directory, runs->list[0].objective, directory, series.objective);
      rkb_run_series_clear(&series);
      return status;
   }
   if (runs->count == runs->room) {
      runs->room = runs->room ? 2 * runs->room : 64;
      runs->list = rkb_grow(runs->list, runs->room, sizeof *runs->list);
   }
   add_name(&runs->arms, &runs->arm_count, series.arm);
   add_name(&runs->subjects, &runs->subject_count, series.subject);
   runs->list[runs->count++] = series;
   return RKB_OK;
}

/* Takes the arms' names from the plan, so that an arm without an ended run is listed too. */
static int add_sweep(rkb_compared_runs_t *runs, const char *directory, rkb_error_t *err) {
   rkb_sweep_t *sweep = NULL;
   int status = rkb_sweep_open(directory, &sweep, err);
   for (uint32_t i = 0; status == RKB_OK && i < sweep->count; i++)
      add_name(&runs->arms, &runs->arm_count, sweep->cells[i].arm);
   for (uint32_t i = 0; status == RKB_OK && i < sweep->count; i++) {
      char *path = rkb_sweep_path_cell(sweep, i);
      status = add_run(runs, path, sweep->cells[i].arm, err);
      free(path);
   }
   rkb_sweep_free(sweep);
   return status;
}

/* A directory without a run is an error, while a cell that has not begun is only left out. */
static int add_single(rkb_compared_runs_t *runs, const char *directory, rkb_error_t *err) {
   rkb_archive_t *archive = NULL;
   int status = rkb_archive_open(directory, &archive, err);
   rkb_archive_close(archive);
   return status == RKB_OK ? add_run(runs, directory, NULL, err) : status;
}

int rkb_compared_runs_read(char *const *directories, uint32_t count, rkb_compared_runs_t *runs,
                           rkb_error_t *err) {
   int status = RKB_OK;
   *runs = (rkb_compared_runs_t){.count = 0};
   for (uint32_t i = 0; status == RKB_OK && i < count; i++)
      status = rkb_is_sweep(directories[i]) ? add_sweep(runs, directories[i], err)
                                            : add_single(runs, directories[i], err);
   if (status == RKB_OK && runs->count == 0)
      status =
         rkb_fail(err, RKB_ERR_INVALID, "none of the %u runs has ended: there is nothing to compare yet",
                  runs->left_out_count);
   for (uint32_t i = 0; status == RKB_OK && i < runs->count; i++)
      if (runs->list[i].value <= 0) /* false for NaN */
         status = rkb_fail(err, RKB_ERR_INVALID,
                           "the best of %.200s is %g; runs are compared by ratios, which need values above 0",
                           runs->list[i].directory, runs->list[i].value);
   if (status != RKB_OK)
      rkb_compared_runs_free(runs);
   return status;
}

void rkb_compared_runs_free(rkb_compared_runs_t *runs) {
   for (uint32_t i = 0; i < runs->count; i++)
      rkb_run_series_clear(&runs->list[i]);
   for (uint32_t i = 0; i < runs->left_out_count; i++)
      free(runs->left_out[i].directory);
   for (uint32_t i = 0; i < runs->arm_count; i++)
      free(runs->arms[i]);
   for (uint32_t i = 0; i < runs->subject_count; i++)
      free(runs->subjects[i]);
   free(runs->list);
   free(runs->left_out);
   free(runs->arms);
   free(runs->subjects);
   *runs = (rkb_compared_runs_t){.count = 0};
}
