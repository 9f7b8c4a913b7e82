/* Input values on the device, over the worker's protocol and sessions, with a substitute for the driver (driver_double.c).  Kept
 * values come back as long as they are undamaged, are dropped when the memory is needed, and are found only under their name. */
#include "check.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "device_values/value_staging.h"
#include "gpu/device_worker.h"
#include "gpu/devices.h"
#include "gpu/protocol.h"

enum { BYTES = 70001 }; /* no whole number of words */
static const uint64_t name_a[2] = {1, 2}, name_b[2] = {1, 3}, KEY = 0x0123456789abcdef;

static char cache[] = "/tmp/rkb-locks-XXXXXX", lock_path[128], next_path[136]; /* of the driver's double */

typedef struct place {
   rkb_devices_t *devices;
   rkb_session_t *session;
   char bytes[BYTES];
   uint64_t sum;
} place_t;

static void begin(place_t *p) {
   rkb_error_t err = {0};
   if (rkb_session_begin(p->devices, 0, NULL, NULL, &p->session, &err) != RKB_OK)
      fail_msg("%s", err.message);
}

static void again(place_t *p) {
   rkb_session_end(p->session);
   begin(p);
}

static int open_place(void **state) {
   place_t *p = calloc(1, sizeof *p);
   const char *const command[] = {"/usr/bin/env", "LD_PRELOAD=" RKB_DRIVER_DOUBLE, RKB_WORKER_PROGRAM, NULL};
   rkb_error_t err = {0};
   if (rkb_devices_open(command, 1, &p->devices, &err) != RKB_OK)
      fail_msg("%s", err.message);
   for (int i = 0; i < BYTES; i++)
      p->bytes[i] = (char)(i * 7 + i / 256);
   p->sum = keyed_sum(KEY, 0, p->bytes, BYTES);
   begin(p);
   *state = p;
   return 0;
}

static int close_place(void **state) {
   place_t *p = *state;
   rkb_session_end(p->session);
   rkb_devices_close(p->devices);
   free(p);
   return 0;
}

static void stage(place_t *p, uint32_t set, uint32_t tensor) {
   rkb_error_t err = {0};
   assert_int_equal(rkb_session_stage(p->session, set, tensor, BYTES, 0, p->bytes, BYTES, &err), RKB_OK);
}

static void keep(place_t *p, uint32_t set, uint32_t tensor, const uint64_t name[2]) {
   rkb_error_t err = {0};
   assert_int_equal(rkb_session_keep(p->session, set, tensor, name, &err), RKB_OK);
}

static bool take(place_t *p, uint32_t set, uint32_t tensor, const uint64_t name[2], uint64_t bytes,
                 uint64_t *sum) {
   rkb_error_t err = {0};
   bool there = false;
   assert_int_equal(rkb_session_take(p->session, set, tensor, name, bytes, KEY, &there, sum, &err), RKB_OK);
   return there;
}

/* A plan with one input, tensor 0, and one launch. */
static int open_plan(place_t *p, uint32_t number, const char *entry, uint64_t bytes, rkb_error_t *err) {
   rkb_finding_t finding = {0};
   rkb_plan_buffer_t buffer = {
      .name = "x", .role = RKB_IN, .dtype = RKB_U8, .alignment = 256, .bytes = bytes, .elements = bytes};
   rkb_plan_launch_t launch = {
      .expression = entry, .entry = entry, .grid = {1, 1, 1}, .block = {32, 1, 1}, .cluster = {1, 1, 1}};
   rkb_plan_t plan = {
      .version = 1, .buffer_count = 1, .launch_count = 1, .buffers = &buffer, .launches = &launch};
   return rkb_session_instance(p->session, number, 0, RKB_PLAIN, &plan, &finding, err);
}

static void load(place_t *p) {
   rkb_finding_t finding = {0};
   rkb_error_t err = {0};
   assert_int_equal(rkb_session_module(p->session, 0, "a module's bytes", 16, &finding, &err), RKB_OK);
}

static void run(place_t *p, const char *entry) {
   rkb_error_t err = {0};
   rkb_run_outcome_t outcome;
   load(p);
   if (open_plan(p, 0, entry, BYTES, &err) != RKB_OK)
      fail_msg("%s", err.message);
   assert_int_equal(rkb_session_run(p->session, 0, 0, 1000, &outcome, &err), RKB_OK);
   assert_int_equal(outcome.outcome, RKB_RAN_WELL);
}

