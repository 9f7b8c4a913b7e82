/* A timed run finds nothing that an earlier run left, over a driver that has no device (driver_double.c). */
#include "check.h"
#include <stdlib.h>
#include <string.h>
#include "cubin_double.h"
#include "gpu/device_worker.h"
#include "gpu/devices.h"
#include "gpu/protocol.h"

enum { IN, OUT, KEPT, BUFFERS };
/* What the kernel found: its counts in variables of the module after it added one, and the first word of scratch. */
typedef struct found {
   uint32_t launches, turns, started, kept;
} found_t;

typedef struct place {
   rkb_devices_t *devices;
   rkb_session_t *session;
} place_t;

static void open_plan(place_t *p, uint32_t number, uint32_t fill) {
   static const rkb_plan_argument_t arguments[] = {{.buffer = KEPT, .offset = 0, .bytes = 8},
                                                   {.buffer = OUT, .offset = 8, .bytes = 8}};
   rkb_plan_buffer_t buffers[BUFFERS] = {
      [IN] = {.name = "x", .role = RKB_IN, .tensor = IN},
      [OUT] = {.name = "y", .role = RKB_OUT, .tensor = OUT},
      [KEPT] = {.name = "kept", .tensor = UINT32_MAX, .fill = fill, .fill_value = 7}};
   for (int i = 0; i < BUFFERS; i++) {
      buffers[i].dtype = RKB_I32;
      buffers[i].alignment = 256;
      buffers[i].bytes = sizeof(found_t);
      buffers[i].elements = sizeof(found_t) / 4;
   }
   rkb_plan_launch_t launch = {.expression = "remembers",
                               .entry = "remembers",
                               .grid = {1, 1, 1},
                               .block = {32, 1, 1},
                               .cluster = {1, 1, 1},
                               .argument_count = 2,
                               .parameter_bytes = 16,
                               .arguments = arguments};
   rkb_plan_t plan = {
      .version = 1, .buffer_count = BUFFERS, .launch_count = 1, .buffers = buffers, .launches = &launch};
   rkb_finding_t finding = {0};
   rkb_error_t err = {0};
   if (rkb_session_instance(p->session, number, 0, RKB_PLAIN, &plan, &finding, &err) != RKB_OK)
      fail_msg("%s", err.message);
   assert_string_equal(finding.message, "");
}

