/* Runs the cells of a sweep (sweep_run.h).  Each child's standard input is a pipe that nobody writes to: when it closes, because this
 * process ends it or is killed, the child ends as by ^C (--until-input-ends).  Loop thread only. */
#include "sweep/sweep_run.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "archive/run_lock.h"
#include "base/memory.h"
#include "system/loop.h"

#define LOOK_AGAIN_NS (100 * UINT64_C(1000000))
#define LONGEST_WAIT_NS (600 * UINT64_C(1000000000))

enum { MAX_PLUGIN_PATHS = 64, MAX_ARGUMENTS = 16 + 2 * MAX_PLUGIN_PATHS, MAX_LINE = 1000 };

struct runner;

/* One cell while its process runs. */
typedef struct slot {
   struct runner *runner;
   uint32_t cell;
   uv_process_t process;
   uv_pipe_t input, errors;
   unsigned open_handles;
   bool used, exited;
   int64_t exit_status;
   uint64_t began_ns;
   char line[MAX_LINE + 1]; /* of its standard error, as far as it came */
   size_t line_length;
   char last[MAX_LINE + 1]; /* the last whole line */
} slot_t;

typedef struct runner {
   const rkb_sweep_t *sweep;
   const rkb_sweep_options_t *options;
   rkb_loop_t *loop;
   uv_signal_t signals[2];
   slot_t *slots;
   uint32_t next; /* cell to look at next */
   uint32_t running;
   rkb_timer_t *waiting; /* for another process to end the run of cell `next`; NULL: nothing is waited for */
   uint64_t waited_since_ns; /* 0: not waiting */
   rkb_sweep_result_t result;
   char *secret, *jobs;
   int status; /* what stopped the sweep itself */
   rkb_error_t error;
} runner_t;

static void tell(runner_t *runner, uint32_t kind, uint32_t cell, const char *text,
                 const rkb_cell_look_t *look, double seconds) {
   rkb_sweep_event_t event = {.kind = kind,
                              .cell = cell,
                              .text = text,
                              .look = look,
                              .seconds = seconds,
                              .ended = runner->result.ended,
                              .failed = runner->result.failed,
                              .running = runner->running};
   event.left = runner->sweep->count - event.ended - event.failed - event.running;
   if (runner->options->observe)
      runner->options->observe(runner->options->argument, &event);
}

static void start_cells(runner_t *runner);

static void finish_slot(slot_t *slot) {
   runner_t *runner = slot->runner;
   rkb_cell_look_t look;
   rkb_error_t err;
   char text[MAX_LINE + 64];
   const double seconds = (double)(rkb_now_ns() - slot->began_ns) * 1e-9;
   char *directory = rkb_sweep_path_cell(runner->sweep, slot->cell);
   int status = rkb_cell_state(directory, &look, &err);
   free(directory);
   runner->running--;
   slot->used = false;
   if (status == RKB_OK && look.state == RKB_CELL_ENDED) {
      runner->result.ended++;
      tell(runner, RKB_SWEEP_ENDED, slot->cell, "", &look, seconds);
   } else if (runner->result.interrupted) {
      tell(runner, RKB_SWEEP_CUT, slot->cell, "", NULL, seconds);
   } else {
      runner->result.failed++;
      snprintf(text, sizeof text, "%s%s(rkb-run ended with %lld)",
               status == RKB_OK ? slot->last : err.message, slot->last[0] || status != RKB_OK ? " " : "",
               (long long)slot->exit_status);
      tell(runner, RKB_SWEEP_FAILED, slot->cell, text, NULL, seconds);
   }
   start_cells(runner);
}

static void on_closed(uv_handle_t *handle) {
   slot_t *slot = handle->data;
   if (--slot->open_handles == 0)
      finish_slot(slot);
}

static void close_handle(uv_handle_t *handle) {
   if (!uv_is_closing(handle))
      uv_close(handle, on_closed);
}

static void end_line(slot_t *slot) {
   slot->line[slot->line_length] = '\0';
   if (slot->line_length > 0) {
      memcpy(slot->last, slot->line, slot->line_length + 1);
      tell(slot->runner, RKB_SWEEP_SAID, slot->cell, slot->line, NULL, 0);
   }
   slot->line_length = 0;
}

static void add_errors(slot_t *slot, const char *bytes, ssize_t length) {
   for (ssize_t i = 0; i < length; i++) {
      if (bytes[i] == '\n')
         end_line(slot);
      else if (slot->line_length < MAX_LINE)
         slot->line[slot->line_length++] = bytes[i];
   }
}

