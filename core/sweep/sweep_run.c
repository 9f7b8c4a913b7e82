/* Runs the cells of a sweep (sweep_run.h): decides when each cell starts, and reacts to its end.  The
 * executor starts processes.  Loop thread only. */
#include "sweep/sweep_run.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include "archive/run_lock.h"
#include "base/file.h"
#include "base/memory.h"

#define LOOK_AGAIN_NS (100 * UINT64_C(1000000))
#define LONGEST_WAIT_NS (600 * UINT64_C(1000000000))

enum { MAX_PLUGIN_PATHS = 64, MAX_ARGUMENTS = 16 + 2 * MAX_PLUGIN_PATHS, MAX_TEXT = 1200, MAX_LOSSES = 5 };

/* What this process knows of a cell. */
typedef struct cell {
   bool again, running, told;
   bool begun;         /* its archive had begun when the cell was started */
   uint32_t losses;    /* losses in a row without a new candidate between them */
   int64_t candidates; /* the number of candidates at the last loss */
   uint64_t began_ns;
} cell_t;

typedef struct runner {
   const rkb_sweep_t *sweep;
   const rkb_sweep_options_t *options;
   rkb_loop_t *loop;
   rkb_executor_t *executor;
   rkb_executor_options_t executor_options;
   uv_signal_t signals[2];
   cell_t *cells;
   uint32_t next, again; /* the cell to look at next; the number of cells to start again */
   uint32_t running, signalled;
   /* Runs while another process still ends the run of cell `next`; NULL: nothing is waited for. */
   rkb_timer_t *waiting;
   uint64_t waited_since_ns; /* 0: not waiting */
   rkb_sweep_result_t result;
   char *secret, *jobs;
   const char *command[MAX_ARGUMENTS];
   bool starting; /* set inside start_cells, so that callbacks do not start cells again */
   int status;    /* the status that stopped the sweep itself */
   rkb_error_t error;
} runner_t;

static void tell(runner_t *runner, const rkb_sweep_event_t *what) {
   rkb_sweep_event_t event = *what;
   event.text = event.text ? event.text : "";
   event.where = event.where ? event.where : "";
   event.ended = runner->result.ended;
   event.failed = runner->result.failed;
   event.running = runner->running;
   event.left = runner->sweep->count - event.ended - event.failed - event.running;
   if (runner->options->observe)
      runner->options->observe(runner->options->argument, &event);
}

static void start_cells(runner_t *runner);

static void stop_with(runner_t *runner, int status, const rkb_error_t *err) {
   if (runner->status == RKB_OK) {
      runner->status = status;
      runner->error = *err;
   }
   if (runner->running == 0 || runner->options->destination->operations->queues)
      rkb_loop_stop(runner->loop); /* jobs in a scheduler's queue stay there */
}

/* Another start may help.  A cell is started again as long as it makes progress, and a few more times without
 * progress. */
static void lose(runner_t *runner, uint32_t number, const rkb_job_end_t *end, const rkb_cell_look_t *look) {
   cell_t *cell = &runner->cells[number];
   char text[MAX_TEXT];
   cell->losses = look->candidates > cell->candidates ? 1 : cell->losses + 1;
   cell->candidates = look->candidates;
   if (cell->losses > MAX_LOSSES) {
      runner->result.failed++;
      snprintf(text, sizeof text, "%s; lost %d times one after another, without a candidate more", end->text,
               MAX_LOSSES + 1);
      tell(runner,
           &(rkb_sweep_event_t){.kind = RKB_SWEEP_FAILED, .cell = number, .text = text, .where = end->where});
      return;
   }
   cell->again = true;
   runner->again++;
   tell(runner,
        &(rkb_sweep_event_t){.kind = RKB_SWEEP_LOST, .cell = number, .text = end->text, .where = end->where});
}

