/* Several machines with several devices each, over a driver that has no device (driver_double.c).  All
 * devices are used at the same time; a device that cannot be used is left out with its reason; a lost worker
 * is replaced. */
#include "check.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "gpu/devices.h"

#define DOUBLE "/usr/bin/env", "LD_PRELOAD=" RKB_DRIVER_DOUBLE
static const char *const one_machine[] = {DOUBLE, "RKB_DOUBLE_DEVICES=3", RKB_WORKER_PROGRAM, NULL};
static const char *const other_machine[] = {DOUBLE, "RKB_DOUBLE_DEVICES=2", "MACHINE=other",
                                            RKB_WORKER_PROGRAM, NULL};
static const char *const other_class[] = {DOUBLE, "RKB_DOUBLE_NAME=another device", RKB_WORKER_PROGRAM, NULL};
/* It stays until it is told to go: one that has ended before it is asked is another case. */
static const char *const other_version[] = {"/bin/sh", "-c", "printf 'RKBW\\004\\000\\001\\000%040d'; exec cat >/dev/null", NULL};
static const char *const nowhere[] = {"/nowhere/ssh", "host", "rkb-worker", NULL};

static char notes[4096], cache[] = "/tmp/rkb-locks-XXXXXX";

static void keep_note(void *argument, const char *text) {
   (void)argument;
   snprintf(notes + strlen(notes), sizeof notes - strlen(notes), "%s\n", text);
}

static int open_all(const rkb_worker_address_t *addresses, uint32_t count, rkb_devices_t **devices,
                    rkb_error_t *err) {
   const rkb_devices_options_t options = {.addresses = addresses, .count = count, .note = keep_note};
   notes[0] = '\0';
   return rkb_devices_open_all(&options, devices, err);
}

static rkb_session_t *begin(rkb_devices_t *devices) {
   rkb_session_t *session = NULL;
   rkb_error_t err = {0};
   if (rkb_session_begin(devices, 0, NULL, NULL, &session, &err) != RKB_OK)
      fail_msg("%s", err.message);
   return session;
}

static bool told(const char *text) {
   return strstr(notes, text) != NULL;
}

/* Every device of every machine is lent once; two machines' devices at one place of their bus are two. */
static void all_devices_at_once(void **state) {
   const rkb_worker_address_t addresses[] = {{.command = one_machine}, {.command = other_machine}};
   rkb_devices_t *devices = NULL;
   rkb_session_t *sessions[5], *more;
   rkb_error_t err = {0};
   unsigned places[3] = {0};
   (void)state;
   assert_int_equal(open_all(addresses, 2, &devices, &err), RKB_OK);
   assert_int_equal(rkb_devices_count(devices), 5);
   assert_string_equal(rkb_devices_class(devices), "no device");
   for (int i = 0; i < 5; i++) {
      sessions[i] = begin(devices);
      const char *bus = strstr(rkb_session_describe(sessions[i]), "bus=dddd:00:00.");
      assert_non_null(bus);
      places[bus[15] - '0']++;
   }
   assert_true(places[0] == 2 && places[1] == 2 && places[2] == 1);
   assert_int_equal(rkb_session_begin(devices, 1, NULL, NULL, &more, &err), RKB_ERR_TIMEOUT);
   for (int i = 0; i < 5; i++)
      rkb_session_end(sessions[i]);
   assert_string_equal(notes, "");
   rkb_devices_close(devices);
}

static void as_many_as_are_wanted(void **state) {
   const rkb_worker_address_t address = {.command = one_machine, .count = 2};
   rkb_devices_t *devices = NULL;
   rkb_error_t err = {0};
   (void)state;
   assert_int_equal(open_all(&address, 1, &devices, &err), RKB_OK);
   assert_int_equal(rkb_devices_count(devices), 2);
   rkb_devices_close(devices);
}

