/* rkb-compiler: one long-lived process that turns CUDA C++ into PTX and machine code for the program that
 * started it. It reads candidates from anywhere, so it limits itself before it reads one: memory, no core
 * files, no environment, no files but the toolkit's headers, no programs, no network; CPU time anew for each
 * compile.  Killing it costs one compile. Not for people: core/kernel/compilers.c starts it.  One thread of
 * our own. */
#include "kernel/compiler/compiler.h"
#include "kernel/compiler_protocol.h"
#include "kernel/wire.h"

#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

typedef struct settings {
   const char *home;
   uint64_t memory, cpu_seconds;
} settings_t;

static bool send_frame(const rkb_text_t *payload) {
   unsigned char header[WIRE_HEADER_BYTES];
   wire_header(header, payload->length);
   return wire_write_all(STDOUT_FILENO, header, sizeof header) &&
          wire_write_all(STDOUT_FILENO, payload->data, payload->length);
}

static void limit(int what, uint64_t value) {
   struct rlimit bounds = {value, value};
   setrlimit(what, &bounds);
}

/* A compile allocates and frees some 30 MB.  Given back to the kernel each time, they cost as many page faults again,
 * 3 to 4 ms of the 55 of a small kernel; kept, they wait for the next compile.  A process that has grown large is
 * replaced (core/kernel/compilers.c). */
static void keep_memory(void) {
   mallopt(M_TRIM_THRESHOLD, 1 << 30);
   mallopt(M_MMAP_THRESHOLD, 32 << 20); /* the most that glibc takes */
   mallopt(M_TOP_PAD, 16 << 20);
}

/* RLIMIT_CPU counts the life of the process, so the soft limit moves ahead of each compile; the parent
 * watches the exact budget, and this is what holds when the parent is gone. */
static void allow_cpu(uint64_t seconds) {
   struct rusage used;
   struct rlimit bounds = {RLIM_INFINITY, RLIM_INFINITY};
   getrusage(RUSAGE_SELF, &used);
   bounds.rlim_cur = (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + seconds + 2;
   setrlimit(RLIMIT_CPU, &bounds);
}

/* What the kernel says about this process's memory; opened before the sandbox closes the file system. */
typedef struct memory_files {
   int status;     /* /proc/self/status */
   int clear_refs; /* "5" makes the present size the new high-water mark (proc(5)) */
} memory_files_t;

static memory_files_t open_memory_files(void) {
   return (memory_files_t){.status = open("/proc/self/status", O_RDONLY | O_CLOEXEC),
                           .clear_refs = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC)};
}

static void forget_high_water(const memory_files_t *memory) {
   if (pwrite(memory->clear_refs, "5", 1, 0) != 1)
      return; /* then the mark is of the process's life: never less than the truth */
}

/* name: "VmRSS:", resident now; "VmHWM:", the most since the mark was set; "VmData:", what RLIMIT_DATA counts. */
static uint64_t memory_bytes(const memory_files_t *memory, const char *name) {
   char text[4096] = "", *found;
   ssize_t got = pread(memory->status, text, sizeof text - 1, 0);
   found = got > 0 ? strstr(text, name) : NULL;
   return found ? strtoull(found + strlen(name), NULL, 10) * 1024 : 0;
}

/* A sanitizer's shadow memory alone is over any limit on data. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool data_is_limited = false;
#else
static const bool data_is_limited = true;
#endif

static uint64_t most_bytes(const memory_files_t *memory) {
   const uint64_t resident = memory_bytes(memory, "VmHWM:"),
                  data = data_is_limited ? memory_bytes(memory, "VmData:") : 0;
   return resident > data ? resident : data;
}

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

/* The first compile loads NVRTC's own library of built-in functions; done before the sandbox shuts the file
 * system.  The assembler loads nothing, so PTX will do: 15 ms less for each process. */
static void warm_up(nvrtc_t *nvrtc) {
   static const char *options[] = {"--gpu-architecture=compute_90", "--minimal"};
   const compile_request_t request = {
      .name = "warm_up.cu", .source = "__global__ void k() {}", .options = options, .option_count = 2};
   rkb_text_t answer;
   rkb_text_init(&answer, COMPILER_MAX_ANSWER);
   nvrtc_compile(nvrtc, &request, &answer);
   rkb_text_free(&answer);
}

