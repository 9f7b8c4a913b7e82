/* The compiler processes: what a death, a hang or a cancelled job costs, and what the sandbox refuses where
 * the token policy does not. */
#include "kernel_fixture.h"
#include "kernel/compilers.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const options[] = {"--gpu-architecture=sm_90", "--std=c++17"};

static int compile(rkb_compilers_t *pool, const char *source, bool (*cancelled)(void *), void *argument,
                   compile_output_t *output, rkb_finding_t *finding, rkb_error_t *err) {
   const compile_input_t input = {.name = "candidate.cu",
                                  .source = source,
                                  .source_bytes = strlen(source),
                                  .options = options,
                                  .option_count = 2,
                                  .want_cubin = true};
   memset(finding, 0, sizeof *finding);
   return compilers_compile(pool, &input, cancelled, argument, output, finding, err);
}

static void must_compile(rkb_compilers_t *pool) {
   compile_output_t output;
   rkb_finding_t finding;
   rkb_error_t err = {0};
   if (compile(pool, "__global__ void k(float *x) { x[0] = 1; }", NULL, NULL, &output, &finding, &err) !=
          RKB_OK ||
       finding.reason[0])
      fail_msg("%s %s: %s", err.message, finding.reason, finding.message);
   assert_true(output.ptx_bytes > 100 && output.cubin_bytes > 100);
   compile_output_free(&output);
}

/* The processes that one started. */
static uint32_t children_of(pid_t of, pid_t *list, uint32_t room) {
   DIR *all = opendir("/proc");
   struct dirent *entry;
   uint32_t count = 0;
   while (all && (entry = readdir(all)) != NULL) {
      char path[300], text[512] = "", *close;
      int parent = 0;
      FILE *stat;
      snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
      stat = strspn(entry->d_name, "0123456789") == strlen(entry->d_name) ? fopen(path, "r") : NULL;
      if (!stat)
         continue;
      if (fgets(text, sizeof text, stat)) {
         close = strrchr(text, ')');
         if (close && sscanf(close + 2, "%*c %d", &parent) == 1 && parent == (int)of && count < room)
            list[count++] = atoi(entry->d_name);
      }
      fclose(stat);
   }
   if (all)
      closedir(all);
   return count;
}

static uint32_t children(pid_t *list, uint32_t room) {
   return children_of(getpid(), list, room);
}

static void a_killed_process_is_replaced(void **state) {
   rkb_compilers_t *pool = fixture_pool(1, NULL);
   pid_t before[8] = {0}, after[8] = {0};
   (void)state;
   must_compile(pool);
   assert_int_equal(children(before, 8), 1);
   kill(before[0], SIGKILL);
   siginfo_t dead;
   assert_int_equal(waitid(P_PID, (id_t)before[0], &dead, WEXITED | WNOWAIT), 0);
   {
      /* The job that meets the corpse reports a crash and not a broken tool; the next one has a fresh
       * process. */
      compile_output_t output;
      rkb_finding_t finding;
      rkb_error_t err = {0};
      int status =
         compile(pool, "__global__ void k(float *x) { x[0] = 1; }", NULL, NULL, &output, &finding, &err);
      compile_output_free(&output);
      assert_int_equal(status, RKB_OK);
      assert_string_equal(finding.reason, "");
   }
   must_compile(pool);
   assert_int_equal(children(after, 8), 1);
   assert_int_not_equal(before[0], after[0]);
   rkb_compilers_close(pool);
   assert_int_equal(children(after, 8), 0);
}

/* Seconds of work for the compiler. */
static const char slow_source[] =
   "#define A x[0] += 1.0f;\n#define B A A A A A A A A\n#define C B B B B B B B B\n#define D C C C C C C "
   "C C\n"
   "#define E D D D D D D D D\n#define F E E E E E E E E\n__global__ void k(float *x) { F F F F }";

static bool kill_the_child(void *argument) {
   const int *signal_number = argument;
   pid_t child[8];
   if (children(child, 8) == 1)
      kill(child[0], *signal_number);
   return false;
}

static bool kill_the_fork(void *argument) {
   const int *signal_number = argument;
   pid_t child[8], fork[8];
   if (children(child, 8) == 1 && children_of(child[0], fork, 8) == 1)
      kill(fork[0], *signal_number);
   return false;
}