static void the_device_adds_up_what_it_was_sent(void **state) {
   place_t *p = *state;
   rkb_error_t err = {0};
   uint64_t sum = 0;
   const uint32_t zero = 0;
   stage(p, 0, 0);
   run(p, "nothing");
   enum { MANY = RKB_WORKER_MAX_SUMS + 3 }; /* more than fit into one request */
   uint32_t buffers[MANY] = {0};
   uint64_t keys[MANY], found[MANY] = {0};
   for (uint64_t i = 0; i < MANY; i++)
      keys[i] = KEY + i;
   assert_int_equal(rkb_session_sums(p->session, 0, MANY, buffers, keys, found, &err), RKB_OK);
   for (uint64_t i = 0; i < MANY; i++)
      assert_true(found[i] == keyed_sum(KEY + i, 0, p->bytes, BYTES));
   assert_int_equal(rkb_session_sums(p->session, 0, 1, &zero, &KEY, &sum, &err), RKB_OK);
   assert_true(sum == p->sum);
   assert_int_equal(rkb_session_sums(p->session, 0, 1, &zero, &(uint64_t){KEY + 1}, &sum, &err), RKB_OK);
   assert_true(sum != p->sum);
   assert_int_not_equal(rkb_session_sums(p->session, 7, 1, &zero, &KEY, &sum, &err), RKB_OK);
}

static void pieces_add_up(void **state) {
   place_t *p = *state;
   assert_true(keyed_sum(KEY, 0, p->bytes, 4096) + keyed_sum(KEY, 1024, p->bytes + 4096, BYTES - 4096) ==
               p->sum);
   char two[8] = "abcdabcd", swapped[8] = "abcdabcd";
   swapped[0] = 'b', swapped[1] = 'a';
   assert_true(keyed_sum(KEY, 0, two, 8) != keyed_sum(KEY, 0, swapped, 8));
}

static void what_is_kept_comes_back(void **state) {
   place_t *p = *state;
   uint64_t sum = 0;
   assert_false(take(p, 0, 0, name_a, BYTES, &sum));
   stage(p, 0, 0);
   keep(p, 0, 0, name_a);
   again(p);
   assert_false(take(p, 0, 0, name_b, BYTES, &sum));
   assert_false(take(p, 0, 0, name_a, BYTES - 1, &sum));
   assert_true(take(p, 1, 3, name_a, BYTES, &sum));
   assert_true(sum == p->sum);
   assert_true(take(p, 0, 0, name_a, BYTES, &sum)); /* in two places at once */
   run(p, "nothing");
}

static void what_is_not_kept_is_gone(void **state) {
   place_t *p = *state;
   rkb_error_t err = {0};
   uint64_t sum = 0;
   stage(p, 0, 0);
   again(p);
   assert_int_not_equal(rkb_session_keep(p->session, 0, 0, name_a, &err), RKB_OK);
   assert_false(take(p, 0, 0, name_a, BYTES, &sum));
}

static void damage_shows_and_is_mended(void **state) {
   place_t *p = *state;
   uint64_t sum = 0;
   stage(p, 0, 0);
   keep(p, 0, 0, name_a);
   run(p, "scribble");
   again(p);
   assert_true(take(p, 0, 0, name_a, BYTES, &sum));
   assert_true(sum != p->sum);
   stage(p, 0, 0); /* as the caller then does */
   keep(p, 0, 0, name_a);
   again(p);
   assert_true(take(p, 0, 0, name_a, BYTES, &sum));
   assert_true(sum == p->sum);
}

static void staging_leaves_kept_values_alone(void **state) {
   place_t *p = *state;
   uint64_t sum = 0;
   stage(p, 0, 0);
   keep(p, 0, 0, name_a);
   p->bytes[5] ^= 1;
   stage(p, 0, 0);
   again(p);
   assert_true(take(p, 0, 0, name_a, BYTES, &sum));
   assert_true(sum == p->sum);
}

static void kept_values_go_when_memory_is_needed(void **state) {
   place_t *p = *state;
   rkb_error_t err = {0};
   uint64_t sum = 0;
   stage(p, 0, 0);
   keep(p, 0, 0, name_a);
   again(p);
   load(p);
   size_t bytes = 0;
   sscanf(strstr(rkb_devices_describe(p->devices), "free_bytes="), "free_bytes=%zu", &bytes);
   assert_int_equal(open_plan(p, 0, "nothing", bytes - BYTES / 2, &err), RKB_OK);
   assert_false(take(p, 0, 0, name_a, BYTES, &sum));
   assert_int_equal(open_plan(p, 1, "nothing", bytes, &err), RKB_ERR_LIMIT);
}

