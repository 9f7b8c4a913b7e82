/* rkb-compiler: one long-lived process that turns CUDA C++ into PTX and machine code for the program that
 * started it.  It loads NVRTC once and forks for each compile.  NVRTC's output for a text depends on the
 * state of its memory, and a fork of a process that has compiled no candidate always starts in the same state
 * (heap.c).  The fork reads candidates from untrusted sources, so it is limited before it reads one: memory,
 * no core files, no environment, no files but the toolkit's headers, no programs, no network, CPU time.
 * Killing it costs one compile.  Users do not start it: core/kernel/compilers.c does.  This program makes one
 * thread. */
#include "kernel/compiler/compiler.h"
#include "kernel/compiler_protocol.h"
#include "kernel/byte_record.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct settings {
   const char *home;
   uint64_t memory, cpu_seconds;
} settings_t;

static bool send_frame(const rkb_text_t *payload) {
   unsigned char header[WIRE_HEADER_BYTES];
   record_header(header, payload->length);
   return record_write_all(STDOUT_FILENO, header, sizeof header) &&
          record_write_all(STDOUT_FILENO, payload->data, payload->length);
}

static void limit(int what, uint64_t value) {
   struct rlimit bounds = {value, value};
   setrlimit(what, &bounds);
}

/* The parent program enforces the exact budget.  This limit holds when the parent is gone. */
static void allow_cpu(uint64_t seconds) {
   struct rlimit bounds = {RLIM_INFINITY, RLIM_INFINITY};
   getrlimit(RLIMIT_CPU, &bounds);
   bounds.rlim_cur = seconds + 2 < bounds.rlim_max ? seconds + 2 : bounds.rlim_max;
   setrlimit(RLIMIT_CPU,
             &bounds); /* the soft limit sends SIGXCPU, whose meaning is clear; the hard limit would send SIGKILL */
}