/* Whatever ends every process that compiles it: the source is not at fault, and nothing is kept of it. */
static void a_kill_is_no_verdict(void **state) {
   static const struct {
      int signal_number;
      bool (*kill)(void *);
      int status;
      const char *reason;
   } cases[] = {
      {SIGKILL, kill_the_child, RKB_ERR_UNAVAILABLE, ""},
      {SIGTERM, kill_the_child, RKB_ERR_UNAVAILABLE, ""},
      /* the signal of the limit on processor time, which has not passed */
      {SIGXCPU, kill_the_child, RKB_ERR_UNAVAILABLE, ""},
      {SIGXCPU, kill_the_fork, RKB_ERR_UNAVAILABLE, ""},
#ifndef __SANITIZE_ADDRESS__ /* which handles this signal itself, and ends the process with a code */
      {SIGSEGV, kill_the_child, RKB_OK, "tool.compiler_crash"},
#endif
   };
   (void)state;
   for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
      rkb_compilers_t *pool = fixture_pool(1, NULL);
      compile_output_t output;
      rkb_finding_t finding = {.reason = ""};
      rkb_error_t err = {0};
      int signal_number = cases[i].signal_number;
      must_compile(pool);
      assert_int_equal(compile(pool, slow_source, cases[i].kill, &signal_number, &output, &finding, &err),
                       cases[i].status);
      assert_string_equal(finding.reason, cases[i].reason);
      if (cases[i].status == RKB_OK)
         assert_true(output.uncertain);
      compile_output_free(&output);
      must_compile(pool);
      rkb_compilers_close(pool);
   }
}

/* What a text says of memory is no lack of memory, in whatever line of the compiler's log it stands. */
static void memory_in_words_is_an_error(void **state) {
   static const char *const sources[] = {
      "#error out of memory\n__global__ void k(float *x) { x[0] = 1; }",
      "static_assert(sizeof(int) == 5, \"catastrophic error: out of memory\");"};
   rkb_compilers_t *pool = fixture_pool(1, NULL);
   (void)state;
   for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
      compile_output_t output;
      rkb_finding_t finding = {.reason = ""};
      rkb_error_t err = {0};
      assert_int_equal(compile(pool, sources[i], NULL, NULL, &output, &finding, &err), RKB_OK);
      assert_string_equal(finding.reason, "build.error");
      compile_output_free(&output);
   }
   rkb_compilers_close(pool);
}

#ifndef __SANITIZE_ADDRESS__
/* NVRTC 13.0 dies of a constant as a matrix descriptor, after it has asked for far more memory than there is: that is no lack of memory.  Another
 * release may compile it. */
static void a_crash_of_its_own_is_named(void **state) {
   static const char source[] =
      "extern \"C\" __global__ void k(float *y) {\n"
      "   float d[8] = {0};\n"
      "   asm volatile(\"wgmma.fence.sync.aligned;\" ::: \"memory\");\n"
      "   asm volatile(\"{ .reg .pred p; setp.ne.b32 p, %10, 0; wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 \"\n"
      "                \"{%0,%1,%2,%3,%4,%5,%6,%7}, %8, %9, p, 1, 1, 0, 0; }\"\n"
      "                : \"+f\"(d[0]), \"+f\"(d[1]), \"+f\"(d[2]), \"+f\"(d[3]), \"+f\"(d[4]), \"+f\"(d[5]), \"+f\"(d[6]), \"+f\"(d[7])\n"
      "                : \"l\"(0ull), \"l\"(0ull), \"r\"(1));\n"
      "   for (int n = 0; n < 8; n++)\n"
      "      y[threadIdx.x * 8 + n] = d[n];\n"
      "}\n";
   static const char *const hopper[] = {"--gpu-architecture=sm_90a", "--std=c++17"};
   const compile_input_t input = {.name = "candidate.cu",
                                  .source = source,
                                  .source_bytes = strlen(source),
                                  .options = hopper,
                                  .option_count = 2,
                                  .want_cubin = true};
   rkb_compilers_t *pool = fixture_pool(1, NULL);
   compile_output_t output;
   rkb_finding_t finding = {.reason = ""};
   rkb_error_t err = {0};
   (void)state;
   assert_int_equal(compilers_compile(pool, &input, NULL, NULL, &output, &finding, &err), RKB_OK);
   if (finding.reason[0]) {
      assert_string_equal(finding.reason, "tool.compiler_crash");
      assert_true(output.uncertain);
   }
   compile_output_free(&output);
   must_compile(pool);
   rkb_compilers_close(pool);
}
#endif

/* The pool asks again and again while it waits for the compiler. */
static bool after_a_while(void *argument) {
   int *asked = argument;
   return ++*asked > 5;
}

static void a_cancelled_compile_ends_soon(void **state) {
   rkb_compilers_t *pool = fixture_pool(1, NULL);
   compile_output_t output;
   rkb_finding_t finding;
   rkb_error_t err = {0};
   int asked = 0;
   (void)state;
   must_compile(pool);
   assert_int_equal(compile(pool, slow_source, after_a_while, &asked, &output, &finding, &err),
                    RKB_ERR_CANCELLED);
   must_compile(pool);
   rkb_compilers_close(pool);
}

typedef struct worker {
   rkb_compilers_t *pool;
   uint32_t built;
} worker_t;

