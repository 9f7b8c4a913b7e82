/* Every timed run has inputs that no other run has, over a driver that has no device (driver_double.c). */
#include "check.h"
#include <stdlib.h>
#include <string.h>
#include "cubin_double.h"
#include "gpu/devices.h"
#include "gpu/protocol.h"
#include "mixed_pieces.h"

enum { LARGE, SMALL, SCALAR, INDICES, OUT, BUFFERS, ELEMENTS = 16 * 1024 + 3, SETS = 2, MOST_TURNS = 512 };
static const uint32_t elements[BUFFERS] = {ELEMENTS, 9, 1, 40, ELEMENTS};

typedef struct place {
   rkb_devices_t *devices;
   rkb_session_t *session;
   float times[MOST_TURNS];
} place_t;

static uint32_t word_of(uint32_t set, uint32_t tensor, uint32_t i) {
   return (set << 28 | tensor << 24 | i) + 0x3f000000u;
}

static void stage(place_t *p, uint32_t set) {
   uint32_t words[ELEMENTS];
   rkb_error_t err = {0};
   for (uint32_t t = 0; t < OUT; t++) {
      for (uint32_t i = 0; i < elements[t]; i++)
         words[i] = word_of(set, t, i);
      assert_int_equal(
         rkb_session_stage(p->session, set, t, 4 * elements[t], 0, words, 4 * elements[t], &err), RKB_OK);
   }
}

