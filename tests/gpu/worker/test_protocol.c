/* rkb-worker from the outside, also on machines without a GPU: it says what is missing, refuses nonsense, and
 * ends when its input ends. */
#include "check.h"
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "base/file.h"
#include "gpu/device_worker.h"
#include "gpu/devices.h"

static const rkb_patience_t patience = {0};

static rkb_pipe_process_t start(void) {
   char *path = rkb_find_program("rkb-worker");
   rkb_pipe_process_t child;
   rkb_error_t err;
   assert_non_null(path);
   const char *const command[] = {path, "0", NULL};
   assert_int_equal(rkb_pipe_process_start(&child, command, NULL, -1, &err), RKB_OK);
   free(path);
   return child;
}

static rkb_worker_head_t exchange(rkb_pipe_process_t *child, uint16_t type, const void *body, size_t bytes,
                                  char *answer, size_t size) {
   rkb_worker_head_t head = {RKB_WORKER_MAGIC, RKB_WORKER_VERSION, type, 1, 0, bytes}, reply = {0};
   assert_int_equal(rkb_pipe_process_send(child, &head, sizeof head, 0, NULL, NULL), RKB_TRANSFERRED);
   assert_int_equal(rkb_pipe_process_send(child, body, bytes, 0, NULL, NULL), RKB_TRANSFERRED);
   assert_int_equal(rkb_pipe_process_receive(child, &reply, sizeof reply, 0, NULL, NULL), RKB_TRANSFERRED);
   assert_in_range(reply.length, 0, size - 1);
   assert_int_equal(rkb_pipe_process_receive(child, answer, reply.length, 0, NULL, NULL), RKB_TRANSFERRED);
   answer[reply.length] = '\0';
   return reply;
}

static void says_whether_there_is_a_device(void **state) {
   (void)state;
   rkb_devices_t *devices = NULL;
   rkb_error_t err = {0};
   int status = rkb_devices_open(NULL, 1, &devices, &err);
   if (status == RKB_OK) {
      assert_non_null(strstr(rkb_devices_describe(devices), "device="));
      rkb_devices_close(devices);
   } else {
      assert_int_equal(status, RKB_ERR_UNAVAILABLE);
      assert_true(strlen(err.message) > 20);
   }
}

static void refuses_work_before_hello(void **state) {
   (void)state;
   char answer[512];
   rkb_pipe_process_t child = start();
   for (uint16_t type = RKB_WORKER_MODULE; type < RKB_WORKER_QUIT; type++) {
      rkb_worker_head_t reply = exchange(&child, type, "12345678", 8, answer, sizeof answer);
      assert_int_equal(reply.status, RKB_WORKER_BAD_REQUEST);
      assert_int_equal(reply.type, type);
      assert_string_equal(answer, "say hello first");
   }
   rkb_pipe_process_kill(&child, NULL);
}

static void ends_on_nonsense(void **state) {
   (void)state;
   char byte;
   rkb_pipe_process_t child = start();
   char garbage[64];
   memset(garbage, 'x', sizeof garbage);
   assert_int_equal(rkb_pipe_process_send(&child, garbage, sizeof garbage, 0, NULL, NULL), RKB_TRANSFERRED);
   assert_int_equal(rkb_pipe_process_receive(&child, &byte, 1, 0, NULL, NULL), RKB_TRANSFER_ENDED);
   int status = 0;
   assert_int_equal(waitpid(child.pid, &status, 0), child.pid);
   assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
   child.pid = 0;
   rkb_pipe_process_kill(&child, NULL);
}

static void a_missing_program_is_named(void **state) {
   (void)state;
   static const char *const command[] = {"/nowhere/rkb-worker", "0", NULL};
   rkb_device_worker_t worker;
   rkb_error_t err = {0};
   assert_int_equal(rkb_device_worker_start(&worker, command, NULL, &patience, &err), RKB_ERR_UNAVAILABLE);
   assert_non_null(strstr(err.message, "/nowhere/rkb-worker"));
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(says_whether_there_is_a_device),
      cmocka_unit_test(refuses_work_before_hello),
      cmocka_unit_test(ends_on_nonsense),
      cmocka_unit_test(a_missing_program_is_named),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