static void the_least_used_go_first(void **state) {
   place_t *p = *state;
   rkb_error_t err = {0};
   uint64_t sum = 0;
   for (uint64_t i = 0; i < 1100; i++) { /* more than are kept at once */
      stage(p, 0, 0);
      keep(p, 0, 0, (uint64_t[2]){9, i});
      assert_int_equal(rkb_session_drop(p->session, RKB_DROP_SET, 0, &err), RKB_OK);
      assert_true(take(p, 0, 0, (uint64_t[2]){9, 0}, BYTES, &sum));
   }
   assert_false(take(p, 0, 0, (uint64_t[2]){9, 1}, BYTES, &sum));
   assert_true(take(p, 0, 0, (uint64_t[2]){9, 1099}, BYTES, &sum));
}

static void a_fresh_worker_has_nothing(void **state) {
   place_t *p = *state;
   rkb_error_t err = {0};
   uint64_t sum = 0;
   stage(p, 0, 0);
   keep(p, 0, 0, name_a);
   for (int i = 0; i < 3; i++) { /* the spare, and the spares after it */
      assert_int_equal(rkb_session_restart(p->session, &err), RKB_OK);
      assert_false(take(p, 0, 0, name_a, BYTES, &sum));
   }
   stage(p, 0, 0);
   run(p, "nothing");
}

/* The spare starts while the first worker works.  If it fails, that costs one start and not the session. */
static void a_spare_that_does_not_start_is_replaced(void **state) {
   (void)state;
   char count[] = "/tmp/rkb-spare-XXXXXX", script[1024];
   assert_int_not_equal(mkstemp(count), -1);
   snprintf(script, sizeof script,
            "echo >>%s; test $(wc -l <%s) -eq 2 && exit 1; LD_PRELOAD=%s exec %s \"$0\"", count, count,
            RKB_DRIVER_DOUBLE, RKB_WORKER_PROGRAM);
   const char *const command[] = {"/bin/sh", "-c", script, NULL};
   place_t p = {0};
   rkb_error_t err = {0};
   if (rkb_devices_open(command, 1, &p.devices, &err) != RKB_OK)
      fail_msg("%s", err.message);
   begin(&p);
   rkb_turn_t nothing = {.instance = RKB_NO_INSTANCE};
   float took = 0;
   assert_int_equal(rkb_session_time(p.session, &nothing, 1, 1000, &took, &err),
                    RKB_OK); /* waits for the spare */
   assert_int_equal(rkb_session_restart(p.session, &err), RKB_OK);
   stage(&p, 0, 0);
   run(&p, "nothing");
   rkb_session_end(p.session);
   rkb_devices_close(p.devices);
   remove(count);
}

static void *begin_and_restart(void *argument) {
   place_t *p = argument;
   rkb_error_t err = {0};
   begin(p);
   assert_int_equal(rkb_session_restart(p->session, &err), RKB_OK);
   rkb_session_end(p->session);
   return NULL;
}

/* Workers belong to the program: a thread that started one may end. */
static void a_worker_outlives_the_thread_that_started_it(void **state) {
   place_t *p = *state;
   pthread_t thread;
   rkb_session_end(p->session);
   assert_int_equal(pthread_create(&thread, NULL, begin_and_restart, p), 0);
   pthread_join(thread, NULL);
   begin(p);
   stage(p, 0, 0);
   run(p, "nothing");
   rkb_error_t err = {0};
   assert_int_equal(rkb_session_restart(p->session, &err), RKB_OK); /* the spare lives too */
   stage(p, 0, 0);
   run(p, "nothing");
}