static uint64_t worked_ns(void) {
   struct timespec time = {0, 0};
   clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
   return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* The peak of the process's resident size and heap; both only grow during a compile. */
static uint64_t most_bytes(void) {
   struct rusage used = {0};
   getrusage(RUSAGE_SELF, &used);
   const uint64_t resident = (uint64_t)used.ru_maxrss * 1024, heap = heap_bytes();
   return resident > heap ? resident : heap;
}

/* A sanitizer's shadow memory alone exceeds any limit on data. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool data_is_limited = false;
#else
static const bool data_is_limited = true;
#endif

static bool read_settings(int argc, char **argv, settings_t *settings) {
   *settings = (settings_t){NULL, 4ull << 30, 10};
   for (int i = 1; i + 1 < argc; i += 2) {
      if (strcmp(argv[i], "--cuda-home") == 0)
         settings->home = argv[i + 1];
      else if (strcmp(argv[i], "--memory") == 0)
         settings->memory = strtoull(argv[i + 1], NULL, 10);
      else if (strcmp(argv[i], "--cpu-seconds") == 0)
         settings->cpu_seconds = strtoull(argv[i + 1], NULL, 10);
      else
         return false;
   }
   return argc % 2 == 1;
}

/* Compiles a small text before the sandbox closes the file system, because the first compile loads NVRTC's library of built-in functions, unless that lies
 * beside NVRTC.  Compiling to PTX suffices: the assembler loads no library.  This compile has no other effect: later compiles take as long without it and
 * give the same bytes. */
static void warm_up(nvrtc_t *nvrtc) {
   static const char *options[] = {"--gpu-architecture=compute_90", "--minimal"};
   const compile_request_t request = {
      .name = "warm_up.cu", .source = "__global__ void k() {}", .options = options, .option_count = 2};
   rkb_text_t answer;
   rkb_text_init(&answer, COMPILER_MAX_ANSWER);
   nvrtc_compile(nvrtc, &request, &answer);
   rkb_text_free(&answer);
}

static bool serve_one(nvrtc_t *nvrtc, const void *payload, size_t size) {
   record_reader_t in = {.data = payload, .size = size};
   const char *options[COMPILER_MAX_OPTIONS] = {NULL}, *expressions[COMPILER_MAX_NAMES] = {NULL};
   compile_request_t request = {.options = options, .expressions = expressions};
   rkb_text_t answer;
   rkb_text_init(&answer, COMPILER_MAX_ANSWER);
   request.name = record_text(&in, COMPILER_MAX_OPTION);
   request.source = record_text(&in, COMPILER_MAX_SOURCE);
   request.option_count = record_count(&in, COMPILER_MAX_OPTIONS, 8);
   for (uint32_t i = 0; i < request.option_count; i++)
      options[i] = record_text(&in, COMPILER_MAX_OPTION);
   request.expression_count = record_count(&in, COMPILER_MAX_NAMES, 8);
   for (uint32_t i = 0; i < request.expression_count; i++)
      expressions[i] = record_text(&in, COMPILER_MAX_NAME);
   request.want_cubin = record_u32(&in) != 0;
   if (in.bad)
      return false;
   nvrtc_compile(nvrtc, &request, &answer);
   record_put_u64(&answer, worked_ns());
   record_put_u64(&answer, most_bytes());
   return send_frame(&answer); /* the memory is released when the process ends */
}

static bool send_own_number(void) {
   rkb_text_t text;
   rkb_text_init(&text, 64);
   record_put_u64(&text, (uint64_t)getpid());
   const bool sent = send_frame(&text);
   rkb_text_free(&text);
   return sent;
}

/* Runs in the fork: compiles once, and ends the process. */
static _Noreturn void compile_once(nvrtc_t *nvrtc, bool first, uint64_t cpu_seconds, const void *payload,
                                   size_t length) {
   prctl(PR_SET_PDEATHSIG, SIGKILL);
   heap_fork(first);
   allow_cpu(cpu_seconds);
   if (!sandbox_close())
      _exit(COMPILER_EXIT_OPEN); /* it reads no candidate without it */
   const bool served = send_own_number() && serve_one(nvrtc, payload, length);
   heap_give_back();
   _exit(served ? 0 : COMPILER_EXIT_BROKEN);
}

/* Waits for the fork.  Returns 0, or the exit code that tells the parent program how the fork ended. */
static int wait_for(pid_t worker, uint64_t cpu_seconds) {
   struct rusage used = {0};
   int status = 0;
   pid_t gone;
   do
      gone = wait4(worker, &status, 0, &used);
   while (gone < 0 && errno == EINTR);
   if (gone != worker)
      return COMPILER_EXIT_BROKEN;
   const uint64_t seconds = (uint64_t)used.ru_utime.tv_sec + (uint64_t)used.ru_stime.tv_sec;
   if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU && seconds < cpu_seconds)
      return COMPILER_EXIT_EARLY;
   return WIFSIGNALED(status) ? COMPILER_EXIT_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

static int serve(nvrtc_t *nvrtc, uint64_t cpu_seconds) {
   /* This memory is not from the heap, because the heap has to look the same before every fork. */
   void *payload = mmap(NULL, COMPILER_MAX_REQUEST, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
   if (payload == MAP_FAILED)
      return COMPILER_EXIT_BROKEN;
   for (bool first = true;; first = false) {
      unsigned char header[WIRE_HEADER_BYTES];
      uint64_t length;
      if (!record_read_all(STDIN_FILENO, header, sizeof header))
         return 0; /* the parent program closed its end of the pipe */
      if (!record_header_length(header, COMPILER_MAX_REQUEST, &length))
         return COMPILER_EXIT_BROKEN;
      if (!record_read_all(STDIN_FILENO, payload, length))
         return COMPILER_EXIT_BROKEN;
      const pid_t worker = fork();
      if (worker == 0)
         compile_once(nvrtc, first, cpu_seconds, payload, length);
      const int code = worker > 0 ? wait_for(worker, cpu_seconds) : COMPILER_EXIT_BROKEN;
      if (code != 0)
         return code;
   }
}

int main(int argc, char **argv) {
   settings_t settings;
   rkb_text_t hello, layers, why;
   nvrtc_t *nvrtc = NULL;
   bool shared;
   if (!read_settings(argc, argv, &settings) || isatty(STDIN_FILENO)) {
      fprintf(stderr, "rkb-compiler is started by rkb and rkb-run; it does nothing on its own\n");
      return 2;
   }
   signal(SIGPIPE, SIG_IGN);
   shared = heap_share(settings.memory);
   limit(RLIMIT_CORE, 0);
   limit(RLIMIT_FSIZE, 0);
   /* Limits data outside the heap, which has its own limit; the parent program also watches the resident
    * size. */
   if (data_is_limited)
      limit(RLIMIT_DATA, settings.memory + HEAP_OWN_BYTES + HEAP_FIRST_BYTES);
   prctl(PR_SET_DUMPABLE, 0);
   rkb_text_init(&hello, 64 << 10);
   rkb_text_init(&layers, 256);
   rkb_text_init(&why, 8 << 10);
   if (shared)
      nvrtc = nvrtc_open(settings.home, &why);
   else
      rkb_text_format(&why, "no memory for the compiler: %s", strerror(errno));
   if (!nvrtc) {
      record_put_u32(&hello, 0);
      record_put_text(&hello, rkb_text_get(&why));
      send_frame(&hello);
      return COMPILER_EXIT_NO_TOOLKIT;
   }
   /* A quoted include is searched beside the file that includes it, and the toolkit's headers rely on that.
    * For the candidate that folder is the working directory, so it is set to the toolkit's headers. */
   if (chdir(nvrtc_includes(nvrtc)[0] ? nvrtc_includes(nvrtc) : "/") != 0)
      return COMPILER_EXIT_BROKEN;
   if (!nvrtc_has_builtins(nvrtc))
      warm_up(nvrtc);
   sandbox_enter(nvrtc_includes(nvrtc), &layers);
   record_put_u32(&hello, 1);
   record_put_u32(&hello, (uint32_t)nvrtc_major(nvrtc));
   record_put_u32(&hello, (uint32_t)nvrtc_minor(nvrtc));
   record_put_text(&hello, nvrtc_library(nvrtc));
   record_put_text(&hello, nvrtc_includes(nvrtc));
   record_put_text(&hello, rkb_text_get(&layers));
   if (!send_frame(&hello))
      return COMPILER_EXIT_BROKEN;
   return serve(nvrtc, settings.cpu_seconds);
}