static void open_plan(place_t *p, uint32_t number) {
   const rkb_plan_argument_t arguments[] = {
      {.buffer = LARGE, .offset = 0, .bytes = 8},
      {.buffer = OUT, .offset = 8, .bytes = 8},
      {.buffer = UINT32_MAX, .offset = 16, .bytes = 4, .value = ELEMENTS}};
   rkb_plan_buffer_t buffers[BUFFERS] = {
      {.name = "x"}, {.name = "w"}, {.name = "scale"}, {.name = "indices"}, {.name = "y"}};
   for (uint32_t i = 0; i < BUFFERS; i++) {
      buffers[i].role = i == OUT ? RKB_OUT : i == SMALL ? RKB_INOUT : RKB_IN;
      buffers[i].tensor = i;
      buffers[i].dtype = i == INDICES ? RKB_I32 : RKB_F32;
      buffers[i].alignment = 256;
      buffers[i].elements = elements[i];
      buffers[i].bytes = 4 * (uint64_t)elements[i];
   }
   rkb_plan_launch_t launch = {.expression = "doubled_or_recalled",
                               .entry = "doubled_or_recalled",
                               .grid = {1, 1, 1},
                               .block = {32, 1, 1},
                               .cluster = {1, 1, 1},
                               .argument_count = 3,
                               .parameter_bytes = 20,
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
   rkb_finding_t finding = {0};
   rkb_error_t err = {0};
   if (rkb_devices_open(command, 1, &p->devices, &err) != RKB_OK ||
       rkb_session_begin(p->devices, 0, NULL, NULL, &p->session, &err) != RKB_OK ||
       rkb_session_module(p->session, 0, &cubin, sizeof cubin, &finding, &err) != RKB_OK)
      fail_msg("%s", err.message);
   stage(p, 0);
   open_plan(p, 0);
   open_plan(p, 1);
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

static void time_turns(place_t *p, const rkb_turn_t *turns, uint32_t count) {
   rkb_error_t err = {0};
   if (rkb_session_time(p->session, turns, count, 1000, p->times, &err) != RKB_OK)
      fail_msg("%s", err.message);
}

/* How many runs took the time of a kernel that met its inputs before. */
static uint32_t recalled(const place_t *p, uint32_t count) {
   uint32_t found = 0;
   for (uint32_t i = 0; i < count; i++)
      found += p->times[i] < 0.005f;
   return found;
}

/* Turns on two instances and two sets, cold and warm. */
static void make_turns(rkb_turn_t *turns, uint32_t count, uint32_t bits) {
   for (uint32_t i = 0; i < count; i++)
      turns[i] = (rkb_turn_t){.instance = i & 1, .set = i >> 1 & 1, .warm = i >> 2 & 1, .reserved = bits};
}

/* The kernel keeps what nothing resets.  The same requests again, because the order of turns may repeat too. */
static void no_run_meets_inputs_again(void **state) {
   place_t *p = *state;
   rkb_turn_t turns[MOST_TURNS];
   const uint32_t bits[] = {RKB_FRESH_INPUTS, RKB_FRESH_INPUTS | 1u << LARGE};
   stage(p, 1);
   for (int k = 0; k < 6; k++) {
      make_turns(turns, MOST_TURNS, bits[k % 2]);
      time_turns(p, turns, MOST_TURNS);
      assert_int_equal(recalled(p, MOST_TURNS), 0);
   }
}

/* As it is where nothing asks for fresh inputs: every run but the first on each set. */
static void the_kernel_meets_the_inputs_of_a_set_again(void **state) {
   place_t *p = *state;
   rkb_turn_t turns[8];
   stage(p, 1);
   make_turns(turns, 8, 0);
   time_turns(p, turns, 8);
   assert_int_equal(recalled(p, 8), 6);
}

static void read_words(place_t *p, uint32_t buffer, uint32_t *words) {
   rkb_error_t err = {0};
   assert_int_equal(rkb_session_read(p->session, 0, buffer, 0, 4 * elements[buffer], words, &err), RKB_OK);
}

/* How many pieces of an input came from the other set; each must be one of both. */
static uint32_t others_of(place_t *p, uint32_t set, uint32_t tensor) {
   uint32_t words[ELEMENTS], others = 0;
   read_words(p, tensor, words);
   for (uint32_t i = 0; i < elements[tensor]; i++) {
      const uint32_t first = i / (MIXED_PIECE / 4) * (MIXED_PIECE / 4);
      const bool other = words[first] == word_of(!set, tensor, first);
      assert_int_equal(words[i], word_of(other ? !set : set, tensor, i));
      others += i == first && other;
   }
   return others;
}

static void elements_keep_their_places(void **state) {
   place_t *p = *state;
   const uint32_t all = RKB_FRESH_INPUTS | 1u << LARGE | 1u << SMALL | 1u << SCALAR | 1u << INDICES;
   uint32_t few = 0, small = 0, scalar = 0;
   stage(p, 1);
   for (uint32_t k = 0; k < 64; k++) {
      const uint32_t set = k & 1;
      time_turns(p, (rkb_turn_t[]){{.set = set, .warm = k >> 1 & 1, .reserved = RKB_FRESH_INPUTS}}, 1);
      const uint32_t now = others_of(p, set, LARGE);
      assert_in_range(now, 1, 4);
      few += now;
      for (uint32_t t = SMALL; t < OUT; t++)
         assert_int_equal(others_of(p, set, t), 0);
      time_turns(p, (rkb_turn_t[]){{.set = set, .warm = k >> 1 & 1, .reserved = all}}, 1);
      assert_in_range(others_of(p, set, LARGE), 1800, 2300); /* of 4,097 pieces */
      small += others_of(p, set, SMALL) > 0;
      scalar += others_of(p, set, SCALAR);
      assert_int_equal(others_of(p, set, INDICES), 0);
   }
   assert_in_range(few, 4 * 64 - 4, 4 * 64); /* seldom is a piece drawn twice */
   assert_in_range(small, 40, 63);           /* seven of eight runs, for three pieces */
   assert_in_range(scalar, 16, 48);
}

/* A checked run has the set's values, and the untimed run before it has others.  The sets themselves stay as they were. */
static void a_checked_run_has_the_values_of_its_set(void **state) {
   place_t *p = *state;
   const uint32_t bits = RKB_FRESH_INPUTS | RKB_CHECKED_RUN | 1u << LARGE;
   stage(p, 1);
   for (uint32_t k = 0; k < 4; k++) {
      const uint32_t set = k & 1;
      time_turns(p, (rkb_turn_t[]){{.set = set, .warm = 1, .reserved = bits}}, 1);
      assert_int_equal(recalled(p, 1),
                       k >= 2); /* the two sets themselves, and nothing that a run before had */
      for (uint32_t t = 0; t < OUT; t++)
         assert_int_equal(others_of(p, set, t), 0);
   }
}

static void one_set_makes_no_mixture(void **state) {
   place_t *p = *state;
   rkb_error_t err = {0};
   time_turns(p, (rkb_turn_t[]){{.instance = 0}}, 1);
   assert_int_not_equal(
      rkb_session_time(p->session, (rkb_turn_t[]){{.reserved = RKB_FRESH_INPUTS}}, 1, 1000, p->times, &err),
      RKB_OK);
}

#define PLACED(test) cmocka_unit_test_setup_teardown(test, open_place, close_place)

int main(void) {
   const struct CMUnitTest tests[] = {
      PLACED(no_run_meets_inputs_again), PLACED(the_kernel_meets_the_inputs_of_a_set_again),
      PLACED(elements_keep_their_places), PLACED(a_checked_run_has_the_values_of_its_set),
      PLACED(one_set_makes_no_mixture)};
   char cache[] = "/tmp/rkb-locks-XXXXXX", command[sizeof cache + 16];
   if (!mkdtemp(cache) || setenv("XDG_CACHE_HOME", cache, 1) != 0)
      return 1;
   const int failed = cmocka_run_group_tests(tests, NULL, NULL);
   snprintf(command, sizeof command, "rm -rf %s", cache);
   return system(command) == 0 ? failed : 1;
}
