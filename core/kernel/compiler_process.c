/* One rkb-compiler process, seen from its parent: a peer (system/pipe_process.h) whose exchanges are watched.  If the process works too
 * long, grows too large or stops answering, it is ended, so no worker waits longer than the bounds.  One thread at a time. */
#include "kernel/compiler_process.h"
#include "base/memory.h"
#include "kernel/compiler_protocol.h"
#include "kernel/byte_record.h"
#include "system/loop.h"
#include "system/process_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { GOING_WAITS = 200 /* waits of 10 ms: the operating system needs some time to end a large process */ };

int compiler_process_start(compiler_process_t *process, const char *const *arguments, rkb_error_t *err) {
   struct rusage own = {0};
   int status = rkb_pipe_process_start(&process->peer, arguments, NULL, -1, err);
   getrusage(RUSAGE_SELF, &own);
   process->inherited = (uint64_t)own.ru_maxrss * 1024;
   return status;
}

bool compiler_process_runs(const compiler_process_t *process) {
   return process->peer.pid > 0;
}

void compiler_process_kill(compiler_process_t *process) {
   if (process->peer.pid > 0)
      rkb_pipe_process_kill(&process->peer, NULL);
}

static uint64_t worked_ns(pid_t pid) {
   struct timespec time = {0, 0};
   clockid_t clock;
   if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0)
      return 0;
   return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Returns the peak of a process's memory use. */
static uint64_t most_resident_bytes(pid_t pid) {
   char path[64], line[128];
   unsigned long kilobytes = 0;
   snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
   FILE *file = fopen(path, "re");
   while (file && kilobytes == 0 && fgets(line, sizeof line, file))
      if (sscanf(line, "VmHWM: %lu", &kilobytes) != 1)
         kilobytes = 0;
   if (file)
      fclose(file);
   return (uint64_t)kilobytes * 1024;
}

typedef struct watch {
   const compiler_bounds_t *bounds;
   pid_t pid;        /* the process that works: first the one that was started, then its fork */
   uint64_t largest; /* the largest memory use that was sampled */
   uint64_t cpu_start;
   enum exchange_end end; /* the reason why the exchange was ended */
} watch_t;

static bool is_over(void *argument) {
   watch_t *watch = argument;
   const compiler_bounds_t *bounds = watch->bounds;
   const uint64_t most = most_resident_bytes(watch->pid);
   watch->largest = most > watch->largest ? most : watch->largest;
   if (bounds->cancelled && bounds->cancelled(bounds->argument))
      watch->end = EXCHANGE_CANCELLED;
   else if (worked_ns(watch->pid) > watch->cpu_start + bounds->cpu_ns)
      watch->end = EXCHANGE_CPU;
   else if (rkb_process_resident(watch->pid) > bounds->memory)
      watch->end = EXCHANGE_MEMORY;
   return watch->end != EXCHANGE_ANSWERED;
}

/* Finds out why the process closed its end.  When an allocation fails at RLIMIT_DATA, the compiler crashes as often as it reports the failure.  So if it
 * dies with most of its memory in use, the limit counts as the cause.  The operating system's peak for the process includes this program's memory, because
 * both share it until the compiler is loaded (vfork).  If the peak is no larger than this program's memory, the samples taken during the work are used. */