static void fail(runner_t *runner, uint32_t number, const rkb_job_end_t *end, const char *message) {
   char text[MAX_TEXT];
   runner->result.failed++;
   snprintf(text, sizeof text, "%s%s(rkb-run ended with %d)", message, message[0] ? " " : "", end->exit_code);
   tell(runner,
        &(rkb_sweep_event_t){.kind = RKB_SWEEP_FAILED, .cell = number, .text = text, .where = end->where});
}

static void on_ended(void *argument, uint32_t number, const rkb_job_end_t *end) {
   runner_t *runner = argument;
   cell_t *cell = &runner->cells[number];
   rkb_sweep_event_t event = {.cell = number, .where = end->where, .text = end->text};
   rkb_cell_look_t look;
   rkb_error_t err;
   char *directory = rkb_sweep_path_cell(runner->sweep, number);
   int status = rkb_cell_state(directory, &look, &err);
   free(directory);
   runner->running--;
   cell->running = false;
   event.seconds = (double)(rkb_now_ns() - cell->began_ns) * 1e-9;
   if (status == RKB_OK && look.state == RKB_CELL_ENDED) {
      runner->result.ended++;
      event.kind = RKB_SWEEP_ENDED;
      event.look = &look;
      tell(runner, &event);
   } else if (runner->result.interrupted) {
      event.kind = RKB_SWEEP_CUT;
      tell(runner, &event);
   } else if (status != RKB_OK) {
      fail(runner, number, end, err.message);
   } else if (end->kind == RKB_JOB_LOST) {
      lose(runner, number, end, &look);
   } else if (end->kind == RKB_JOB_REMOVED) {
      event.kind = RKB_SWEEP_REMOVED;
      tell(runner, &event);
   } else {
      fail(runner, number, end, end->text);
   }
   start_cells(runner);
}

static void on_began(void *argument, uint32_t number, const char *where) {
   runner_t *runner = argument;
   cell_t *cell = &runner->cells[number];
   tell(runner,
        &(rkb_sweep_event_t){.kind = cell->begun || cell->told ? RKB_SWEEP_CONTINUED : RKB_SWEEP_STARTED,
                             .cell = number,
                             .where = where});
   cell->told = true;
   cell->began_ns = rkb_now_ns();
}

static void on_said(void *argument, uint32_t number, const char *line) {
   tell(argument, &(rkb_sweep_event_t){.kind = RKB_SWEEP_SAID, .cell = number, .text = line});
}

static void on_trouble(void *argument, const char *text) {
   tell(argument, &(rkb_sweep_event_t){.kind = RKB_SWEEP_TROUBLE, .text = text});
}

static void on_ready(void *argument) {
   start_cells(argument);
}

static void on_queued(void *argument) {
   runner_t *runner = argument;
   if (!runner->options->detach || runner->next < runner->sweep->count || runner->again > 0)
      return;
   runner->result.detached = true;
   rkb_loop_stop(runner->loop);
}

static void on_broken(void *argument, const rkb_error_t *err) {
   stop_with(argument, err->status, err);
}

static void look_again(void *argument) {
   runner_t *runner = argument;
   runner->waiting = NULL;
   start_cells(runner);
}

/* The process of an earlier, killed sweep may still be ending the cell's run.  Returns true when the cell has to be checked again later. */
static bool wait_for_writer(runner_t *runner, uint32_t cell, int64_t writer) {
   const uint64_t now = rkb_now_ns();
   if (writer == 0 || (runner->waited_since_ns && now - runner->waited_since_ns > LONGEST_WAIT_NS)) {
      runner->waited_since_ns = 0;
      return false;
   }
   if (!runner->waited_since_ns) {
      runner->waited_since_ns = now;
      tell(runner, &(rkb_sweep_event_t){.kind = RKB_SWEEP_WAITING, .cell = cell});
   }
   runner->waiting = rkb_timer_start(runner->loop, LOOK_AGAIN_NS, look_again, runner);
   return true;
}

