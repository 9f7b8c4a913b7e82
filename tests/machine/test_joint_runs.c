/* Runs that follow another one leave what runs of their own would: outputs and their doubles bit for bit, for every file of
 * following/ and the kernels of the benchmark, in the first run and in later ones, with the code of both instruction sets, with doubles and without.  A
 * file's directive 'follows' says whether they follow: yes, no, or in the first run alone, where that has to find out that there
 * is nothing to follow in.  'environment' says in which (environment.h); in 1, 5 and 9 buffers lie close together. */
#include "machine_harness.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#ifdef MACHINE_PORTABLE_ALONE
#define ONLY_PORTABLE 1
#else
#define ONLY_PORTABLE 0
#endif
#define SETS 3
#define ALL (RKB_MACHINE_RACES | RKB_MACHINE_SHADOW | RKB_MACHINE_TAINT)

typedef struct set {
   rkb_machine_buffer_t buffers[HARNESS_MOST];
} set_t;

static bool fill(harness_t *harness, uint32_t run, set_t *set) {
   harness_fill(harness, run);
   for (uint32_t n = 0; n < harness->plan.buffer_count; n++) {
      const size_t bytes = harness->plan.buffers[n].bytes;
      set->buffers[n].defined = harness->data[n].defined;
      if (!set->buffers[n].data)
         set->buffers[n].data = malloc(bytes + 1);
      if (!set->buffers[n].data)
         return false;
      memcpy(set->buffers[n].data, harness->data[n].data, bytes);
   }
   return true;
}

static void release(set_t *sets) {
   for (int s = 0; s < SETS; s++)
      for (int n = 0; n < HARNESS_MOST; n++)
         free(sets[s].buffers[n].data);
}

/* A run of its own on a machine of its own. */
static bool same_as_alone(harness_t *harness, const rkb_machine_options_t *options, uint32_t run,
                          rkb_machine_t *machine, uint32_t number, const set_t *set) {
   rkb_machine_t *alone = NULL;
   rkb_error_t err;
   set_t own = {0};
   uint64_t work;
   bool same = fill(harness, run, &own) &&
               rkb_machine_open(harness->module, &harness->plan, options, &alone, &err) == RKB_OK &&
               rkb_machine_run(alone, own.buffers, &err) == RKB_OK;
   if (same)
      rkb_machine_take(machine, number, &work);
   for (uint32_t n = 0; same && n < harness->plan.buffer_count; n++) {
      const size_t bytes = harness->plan.buffers[n].bytes;
      double *a = malloc(2 * bytes + 16), *b = malloc(2 * bytes + 16);
      same = a && b && memcmp(own.buffers[n].data, set->buffers[n].data, bytes) == 0;
      if (same) {
         rkb_machine_shadow(alone, n, a);
         rkb_machine_shadow(machine, n, b);
         same = memcmp(a, b, bytes / 4 * sizeof *a) == 0;
      }
      if (!same)
         print_error("run %u: %s differs\n", run, harness->plan.buffers[n].name);
      free(a);
      free(b);
   }
   rkb_machine_close(alone);
   for (int n = 0; n < HARNESS_MOST; n++)
      free(own.buffers[n].data);
   return same;
}

