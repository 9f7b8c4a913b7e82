/* Interrupts (interrupts.h).  rkb_interrupt writes to a pipe, because a signal handler may do no more than that. */
#include "run/interrupts.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>
#include "base/memory.h"
#include "run/run_state.h"

struct rkb_interrupts {
   rkb_run_t *run;
   int pipe[2]; /* -1: none */
   uv_poll_t poll;
   uv_poll_t input;
   uv_signal_t signals[2];
   bool polling, signalling, reading;
};

void rkb_interrupt(int handle) {
   int saved = errno;
   ssize_t ignored = write(handle, "!", 1);
   (void)ignored;
   errno = saved;
}

static void interrupted(uv_poll_t *poll, int status, int events) {
   rkb_interrupts_t *interrupts = poll->data;
   char bytes[16];
   (void)status;
   (void)events;
   if (read(interrupts->pipe[0], bytes, sizeof bytes) > 0)
      rkb_run_cut(interrupts->run, RKB_ENDED_INTERRUPTED, "interrupted");
}

static void signalled(uv_signal_t *signal, int number) {
   rkb_interrupts_t *interrupts = signal->data;
   if (interrupts->run->runtime.stopping)
      _exit(128 + number); /* the second signal ends the process at once; everything committed is safe */
   const rkb_run_options_t *options = &interrupts->run->options;
   rkb_log_printf(options->log, RKB_LOG_WARN, "engine",
                  "interrupted; ending when what works now has ended, at once when interrupted again%s%s",
                  options->directory ? "; go on with: rkb-run --resume " : "",
                  options->directory ? options->directory : "");
   rkb_run_cut(interrupts->run, RKB_ENDED_INTERRUPTED, "interrupted");
}

static int listen_to_pipe(rkb_interrupts_t *interrupts, uv_loop_t *loop, rkb_error_t *err) {
   if (pipe2(interrupts->pipe, O_CLOEXEC | O_NONBLOCK) != 0 ||
       uv_poll_init(loop, &interrupts->poll, interrupts->pipe[0]) != 0)
      return rkb_fail(err, RKB_ERR_IO, "no pipe for interrupts: %s", strerror(errno));
   interrupts->polling = true;
   interrupts->poll.data = interrupts;
   uv_poll_start(&interrupts->poll, UV_READABLE, interrupted);
   *interrupts->run->options.interrupt_handle = interrupts->pipe[1];
   return RKB_OK;
}

/* Text on standard input is ignored; only its end counts. */
static void input_came(uv_poll_t *poll, int status, int events) {
   rkb_interrupts_t *interrupts = poll->data;
   char bytes[256];
   (void)events;
   ssize_t length = status == 0 ? read(STDIN_FILENO, bytes, sizeof bytes) : 0;
   if (length > 0 || (length < 0 && (errno == EAGAIN || errno == EINTR)))
      return;
   uv_poll_stop(poll);
   rkb_run_cut(interrupts->run, RKB_ENDED_INTERRUPTED, "interrupted");
}

static int listen_to_input(rkb_interrupts_t *interrupts, uv_loop_t *loop, rkb_error_t *err) {
   int number = uv_poll_init(loop, &interrupts->input, STDIN_FILENO);
   if (number != 0)
      return rkb_fail(err, RKB_ERR_INVALID, "cannot wait for the end of standard input, which is no pipe: %s",
                      uv_strerror(number));
   interrupts->reading = true;
   interrupts->input.data = interrupts;
   uv_poll_start(&interrupts->input, UV_READABLE, input_came);
   return RKB_OK;
}

static void listen_to_signals(rkb_interrupts_t *interrupts, uv_loop_t *loop) {
   static const int numbers[] = {SIGINT, SIGTERM};
   interrupts->signalling = true;
   for (int i = 0; i < 2; i++) {
      uv_signal_init(loop, &interrupts->signals[i]);
      interrupts->signals[i].data = interrupts;
      uv_signal_start(&interrupts->signals[i], signalled, numbers[i]);
   }
}

int rkb_interrupts_open(rkb_run_t *run, rkb_interrupts_t **out, rkb_error_t *err) {
   uv_loop_t *loop = rkb_loop_uv(run->runtime.loop);
   rkb_interrupts_t *interrupts = rkb_allocate(1, sizeof *interrupts);
   *out = interrupts; /* the caller closes and frees it, whatever follows */
   interrupts->run = run;
   interrupts->pipe[0] = interrupts->pipe[1] = -1;
   int status = run->options.interrupt_handle ? listen_to_pipe(interrupts, loop, err) : RKB_OK;
   if (status == RKB_OK && run->options.until_input_ends)
      status = listen_to_input(interrupts, loop, err);
   if (status == RKB_OK && run->options.catch_signals)
      listen_to_signals(interrupts, loop);
   return status;
}

void rkb_interrupts_close(rkb_interrupts_t *interrupts) {
   if (!interrupts)
      return;
   if (interrupts->run->options.interrupt_handle)
      *interrupts->run->options.interrupt_handle = -1;
   if (interrupts->polling)
      uv_close((uv_handle_t *)&interrupts->poll, NULL);
   if (interrupts->reading)
      uv_close((uv_handle_t *)&interrupts->input, NULL);
   for (int i = 0; interrupts->signalling && i < 2; i++)
      uv_close((uv_handle_t *)&interrupts->signals[i], NULL);
}

void rkb_interrupts_free(rkb_interrupts_t *interrupts) {
   if (!interrupts)
      return;
   if (interrupts->pipe[0] >= 0)
      close(interrupts->pipe[0]);
   if (interrupts->pipe[1] >= 0)
      close(interrupts->pipe[1]);
   free(interrupts);
}
