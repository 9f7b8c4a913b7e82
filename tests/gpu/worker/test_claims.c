/* A worker that lies (hostile_worker.py).  Impossible lengths, names and values end the session with a
 * sentence; none of them is believed, and none of its words controls a terminal. */
#include "check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "gpu/devices.h"

static char cache[] = "/tmp/rkb-claims-XXXXXX";

static int use_a_folder(void **state) {
   (void)state;
   return mkdtemp(cache) && setenv("XDG_CACHE_HOME", cache, 1) == 0 ? 0 : -1;
}

static int remove_folder(void **state) {
   char command[128];
   (void)state;
   snprintf(command, sizeof command, "rm -rf %s", cache);
   return system(command);
}

typedef struct claim {
   const char *lie;
   int status;        /* of the call */
   const char *words; /* in its message */
} claim_t;

static const claim_t claims[] = {
   {"well", RKB_OK, NULL},
   {"outcome", RKB_ERR_UNAVAILABLE, "an end of a run that there is not"},
   {"well-with-error", RKB_ERR_UNAVAILABLE, "an end of a run that there is not"},
   {"fault-without-error", RKB_ERR_UNAVAILABLE, "an end of a run that there is not"},
   {"damage-of-no-buffer", RKB_ERR_UNAVAILABLE, "a buffer that the plan has not"},
   {"damage-before-and-behind", RKB_ERR_UNAVAILABLE, "an end of a run that there is not"},
   {"short", RKB_ERR_UNAVAILABLE, "a reply of another length"},
   {"long", RKB_ERR_UNAVAILABLE, "a reply of another length"},
   {"nan-time", RKB_ERR_UNAVAILABLE, "a time that is none"},
   {"infinite-time", RKB_ERR_UNAVAILABLE, "a time that is none"},
   {"negative-time", RKB_ERR_UNAVAILABLE, "a time that is none"},
   {"no-time", RKB_ERR_UNAVAILABLE, "a time that is none"},
   {"time-of-nothing", RKB_ERR_UNAVAILABLE, "a time that is none"},
   {"largest-time", RKB_ERR_UNAVAILABLE, "past the turn's deadline"},
   {"two-times", RKB_ERR_UNAVAILABLE, "a reply of another length"},
   {"time-past-deadline", RKB_ERR_UNAVAILABLE, "past the turn's deadline"},
   {"status", RKB_ERR_UNAVAILABLE, "a status that there is not"},
   {"negative-status", RKB_ERR_UNAVAILABLE, "a status that there is not"},
   {"long-refusal", RKB_ERR_UNAVAILABLE, "too long a refusal"},
   {"number", RKB_ERR_UNAVAILABLE, "something else than was asked"},
   {"type", RKB_ERR_UNAVAILABLE, "something else than was asked"},
   {"length", RKB_ERR_UNAVAILABLE, "a reply of another length"},
   {"gigabyte", RKB_ERR_UNAVAILABLE, "a reply of another length"},
   {"observation-of-no-kind", RKB_ERR_UNAVAILABLE, "an observation of another plan"},
   {"observation-of-another-plan", RKB_ERR_UNAVAILABLE, "an observation of another plan"},
   {"observation-of-other-metrics", RKB_ERR_UNAVAILABLE, "an observation of another plan"},
   {"observation-without-head", RKB_ERR_UNAVAILABLE, "an observation without its head"},
   {"observation-with-more", RKB_ERR_UNAVAILABLE, "a reply of another length"},
   {"energy-in-no-time", RKB_ERR_UNAVAILABLE, "a power that no device draws"},
   {"energy-of-no-run", RKB_ERR_UNAVAILABLE, "a power that no device draws"},
   {"energy-of-a-city", RKB_ERR_UNAVAILABLE, "a power that no device draws"},
   {"twice", RKB_ERR_UNAVAILABLE, "something else than was asked"},
   {"again", RKB_ERR_UNAVAILABLE, "something else than was asked"},
   {"flood", RKB_ERR_UNAVAILABLE, "something else than was asked"},
   {"orders-to-the-terminal", RKB_ERR_UNAVAILABLE, "no ?]0;title? memory?"},
   /* Each is waited for as long as an answer may take, a minute. */
   {"half", RKB_ERR_TIMEOUT, "did not answer in time"},
   {"half-a-head", RKB_ERR_TIMEOUT, "did not answer in time"},
   {"byte-by-byte", RKB_ERR_TIMEOUT, "did not answer in time"},
   {"silent", RKB_ERR_TIMEOUT, "did not answer in time"},
};

