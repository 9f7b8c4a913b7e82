/* One rkb-compiler process as its parent sees it.  The pipes are non-blocking on this side, so a process that stops reading
 * or answering never holds a worker longer than its bounds.  One thread at a time. */
#include "kernel/compiler_process.h"
#include "kernel/compiler_protocol.h"
#include "kernel/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { POLL_MS = 20, GOING_WAITS = 200 /* of 10 ms: a large core is torn down */ };

static int failed(rkb_error_t *err, const char *what, int number) {
   *err = (rkb_error_t){.status = RKB_ERR_UNAVAILABLE};
   snprintf(err->message, sizeof err->message, "cannot start the compiler process: %s: %s", what, strerror(number));
   return err->status;
}

static int spawn(pid_t *pid, const char *program, const char *const *arguments, int in, int out) {
   static char *const no_environment[] = {NULL};
   posix_spawn_file_actions_t actions;
   posix_spawnattr_t attributes;
   sigset_t none, all;
   int result;
   sigemptyset(&none);
   sigfillset(&all);
   posix_spawn_file_actions_init(&actions);
   posix_spawnattr_init(&attributes);
   posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
   posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
   posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
   posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
   posix_spawn_file_actions_addchdir_np(&actions, "/");
   posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
   posix_spawnattr_setpgroup(&attributes, 0);
   posix_spawnattr_setsigmask(&attributes, &none);
   posix_spawnattr_setsigdefault(&attributes, &all);
   result = posix_spawn(pid, program, &actions, &attributes, (char *const *)arguments, no_environment);
   posix_spawnattr_destroy(&attributes);
   posix_spawn_file_actions_destroy(&actions);
   return result;
}

int compiler_process_start(compiler_process_t *process, const char *program, const char *const *arguments, rkb_error_t *err) {
   int to[2], from[2], result;
   *process = (compiler_process_t){.in = -1, .out = -1};
   /* A socket, not a pipe: writing to a process that is gone must not raise SIGPIPE in whatever program this is part of. */
   if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, to) != 0)
      return failed(err, "socketpair", errno);
   if (pipe2(from, O_CLOEXEC) != 0) {
      result = errno;
      close(to[0]);
      close(to[1]);
      return failed(err, "pipe", result);
   }
   result = spawn(&process->pid, program, arguments, to[0], from[1]);
   close(to[0]);
   close(from[1]);
   if (result != 0) {
      process->pid = 0;
      close(to[1]);
      close(from[0]);
      return failed(err, program, result);
   }
   fcntl(to[1], F_SETFL, O_NONBLOCK);
   fcntl(from[0], F_SETFL, O_NONBLOCK);
   process->in = to[1];
   process->out = from[0];
   return RKB_OK;
}

static int reap(compiler_process_t *process, struct rusage *used) {
   int status = 0;
   if (process->pid > 0) {
      kill(-process->pid, SIGKILL);
      while (wait4(process->pid, &status, 0, used) < 0 && errno == EINTR)
         continue;
   }
   if (process->in >= 0)
      close(process->in);
   if (process->out >= 0)
      close(process->out);
   *process = (compiler_process_t){.in = -1, .out = -1};
   return status;
}

void compiler_process_kill(compiler_process_t *process) {
   struct rusage unused;
   if (process->pid > 0)
      reap(process, &unused);
}

