/* The pool of compiler processes.  A process is started on demand, serves one compile at a time, and is replaced when it dies,
 * leaks memory or is killed.  Owns the processes and the cache handle.  Any worker thread; the mutex guards the slots' busy flags and
 * the toolkit's description and is not held during a compile. */
#include "kernel/compilers.h"
#include "kernel/compile_record.h"
#include "kernel/compiler_process.h"
#include "kernel/compiler_protocol.h"
#include "kernel/candidate_finding.h"
#include "kernel/byte_record.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/units.h"
#include "system/timed_wait.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
   MAX_PROCESSES = 256,
   WAIT_MS = 50
};
/* Ten times the processor time of the slowest accepted build: docs/architecture.md. */
static const uint64_t default_cpu_ns = 80000000000ull;
static const uint64_t default_memory = 4ull << 30, start_ns = 60000000000ull;

typedef struct slot {
   compiler_process_t process;
   bool busy;
} slot_t;

struct rkb_compilers {
   pthread_mutex_t mutex;
   pthread_cond_t idle;
   slot_t *slots;
   uint32_t count;
   uint64_t memory, cpu_ns;
   char *program;
   char *home; /* CUDA_HOME or CUDA_PATH, or NULL */
   char limits[64];
   build_cache_t *cache;
   bool known; /* the other members are valid */
   int major, minor;
   char library[1024], layers[64];
   /* for a view (rkb_compilers_view): the pool whose cache, limits and toolkit it uses, and the function that compiles */
   struct rkb_compilers *of;
   compile_t *elsewhere;
   void *argument;
};

static char *find_program(void) {
   static const char *const near[] = {"rkb-compiler", "../libexec/rkb/rkb-compiler",
                                      "../" RKB_LIBEXEC "/rkb/rkb-compiler", "libexec/rkb/rkb-compiler",
                                      NULL};
   char path[4096];
   ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
   char *slash;
   path[length > 0 ? length : 0] = '\0';
   slash = strrchr(path, '/');
   if (slash) {
      *slash = '\0';
      for (int i = 0; near[i]; i++) {
         char *candidate = rkb_path_join(path, near[i]);
         if (candidate && access(candidate, X_OK) == 0)
            return candidate;
         free(candidate);
      }
   }
   return rkb_duplicate(RKB_COMPILER_BUILT);
}

static char *find_home(void) {
   const char *home = getenv("CUDA_HOME");
   if (!home || !*home)
      home = getenv("CUDA_PATH");
   return home && *home ? rkb_duplicate(home) : NULL;
}

int rkb_compilers_open(const rkb_compilers_config_t *config, rkb_compilers_t **compilers, rkb_error_t *err) {
   rkb_compilers_t *pool = rkb_allocate(1, sizeof *pool);
   int status = RKB_OK;
   *compilers = NULL;
   pthread_mutex_init(&pool->mutex, NULL);
   pthread_cond_init(&pool->idle, NULL);
   pool->count = config->processes ? config->processes : 1;
   pool->count = pool->count < MAX_PROCESSES ? pool->count : MAX_PROCESSES;
   pool->memory = config->memory_limit ? config->memory_limit : default_memory;
   pool->cpu_ns = config->cpu_limit_ns ? config->cpu_limit_ns : default_cpu_ns;
   snprintf(pool->limits, sizeof pool->limits, "%llu ns %llu bytes", (unsigned long long)pool->cpu_ns,
            (unsigned long long)pool->memory);
   pool->slots = rkb_allocate(pool->count, sizeof *pool->slots);
   pool->program = find_program();
   pool->home = find_home();
   if (!config->cache_directory || *config->cache_directory)
      status = build_cache_open(config->cache_directory, config->cache_bytes, &pool->cache, err);
   if (status != RKB_OK) {
      rkb_compilers_close(pool);
      return status;
   }
   *compilers = pool;
   return RKB_OK;
}

rkb_compilers_t *rkb_compilers_view(rkb_compilers_t *of, compile_t *elsewhere, void *argument) {
   rkb_compilers_t *view = rkb_allocate(1, sizeof *view);
   *view = (rkb_compilers_t){.of = of,
                             .elsewhere = elsewhere,
                             .argument = argument,
                             .cache = of->cache,
                             .cpu_ns = of->cpu_ns,
                             .memory = of->memory};
   memcpy(view->limits, of->limits, sizeof view->limits);
   return view;
}

void rkb_compilers_close(rkb_compilers_t *compilers) {
   if (!compilers)
      return;
   if (compilers->of) {
      free(compilers);
      return;
   }
   for (uint32_t i = 0; i < compilers->count; i++)
      compiler_process_kill(&compilers->slots[i].process);
   build_cache_close(compilers->cache);
   pthread_cond_destroy(&compilers->idle);
   pthread_mutex_destroy(&compilers->mutex);
   free(compilers->slots);
   free(compilers->program);
   free(compilers->home);
   free(compilers);
}