static bool serve_one(nvrtc_t *nvrtc, const void *payload, size_t size, const memory_files_t *memory) {
   wire_reader_t in = {.data = payload, .size = size};
   const char *options[COMPILER_MAX_OPTIONS] = {NULL}, *expressions[COMPILER_MAX_NAMES] = {NULL};
   compile_request_t request = {.options = options, .expressions = expressions};
   rkb_text_t answer;
   bool sent = false;
   rkb_text_init(&answer, COMPILER_MAX_ANSWER);
   request.name = wire_text(&in, COMPILER_MAX_OPTION);
   request.source = wire_text(&in, COMPILER_MAX_SOURCE);
   request.option_count = wire_count(&in, COMPILER_MAX_OPTIONS, 8);
   for (uint32_t i = 0; i < request.option_count; i++)
      options[i] = wire_text(&in, COMPILER_MAX_OPTION);
   request.expression_count = wire_count(&in, COMPILER_MAX_NAMES, 8);
   for (uint32_t i = 0; i < request.expression_count; i++)
      expressions[i] = wire_text(&in, COMPILER_MAX_NAME);
   request.want_cubin = wire_u32(&in) != 0;
   if (!in.bad) {
      forget_high_water(memory);
      nvrtc_compile(nvrtc, &request, &answer);
      wire_put_u64(&answer, memory_bytes(memory, "VmRSS:"));
      wire_put_u64(&answer, most_bytes(memory));
      sent = send_frame(&answer);
   }
   for (uint32_t i = 0; i < request.expression_count; i++)
      free((char *)expressions[i]);
   for (uint32_t i = 0; i < request.option_count; i++)
      free((char *)options[i]);
   free((char *)request.source);
   free((char *)request.name);
   rkb_text_free(&answer);
   return sent;
}

static int serve(nvrtc_t *nvrtc, uint64_t cpu_seconds, const memory_files_t *memory) {
   for (;;) {
      unsigned char header[WIRE_HEADER_BYTES];
      uint64_t length;
      char *payload;
      bool sent;
      if (!wire_read_all(STDIN_FILENO, header, sizeof header))
         return 0; /* the program closed its end */
      if (!wire_header_length(header, COMPILER_MAX_REQUEST, &length))
         return 1;
      payload = malloc(length + 1);
      if (!payload)
         return 1;
      if (!wire_read_all(STDIN_FILENO, payload, length)) {
         free(payload);
         return 1;
      }
      allow_cpu(cpu_seconds);
      sent = serve_one(nvrtc, payload, length, memory);
      free(payload);
      if (!sent)
         return 1;
   }
}

int main(int argc, char **argv) {
   settings_t settings;
   rkb_text_t hello, layers, why;
   nvrtc_t *nvrtc;
   memory_files_t memory;
   if (!read_settings(argc, argv, &settings) || isatty(STDIN_FILENO)) {
      fprintf(stderr, "rkb-compiler is started by rkb and rkb-run; it does nothing on its own\n");
      return 2;
   }
   signal(SIGPIPE, SIG_IGN);
   limit(RLIMIT_CORE, 0);
   limit(RLIMIT_FSIZE, 0);
   if (data_is_limited) /* the parent watches the resident size too */
      limit(RLIMIT_DATA, settings.memory);
   memory = open_memory_files();
   prctl(PR_SET_DUMPABLE, 0);
   keep_memory();
   rkb_text_init(&hello, 64 << 10);
   rkb_text_init(&layers, 256);
   rkb_text_init(&why, 8 << 10);
   nvrtc = nvrtc_open(settings.home, &why);
   if (!nvrtc) {
      wire_put_u32(&hello, 0);
      wire_put_text(&hello, rkb_text_get(&why));
      send_frame(&hello);
      return 3;
   }
   /* A quoted include is looked for beside the file that has it, which the toolkit's headers rely on; for the
    * candidate that is the working directory, so it had better be theirs. */
   if (chdir(nvrtc_includes(nvrtc)[0] ? nvrtc_includes(nvrtc) : "/") != 0)
      return 1;
   allow_cpu(30);
   warm_up(nvrtc);
   sandbox_enter(nvrtc_includes(nvrtc), &layers);
   wire_put_u32(&hello, 1);
   wire_put_u32(&hello, (uint32_t)nvrtc_major(nvrtc));
   wire_put_u32(&hello, (uint32_t)nvrtc_minor(nvrtc));
   wire_put_text(&hello, nvrtc_library(nvrtc));
   wire_put_text(&hello, nvrtc_includes(nvrtc));
   wire_put_text(&hello, rkb_text_get(&layers));
   if (!send_frame(&hello))
      return 1;
   return serve(nvrtc, settings.cpu_seconds, &memory);
}
