/* Finds one cell of a sweep (run_cell.h).  The main thread alone. */
#include "cli/run_cell.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "base/units.h"
#include "cli/shared/arguments.h"
#include "cli/shared/run_archive.h"
#include "cli/shared/secret_argument.h"
#include "sweep/cell_state.h"
#include "sweep/sweep_plan.h"
#include "system/loop.h"

#define LONGEST_WAIT_NS (600 * UINT64_C(1000000000))

static void wait_for_writer(const char *directory) {
   const struct timespec moment = {.tv_nsec = 200000000};
   const uint64_t began_ns = rkb_now_ns();
   bool told = false;
   while (rkb_cell_writer(directory) != 0 && rkb_now_ns() - began_ns < LONGEST_WAIT_NS) {
      if (!told)
         fprintf(stderr, "waits: another process still writes %s\n", directory);
      told = true;
      nanosleep(&moment, NULL);
   }
}

static int read_cell(const rkb_sweep_t *sweep, const char *number, rkb_run_cell_t *cell) {
   rkb_cell_look_t look;
   rkb_error_t err;
   int64_t index;
   if (!rkb_parse_int(number, &index) || index < 1 || index > sweep->count) {
      fprintf(stderr, "--cell wants a number from 1 to %u, not '%s'\n", sweep->count, number);
      return RKB_EXIT_USAGE;
   }
   cell->directory = rkb_sweep_path_cell(sweep, (uint32_t)index - 1);
   wait_for_writer(cell->directory);
   char *secret = rkb_sweep_path_secret(sweep->directory);
   int status = rkb_secret_from_file(secret, &cell->secret, &err);
   free(secret);
   if (status == RKB_OK)
      status = rkb_cell_state(cell->directory, &look, &err);
   if (status != RKB_OK)
      return rkb_say_error(&err);
   cell->ended = look.state == RKB_CELL_ENDED;
   return RKB_EXIT_OK;
}

int rkb_find_run_cell(const char *sweep_directory, const char *number, rkb_run_cell_t *cell) {
   rkb_sweep_t *sweep = NULL;
   rkb_error_t err;
   *cell = (rkb_run_cell_t){.directory = NULL};
   if (rkb_sweep_open(sweep_directory, &sweep, &err) != RKB_OK)
      return rkb_say_error(&err);
   int code = read_cell(sweep, number, cell);
   rkb_sweep_free(sweep);
   return code;
}