static enum exchange_end ended(compiler_process_t *process, const watch_t *watch, int *signal_number) {
   const pid_t pid = process->peer.pid;
   struct rusage used = {0};
   int status = 0;
   pid_t gone = 0;
   for (int i = 0; gone == 0 && i < GOING_WAITS; i++) {
      gone = wait4(pid, &status, WNOHANG, &used);
      if (gone == 0)
         nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL);
   }
   if (gone == pid) {
      kill(-pid, SIGKILL); /* processes of its group that may still run */
      process->peer.pid = 0;
   }
   rkb_pipe_process_kill(&process->peer,
                         NULL); /* closes the pipes; kills and reaps the process if it still runs */
   const int code = gone == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 0;
   *signal_number = gone == pid && WIFSIGNALED(status) ? WTERMSIG(status)
                    : code > COMPILER_EXIT_SIGNAL      ? code - COMPILER_EXIT_SIGNAL
                    : code == COMPILER_EXIT_EARLY      ? SIGXCPU
                                                       : 0;
   /* The process's forks alone have a limit on processor time. */
   if (*signal_number == SIGXCPU)
      return code > COMPILER_EXIT_SIGNAL ? EXCHANGE_CPU : EXCHANGE_DIED;
   if (code == COMPILER_EXIT_MEMORY)
      return EXCHANGE_MEMORY;
   if (code == COMPILER_EXIT_OPEN)
      return EXCHANGE_OPEN;
   /* None of the process's limits kills with SIGKILL.  So the operating system killed it because the machine ran out of memory, or a person killed it. */
   if (*signal_number == SIGKILL)
      return EXCHANGE_DIED;
   const uint64_t told = (uint64_t)used.ru_maxrss * 1024;
   const uint64_t most = told > process->inherited ? told : watch->largest;
   return compiler_memory_is_used(most, watch->bounds->memory) ? EXCHANGE_MEMORY : EXCHANGE_DIED;
}

static enum rkb_transfer receive_frame(compiler_process_t *process, uint64_t deadline, uint64_t most,
                                       watch_t *watch, char **payload, uint64_t *length) {
   unsigned char header[WIRE_HEADER_BYTES];
   enum rkb_transfer result =
      rkb_pipe_process_receive(&process->peer, header, sizeof header, deadline, is_over, watch);
   if (result != RKB_TRANSFERRED)
      return result;
   *payload = record_header_length(header, most, length) ? rkb_try_uncleared(*length + 1, 1, NULL) : NULL;
   if (!*payload) {
      watch->end = EXCHANGE_NONSENSE;
      return RKB_TRANSFER_CANCELLED;
   }
   (*payload)[*length] = '\0';
   return rkb_pipe_process_receive(&process->peer, *payload, *length, deadline, is_over, watch);
}

/* Receives the number of the fork that compiles, and watches the fork from here on.  Its processor time starts at zero. */
static enum rkb_transfer receive_worker(compiler_process_t *process, uint64_t deadline, watch_t *watch) {
   char *payload = NULL;
   uint64_t length = 0;
   enum rkb_transfer result = receive_frame(process, deadline, sizeof(uint64_t), watch, &payload, &length);
   if (result == RKB_TRANSFERRED) {
      record_reader_t in = {.data = (const unsigned char *)payload, .size = length};
      watch->pid = (pid_t)record_u64(&in);
      watch->cpu_start = 0;
   }
   free(payload);
   return result;
}

enum exchange_end compiler_process_exchange(compiler_process_t *process, const rkb_text_t *request,
                                            const compiler_bounds_t *bounds, char **payload, size_t *length,
                                            int *signal_number) {
   watch_t watch = {.bounds = bounds,
                    .pid = process->peer.pid,
                    .cpu_start = worked_ns(process->peer.pid),
                    .end = EXCHANGE_ANSWERED};
   const uint64_t deadline = rkb_now_ns() + bounds->wall_ns;
   enum rkb_transfer result = RKB_TRANSFERRED;
   uint64_t bytes = 0;
   *payload = NULL;
   *length = 0;
   *signal_number = 0;
   if (request) {
      unsigned char header[WIRE_HEADER_BYTES];
      record_header(header, request->length);
      result = rkb_pipe_process_send(&process->peer, header, sizeof header, deadline, is_over, &watch);
      if (result == RKB_TRANSFERRED)
         result =
            rkb_pipe_process_send(&process->peer, request->data, request->length, deadline, is_over, &watch);
   }
   if (result == RKB_TRANSFERRED && request)
      result = receive_worker(process, deadline, &watch);
   if (result == RKB_TRANSFERRED)
      result = receive_frame(process, deadline, COMPILER_MAX_ANSWER, &watch, payload, &bytes);
   if (result == RKB_TRANSFERRED) {
      *length = (size_t)bytes;
      return EXCHANGE_ANSWERED;
   }
   free(*payload);
   *payload = NULL;
   if (result == RKB_TRANSFER_ENDED)
      return ended(process, &watch, signal_number);
   compiler_process_kill(process);
   return result == RKB_TRANSFER_LATE ? EXCHANGE_WALL : watch.end;
}