build_cache_t *compilers_cache(rkb_compilers_t *compilers) {
   return compilers->cache;
}

const char *compilers_limits(rkb_compilers_t *compilers) {
   return compilers->limits;
}

bool compilers_near_limit(const rkb_compilers_t *compilers, uint64_t cpu_ns, uint64_t memory_bytes) {
   return cpu_ns > compilers->cpu_ns / 5 * 4 || memory_bytes > compilers->memory / 5 * 4;
}

const char *rkb_compilers_layers(const rkb_compilers_t *compilers) {
   return compilers->layers;
}

/* Finds an idle slot.  A slot with a running process is preferred. */
static slot_t *idle_slot(rkb_compilers_t *compilers) {
   slot_t *empty = NULL;
   for (uint32_t i = 0; i < compilers->count; i++) {
      slot_t *slot = &compilers->slots[i];
      if (!slot->busy && compiler_process_runs(&slot->process))
         return slot;
      if (!slot->busy && !empty)
         empty = slot;
   }
   return empty;
}

static slot_t *acquire(rkb_compilers_t *compilers, bool (*cancelled)(void *), void *argument) {
   slot_t *slot;
   pthread_mutex_lock(&compilers->mutex);
   for (;;) {
      slot = cancelled && cancelled(argument) ? NULL : idle_slot(compilers);
      if (slot || (cancelled && cancelled(argument)))
         break;
      rkb_timed_wait(&compilers->idle, &compilers->mutex, WAIT_MS);
   }
   if (slot)
      slot->busy = true;
   pthread_mutex_unlock(&compilers->mutex);
   return slot;
}

static void release(rkb_compilers_t *compilers, slot_t *slot) {
   pthread_mutex_lock(&compilers->mutex);
   slot->busy = false;
   pthread_cond_signal(&compilers->idle);
   pthread_mutex_unlock(&compilers->mutex);
}

static int read_hello(rkb_compilers_t *compilers, const char *payload, size_t length, rkb_error_t *err) {
   record_reader_t in = {.data = (const unsigned char *)payload, .size = length};
   uint32_t ok = record_u32(&in), major = ok ? record_u32(&in) : 0, minor = ok ? record_u32(&in) : 0;
   char *text = record_text(&in, 8192), *includes = ok ? record_text(&in, 8192) : NULL,
        *layers = ok ? record_text(&in, 64) : NULL;
   int status = RKB_OK;
   if (in.bad || !ok) {
      *err = (rkb_error_t){.status = RKB_ERR_UNAVAILABLE};
      snprintf(err->message, sizeof err->message, "%s",
               !in.bad && text ? text : "the compiler process does not say what it is");
      status = err->status;
   } else {
      pthread_mutex_lock(&compilers->mutex);
      compilers->known = true;
      compilers->major = (int)major;
      compilers->minor = (int)minor;
      snprintf(compilers->library, sizeof compilers->library, "%s", text);
      snprintf(compilers->layers, sizeof compilers->layers, "%s", layers);
      pthread_mutex_unlock(&compilers->mutex);
   }
   free(layers);
   free(includes);
   free(text);
   return status;
}

static int start(rkb_compilers_t *compilers, compiler_process_t *process, rkb_error_t *err) {
   char memory[32], seconds[32];
   const char *arguments[8] = {compilers->program, "--memory", memory, "--cpu-seconds", seconds};
   const compiler_bounds_t bounds = {.cpu_ns = start_ns, .memory = compilers->memory, .wall_ns = start_ns};
   enum exchange_end end;
   char *payload;
   size_t length;
   int status, signal_number;
   snprintf(memory, sizeof memory, "%llu", (unsigned long long)compilers->memory);
   snprintf(seconds, sizeof seconds, "%llu", (unsigned long long)(compilers->cpu_ns / 1000000000u + 1));
   if (compilers->home) {
      arguments[5] = "--cuda-home";
      arguments[6] = compilers->home;
   }
   status = compiler_process_start(process, arguments, err);
   if (status != RKB_OK)
      return status;
   end = compiler_process_exchange(process, NULL, &bounds, &payload, &length, &signal_number);
   if (end != EXCHANGE_ANSWERED) {
      *err = (rkb_error_t){.status = RKB_ERR_UNAVAILABLE};
      snprintf(err->message, sizeof err->message,
               "the compiler process %.200s ended before it was ready (signal %d)", compilers->program,
               signal_number);
      return err->status;
   }
   status = read_hello(compilers, payload, length, err);
   free(payload);
   if (status != RKB_OK)
      compiler_process_kill(process);
   return status;
}