/* Reads what the child said before it ended, and no more: a stray process that keeps the pipe open cannot hold the sweep up. */
static void on_child_end(uv_process_t *process, int64_t status, int signal) {
   slot_t *slot = process->data;
   uv_os_fd_t file;
   char bytes[4096];
   ssize_t length = 1;
   while (length > 0 && uv_fileno((uv_handle_t *)&slot->errors, &file) == 0) {
      length = read(file, bytes, sizeof bytes); /* libuv made it non-blocking */
      add_errors(slot, bytes, length);
   }
   end_line(slot);
   slot->exited = true;
   slot->exit_status = signal ? 128 + signal : status;
   close_handle((uv_handle_t *)&slot->process);
   close_handle((uv_handle_t *)&slot->input);
   close_handle((uv_handle_t *)&slot->errors);
}

static void on_errors(uv_stream_t *stream, ssize_t length, const uv_buf_t *buffer) {
   add_errors(stream->data, buffer->base, length);
   free(buffer->base);
   if (length < 0)
      close_handle((uv_handle_t *)stream);
}

static void give_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer) {
   (void)handle;
   (void)suggested;
   *buffer = uv_buf_init(rkb_allocate(1, 4096), 4096);
}

static void list_arguments(const runner_t *runner, const char *directory,
                           const char *arguments[MAX_ARGUMENTS]) {
   const char *const fixed[] = {runner->options->program, "--resume", directory,     "--quiet",
                                "--until-input-ends",     "--secret", runner->secret};
   uint32_t count = 0;
   for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
      arguments[count++] = fixed[i];
   if (runner->jobs) {
      arguments[count++] = "--jobs";
      arguments[count++] = runner->jobs;
   }
   for (uint32_t i = 0;
        runner->options->plugin_paths && runner->options->plugin_paths[i] && i < MAX_PLUGIN_PATHS; i++) {
      arguments[count++] = "--plugin-path";
      arguments[count++] = runner->options->plugin_paths[i];
   }
   arguments[count] = NULL;
}

static void stop_with(runner_t *runner, int status, const rkb_error_t *err) {
   if (runner->status == RKB_OK) {
      runner->status = status;
      runner->error = *err;
   }
}

static bool spawn(slot_t *slot, uint32_t cell, rkb_error_t *err) {
   runner_t *runner = slot->runner;
   const char *arguments[MAX_ARGUMENTS];
   uv_loop_t *loop = rkb_loop_uv(runner->loop);
   char *directory = rkb_sweep_path_cell(runner->sweep, cell);
   *slot =
      (slot_t){.runner = runner, .cell = cell, .used = true, .open_handles = 3, .began_ns = rkb_now_ns()};
   uv_pipe_init(loop, &slot->input, 0);
   uv_pipe_init(loop, &slot->errors, 0);
   slot->process.data = slot->input.data = slot->errors.data = slot;
   list_arguments(runner, directory, arguments);
   uv_stdio_container_t files[3] = {
      {.flags = UV_CREATE_PIPE | UV_READABLE_PIPE, .data.stream = (uv_stream_t *)&slot->input},
      {.flags = UV_IGNORE},
      {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&slot->errors}};
   const uv_process_options_t options = {.file = runner->options->program,
                                         .args = (char **)arguments,
                                         .exit_cb = on_child_end,
                                         .stdio = files,
                                         .stdio_count = 3,
                                         .flags =
                                            UV_PROCESS_DETACHED}; /* the terminal's ^C is for us alone */
   runner->running++;
   int number = uv_spawn(loop, &slot->process, &options);
   free(directory);
   if (number == 0)
      number = uv_read_start((uv_stream_t *)&slot->errors, give_room, on_errors);
   if (number == 0)
      return true;
   rkb_fail(err, RKB_ERR_UNAVAILABLE, "cannot start %s: %s", runner->options->program, uv_strerror(number));
   slot->exit_status = 127;
   close_handle((uv_handle_t *)&slot->process);
   close_handle((uv_handle_t *)&slot->input);
   close_handle((uv_handle_t *)&slot->errors);
   return false;
}

static void look_again(void *argument) {
   runner_t *runner = argument;
   runner->waiting = NULL;
   start_cells(runner);
}

/* The process of an earlier sweep that was killed may still be ending the cell's run.  True: the cell is looked at again later. */
static bool wait_for_writer(runner_t *runner, uint32_t cell, const char *directory) {
   const uint64_t now = rkb_now_ns();
   if (rkb_cell_writer(directory) == 0 ||
       (runner->waited_since_ns && now - runner->waited_since_ns > LONGEST_WAIT_NS)) {
      runner->waited_since_ns = 0;
      return false;
   }
   if (!runner->waited_since_ns) {
      runner->waited_since_ns = now;
      tell(runner, RKB_SWEEP_WAITING, cell, "", NULL, 0);
   }
   runner->waiting = rkb_timer_start(runner->loop, LOOK_AGAIN_NS, look_again, runner);
   return true;
}

