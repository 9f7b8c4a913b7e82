/* Runs jobs as child processes (process_executor.h): starts them, reads their output, and reports how they end.  hosts.c chooses
 * the machine for a job.  Loop thread only. */
#include "executor/process_executor.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/memory.h"
#include "executor/hosts.h"

enum { MAX_LINE = 1000, SSH_FAILED = 255, NO_PROGRAM = 127, NOT_A_PROGRAM = 126, KILLED = 128 };

struct process_executor;

/* One job while its process runs. */
typedef struct slot {
   struct process_executor *executor;
   uint32_t job, host;
   uv_process_t process;
   uv_pipe_t input, errors;
   unsigned open_handles;
   bool used, exited;
   int exit_code;           /* as in a shell: 128 plus the signal's number */
   char line[MAX_LINE + 1]; /* the part of a line that it wrote to standard error so far */
   size_t line_length;
   char last[MAX_LINE + 1]; /* the last whole line */
} slot_t;

typedef struct process_executor {
   rkb_executor_t base;
   const rkb_executor_options_t *options;
   rkb_hosts_t *hosts;
   slot_t *slots;
   uint32_t slot_count;
   bool closed;
} process_executor_t;

static process_executor_t *of(rkb_executor_t *executor) {
   return (process_executor_t *)executor;
}

/* Decides from the end of the process what happened to the job, and whether the machine is at fault. */
static void judge_end(slot_t *slot, rkb_job_end_t *end, char text[MAX_LINE + 64]) {
   process_executor_t *executor = slot->executor;
   const int code = slot->exit_code;
   *end = (rkb_job_end_t){.kind = RKB_JOB_EXITED,
                          .exit_code = code,
                          .where = rkb_hosts_name(executor->hosts, slot->host),
                          .text = slot->last};
   if (executor->base.operations->here)
      return;
   if (code == SSH_FAILED)
      rkb_hosts_failed(executor->hosts, slot->host, slot->last[0] ? slot->last : "ssh ended with 255", false);
   else if (code == NO_PROGRAM || code == NOT_A_PROGRAM)
      rkb_hosts_failed(executor->hosts, slot->host, slot->last[0] ? slot->last : "rkb-run is not there",
                       true);
   else if (code < KILLED)
      return;
   end->kind = RKB_JOB_LOST;
   snprintf(text, MAX_LINE + 64, "%s (%s %d)", slot->last,
            code > KILLED && code < SSH_FAILED ? "killed by signal" : "ssh ended with",
            code > KILLED && code < SSH_FAILED ? code - KILLED : code);
   end->text = text;
}

static void on_closed(uv_handle_t *handle) {
   slot_t *slot = handle->data;
   char text[MAX_LINE + 64];
   rkb_job_end_t end;
   if (--slot->open_handles > 0)
      return;
   slot->used = false;
   rkb_hosts_leave(slot->executor->hosts, slot->host);
   if (slot->executor->closed)
      return;
   judge_end(slot, &end, text);
   slot->executor->options->events.ended(slot->executor->options->events.argument, slot->job, &end);
}

static void close_handle(uv_handle_t *handle) {
   if (!uv_is_closing(handle))
      uv_close(handle, on_closed);
}

static void close_handles(slot_t *slot) {
   close_handle((uv_handle_t *)&slot->process);
   close_handle((uv_handle_t *)&slot->input);
   close_handle((uv_handle_t *)&slot->errors);
}

