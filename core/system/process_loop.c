/* Runs a program from the loop, with a poll handle for its end and for each pipe, and a timer.  A process owns its handles and its
 * child.  Loop thread only.
 *
 * Its states: running → killed (deadline passed, or cancelled) → draining (the child has ended; pipes may hold more) → closing
 * (every handle is being closed) → done. */
#include <stdlib.h>

#include "base/memory.h"
#include "system/process.h"
#include "system/spawn.h"

enum { WATCH_END = RKB_CHILD_OUTPUTS, WATCHES };

struct rkb_process {
   rkb_loop_t *loop;
   rkb_child_t child;
   uv_poll_t watches[WATCHES]; /* for the pipes and for the child's end */
   bool watching[WATCHES];
   unsigned open_handles;
   rkb_timer_t *timer;
   bool killed, closing;
   int status;
   void (*done)(void *arg, int status, const rkb_process_result_t *result);
   void *arg;
};

static void finish(rkb_process_t *process) {
   rkb_process_result_t *result = process->status == RKB_OK ? rkb_child_result(&process->child) : NULL;
   process->done(process->arg, process->status, result);
   rkb_process_result_free(result);
   rkb_child_close(&process->child);
   free(process);
}

static void on_closed(uv_handle_t *handle) {
   rkb_process_t *process = handle->data;
   if (--process->open_handles == 0 && process->closing)
      finish(process);
}

static void stop_watching(rkb_process_t *process, int which) {
   if (!process->watching[which])
      return;
   process->watching[which] = false;
   uv_close((uv_handle_t *)&process->watches[which], on_closed);
}

static void close_all(rkb_process_t *process) {
   if (process->closing)
      return;
   process->closing = true;
   rkb_timer_stop(process->timer);
   process->timer = NULL;
   for (int i = 0; i < WATCHES; i++)
      stop_watching(process, i);
   if (process->open_handles == 0)
      finish(process);
}

static bool pipes_open(const rkb_process_t *process) {
   return process->watching[0] || process->watching[1];
}

static void on_timer(void *argument);

/* Sets the time of the current state's end. */
static void wait_at_most(rkb_process_t *process, uint64_t ns) {
   rkb_timer_stop(process->timer);
   process->timer = rkb_timer_start(process->loop, ns, on_timer, process);
}

static void kill_group(rkb_process_t *process) {
   process->killed = true;
   rkb_child_kill(&process->child);
   wait_at_most(process, RKB_CHILD_AFTER_KILL_NS);
}

/* Called when the time of the current state is over: the deadline passed; a killed child does not end; or after the child's end, a process that left the
 * group keeps a pipe open. */
static void on_timer(void *argument) {
   rkb_process_t *process = argument;
   process->timer = NULL;
   if (process->child.pid && !process->killed) {
      process->child.timed_out = true;
      kill_group(process);
      return;
   }
   if (process->child.pid)
      process->status = RKB_ERR_TIMEOUT;
   close_all(process);
}

static void on_pipe(uv_poll_t *watch, int status, int events) {
   rkb_process_t *process = watch->data;
   int which = (int)(watch - process->watches);
   (void)events;
   if (status == 0 && rkb_child_read(&process->child, which))
      return;
   stop_watching(process, which);
   rkb_child_close_pipe(&process->child, which);
   if (!process->child.pid && !pipes_open(process))
      close_all(process);
}

static void on_end(uv_poll_t *watch, int status, int events) {
   rkb_process_t *process = watch->data;
   (void)status;
   (void)events;
   rkb_child_reap(&process->child);
   stop_watching(process, WATCH_END);
   if (pipes_open(process))
      wait_at_most(process, RKB_CHILD_AFTER_END_NS);
   else
      close_all(process);
}

static int watch(rkb_process_t *process, int which, int file, uv_poll_cb callback) {
   uv_poll_t *handle = &process->watches[which];
   int status = uv_poll_init(rkb_loop_uv(process->loop), handle, file);
   if (status != 0)
      return status;
   handle->data = process;
   process->open_handles++;
   process->watching[which] = true;
   return uv_poll_start(handle, UV_READABLE, callback);
}

static void ignore(void *arg, int status, const rkb_process_result_t *result) {
   (void)arg;
   (void)status;
   (void)result;
}

int rkb_process_start(rkb_loop_t *loop, const rkb_process_spec_t *spec,
                      void (*done)(void *arg, int status, const rkb_process_result_t *result), void *arg,
                      rkb_process_t **process, rkb_error_t *err) {
   rkb_process_t *made = rkb_allocate(1, sizeof *made);
   int status = rkb_child_spawn(spec, &made->child, err);
   if (status != RKB_OK) {
      free(made);
      return status;
   }
   made->loop = loop;
   made->done = done;
   made->arg = arg;
   made->timer = rkb_timer_start(loop, spec->deadline_ns, on_timer, made);
   int number = 0;
   for (int i = 0; number == 0 && i < RKB_CHILD_OUTPUTS; i++)
      number = watch(made, i, made->child.pipes[i], on_pipe);
   if (number == 0)
      number = watch(made, WATCH_END, made->child.pidfd, on_end);
   if (number != 0) {
      status =
         rkb_fail(err, RKB_ERR_UNAVAILABLE, "cannot watch '%s': %s", spec->arguments[0], uv_strerror(number));
      made->done = ignore; /* the return value tells the caller; the rest is freed when the handles have
                              closed */
      rkb_child_reap(&made->child);
      close_all(made);
      return status;
   }
   if (process)
      *process = made;
   return RKB_OK;
}

void rkb_process_cancel(rkb_process_t *process) {
   if (!process->child.pid || process->killed)
      return;
   process->child.cancelled = true;
   kill_group(process);
}