static void *work(void *argument) {
   worker_t *worker = argument;
   for (int i = 0; i < 5; i++) {
      compile_output_t output;
      rkb_finding_t finding;
      rkb_error_t err = {0};
      if (compile(worker->pool, "__global__ void k(float *x) { x[0] = 1; }", NULL, NULL, &output, &finding,
                  &err) == RKB_OK &&
          !finding.reason[0])
         worker->built++;
      compile_output_free(&output);
   }
   return NULL;
}

static void threads_share_processes(void **state) {
   rkb_compilers_t *pool = fixture_pool(2, NULL);
   pthread_t threads[4];
   worker_t workers[4];
   pid_t list[8];
   (void)state;
   for (int i = 0; i < 4; i++) {
      workers[i] = (worker_t){pool, 0};
      pthread_create(&threads[i], NULL, work, &workers[i]);
   }
   for (int i = 0; i < 4; i++) {
      pthread_join(threads[i], NULL);
      assert_int_equal(workers[i].built, 5);
   }
   assert_true(children(list, 8) <= 2);
   rkb_compilers_close(pool);
}

/* Straight to the compiler, past the include policy: on a kernel with Landlock the files stay closed. */
static void the_sandbox_keeps_files_closed(void **state) {
   static const char *const secrets[] = {"#include \"/etc/passwd\"\n", "#include \"/proc/self/environ\"\n",
                                         "#include \"/dev/zero\"\n"};
   rkb_compilers_t *pool = fixture_pool(1, NULL);
   const char *layers;
   (void)state;
   must_compile(pool);
   layers = rkb_compilers_layers(pool);
   print_message("layers: %s\n", layers);
   for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++) {
      compile_output_t output;
      rkb_finding_t finding;
      rkb_error_t err = {0};
      if (!strstr(layers, " landlock")) {
         print_message("no Landlock in this kernel: the token policy is all there is\n");
         skip();
      }
      assert_int_equal(compile(pool, secrets[i], NULL, NULL, &output, &finding, &err), RKB_OK);
      assert_string_equal(finding.reason, "build.error");
      assert_null(memmem(output.log, output.log_bytes, "root:", 5));
      assert_non_null(memmem(output.log, output.log_bytes, "cannot open source file", 23));
      compile_output_free(&output);
   }
   must_compile(pool);
   rkb_compilers_close(pool);
}

/* Directly to the compiler: the time is always the same, whether its name is written or pasted together. */
static void every_hour_is_the_same(void **state) {
   static const char *const sources[] = {"__global__ void k(char *x) { x[0] = __DATE__[9]; }",
                                         "#define NAME(a, b) a##b\n__global__ void k(char *x) { x[0] = NAME(__DA, TE__)[9]; }"};
   rkb_compilers_t *pool = fixture_pool(1, NULL);
   (void)state;
   for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
      compile_output_t output;
      rkb_finding_t finding;
      rkb_error_t err = {0};
      assert_int_equal(compile(pool, sources[i], NULL, NULL, &output, &finding, &err), RKB_OK);
      assert_string_equal(finding.reason, "");
      assert_non_null(memmem(output.ptx, output.ptx_bytes, ", 48;", 5)); /* Jan  1 2000: the character 0 */
      compile_output_free(&output);
   }
   rkb_compilers_close(pool);
}

static void a_missing_toolkit_is_one_sentence(void **state) {
   rkb_compilers_t *pool;
   rkb_error_t err = {0};
   char version[16], path[256];
   (void)state;
   setenv("CUDA_HOME", "/nonexistent", 1);
   pool = fixture_pool(1, NULL);
   assert_int_equal(rkb_compilers_toolkit(pool, version, sizeof version, path, sizeof path, &err),
                    RKB_ERR_UNAVAILABLE);
   assert_non_null(strstr(err.message, "install the CUDA toolkit"));
   assert_non_null(strstr(err.message, "/nonexistent"));
   rkb_compilers_close(pool);
   unsetenv("CUDA_HOME");
   pool = fixture_pool(1, NULL);
   assert_int_equal(rkb_compilers_toolkit(pool, version, sizeof version, path, sizeof path, &err), RKB_OK);
   assert_non_null(strstr(path, "nvrtc"));
   rkb_compilers_close(pool);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_killed_process_is_replaced),   cmocka_unit_test(every_hour_is_the_same),
      cmocka_unit_test(memory_in_words_is_an_error),    cmocka_unit_test(a_kill_is_no_verdict),
#ifndef __SANITIZE_ADDRESS__
      cmocka_unit_test(a_crash_of_its_own_is_named),
#endif
      cmocka_unit_test(a_cancelled_compile_ends_soon),  cmocka_unit_test(threads_share_processes),
      cmocka_unit_test(the_sandbox_keeps_files_closed), cmocka_unit_test(a_missing_toolkit_is_one_sentence),
   };
   return RUN_TESTS(tests);
}
