/* What a profiler in the worker sees, over the worker's protocol and sessions.  The driver, CUPTI and NVML
 * have no device (driver_double.c, cupti_double.c, nvml_double.c): their numbers are made up, but the path of
 * the numbers is the real one. */
#include "check.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "gpu/devices.h"
#include "gpu/protocol.h"

enum { BYTES = 4096, LAUNCHES = 2 };
#define PRELOADED "LD_PRELOAD=" RKB_DRIVER_DOUBLE ":" RKB_CUPTI_DOUBLE ":" RKB_NVML_DOUBLE
/* Under the address sanitizer, the shells that stand in for tools load its library too; their leaks do not
 * count. */
#define QUIET "ASAN_OPTIONS=detect_leaks=0"

static char cache[] = "/tmp/rkb-observation-XXXXXX";

typedef struct place {
   rkb_devices_t *devices;
   rkb_session_t *session;
} place_t;

static void open_devices(place_t *p, const char *cupti, const char *energy) {
   char first[64], second[64];
   snprintf(first, sizeof first, "RKB_DOUBLE_CUPTI=%s", cupti);
   snprintf(second, sizeof second, "RKB_DOUBLE_ENERGY=%s", energy);
   const char *const command[] = {"/usr/bin/env", PRELOADED, QUIET, first, second, RKB_WORKER_PROGRAM, NULL};
   rkb_error_t err = {0};
   if (rkb_devices_open(command, 1, &p->devices, &err) != RKB_OK)
      fail_msg("%s", err.message);
}

/* A plan with one input and two launches, as instance 0 of the session. */
static void load_plan(place_t *p, uint32_t placement) {
   static char bytes[BYTES];
   rkb_finding_t finding = {0};
   rkb_error_t err = {0};
   rkb_plan_buffer_t buffer = {
      .name = "x", .role = RKB_IN, .dtype = RKB_U8, .alignment = 256, .bytes = BYTES, .elements = BYTES};
   rkb_plan_launch_t launches[LAUNCHES];
   for (int i = 0; i < LAUNCHES; i++)
      launches[i] = (rkb_plan_launch_t){
         .expression = "nothing", .entry = "nothing", .grid = {1, 1, 1}, .block = {32, 1, 1}, .cluster = {1, 1, 1}};
   rkb_plan_t plan = {.version = 1, .buffer_count = 1, .launch_count = LAUNCHES, .buffers = &buffer, .launches = launches};
   if (rkb_session_stage(p->session, 0, 0, BYTES, 0, bytes, BYTES, &err) != RKB_OK ||
       rkb_session_module(p->session, 0, "a module's bytes", 16, &finding, &err) != RKB_OK ||
       rkb_session_instance(p->session, 0, 0, placement, &plan, &finding, &err) != RKB_OK)
      fail_msg("%s", err.message);
}

static void begin(place_t *p, const char *cupti, const char *energy) {
   rkb_error_t err = {0};
   open_devices(p, cupti, energy);
   if (rkb_session_begin(p->devices, 0, NULL, NULL, &p->session, &err) != RKB_OK)
      fail_msg("%s", err.message);
   load_plan(p, RKB_PLAIN);
}

static void end(place_t *p) {
   rkb_session_end(p->session);
   rkb_devices_close(p->devices);
}

static void counters_come_launch_by_launch(void **state) {
   static const char *const names[] = {"gpu__time_duration.sum", "sm__inst_executed_pipe_fp16.sum", "a", "b"};
   double values[LAUNCHES * 4];
   rkb_observation_t seen;
   rkb_error_t err = {0};
   place_t p = {0};
   (void)state;
   begin(&p, "counters", "none");
   assert_int_equal(rkb_session_observe(p.session, 0, 0, names, 4, 1000, &seen, values, &err), RKB_OK);
   assert_int_equal(seen.observed, RKB_OBSERVED);
   assert_int_equal(seen.passes, 3);
   for (int launch = 0; launch < LAUNCHES; launch++) {
      const double *v = values + launch * 4;
      assert_true(v[0] == 1000 * (launch + 1));
      assert_true(isnan(v[1])); /* the chip has no such metric, and the others are not lost with it */
      assert_true(v[2] == 10 + launch && v[3] == 20 + launch);
   }
   end(&p);
}

