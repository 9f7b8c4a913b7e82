/* A plan's fill value is the same number in the checking machine and in the worker, over a driver that has no
 * device (driver_double.c). */
#include "check.h"
#include <stdlib.h>
#include <string.h>
#include "gpu/device_worker.h"
#include "gpu/devices.h"
#include "verifier.h"
#include "gpu/protocol.h"

enum { ELEMENTS = 37, WIDEST = 8 };

static const double values[] = {0,          1,    -1.5,  0.1,  1.0 / 3, 1.00390625,
                                1.01171875, -2.7, 65519, 1e-3, 250,     3e38};

/* What the worker leaves in an output that nothing else writes. */
static int fill_there(rkb_session_t *session, const rkb_plan_buffer_t *buffer, void *out, rkb_error_t *err) {
   rkb_finding_t finding = {0};
   rkb_run_outcome_t outcome = {0};
   rkb_plan_launch_t launch = {.expression = "nothing",
                               .entry = "nothing",
                               .grid = {1, 1, 1},
                               .block = {32, 1, 1},
                               .cluster = {1, 1, 1}};
   rkb_plan_t plan = {.version = 1,
                      .buffer_count = 1,
                      .launch_count = 1,
                      .buffers = (rkb_plan_buffer_t *)buffer,
                      .launches = &launch};
   int status = rkb_session_instance(session, 0, 0, RKB_PLAIN, &plan, &finding, err);
   if (status != RKB_OK)
      return status;
   assert_int_equal(rkb_session_run(session, 0, 0, 1000, &outcome, err), RKB_OK);
   assert_int_equal(outcome.outcome, RKB_RAN_WELL);
   assert_int_equal(rkb_session_read(session, 0, 0, 0, buffer->bytes, out, err), RKB_OK);
   return rkb_session_drop(session, RKB_DROP_INSTANCE, 0, err);
}

static void both_fill_with_the_same_number(void **state) {
   (void)state;
   static const struct {
      uint32_t dtype, bytes;
      bool any; /* the worker fills with any number, not with zero alone */
      double least, largest;
   } types[] = {{RKB_F32, 4, true, -4e38, 4e38},   {RKB_BF16, 2, true, -4e38, 4e38},
                {RKB_I32, 4, true, -1e9, 1e9},     {RKB_U8, 1, true, 0, 255},
                {RKB_I8, 1, true, -128, 127},      {RKB_F16, 2, false, -65504, 65504},
                {RKB_F64, 8, false, -1e300, 1e300}};
   const char *const command[] = {"/usr/bin/env", "LD_PRELOAD=" RKB_DRIVER_DOUBLE, RKB_WORKER_PROGRAM, NULL};
   rkb_devices_t *devices = NULL;
   rkb_session_t *session = NULL;
   rkb_finding_t finding = {0};
   rkb_error_t err = {0};
   if (rkb_devices_open(command, 1, &devices, &err) != RKB_OK ||
       rkb_session_begin(devices, 0, NULL, NULL, &session, &err) != RKB_OK)
      fail_msg("%s", err.message);
   assert_int_equal(rkb_session_module(session, 0, "a module's bytes", 16, &finding, &err), RKB_OK);
   uint32_t compared = 0;
   for (size_t t = 0; t < sizeof types / sizeof *types; t++)
      for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
         char there[ELEMENTS * WIDEST], here[ELEMENTS * WIDEST];
         rkb_plan_buffer_t buffer = {.name = "y",
                                     .role = RKB_OUT,
                                     .dtype = types[t].dtype,
                                     .alignment = 256,
                                     .bytes = (uint64_t)ELEMENTS * types[t].bytes,
                                     .elements = ELEMENTS,
                                     .fill = RKB_FILL_VALUE,
                                     .fill_value = values[v]};
         if (values[v] < types[t].least || values[v] > types[t].largest)
            continue;
         int status = fill_there(session, &buffer, there, &err);
         assert_int_equal(status == RKB_OK, types[t].any || values[v] == 0);
         if (status != RKB_OK)
            continue;
         plan_fill(&buffer, ELEMENTS, here);
         if (memcmp(here, there, buffer.bytes) != 0)
            fail_msg("type %u, %g: the machine fills with %02x%02x..., the worker with %02x%02x...",
                     types[t].dtype, values[v], here[1] & 255, here[0] & 255, there[1] & 255, there[0] & 255);
         compared++;
      }
   assert_true(compared > 40);
   rkb_session_end(session);
   rkb_devices_close(devices);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(both_fill_with_the_same_number)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