int compilers_version(rkb_compilers_t *compilers, int *major, int *minor, rkb_error_t *err) {
   slot_t *slot;
   bool known;
   int status = RKB_OK;
   if (compilers->of)
      return compilers_version(compilers->of, major, minor, err);
   pthread_mutex_lock(&compilers->mutex);
   known = compilers->known;
   pthread_mutex_unlock(&compilers->mutex);
   if (!known) {
      slot = acquire(compilers, NULL, NULL);
      if (!compiler_process_runs(&slot->process))
         status = start(compilers, &slot->process, err);
      release(compilers, slot);
      if (status != RKB_OK)
         return status;
   }
   *major = compilers->major; /* written once, before known */
   *minor = compilers->minor;
   return RKB_OK;
}

int rkb_compilers_toolkit(rkb_compilers_t *compilers, char *version, size_t version_size, char *path,
                          size_t path_size, rkb_error_t *err) {
   int major, minor, status = compilers_version(compilers, &major, &minor, err);
   if (status != RKB_OK)
      return status;
   snprintf(version, version_size, "%d.%d", major, minor);
   snprintf(path, path_size, "%s", compilers->library);
   return RKB_OK;
}

static void set_limit_finding(const rkb_compilers_t *compilers, enum exchange_end end, int signal_number,
                              rkb_finding_t *finding) {
   char amount[64];
   if (end == EXCHANGE_CPU) {
      rkb_format_duration(compilers->cpu_ns, amount, sizeof amount);
      rkb_finding_set(
         finding, "tool.compile_time", 0, 0,
         "compiling took more than %s of processor time (limits.compile); nothing is known of the kernel", amount);
   } else if (end == EXCHANGE_MEMORY) {
      rkb_format_bytes(compilers->memory, amount, sizeof amount);
      rkb_finding_set(finding, "tool.compile_memory", 0, 0,
                      "compiling needed more than %s of memory; nothing is known of the kernel", amount);
   } else
      rkb_finding_set(
         finding, "tool.compiler_crash", 0, 0,
         "the compiler crashed on this source, twice (signal %d, %s); nothing is known of the kernel",
         signal_number, strsignal(signal_number));
}

/* Signals that a source text can cause in its compiler: processor faults and abort.  Any other signal came
 * from outside.  An exit means that the compiler lacked a resource. */
static bool is_crash(int signal_number) {
   return signal_number == SIGSEGV || signal_number == SIGBUS || signal_number == SIGILL ||
          signal_number == SIGFPE || signal_number == SIGABRT || signal_number == SIGSYS;
}

/* Fills output from the answer and takes ownership of it. */
static int read_answer(const rkb_compilers_t *compilers, const compile_input_t *input, char *payload,
                       size_t length, compile_output_t *output, rkb_finding_t *finding, rkb_error_t *err) {
   record_reader_t in = {.data = (const unsigned char *)payload, .size = length};
   uint32_t outcome = record_u32(&in), count;
   output->answer = payload;
   output->log = record_bytes(&in, &output->log_bytes, COMPILER_MAX_LOG);
   output->ptx = record_bytes(&in, &output->ptx_bytes, COMPILER_MAX_PTX);
   output->cubin = record_bytes(&in, &output->cubin_bytes, COMPILER_MAX_CUBIN);
   count = record_count(&in, COMPILER_MAX_NAMES, 8);
   for (uint32_t i = 0; i < count; i++)
      output->lowered[i] = record_bytes(&in, &output->lowered_bytes[i], COMPILER_MAX_NAME);
   output->cpu_ns = record_u64(&in);
   output->memory_bytes = record_u64(&in);
   if (in.bad || (outcome == RKB_COMPILE_OK && count != input->expression_count)) {
      *err = (rkb_error_t){.status = RKB_ERR_INTERNAL,
                           .message = "the compiler process gave an answer that cannot be read"};
      return err->status;
   }
   if (outcome == RKB_COMPILE_TOOL) {
      *err = (rkb_error_t){.status = RKB_ERR_UNAVAILABLE};
      snprintf(err->message, sizeof err->message, "the CUDA compiler does not work here: %.*s",
               (int)(output->log_bytes < 300 ? output->log_bytes : 300), output->log ? output->log : "");
      return err->status;
   }
   while (output->ptx_bytes && output->ptx[output->ptx_bytes - 1] == '\0')
      output->ptx_bytes--;
   /* The log is no proof of a lack of memory, since a source can write into it (#error). */
   const bool lacked_memory = outcome != RKB_COMPILE_OK && output->log &&
                              memmem(output->log, output->log_bytes, "out of memory", 13) &&
                              compiler_memory_is_used(output->memory_bytes, compilers->memory);
   if (outcome == RKB_COMPILE_MEMORY || lacked_memory)
      set_limit_finding(compilers, EXCHANGE_MEMORY, 0, finding);
   else if (outcome == RKB_COMPILE_ERROR)
      rkb_finding_set(finding, "build.error", 0, 0, "it does not compile");
   else if (outcome != RKB_COMPILE_OK)
      rkb_finding_set(finding, "build.error", 0, 0, "the compiler gave up on this source");
   return RKB_OK;
}

