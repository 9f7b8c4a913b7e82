/* Reads the state of a cell (cell_state.h).  Any thread. */
#include "sweep/cell_state.h"

#include <rkb/items.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "archive/archive.h"
#include "archive/run_lock.h"
#include "base/file.h"

/* Whether the fact "ended" has a word after which a run is not resumed. */
static bool is_final(const char *ended) {
   static const char *const words[] = {"done", "limit", "stuck", "wall", "cost"};
   for (size_t i = 0; ended && i < sizeof words / sizeof *words; i++)
      if (strcmp(words[i], ended) == 0)
         return true;
   return false;
}

static int look_at_best(rkb_archive_t *archive, rkb_cell_look_t *look, rkb_error_t *err) {
   const rkb_archive_query_t query = {
      .size = sizeof query, .order = RKB_ARCHIVE_BY_OBJECTIVE, .limit = 1, .standing = RKB_ACCEPT};
   rkb_archive_rows_t *rows = NULL;
   int status = rkb_archive_query(archive, INT64_MAX, &query, &rows, err);
   if (status == RKB_OK && rkb_archive_rows_count(rows) > 0) {
      look->best = rkb_archive_rows_at(rows, 0)->number;
      look->value = rkb_archive_rows_at(rows, 0)->objective;
   }
   rkb_archive_rows_free(rows);
   return status;
}

int64_t rkb_cell_writer(const char *run_directory) {
   char *path = rkb_run_path_lock(run_directory);
   int64_t writer = rkb_lock_holder(path);
   free(path);
   return writer;
}

int rkb_cell_state(const char *run_directory, rkb_cell_look_t *look, rkb_error_t *err) {
   rkb_archive_t *archive = NULL;
   rkb_archive_counts_t counts;
   char *path = rkb_run_path_archive(run_directory);
   bool there = rkb_path_exists(path);
   free(path);
   *look = (rkb_cell_look_t){.state = RKB_CELL_WAITING};
   if (!there)
      return RKB_OK;
   look->state = RKB_CELL_BEGUN;
   if (rkb_archive_open(run_directory, &archive, err) != RKB_OK)
      /* The process was killed while it made the file; resuming the run reports any other defect. */
      return RKB_OK;
   char *ended = rkb_archive_get_fact(archive, "ended");
   char *because = rkb_archive_get_fact(archive, "ended_because");
   int status = rkb_archive_count(archive, &counts, err);
   if (status == RKB_OK)
      status = look_at_best(archive, look, err);
   if (status == RKB_OK) {
      look->candidates = counts.candidates - counts.duplicates;
      look->accepted = counts.accepted;
      if (is_final(ended))
         look->state = RKB_CELL_ENDED;
      snprintf(look->ended, sizeof look->ended, "%s", because && because[0] ? because : ended ? ended : "");
   }
   free(because);
   free(ended);
   rkb_archive_close(archive);
   return status;
}