static uint64_t clock_ns(clockid_t clock) {
   struct timespec time = {0, 0};
   if (clock_gettime(clock, &time) != 0)
      return 0;
   return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t cpu_ns(pid_t pid) {
   clockid_t clock;
   return clock_getcpuclockid(pid, &clock) == 0 ? clock_ns(clock) : 0;
}

static uint64_t resident_bytes(pid_t pid) {
   char path[64], text[128] = "";
   unsigned long pages = 0;
   ssize_t got;
   int file;
   snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
   file = open(path, O_RDONLY | O_CLOEXEC);
   if (file < 0)
      return 0;
   got = read(file, text, sizeof text - 1);
   close(file);
   if (got <= 0 || sscanf(text, "%*u %lu", &pages) != 1)
      return 0;
   return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* The process ended on its own.  RLIMIT_DATA shows as failed allocations, which this compiler answers by crashing as often as
 * by saying so; a death with most of the memory in use is taken for that. */
static enum exchange_end ended(compiler_process_t *process, const compiler_bounds_t *bounds, int *signal_number) {
   struct rusage used = {0};
   int status = 0;
   pid_t pid = process->pid;
   /* A closed pipe says that it is going, not that it is gone. */
   for (int i = 0; i < GOING_WAITS && wait4(pid, &status, WNOHANG, &used) == 0; i++) {
      if (i + 1 == GOING_WAITS) {
         reap(process, &used);
         return EXCHANGE_DIED;
      }
      nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL);
   }
   kill(-pid, SIGKILL); /* what it may have left of its group */
   process->pid = 0;
   reap(process, &used);
   *signal_number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
   if (*signal_number == SIGXCPU)
      return EXCHANGE_CPU;
   if ((uint64_t)used.ru_maxrss * 1024 > bounds->memory / 10 * 7)
      return EXCHANGE_MEMORY;
   return EXCHANGE_DIED;
}

typedef struct transfer {
   unsigned char head[2 * WIRE_HEADER_BYTES]; /* outgoing, incoming */
   const rkb_text_t *request;
   size_t sent, received;
   char *payload;
   uint64_t length;
   bool bad;
} transfer_t;

/* Both return false at the end of the file or a broken pipe. */
static bool send_some(compiler_process_t *process, transfer_t *transfer) {
   bool header = transfer->sent < WIRE_HEADER_BYTES;
   const void *at = header ? (const void *)(transfer->head + transfer->sent)
                           : (const void *)(transfer->request->data + (transfer->sent - WIRE_HEADER_BYTES));
   size_t left = header ? WIRE_HEADER_BYTES - transfer->sent : transfer->request->length + WIRE_HEADER_BYTES - transfer->sent;
   ssize_t written = send(process->in, at, left, MSG_NOSIGNAL);
   if (written < 0)
      return errno == EAGAIN || errno == EINTR;
   transfer->sent += (size_t)written;
   return true;
}

static bool receive_some(compiler_process_t *process, transfer_t *transfer) {
   unsigned char *head = transfer->head + WIRE_HEADER_BYTES;
   bool header = transfer->received < WIRE_HEADER_BYTES;
   ssize_t got = header ? read(process->out, head + transfer->received, WIRE_HEADER_BYTES - transfer->received)
                        : read(process->out, transfer->payload + (transfer->received - WIRE_HEADER_BYTES),
                               transfer->length + WIRE_HEADER_BYTES - transfer->received);
   if (got < 0)
      return errno == EAGAIN || errno == EINTR;
   if (got == 0)
      return false;
   transfer->received += (size_t)got;
   if (header && transfer->received == WIRE_HEADER_BYTES) {
      transfer->bad = !wire_header_length(head, COMPILER_MAX_ANSWER, &transfer->length);
      transfer->payload = transfer->bad ? NULL : malloc(transfer->length + 1);
      transfer->bad = !transfer->payload;
   }
   return true;
}

static bool complete(const transfer_t *transfer) {
   return transfer->received >= WIRE_HEADER_BYTES && transfer->received == transfer->length + WIRE_HEADER_BYTES;
}

static enum exchange_end watch(compiler_process_t *process, const compiler_bounds_t *bounds, uint64_t cpu_start, uint64_t wall_start) {
   if (bounds->cancelled && bounds->cancelled(bounds->argument))
      return EXCHANGE_CANCELLED;
   if (cpu_ns(process->pid) > cpu_start + bounds->cpu_ns)
      return EXCHANGE_CPU;
   if (resident_bytes(process->pid) > bounds->memory)
      return EXCHANGE_MEMORY;
   if (clock_ns(CLOCK_MONOTONIC) > wall_start + bounds->wall_ns)
      return EXCHANGE_WALL;
   return EXCHANGE_ANSWERED;
}

enum exchange_end compiler_process_exchange(compiler_process_t *process, const rkb_text_t *request, const compiler_bounds_t *bounds,
                                            char **payload, size_t *length, int *signal_number) {
   transfer_t transfer = {.request = request};
   enum exchange_end end = EXCHANGE_ANSWERED;
   const uint64_t cpu_start = cpu_ns(process->pid), wall_start = clock_ns(CLOCK_MONOTONIC);
   *payload = NULL;
   *length = 0;
   *signal_number = 0;
   if (request)
      wire_header(transfer.head, request->length);
   while (end == EXCHANGE_ANSWERED && !complete(&transfer)) {
      bool sending = request && transfer.sent < request->length + WIRE_HEADER_BYTES;
      struct pollfd ready[2] = {{process->out, POLLIN, 0}, {sending ? process->in : -1, POLLOUT, 0}};
      int count = poll(ready, 2, POLL_MS);
      bool alive = true;
      if (count > 0 && ready[1].revents)
         alive = send_some(process, &transfer);
      if (alive && count > 0 && ready[0].revents)
         alive = receive_some(process, &transfer);
      if (transfer.bad)
         end = EXCHANGE_NONSENSE;
      else if (!alive)
         end = ended(process, bounds, signal_number);
      else if (count <= 0)
         end = watch(process, bounds, cpu_start, wall_start);
   }
   if (end == EXCHANGE_ANSWERED) {
      transfer.payload[transfer.length] = '\0';
      *payload = transfer.payload;
      *length = transfer.length;
      process->served++;
      return end;
   }
   free(transfer.payload);
   compiler_process_kill(process);
   return end;
}