/* Killed, it leaves no worker behind: a process of ours tells the number of the worker it has started, and dies. */
static void a_worker_ends_with_its_program(void **state) {
   (void)state;
   const char *const command[] = {"/usr/bin/env", "LD_PRELOAD=" RKB_DRIVER_DOUBLE, RKB_WORKER_PROGRAM, "0",
                                  NULL};
   int told[2];
   pid_t worker = 0;
   assert_int_equal(pipe(told), 0);
   pid_t program = fork();
   if (program == 0) {
      rkb_device_worker_t started;
      rkb_error_t err;
      rkb_patience_t patience = {0};
      if (rkb_device_worker_start(&started, command, NULL, &patience, &err) != RKB_OK ||
          write(told[1], &started.child.pid, sizeof started.child.pid) != sizeof started.child.pid)
         _exit(1);
      raise(SIGKILL);
   }
   close(told[1]); /* or a program that could not start its worker, and tells nothing, would be waited for without end */
   assert_int_equal(read(told[0], &worker, sizeof worker), sizeof worker);
   waitpid(program, NULL, 0);
   for (int i = 0; i < 6000 && kill(worker, 0) == 0; i++) {
      char path[64], line[256] = "";
      snprintf(path, sizeof path, "/proc/%d/stat", (int)worker);
      FILE *file = fopen(path, "r");
      if (file && !fgets(line, sizeof line, file))
         line[0] = '\0';
      if (file)
         fclose(file);
      if (strstr(line, ") Z ")) /* nobody reaps orphans in some containers */
         return;
      usleep(50000);
   }
   assert_int_not_equal(kill(worker, 0), 0);
   close(told[0]);
}

/* CUDA_VISIBLE_DEVICES chooses for this program too; a device number is one of those. */
static void the_user_says_which_gpu(void **state) {
   const char *const command[] = {"/usr/bin/env", "LD_PRELOAD=" RKB_DRIVER_DOUBLE, RKB_WORKER_PROGRAM, NULL};
   rkb_devices_t *devices = NULL;
   rkb_error_t err = {0};
   (void)state;
   setenv("CUDA_VISIBLE_DEVICES", "3", 1);
   assert_int_equal(rkb_devices_open(command, 1, &devices, &err), RKB_OK);
   unsetenv("CUDA_VISIBLE_DEVICES");
   assert_non_null(strstr(rkb_devices_describe(devices), "bus=dddd:00:00.3\n"));
   rkb_devices_close(devices);
}

/* The user's own way to a worker, words separated by spaces; what cannot be started is said. */
static void the_user_says_how_to_reach_it(void **state) {
   rkb_devices_t *devices = NULL;
   rkb_error_t err = {0};
   (void)state;
   setenv("RKB_WORKER",
          "  /usr/bin/env LD_PRELOAD=" RKB_DRIVER_DOUBLE "  /usr/bin/env " RKB_WORKER_PROGRAM " ", 1);
   assert_int_equal(rkb_devices_open(NULL, 1, &devices, &err), RKB_OK);
   assert_non_null(strstr(rkb_devices_describe(devices), "bus=dddd:00:00.0\n"));
   rkb_devices_close(devices);
   setenv("RKB_WORKER", "/nowhere/ssh gpu-host rkb-worker", 1);
   assert_int_not_equal(rkb_devices_open(NULL, 1, &devices, &err), RKB_OK);
   assert_non_null(strstr(err.message, "/nowhere/ssh"));
   setenv("RKB_WORKER", " ", 1);
   assert_int_equal(rkb_devices_open(NULL, 1, &devices, &err), RKB_ERR_INVALID);
   unsetenv("RKB_WORKER");
}

static int pick(place_t *p, const rkb_range_t *ranges, uint32_t count, char *out) {
   rkb_error_t err = {0};
   return rkb_session_pick(p->session, 0, ranges, count, out, &err);
}

static void ranges_come_one_after_the_other(void **state) {
   enum { MANY = RKB_WORKER_MAX_RANGES + 100 };
   place_t *p = *state;
   const rkb_range_t few[] = {{0, 0, 100, 20}, {0, 0, 0, 3}, {0, 0, 7, 0}, {0, 0, BYTES - 5, 5}};
   const rkb_range_t past[] = {{0, 0, 0, 3}, {0, 0, BYTES - 5, 6}}, of_no_buffer[] = {{1, 0, 0, 1}};
   rkb_range_t *many = calloc(MANY, sizeof *many);
   char out[2 * MANY];
   stage(p, 0, 0);
   run(p, "nothing");
   assert_int_equal(pick(p, few, 4, out), RKB_OK);
   assert_memory_equal(out, p->bytes + 100, 20);
   assert_memory_equal(out + 20, p->bytes, 3);
   assert_memory_equal(out + 23, p->bytes + BYTES - 5, 5);
   assert_int_not_equal(pick(p, past, 2, out), RKB_OK);
   assert_int_not_equal(pick(p, of_no_buffer, 1, out), RKB_OK);
   for (uint32_t i = 0; i < MANY; i++)
      many[i] = (rkb_range_t){.offset = 3 * i, .bytes = 2};
   assert_int_equal(pick(p, many, MANY, out), RKB_OK);
   for (uint32_t i = 0; i < MANY; i++)
      assert_memory_equal(out + (size_t)2 * i, p->bytes + (size_t)3 * i, 2);
   free(many);
}