/* Twice: inputs that are new to the machine, and more of them when it knows what they steer. */
static bool follow(harness_t *harness, uint32_t checks, bool portable, uint64_t environment,
                   const char *wanted) {
   const rkb_machine_options_t options = {
      .checks = checks, .hang_limit = 100000000, .portable = portable, .environment = environment};
   rkb_machine_t *machine = NULL;
   rkb_error_t err;
   set_t sets[SETS] = {0};
   const rkb_machine_buffer_t *list[SETS];
   bool good = rkb_machine_open(harness->module, &harness->plan, &options, &machine, &err) == RKB_OK;
   for (uint32_t turn = 0; turn < 2 && good; turn++) {
      bool followed = false;
      for (uint32_t s = 0; s < SETS && good; s++) {
         good = fill(harness, turn * SETS + s, &sets[s]);
         list[s] = sets[s].buffers;
      }
      good = good && rkb_machine_run_together(machine, list, SETS, &followed, &err) == RKB_OK;
      const bool should = strncmp(wanted, "yes", 3) == 0 || (turn == 0 && strncmp(wanted, "first", 5) == 0);
      if (good && followed != should)
         print_error("turn %u: %s\n", turn, followed ? "followed" : "did not follow");
      good = good && followed == should;
      for (uint32_t s = 0; s < SETS && good && followed; s++)
         good = same_as_alone(harness, &options, turn * SETS + s, machine, s, &sets[s]);
   }
   rkb_machine_close(machine);
   release(sets);
   return good;
}

static bool check(const char *path, const char *source, const char *ptx, const char *wanted) {
   char message[2048] = "", verdict[128], *text = NULL;
   bool good = false;
   harness_t harness;
   if (!ptx || !harness_open(&harness, source, ptx, message, sizeof message)) {
      print_error("%s: %s\n", path, message);
      return false;
   }
   const char *named = strstr(source, "// environment: ");
   const uint64_t environment = named ? strtoull(named + strlen("// environment: "), NULL, 10) : 0;
   const rkb_machine_options_t options = {.checks = ALL, .hang_limit = 100000000, .environment = environment};
   harness_judge(&harness, &options, verdict, sizeof verdict, &text);
   good = strcmp(verdict, harness.expect) == 0;
   if (!good)
      print_error("found '%s', wanted '%s'\n%s", verdict, harness.expect, text ? text : "");
   for (int portable = ONLY_PORTABLE; portable < 2 && good; portable++)
      good = follow(&harness, ALL, portable, environment, wanted) &&
             follow(&harness, ALL & ~RKB_MACHINE_SHADOW, portable, environment, wanted);
   if (!good)
      print_error("%s: wrong\n", path);
   free(text);
   harness_close(&harness);
   return good;
}

static void every_file(void **state) {
   (void)state;
   struct dirent **entries;
   int count = scandir(RKB_SOURCE_DIR "/tests/machine/following", &entries, NULL, alphasort), files = 0,
       wrong = 0;
   for (int n = 0; n < count; n++) {
      char path[1024], message[2048] = "";
      snprintf(path, sizeof path, RKB_SOURCE_DIR "/tests/machine/following/%s", entries[n]->d_name);
      if (strstr(entries[n]->d_name, ".cu")) {
         char *source = harness_read_file(path);
         char *ptx = source ? harness_compile(source, NULL, message, sizeof message) : NULL;
         if (!ptx)
            print_error("%s: %s\n", path, message);
         files++;
         const char *follows = source ? strstr(source, "// follows: ") : NULL;
         wrong += !check(path, source, ptx, follows ? follows + strlen("// follows: ") : "");
         free(ptx);
         free(source);
      }
      free(entries[n]);
   }
   if (count >= 0)
      free(entries);
   assert_true(files > 0);
   assert_int_equal(wrong, 0);
}

static void benchmark_kernels(void **state) {
   (void)state;
   static const char *const names[] = {"matmul", "layernorm", "gemm_bf16"};
   if (ONLY_PORTABLE) /* a build with the sanitizers: they take a minute there, and the files of following/ go the same ways */
      skip();
   for (int n = 0; n < 3; n++) {
      char path[512];
      snprintf(path, sizeof path, RKB_SOURCE_DIR "/tests/machine/kernels/%s.cu", names[n]);
      char *source = harness_read_file(path);
      snprintf(path, sizeof path, RKB_SOURCE_DIR "/tests/machine/kernels/%s.ptx", names[n]);
      char *ptx = harness_read_file(path);
      assert_true(source && check(path, source, ptx, "yes"));
      free(ptx);
      free(source);
   }
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(every_file), cmocka_unit_test(benchmark_kernels)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