/* A machine that cannot be reached, one that speaks another version, and one with another device are named and left out. */
static void what_cannot_be_used_is_left_out(void **state) {
   const rkb_worker_address_t addresses[] = {
      {.command = one_machine}, {.command = nowhere}, {.command = other_version}, {.command = other_class},
      {.command = other_machine, .device = "wanted device"}};
   rkb_devices_t *devices = NULL;
   rkb_session_t *sessions[3];
   rkb_error_t err = {0};
   (void)state;
   assert_int_equal(open_all(addresses, 5, &devices, &err), RKB_OK);
   if (
      !told("workers[4], '/usr/bin/env', is left out: it is of class no device, and workers: says wanted device") ||
      !told("workers[1], '/nowhere/ssh', is left out") ||
      !told("workers[2], '/bin/sh', is left out") || !told("is it of this version of rkb?") ||
      !told(
         "workers[3], '/usr/bin/env', is left out: it is of class another device, and this run measures on no device"))
      fail_msg("%s", notes);
   for (int i = 0; i < 3; i++) {
      sessions[i] = begin(devices);
      assert_non_null(strstr(rkb_session_describe(sessions[i]), "device=no device\n"));
   }
   for (int i = 0; i < 3; i++)
      rkb_session_end(sessions[i]);
   rkb_devices_close(devices);
}

static void none_answers(void **state) {
   const rkb_worker_address_t addresses[] = {{.command = nowhere}, {.command = other_version}};
   rkb_devices_t *devices = NULL;
   rkb_error_t err = {0};
   (void)state;
   assert_int_not_equal(open_all(addresses, 2, &devices, &err), RKB_OK);
   assert_non_null(strstr(err.message, "/nowhere/ssh"));
}

/* A machine that goes away during a run: its jobs find another one, and it is told. */
static void a_lost_machine(void **state) {
   char switch_file[64], script[512];
   snprintf(switch_file, sizeof switch_file, "%s/up", cache);
   snprintf(script, sizeof script, "test -e %s && exec /usr/bin/env LD_PRELOAD=%s %s \"$1\"", switch_file,
            RKB_DRIVER_DOUBLE, RKB_WORKER_PROGRAM);
   const char *const unsteady[] = {"/bin/sh", "-c", script, "worker", NULL};
   const rkb_worker_address_t addresses[] = {{.command = unsteady}, {.command = other_machine, .count = 1}};
   rkb_devices_t *devices = NULL;
   rkb_session_t *first, *second;
   rkb_error_t err = {0};
   char state_text[256];
   (void)state;
   fclose(fopen(switch_file, "w"));
   assert_int_equal(open_all(addresses, 2, &devices, &err), RKB_OK);
   first = begin(devices);
   unlink(switch_file);
   /* Its worker ends in the middle of a session, and so does its spare; what is asked of it fails. */
   while (rkb_session_restart(first, &err) == RKB_OK)
      continue;
   assert_int_not_equal(rkb_session_state(first, state_text, sizeof state_text, &err), RKB_OK);
   rkb_session_end(first);
   second = begin(devices); /* asked again: elsewhere */
   assert_int_equal(rkb_session_state(second, state_text, sizeof state_text, &err), RKB_OK);
   if (!told("is left out for 30 s"))
      fail_msg("%s", notes);
   rkb_session_end(second);
   rkb_devices_close(devices);
}

/* A command gets the variables that its address names, and no others. */
static void variables_are_passed_on(void **state) {
   static const char *const names[] = {"RKB_DOUBLE_NAME", "RKB_TEST_ABSENT", NULL};
   static const char *const command[] = {DOUBLE, RKB_WORKER_PROGRAM, NULL};
   const rkb_worker_address_t with = {.command = command, .environment = names},
                              without = {.command = command};
   rkb_devices_t *devices = NULL;
   rkb_error_t err = {0};
   (void)state;
   setenv("RKB_DOUBLE_NAME", "a device that was passed on", 1);
   assert_int_equal(open_all(&with, 1, &devices, &err), RKB_OK);
   assert_string_equal(rkb_devices_class(devices), "a device that was passed on");
   rkb_devices_close(devices);
   assert_int_equal(open_all(&without, 1, &devices, &err), RKB_OK);
   assert_string_equal(rkb_devices_class(devices), "no device");
   rkb_devices_close(devices);
   unsetenv("RKB_DOUBLE_NAME");
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(all_devices_at_once),
                                      cmocka_unit_test(as_many_as_are_wanted),
                                      cmocka_unit_test(what_cannot_be_used_is_left_out),
                                      cmocka_unit_test(none_answers),
                                      cmocka_unit_test(a_lost_machine),
                                      cmocka_unit_test(variables_are_passed_on)};
   if (!mkdtemp(cache) || setenv("XDG_CACHE_HOME", cache, 1) != 0)
      return 1;
   const int failed = cmocka_run_group_tests(tests, NULL, NULL);
   char command[sizeof cache + 16];
   snprintf(command, sizeof command, "rm -rf %s", cache);
   return system(command) == 0 ? failed : 1;
}