static void start_cell(runner_t *runner, uint32_t number, bool begun) {
   cell_t *cell = &runner->cells[number];
   rkb_error_t err;
   if (cell->again)
      runner->again--;
   cell->again = false;
   cell->begun = begun;
   cell->began_ns = rkb_now_ns();
   cell->running = true;
   runner->running++;
   int status = runner->executor->operations->start(runner->executor, number, &err);
   if (status == RKB_OK)
      return;
   runner->running--;
   cell->running = false;
   stop_with(runner, status, &err);
}

/* Looks at the next cell, and starts it when it has work left.  An archive that another machine may be
 * writing is not opened, because SQLite's log needs all its processes on one machine (sqlite.org/wal.html).
 * */
static void take_next(runner_t *runner) {
   rkb_cell_look_t look = {.state = RKB_CELL_BEGUN};
   rkb_error_t err;
   const uint32_t cell = runner->next;
   const bool here = runner->executor->operations->here;
   char *directory = rkb_sweep_path_cell(runner->sweep, cell);
   const int64_t writer = rkb_cell_writer(directory);
   const bool later = here && wait_for_writer(runner, cell, writer);
   int status = later || (!here && writer != 0) ? RKB_OK : rkb_cell_state(directory, &look, &err);
   free(directory);
   if (later)
      return;
   runner->next++;
   if (status != RKB_OK) {
      runner->result.failed++;
      tell(runner, &(rkb_sweep_event_t){.kind = RKB_SWEEP_FAILED, .cell = cell, .text = err.message});
   } else if (look.state == RKB_CELL_ENDED) {
      runner->result.ended++; /* an earlier process ended the cell, so it is not reported */
   } else {
      runner->cells[cell].candidates = look.candidates;
      start_cell(runner, cell, look.state == RKB_CELL_BEGUN);
   }
}

static void take_again(runner_t *runner) {
   uint32_t number = 0;
   while (!runner->cells[number].again)
      number++;
   start_cell(runner, number, true);
}

static bool work_is_left(const runner_t *runner) {
   return runner->again > 0 || runner->next < runner->sweep->count;
}

static void start_cells(runner_t *runner) {
   if (!runner->executor || runner->starting)
      return;
   runner->starting = true;
   while (!runner->result.interrupted && runner->status == RKB_OK && !runner->waiting &&
          work_is_left(runner) && runner->executor->operations->has_room(runner->executor)) {
      if (runner->again > 0)
         take_again(runner);
      else
         take_next(runner);
   }
   runner->starting = false;
   runner->executor->operations->flush(runner->executor);
   if (runner->running == 0 && !runner->waiting &&
       (runner->result.interrupted || runner->status != RKB_OK || !work_is_left(runner)))
      rkb_loop_stop(runner->loop);
}

/* The first signal ends the cells as ^C ends a run.  The second kills them.  The third stops waiting for a
 * scheduler. */
static void on_signal(uv_signal_t *signal, int number) {
   runner_t *runner = signal->data;
   (void)number;
   runner->signalled++;
   runner->result.interrupted = true;
   rkb_timer_stop(runner->waiting);
   runner->waiting = NULL;
   if (runner->signalled == 1)
      tell(runner, &(rkb_sweep_event_t){.kind = RKB_SWEEP_STOPPING});
   if (runner->signalled == 1)
      runner->executor->operations->end(runner->executor);
   else if (runner->signalled == 2)
      runner->executor->operations->kill(runner->executor);
   if (runner->running == 0 || (runner->signalled > 2 && runner->executor->operations->queues))
      rkb_loop_stop(runner->loop);
}

static void watch_signals(runner_t *runner) {
   static const int numbers[] = {SIGINT, SIGTERM};
   for (int i = 0; i < 2; i++) {
      uv_signal_init(rkb_loop_uv(runner->loop), &runner->signals[i]);
      runner->signals[i].data = runner;
      uv_signal_start(&runner->signals[i], on_signal, numbers[i]);
   }
}

static char *jobs_of_each(const rkb_sweep_options_t *options) {
   const uint32_t at_once = options->at_once ? options->at_once : 1;
   uint32_t jobs = options->jobs;
   if (jobs == 0 && at_once > 1 && options->destination->operations->here)
      jobs = uv_available_parallelism() / at_once;
   else if (jobs == 0)
      return NULL; /* the run's own default */
   return rkb_format("%u", jobs ? jobs : 1);
}