static slot_t *free_slot(runner_t *runner) {
   for (uint32_t i = 0; i < runner->options->at_once; i++)
      if (!runner->slots[i].used)
         return &runner->slots[i];
   return NULL;
}

/* Looks at the next cell, and starts it when something is left to do. */
static void take_next(runner_t *runner, slot_t *slot) {
   rkb_cell_look_t look;
   rkb_error_t err;
   const uint32_t cell = runner->next;
   char *directory = rkb_sweep_path_cell(runner->sweep, cell);
   bool later = wait_for_writer(runner, cell, directory);
   int status = rkb_cell_state(directory, &look, &err);
   free(directory);
   if (later)
      return;
   runner->next++;
   if (status != RKB_OK) {
      runner->result.failed++;
      tell(runner, RKB_SWEEP_FAILED, cell, err.message, NULL, 0);
   } else if (look.state == RKB_CELL_ENDED) {
      runner->result.ended++; /* by an earlier process: not news */
   } else if (spawn(slot, cell, &err)) {
      tell(runner, look.state == RKB_CELL_BEGUN ? RKB_SWEEP_CONTINUED : RKB_SWEEP_STARTED, cell, "", NULL, 0);
   } else {
      stop_with(runner, err.status, &err);
   }
}

static void start_cells(runner_t *runner) {
   slot_t *slot;
   while (!runner->result.interrupted && runner->status == RKB_OK && !runner->waiting &&
          runner->next < runner->sweep->count && (slot = free_slot(runner)) != NULL)
      take_next(runner, slot);
   if (runner->running == 0 && !runner->waiting)
      rkb_loop_stop(runner->loop);
}

/* The first signal ends the cells as ^C ends a run; the second kills them. */
static void on_signal(uv_signal_t *signal, int number) {
   runner_t *runner = signal->data;
   const bool again = runner->result.interrupted;
   (void)number;
   runner->result.interrupted = true;
   if (!again)
      tell(runner, RKB_SWEEP_STOPPING, 0, "", NULL, 0);
   rkb_timer_stop(runner->waiting);
   runner->waiting = NULL;
   for (uint32_t i = 0; i < runner->options->at_once; i++) {
      slot_t *slot = &runner->slots[i];
      if (!slot->used || slot->exited)
         continue;
      close_handle((uv_handle_t *)&slot->input);
      if (again)
         uv_process_kill(&slot->process, SIGKILL);
   }
   if (runner->running == 0)
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
   uint32_t jobs = options->jobs;
   if (jobs == 0 && options->at_once > 1)
      jobs = uv_available_parallelism() / options->at_once;
   if (jobs == 0 && options->at_once == 1)
      return NULL; /* the run's own default */
   return rkb_format("%u", jobs ? jobs : 1);
}

static int run_cells(runner_t *runner, rkb_error_t *err) {
   int status = rkb_loop_new(&runner->loop, err);
   if (status != RKB_OK)
      return status;
   watch_signals(runner);
   start_cells(runner);
   while (runner->running > 0 || runner->waiting)
      rkb_loop_run(runner->loop);
   for (int i = 0; i < 2; i++)
      uv_close((uv_handle_t *)&runner->signals[i], NULL);
   rkb_loop_free(runner->loop);
   if (runner->status != RKB_OK)
      *err = runner->error;
   return runner->status;
}

int rkb_sweep_run(const rkb_sweep_t *sweep, const rkb_sweep_options_t *options, rkb_sweep_result_t *result,
                  rkb_error_t *err) {
   runner_t runner = {.sweep = sweep, .options = options};
   int lock = -1;
   int64_t previous;
   char *path = rkb_sweep_path_lock(sweep->directory), *secret = rkb_sweep_path_secret(sweep->directory);
   int status = rkb_lock_take(path, &lock, &previous, err);
   if (status == RKB_OK) {
      runner.slots = rkb_allocate(options->at_once, sizeof *runner.slots);
      for (uint32_t i = 0; i < options->at_once; i++)
         runner.slots[i].runner = &runner;
      runner.secret = rkb_format("@%s", secret);
      runner.jobs = jobs_of_each(options);
      status = run_cells(&runner, err);
      rkb_lock_give(lock);
   }
   *result = runner.result;
   result->left = sweep->count - result->ended - result->failed;
   free(runner.jobs);
   free(runner.secret);
   free(runner.slots);
   free(secret);
   free(path);
   return status;
}