static void no_permission_leaves_activity(void **state) {
   static const char *const names[] = {"gpu__time_duration.sum"};
   double values[LAUNCHES * RKB_ACTIVITY_COUNT];
   rkb_observation_t seen;
   rkb_error_t err = {0};
   place_t p = {0};
   (void)state;
   begin(&p, "forbidden", "none");
   assert_int_equal(rkb_session_observe(p.session, 0, 0, names, 1, 1000, &seen, values, &err), RKB_OK);
   assert_int_equal(seen.observed, RKB_OBSERVED_FORBIDDEN);
   assert_non_null(strstr(seen.message, "NVreg_RestrictProfilingToAdminUsers"));
   assert_true(isnan(values[0]));
   assert_int_equal(rkb_session_observe(p.session, 0, 0, NULL, 0, 1000, &seen, values, &err), RKB_OK);
   assert_int_equal(seen.observed, RKB_OBSERVED);
   for (int launch = 0; launch < LAUNCHES; launch++) {
      const double *v = values + launch * RKB_ACTIVITY_COUNT;
      assert_true(v[RKB_ACTIVITY_TIME] == 500 + launch && v[RKB_ACTIVITY_THREAD_REGISTERS] == 32 + launch &&
                  v[RKB_ACTIVITY_BLOCK_DYNAMIC] == 64);
   }
   end(&p);
}

static void without_a_profiler_the_reason_is_said(void **state) {
   double values[LAUNCHES * RKB_ACTIVITY_COUNT];
   rkb_observation_t seen;
   rkb_error_t err = {0};
   place_t p = {0};
   (void)state;
   begin(&p, "nothing", "none");
   assert_int_equal(rkb_session_observe(p.session, 0, 0, NULL, 0, 1000, &seen, values, &err), RKB_OK);
   assert_int_equal(seen.observed, RKB_OBSERVED_MISSING);
   assert_true(seen.message[0] && isnan(values[0]));
   end(&p);
}

/* Afterwards CUPTI is in the process, so the next session has another. */
static void the_next_session_has_a_fresh_worker(void **state) {
   double values[LAUNCHES * RKB_ACTIVITY_COUNT];
   rkb_observation_t seen;
   rkb_error_t err = {0};
   place_t p = {0};
   (void)state;
   begin(&p, "counters", "none");
   assert_int_equal(rkb_session_observe(p.session, 0, 0, NULL, 0, 1000, &seen, values, &err), RKB_OK);
   const uint64_t name[2] = {1, 2};
   assert_int_equal(rkb_session_keep(p.session, 0, 0, name, &err), RKB_OK);
   rkb_session_end(p.session);
   assert_int_equal(rkb_session_begin(p.devices, 0, NULL, NULL, &p.session, &err), RKB_OK);
   bool there = true;
   uint64_t sum;
   assert_int_equal(rkb_session_take(p.session, 0, 0, name, BYTES, 1, &there, &sum, &err), RKB_OK);
   assert_false(there);
   end(&p);
}

static void energy_is_counted_between_steps(void **state) {
   const rkb_energy_rounds_t rounds = {.run = true, .rounds = 3, .least_ms = 1, .deadline_ms = 1000};
   rkb_energy_spent_t spent[3];
   rkb_error_t err = {0};
   bool counted = false;
   place_t p = {0};
   (void)state;
   begin(&p, "nothing", "steps");
   if (rkb_session_energy(p.session, 0, 0, &rounds, spent, &counted, &err) != RKB_OK)
      fail_msg("%s", err.message);
   assert_true(counted);
   for (int i = 0; i < 3; i++)
      assert_true(spent[i].millijoules >= 1 && spent[i].runs > 0 &&
                  spent[i].nanoseconds >= 1000000);
   end(&p);
   begin(&p, "nothing", "none");
   assert_int_equal(rkb_session_energy(p.session, 0, 0, &rounds, spent, &counted, &err), RKB_OK);
   assert_false(counted);
   assert_non_null(strstr(err.message, "no energy"));
   end(&p);
}

static void nonsense_is_refused(void **state) {
   const rkb_energy_rounds_t none = {.rounds = 1, .least_ms = 1, .deadline_ms = 1000}; /* neither prepares nor runs */
   static const char *const empty[] = {"a"};
   double values[4];
   rkb_observation_t seen;
   rkb_energy_spent_t spent;
   rkb_error_t err = {0};
   bool counted;
   place_t p = {0};
   (void)state;
   begin(&p, "counters", "steps");
   assert_int_not_equal(rkb_session_energy(p.session, 0, 0, &none, &spent, &counted, &err), RKB_OK);
   assert_int_not_equal(rkb_session_observe(p.session, 7, 0, empty, 1, 1000, &seen, values, &err), RKB_OK);
   assert_int_not_equal(rkb_session_observe(p.session, 0, 0, empty, RKB_WORKER_MAX_METRICS + 1, 1000, &seen, values, &err), RKB_OK);
   end(&p);
}

