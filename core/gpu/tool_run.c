/* Runs a worker under a profiler or a sanitizer, and collects the tool's output.  Owns the worker, the pipe
 * of its standard error, and the thread that empties the pipe: without the thread, a tool that writes much
 * would block. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/memory.h"
#include "base/text.h"
#include "gpu/session.h"
#include "system/loop.h"

enum { MOST_REPORT = 8 << 20, POLL_MS = 50 };
/* A tool attaches to the driver and loads its own libraries, which takes seconds. */
#define START_NS (120ull * 1000000000ull)
#define END_NS (60ull * 1000000000ull)

typedef struct rkb_tool_run {
   rkb_device_worker_t worker;
   int errors; /* our end of the pipe */
   pthread_t reader;
   atomic_bool stop; /* the reader ends as soon as the pipe is empty */
   rkb_text_t text;  /* belongs to the reader thread until the thread is joined */
} rkb_tool_run_t;

static void *read_errors(void *argument) {
   rkb_tool_run_t *run = argument;
   char bytes[16384];
   for (;;) {
      struct pollfd errors = {run->errors, POLLIN, 0};
      if (poll(&errors, 1, POLL_MS) == 0 && atomic_load(&run->stop))
         break;
      ssize_t got = errors.revents ? read(run->errors, bytes, sizeof bytes) : -1;
      if (got == 0)
         break;
      if (got > 0)
         rkb_text_append(&run->text, bytes, (size_t)got); /* output past the limit is dropped */
      else if (errors.revents && errno != EINTR && errno != EAGAIN)
         break;
   }
   return NULL;
}

/* Ends the tool's remaining processes and waits for the reader. */
static void close_run(rkb_tool_run_t *run) {
   rkb_device_worker_stop(&run->worker);
   atomic_store(&run->stop, true);
   pthread_join(run->reader, NULL);
   close(run->errors);
}

void rkb_session_end_tool(rkb_session_t *session) {
   if (session->tool->errors >= 0)
      close_run(session->tool);
   rkb_text_free(&session->tool->text);
   free(session->tool);
   session->tool = NULL;
}

static int open_run(const rkb_pooled_device_t *device, const char *const *words, const rkb_patience_t *patience,
                    rkb_tool_run_t *run, rkb_error_t *err) {
   int ends[2];
   rkb_text_init(&run->text, MOST_REPORT);
   run->worker.child = (rkb_pipe_process_t){.in = -1, .out = -1};
   if (pipe2(ends, O_CLOEXEC) != 0)
      return rkb_fail(err, RKB_ERR_IO, "no pipe for a tool: %s", strerror(errno));
   run->errors = ends[0];
   if (pthread_create(&run->reader, NULL, read_errors, run) != 0) {
      close(ends[0]);
      close(ends[1]);
      run->errors = -1;
      return rkb_fail(err, RKB_ERR_NOMEM, "no thread for a tool's report");
   }
   int status = rkb_device_launch_under(device, words, ends[1], &run->worker, err);
   close(ends[1]);
   if (status == RKB_OK)
      status = rkb_device_worker_greet(&run->worker, patience, err);
   return status;
}

/* Replaces the message about the worker by the tool's own message, which is more precise. */
static void quote_tool(rkb_tool_run_t *run, const char *tool, rkb_error_t *err) {
   const rkb_error_t why = *err;
   close_run(run);
   run->errors = -1;
   char *said = (char *)(uintptr_t)rkb_text_get(&run->text);
   size_t length = strlen(said) < 300 ? strlen(said) : 300;
   while (length && said[length - 1] == '\n')
      length--;
   if (length) {
      rkb_worker_text_plain(said, length, false);
      rkb_fail(err, why.status, "'%s' does not start the worker: %s; it says: %.*s", tool, why.message, (int)length, said);
   } else {
      rkb_fail(err, why.status, "'%s' does not start the worker: %s", tool, why.message);
   }
}

int rkb_session_start_tool(rkb_session_t *session, const char *const *words, uint64_t deadline_ns, rkb_error_t *err) {
   const uint64_t latest = rkb_now_ns() + START_NS;
   const rkb_patience_t patience = {deadline_ns && deadline_ns < latest ? deadline_ns : latest, session->cancelled, session->argument};
   session->tool = rkb_allocate(1, sizeof *session->tool);
   *session->tool = (rkb_tool_run_t){.errors = -1};
   session->worker = &session->tool->worker;
   rkb_device_settle(session->device);
   int status = open_run(session->device, words, &patience, session->tool, err);
   if (status != RKB_OK && session->tool->errors >= 0)
      quote_tool(session->tool, words[0], err);
   return status;
}

int rkb_session_report(rkb_session_t *s, char **report, size_t *bytes, rkb_error_t *err) {
   const uint64_t deadline = rkb_now_ns() + END_NS;
   char byte;
   if (!s->tool || s->tool->errors < 0)
      return rkb_fail(err, RKB_ERR_INTERNAL, "no tool runs in this session");
   rkb_tool_run_t *run = s->tool;
   /* The worker ends on request, or has ended already.  Then the tool writes its report and closes its
    * standard output. */
   rkb_device_worker_quit(&run->worker);
   enum rkb_transfer end = RKB_TRANSFERRED;
   while (end == RKB_TRANSFERRED && rkb_device_worker_alive(&run->worker))
      end = rkb_pipe_process_receive(&run->worker.child, &byte, 1, deadline, s->cancelled, s->argument);
   close_run(run);
   run->errors = -1;
   if (end == RKB_TRANSFER_CANCELLED)
      return rkb_fail(err, RKB_ERR_CANCELLED, "cancelled");
   if (end == RKB_TRANSFER_LATE)
      return rkb_fail(err, RKB_ERR_TIMEOUT, "the tool did not end in time");
   *bytes = run->text.length;
   *report = rkb_text_take(&run->text);
   return RKB_OK;
}