static void end_line(slot_t *slot) {
   const rkb_executor_events_t *events = &slot->executor->options->events;
   slot->line[slot->line_length] = '\0';
   if (slot->line_length > 0) {
      memcpy(slot->last, slot->line, slot->line_length + 1);
      if (!slot->executor->closed)
         events->said(events->argument, slot->job, slot->line);
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

/* Reads the lines that the child wrote before it ended, and then stops reading.  So a stray process that keeps the pipe open cannot hold up the sweep. */
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
   slot->exit_code = signal ? KILLED + signal : (int)status;
   close_handles(slot);
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

static int spawn(slot_t *slot, const char *const *words, rkb_error_t *err) {
   uv_loop_t *loop = rkb_loop_uv(slot->executor->options->loop);
   uv_pipe_init(loop, &slot->input, 0);
   uv_pipe_init(loop, &slot->errors, 0);
   slot->process.data = slot->input.data = slot->errors.data = slot;
   uv_stdio_container_t files[3] = {
      {.flags = UV_CREATE_PIPE | UV_READABLE_PIPE, .data.stream = (uv_stream_t *)&slot->input},
      {.flags = UV_IGNORE},
      {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&slot->errors}};
   const uv_process_options_t options = {.file = words[0],
                                         .args = (char **)words,
                                         .exit_cb = on_child_end,
                                         .stdio = files,
                                         .stdio_count = 3,
                                         .flags =
                                            UV_PROCESS_DETACHED}; /* so that ^C in the terminal reaches only this process */
   int number = uv_spawn(loop, &slot->process, &options);
   if (number == 0)
      number = uv_read_start((uv_stream_t *)&slot->errors, give_room, on_errors);
   if (number == 0)
      return RKB_OK;
   slot->exit_code = NO_PROGRAM;
   snprintf(slot->last, sizeof slot->last, "cannot start %s: %s", words[0], uv_strerror(number));
   close_handles(slot);
   return rkb_fail(err, RKB_ERR_UNAVAILABLE, "%s", slot->last);
}

static slot_t *free_slot(process_executor_t *executor) {
   for (uint32_t i = 0; i < executor->slot_count; i++)
      if (!executor->slots[i].used)
         return &executor->slots[i];
   return NULL;
}

static bool has_room(rkb_executor_t *base) {
   uint32_t host;
   return free_slot(of(base)) && rkb_hosts_choose(of(base)->hosts, &host);
}

static int start(rkb_executor_t *base, uint32_t job, rkb_error_t *err) {
   process_executor_t *executor = of(base);
   slot_t *slot = free_slot(executor);
   uint32_t host;
   if (!slot || !rkb_hosts_choose(executor->hosts, &host))
      return rkb_fail(err, RKB_ERR_LIMIT, "no machine has room for another run");
   *slot = (slot_t){.executor = executor, .job = job, .host = host, .used = true, .open_handles = 3};
   rkb_hosts_enter(executor->hosts, host);
   rkb_words_t words;
   rkb_hosts_words(executor->hosts, host, job, &words);
   int status = spawn(slot, words.list, err);
   rkb_words_free(&words);
   if (status == RKB_OK)
      executor->options->events.began(executor->options->events.argument, job,
                                      rkb_hosts_name(executor->hosts, host));
   else if (!base->operations->here)
      status = RKB_OK; /* there is no ssh, or no process can be started; `ended` reports it */
   else
      executor->closed = true; /* no job can be started on this machine any more */
   return status;
}

static void flush(rkb_executor_t *base) {
   (void)base;
}

static void end(rkb_executor_t *base) {
   for (uint32_t i = 0; i < of(base)->slot_count; i++) {
      slot_t *slot = &of(base)->slots[i];
      if (slot->used && !slot->exited)
         close_handle((uv_handle_t *)&slot->input);
   }
}

static void kill_jobs(rkb_executor_t *base) {
   end(base);
   for (uint32_t i = 0; i < of(base)->slot_count; i++) {
      slot_t *slot = &of(base)->slots[i];
      if (slot->used && !slot->exited)
         uv_process_kill(&slot->process, SIGKILL);
   }
}

static void close_executor(rkb_executor_t *base) {
   of(base)->closed = true;
   rkb_hosts_close(of(base)->hosts);
}

static void free_executor(rkb_executor_t *base) {
   rkb_hosts_free(of(base)->hosts);
   free(of(base)->slots);
   free(base);
}

#define OPERATIONS                                                                                           \
   .has_room = has_room, .start = start, .flush = flush, .end = end, .kill = kill_jobs,                      \
   .close = close_executor, .free = free_executor

const rkb_executor_operations_t rkb_local_executor = {.name = "local", .here = true, OPERATIONS};
const rkb_executor_operations_t rkb_ssh_executor = {.name = "ssh", OPERATIONS};

rkb_executor_t *rkb_process_executor_new(const rkb_destination_t *destination,
                                         const rkb_executor_options_t *options) {
   process_executor_t *executor = rkb_allocate(1, sizeof *executor);
   const uint32_t at_once = options->at_once ? options->at_once : 1;
   executor->base.operations = destination->operations;
   executor->options = options;
   executor->hosts = rkb_hosts_new(destination->hosts, at_once, options);
   executor->slot_count = rkb_hosts_count(executor->hosts) * at_once;
   if (executor->slot_count > options->count)
      executor->slot_count = options->count;
   executor->slots = rkb_allocate(executor->slot_count, sizeof *executor->slots);
   return &executor->base;
}