static rkb_session_t *begin(const char *lie, rkb_devices_t **devices) {
   const char *const worker[] = {"/usr/bin/env", "python3", RKB_SOURCE_DIR "/tests/gpu/worker/hostile_worker.py", lie, NULL};
   rkb_session_t *session = NULL;
   rkb_error_t err = {0};
   if (rkb_devices_open(worker, 1, devices, &err) != RKB_OK ||
       rkb_session_begin(*devices, 0, NULL, NULL, &session, &err) != RKB_OK)
      fail_msg("%s: %s", lie, err.message);
   return session;
}

static int run_and_time(rkb_session_t *session, rkb_error_t *err) {
   const rkb_plan_buffer_t buffers[] = {{.name = "x", .bytes = 4, .elements = 1, .alignment = 4}};
   const rkb_plan_t plan = {.buffers = (rkb_plan_buffer_t *)buffers, .buffer_count = 1};
   rkb_finding_t finding = {.reason = ""};
   rkb_run_outcome_t outcome;
   float milliseconds = 0;
   int status = rkb_session_instance(session, 0, 0, 0, &plan, &finding, err);
   if (status == RKB_OK)
      status = rkb_session_run(session, 0, 0, 1000, &outcome, err);
   if (status == RKB_OK)
      status = rkb_session_time(session, &(rkb_turn_t){0}, 1, 1000, &milliseconds, err);
   const rkb_energy_rounds_t rounds = {.run = true, .rounds = 1, .least_ms = 1, .deadline_ms = 1000};
   rkb_energy_spent_t spent;
   rkb_observation_t seen;
   double values[1];
   bool counted = false;
   if (status == RKB_OK)
      status = rkb_session_observe(session, 0, 0, NULL, 0, 1000, &seen, values, err);
   if (status == RKB_OK)
      status = rkb_session_energy(session, 0, 0, &rounds, &spent, &counted, err);
   return status;
}

static void what_cannot_be_is_not_believed(void **state) {
   (void)state;
   for (size_t i = 0; i < sizeof claims / sizeof claims[0]; i++) {
      if (claims[i].status == RKB_ERR_TIMEOUT && !rkb_long_tests())
         continue;
      rkb_devices_t *devices = NULL;
      rkb_error_t err = {.message = ""};
      rkb_session_t *session = begin(claims[i].lie, &devices);
      int status = run_and_time(session, &err);
      if (status != claims[i].status || (claims[i].words && !strstr(err.message, claims[i].words)))
         fail_msg("%s: status %d, '%s'", claims[i].lie, status, err.message);
      rkb_session_end(session);
      rkb_devices_close(devices);
   }
}

static void its_words_are_plain(void **state) {
   (void)state;
   rkb_devices_t *devices = NULL;
   rkb_error_t err = {.message = ""};
   char text[256];
   rkb_session_t *session = begin("state-orders", &devices);
   assert_int_equal(rkb_session_state(session, text, sizeof text, &err), RKB_OK);
   assert_string_equal(text, "sm=1\n?[2J??\n");
   rkb_session_end(session);
   rkb_devices_close(devices);
   rkb_observation_t seen;
   double values[1];
   session = begin("observation-orders", &devices);
   assert_int_equal(rkb_session_observe(session, 0, 0, NULL, 0, 1000, &seen, values, &err), RKB_OK);
   assert_memory_equal(seen.message, "no ?[2J countersxxx", 19);
   assert_int_equal(strlen(seen.message), sizeof seen.message - 1);
   rkb_session_end(session);
   rkb_devices_close(devices);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(what_cannot_be_is_not_believed), cmocka_unit_test(its_words_are_plain)};
   return cmocka_run_group_tests(tests, use_a_folder, remove_folder);
}