static int open_place(void **state) {
   place_t *p = calloc(1, sizeof *p);
   const char *const command[] = {"/usr/bin/env", "LD_PRELOAD=" RKB_DRIVER_DOUBLE, RKB_WORKER_PROGRAM, NULL};
   const cubin_t cubin = cubin_of_double();
   const char input[sizeof(found_t)] = {0};
   rkb_finding_t finding = {0};
   rkb_error_t err = {0};
   if (rkb_devices_open(command, 1, &p->devices, &err) != RKB_OK ||
       rkb_session_begin(p->devices, 0, NULL, NULL, &p->session, &err) != RKB_OK ||
       rkb_session_module(p->session, 0, &cubin, sizeof cubin, &finding, &err) != RKB_OK ||
       rkb_session_stage(p->session, 0, IN, sizeof input, 0, input, sizeof input, &err) != RKB_OK)
      fail_msg("%s", err.message);
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

static found_t found_by(place_t *p, uint32_t number) {
   found_t found;
   rkb_error_t err = {0};
   assert_int_equal(rkb_session_read(p->session, number, OUT, 0, sizeof found, &found, &err), RKB_OK);
   return found;
}

static void time_turns(place_t *p, const rkb_turn_t *turns, uint32_t count) {
   rkb_error_t err = {0};
   float times[16];
   if (rkb_session_time(p->session, turns, count, 1000, times, &err) != RKB_OK)
      fail_msg("%s", err.message);
}

static bool is_poison(uint32_t word) {
   return word == 0xffffffff || word == 0xfefefefe || word == 0xfdfdfdfd || word == 0xfbfbfbfb;
}

static void assert_fresh(found_t found) {
   assert_int_equal(found.launches, 1);
   assert_int_equal(found.turns, 1);
   assert_int_equal(found.started, 41);
   assert_true(is_poison(found.kept));
}

/* A check shows what a kernel keeps; so it resets nothing. */
static void a_checked_run_finds_what_the_run_before_left(void **state) {
   place_t *p = *state;
   rkb_run_outcome_t outcome;
   rkb_error_t err = {0};
   open_plan(p, 0, RKB_FILL_NONE);
   for (uint32_t i = 1; i <= 3; i++) {
      assert_int_equal(rkb_session_run(p->session, 0, 0, 1000, &outcome, &err), RKB_OK);
      const found_t found = found_by(p, 0);
      assert_int_equal(found.launches, i);
      assert_int_equal(found.turns, i);
      assert_int_equal(found.started, 40 + i);
      assert_int_equal(found.kept, i == 1 ? 0xffffffff : 0x600d);
   }
   time_turns(p, (rkb_turn_t[]){{.instance = 0}}, 1);
   assert_fresh(found_by(p, 0));
}

static void a_timed_run_finds_what_loading_left(void **state) {
   place_t *p = *state;
   const rkb_turn_t turns[] = {{.instance = 0}, {.instance = 1, .warm = 1},
                               {.instance = 1}, {.instance = 0, .warm = 1},
                               {.instance = 0}, {.instance = 1, .warm = 1}};
   open_plan(p, 0, RKB_FILL_NONE);
   open_plan(p, 1, RKB_FILL_NONE);
   for (uint32_t count = 1; count <= 6; count++) {
      time_turns(p, turns, count);
      assert_fresh(found_by(p, turns[count - 1].instance));
   }
}

/* No run finds the poison of the run before, and every poison comes. */
static void poison_changes_from_run_to_run(void **state) {
   place_t *p = *state;
   uint32_t before = 0, steps[4] = {0};
   open_plan(p, 0, RKB_FILL_NONE);
   for (uint32_t i = 0; i < 60; i++) {
      rkb_turn_t turns[3] = {{.set = 0}, {.set = 0, .warm = i & 1}, {.set = 0, .warm = i >> 1 & 1}};
      time_turns(p, turns, 1 + i % 3);
      const uint32_t kept = found_by(p, 0).kept;
      assert_true(is_poison(kept));
      steps[kept == 0xffffffff ? 0 : kept == 0xfefefefe ? 1 : kept == 0xfdfdfdfd ? 2 : 3]++;
      if (i % 3 == 0 && i > 0) /* a single cold turn, so scratch was poisoned once since the last reading */
         assert_true(kept != before);
      before = kept;
   }
   for (int i = 0; i < 4; i++)
      assert_true(steps[i] > 0);
}

static void a_fill_stays_as_it_is(void **state) {
   place_t *p = *state;
   open_plan(p, 0, RKB_FILL_VALUE);
   time_turns(p, (rkb_turn_t[]){{.instance = 0, .warm = 1}, {.instance = 0}}, 2);
   assert_int_equal(found_by(p, 0).kept, 7);
}

static void assert_refused(place_t *p, const void *cubin, size_t bytes, int status, const char *words) {
   rkb_finding_t finding = {0};
   rkb_error_t err = {0};
   assert_int_equal(rkb_session_module(p->session, 1, cubin, bytes, &finding, &err), status);
   assert_non_null(strstr(status == RKB_OK ? finding.message : err.message, words));
}

static void a_variable_that_the_driver_does_not_find_is_named(void **state) {
   cubin_t cubin = cubin_of_double();
   memcpy(strstr(cubin.symbol_names + 1, "launches"), "nowhere", sizeof "nowhere");
   assert_refused(*state, &cubin, sizeof cubin, RKB_ERR_UNAVAILABLE, "'nowhere'");
}

static void too_many_variables_are_refused(void **state) {
   enum { THERE = 4097 };
   struct {
      cubin_t cubin;
      Elf64_Sym symbols[THERE];
   } *large = calloc(1, sizeof *large);
   large->cubin = cubin_of_double();
   for (int i = 0; i < THERE; i++)
      large->symbols[i] = large->cubin.symbols[1];
   large->cubin.sections[SYMBOLS].sh_offset = sizeof large->cubin;
   large->cubin.sections[SYMBOLS].sh_size = sizeof large->symbols;
   assert_refused(*state, large, sizeof *large, RKB_OK, "4097 variables");
   free(large);
}

#define PLACED(test) cmocka_unit_test_setup_teardown(test, open_place, close_place)

int main(void) {
   const struct CMUnitTest tests[] = {PLACED(a_checked_run_finds_what_the_run_before_left),
                                      PLACED(a_timed_run_finds_what_loading_left),
                                      PLACED(poison_changes_from_run_to_run),
                                      PLACED(a_fill_stays_as_it_is),
                                      PLACED(a_variable_that_the_driver_does_not_find_is_named),
                                      PLACED(too_many_variables_are_refused)};
   char cache[] = "/tmp/rkb-locks-XXXXXX", command[sizeof cache + 16];
   if (!mkdtemp(cache) || setenv("XDG_CACHE_HOME", cache, 1) != 0)
      return 1;
   const int failed = cmocka_run_group_tests(tests, NULL, NULL);
   snprintf(command, sizeof command, "rm -rf %s", cache);
   return system(command) == 0 ? failed : 1;
}