/* A program that takes the device again as soon as it has released it, with the same lock; counts its
 * turns. */
typedef struct greedy {
   pthread_t thread;
   volatile int turns, ending;
   volatile bool alone; /* nobody stood in the turnstile while it held the device */
} greedy_t;

/* The one that waits for the device holds the second lock. */
static bool somebody_waits(void) {
   int next = open(next_path, O_RDWR | O_CREAT, 0666);
   bool waits = flock(next, LOCK_EX | LOCK_NB) != 0;
   close(next);
   return waits;
}

static void *take_turns(void *argument) {
   greedy_t *g = argument;
   while (!g->ending) {
      int next = open(next_path, O_RDWR | O_CREAT, 0666), file = open(lock_path, O_RDWR | O_CREAT, 0666);
      while (flock(next, LOCK_EX | LOCK_NB) != 0)
         usleep(1000);
      while (flock(file, LOCK_EX | LOCK_NB) != 0)
         usleep(1000);
      close(next);
      g->turns++;
      for (int looks = 0; !g->ending && !g->alone && !somebody_waits(); looks++) {
         usleep(1000);
         g->alone = looks > 30000;
      }
      close(file);
      if (g->alone)
         break;
   }
   return NULL;
}

static void one_who_waits_comes_before_one_who_comes_again(void **state) {
   place_t *p = *state;
   greedy_t greedy = {0};
   rkb_error_t err = {0};
   rkb_session_end(p->session);
   p->session = NULL;
   assert_int_equal(pthread_create(&greedy.thread, NULL, take_turns, &greedy), 0);
   while (!greedy.turns)
      usleep(1000);
   for (int i = 0; i < 5; i++) {
      const int before = greedy.turns;
      struct timespec now;
      clock_gettime(CLOCK_MONOTONIC, &now);
      const uint64_t deadline = ((uint64_t)now.tv_sec + 600) * 1000000000u;
      if (rkb_session_begin(p->devices, deadline, NULL, NULL, &p->session, &err) != RKB_OK)
         fail_msg("%s", err.message);
      assert_in_range(greedy.turns - before, 0, 1);
      rkb_session_end(p->session);
      p->session = NULL;
   }
   greedy.ending = 1;
   pthread_join(greedy.thread, NULL);
   assert_false(greedy.alone);
}

#define PLACED(test) cmocka_unit_test_setup_teardown(test, open_place, close_place)

static int use_a_folder(void **state) {
   (void)state;
   if (!mkdtemp(cache) || setenv("XDG_CACHE_HOME", cache, 1) != 0)
      return -1;
   snprintf(lock_path, sizeof lock_path, "%s/rkb/locks/gpu-dddd:00:00.0.lock", cache);
   snprintf(next_path, sizeof next_path, "%s.next", lock_path);
   return 0;
}

static int remove_folder(void **state) {
   char command[128];
   (void)state;
   snprintf(command, sizeof command, "rm -rf %s", cache);
   return system(command);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      PLACED(the_device_adds_up_what_it_was_sent),
      PLACED(pieces_add_up),
      PLACED(what_is_kept_comes_back),
      PLACED(what_is_not_kept_is_gone),
      PLACED(damage_shows_and_is_mended),
      PLACED(staging_leaves_kept_values_alone),
      PLACED(kept_values_go_when_memory_is_needed),
      PLACED(the_least_used_go_first),
      PLACED(a_fresh_worker_has_nothing),
      PLACED(a_worker_outlives_the_thread_that_started_it),
      PLACED(ranges_come_one_after_the_other),
      PLACED(one_who_waits_comes_before_one_who_comes_again),
      cmocka_unit_test(a_worker_ends_with_its_program),
      cmocka_unit_test(the_user_says_which_gpu),
      cmocka_unit_test(the_user_says_how_to_reach_it),
      cmocka_unit_test(a_spare_that_does_not_start_is_replaced),
   };
   return cmocka_run_group_tests(tests, use_a_folder, remove_folder);
}