/* The tool: a shell that says something, starts the worker, and says something when it ends. */
static void a_tool_starts_the_worker_and_reports(void **state) {
   static const char *const words[] = {"/bin/sh", "-c", "echo before >&2; \"$0\" \"$@\"; echo after >&2", NULL};
   rkb_error_t err = {0};
   rkb_run_outcome_t outcome;
   char *report = NULL;
   size_t bytes = 0;
   place_t p = {0};
   (void)state;
   open_devices(&p, "nothing", "none");
   if (rkb_session_begin_under(p.devices, words, 0, NULL, NULL, &p.session, &err) != RKB_OK)
      fail_msg("%s", err.message);
   load_plan(&p, RKB_UNTOUCHED);
   assert_int_equal(rkb_session_run(p.session, 0, 0, 1000, &outcome, &err), RKB_OK);
   assert_int_equal(outcome.outcome, RKB_RAN_WELL);
   assert_int_equal(rkb_session_report(p.session, &report, &bytes, &err), RKB_OK);
   assert_int_equal(bytes, strlen("before\nafter\n"));
   assert_string_equal(report, "before\nafter\n");
   free(report);
   assert_int_not_equal(rkb_session_run(p.session, 0, 0, 1000, &outcome, &err), RKB_OK);
   rkb_session_end(p.session);
   /* The device's own worker is as it was. */
   assert_int_equal(rkb_session_begin(p.devices, 0, NULL, NULL, &p.session, &err), RKB_OK);
   load_plan(&p, RKB_PLAIN);
   end(&p);
}

static void a_tool_that_cannot_start_is_quoted(void **state) {
   static const char *const words[] = {"/bin/sh", "-c", "echo Device not supported >&2; exit 9", NULL};
   static const char *const missing[] = {"/nowhere/ncu", NULL};
   rkb_error_t err = {0};
   place_t p = {0};
   (void)state;
   open_devices(&p, "nothing", "none");
   assert_int_equal(rkb_session_begin_under(p.devices, words, 0, NULL, NULL, &p.session, &err), RKB_ERR_UNAVAILABLE);
   assert_non_null(strstr(err.message, "Device not supported"));
   assert_int_equal(rkb_session_begin_under(p.devices, missing, 0, NULL, NULL, &p.session, &err), RKB_ERR_UNAVAILABLE);
   rkb_devices_close(p.devices);
}

/* A tool that writes more than a pipe holds is not blocked, and there is a limit to what is kept of its
 * output. */
static void a_talkative_tool_is_cut(void **state) {
   static const char *const words[] = {"/bin/sh", "-c", "\"$0\" \"$@\"; head -c 12000000 /dev/zero | tr '\\0' x >&2", NULL};
   rkb_error_t err = {0};
   char *report = NULL;
   size_t bytes = 0;
   place_t p = {0};
   (void)state;
   open_devices(&p, "nothing", "none");
   assert_int_equal(rkb_session_begin_under(p.devices, words, 0, NULL, NULL, &p.session, &err), RKB_OK);
   assert_int_equal(rkb_session_report(p.session, &report, &bytes, &err), RKB_OK);
   assert_true(bytes > 1 << 20 && bytes <= 8 << 20);
   free(report);
   end(&p);
}

static int make_cache(void **state) {
   (void)state;
   return mkdtemp(cache) && setenv("XDG_CACHE_HOME", cache, 1) == 0 ? 0 : -1;
}

static int remove_cache(void **state) {
   char command[128];
   (void)state;
   snprintf(command, sizeof command, "rm -rf %s", cache);
   return system(command) == 0 ? 0 : -1;
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(counters_come_launch_by_launch),
      cmocka_unit_test(no_permission_leaves_activity),
      cmocka_unit_test(without_a_profiler_the_reason_is_said),
      cmocka_unit_test(the_next_session_has_a_fresh_worker),
      cmocka_unit_test(energy_is_counted_between_steps),
      cmocka_unit_test(nonsense_is_refused),
      cmocka_unit_test(a_tool_starts_the_worker_and_reports),
      cmocka_unit_test(a_tool_that_cannot_start_is_quoted),
      cmocka_unit_test(a_talkative_tool_is_cut),
   };
   return cmocka_run_group_tests(tests, make_cache, remove_cache);
}