static int compile_in(rkb_compilers_t *compilers, slot_t *slot, const compile_input_t *input,
                      const rkb_text_t *request, bool retried, bool (*cancelled)(void *), void *argument,
                      compile_output_t *output, rkb_finding_t *finding, rkb_error_t *err) {
   /* A process that sleeps or waits uses no processor time, so it never reaches that limit.  It is a broken tool and gives no verdict; a limit on real
    * time ends it. */
   const compiler_bounds_t bounds = {.cpu_ns = compilers->cpu_ns,
                                     .memory = compilers->memory,
                                     .wall_ns = compilers->cpu_ns * 16 + 30000000000ull,
                                     .cancelled = cancelled,
                                     .argument = argument};
   enum exchange_end end;
   char *payload;
   size_t length;
   int signal_number = 0, status;
   if (!compiler_process_runs(&slot->process)) {
      status = start(compilers, &slot->process, err);
      if (status != RKB_OK)
         return status;
   }
   end = compiler_process_exchange(&slot->process, request, &bounds, &payload, &length, &signal_number);
   /* If the process crashed or was ended from outside, the compile is tried again in a new process. */
   if (end == EXCHANGE_DIED && !retried)
      return compile_in(compilers, slot, input, request, true, cancelled, argument, output, finding, err);
   switch (end) {
   case EXCHANGE_ANSWERED:
      status = read_answer(compilers, input, payload, length, output, finding, err);
      if (status != RKB_OK)
         compiler_process_kill(&slot->process);
      return status;
   case EXCHANGE_DIED:
      if (!is_crash(signal_number)) {
         *err = (rkb_error_t){.status = RKB_ERR_UNAVAILABLE};
         snprintf(err->message, sizeof err->message,
                  "the compiler process was ended twice by something else (signal %d, %s): is memory short?", signal_number,
                  signal_number ? strsignal(signal_number) : "exit");
         return err->status;
      }
      output->uncertain = true;
      /* fall through */
   case EXCHANGE_CPU:
   case EXCHANGE_MEMORY:
      set_limit_finding(compilers, end, signal_number, finding);
      return RKB_OK;
   case EXCHANGE_CANCELLED:
      *err = (rkb_error_t){.status = RKB_ERR_CANCELLED, .message = "cancelled"};
      return err->status;
   case EXCHANGE_OPEN:
      *err = (rkb_error_t){
         .status = RKB_ERR_UNAVAILABLE,
         .message =
            "the compiler cannot enter its allowlist of system calls, and reads no kernel without it: something, such as a container, refuses seccomp(2); see rkb doctor"};
      return err->status;
   case EXCHANGE_WALL:
      *err = (rkb_error_t){.status = RKB_ERR_TIMEOUT,
                           .message = "the compiler process neither worked nor answered"};
      return err->status;
   case EXCHANGE_NONSENSE:
      break;
   }
   *err = (rkb_error_t){.status = RKB_ERR_INTERNAL,
                        .message = "the compiler process sent something that is not an answer"};
   return err->status;
}

int compilers_compile(rkb_compilers_t *compilers, const compile_input_t *input, bool (*cancelled)(void *),
                      void *argument, compile_output_t *output, rkb_finding_t *finding, rkb_error_t *err) {
   rkb_text_t request;
   slot_t *slot;
   int status;
   memset(output, 0, sizeof *output);
   if (compilers->elsewhere)
      return compilers->elsewhere(compilers->argument, input, cancelled, argument, output, finding, err);
   rkb_text_init(&request, COMPILER_MAX_REQUEST);
   compile_input_write(input, &request);
   if (request.cut) {
      rkb_text_free(&request);
      *err = (rkb_error_t){.status = RKB_ERR_LIMIT,
                           .message = "the source and its options are larger than 2 MiB"};
      return err->status;
   }
   slot = acquire(compilers, cancelled, argument);
   if (!slot) {
      rkb_text_free(&request);
      *err = (rkb_error_t){.status = RKB_ERR_CANCELLED, .message = "cancelled"};
      return err->status;
   }
   status = compile_in(compilers, slot, input, &request, false, cancelled, argument, output, finding, err);
   release(compilers, slot);
   rkb_text_free(&request);
   if (status != RKB_OK)
      compile_output_free(output);
   return status;
}