static void list_command(runner_t *runner) {
   const rkb_sweep_options_t *options = runner->options;
   const char **command = runner->command;
   uint32_t count = 0;
   const char *const fixed[] = {options->program, "--resume", runner->sweep->directory, "--quiet"};
   for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
      command[count++] = fixed[i];
   if (!options->destination->operations->queues)
      command[count++] = "--until-input-ends";
   if (runner->secret) {
      command[count++] = "--secret";
      command[count++] = runner->secret;
   }
   if (runner->jobs) {
      command[count++] = "--jobs";
      command[count++] = runner->jobs;
   }
   for (uint32_t i = 0; options->plugin_paths && options->plugin_paths[i] && i < MAX_PLUGIN_PATHS; i++) {
      command[count++] = "--plugin-path";
      command[count++] = options->plugin_paths[i];
   }
   if (!runner->sweep->alone)
      command[count++] = "--cell"; /* the executor adds the number */
   command[count] = NULL;
}

static void open_executor(runner_t *runner) {
   const rkb_sweep_options_t *options = runner->options;
   list_command(runner);
   runner->executor_options = (rkb_executor_options_t){.loop = runner->loop,
                                                       .command = runner->command,
                                                       .numbered = !runner->sweep->alone,
                                                       .directory = runner->sweep->directory,
                                                       .version = options->version,
                                                       .count = runner->sweep->count,
                                                       .at_once = options->at_once,
                                                       .cores = options->jobs,
                                                       .slurm_options = options->slurm_options,
                                                       .events = {.began = on_began,
                                                                  .said = on_said,
                                                                  .ended = on_ended,
                                                                  .trouble = on_trouble,
                                                                  .ready = on_ready,
                                                                  .queued = on_queued,
                                                                  .broken = on_broken,
                                                                  .argument = runner}};
   runner->executor = rkb_executor_new(options->destination, &runner->executor_options);
}

static int run_cells(runner_t *runner, rkb_error_t *err) {
   int status = rkb_loop_new(&runner->loop, err);
   if (status != RKB_OK)
      return status;
   open_executor(runner);
   watch_signals(runner);
   start_cells(runner);
   rkb_loop_run(runner->loop);
   while (runner->running > 0 && !runner->executor->operations->queues) {
      runner->executor->operations->end(runner->executor); /* our own processes end before this one does */
      rkb_loop_run(runner->loop);
   }
   rkb_timer_stop(runner->waiting);
   runner->executor->operations->close(runner->executor);
   for (int i = 0; i < 2; i++)
      uv_close((uv_handle_t *)&runner->signals[i], NULL);
   rkb_loop_free(runner->loop);
   runner->executor->operations->free(runner->executor);
   if (runner->status != RKB_OK)
      *err = runner->error;
   return runner->status;
}

int rkb_sweep_run(const rkb_sweep_t *sweep, const rkb_sweep_options_t *options, rkb_sweep_result_t *result,
                  rkb_error_t *err) {
   runner_t runner = {.sweep = sweep, .options = options};
   int lock = -1;
   int64_t previous;
   char *path = rkb_sweep_path_lock(sweep);
   int status = rkb_lock_take(path, &lock, &previous, err);
   if (status == RKB_OK) {
      char *secret = rkb_sweep_path_secret(sweep->directory);
      runner.cells = rkb_allocate(sweep->count, sizeof *runner.cells);
      runner.secret = sweep->alone && rkb_path_exists(secret) ? rkb_format("@%s", secret) : NULL;
      runner.jobs = jobs_of_each(options);
      status = run_cells(&runner, err);
      rkb_lock_give(lock);
      free(secret);
   }
   *result = runner.result;
   result->left = sweep->count - result->ended - result->failed;
   free(runner.jobs);
   free(runner.secret);
   free(runner.cells);
   free(path);
   return status;
}
