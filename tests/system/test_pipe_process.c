/* A child that is talked to over pipes: transfers, its death, bounded waits.  One thread and the children. */
#include "check.h"
#include "system/loop.h"
#include "system/pipe_process.h"
#include "system/worker_command.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)

static rkb_pipe_process_t start(const char *script) {
   rkb_pipe_process_t peer;
   rkb_error_t err;
   const char *arguments[] = {"sh", "-c", script, NULL};
   assert_int_equal(rkb_pipe_process_start(&peer, arguments, NULL, -1, &err), RKB_OK);
   return peer;
}

static void bytes_go_there_and_back(void **state) {
   (void)state;
   rkb_pipe_process_t peer = start("exec cat");
   char back[6] = "";
   for (int i = 0; i < 3; i++) {
      assert_int_equal(rkb_pipe_process_send(&peer, "hello", 5, rkb_now_ns() + 200 * SECOND, NULL, NULL),
                       RKB_TRANSFERRED);
      assert_int_equal(rkb_pipe_process_receive(&peer, back, 5, rkb_now_ns() + 200 * SECOND, NULL, NULL),
                       RKB_TRANSFERRED);
      assert_string_equal(back, "hello");
   }
   int status = rkb_pipe_process_kill(&peer, NULL);
   assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
   assert_int_equal(peer.pid, 0);
}

/* Writing to a dead process must not kill the writer. */
static void a_dead_peer_is_an_ended_transfer(void **state) {
   (void)state;
   rkb_pipe_process_t peer = start("exit 3");
   char byte, *much = calloc(1, 1 << 20);
   assert_int_equal(rkb_pipe_process_receive(&peer, &byte, 1, rkb_now_ns() + 200 * SECOND, NULL, NULL),
                    RKB_TRANSFER_ENDED);
   assert_int_equal(rkb_pipe_process_send(&peer, much, 1 << 20, rkb_now_ns() + 200 * SECOND, NULL, NULL),
                    RKB_TRANSFER_ENDED);
   rkb_pipe_process_kill(&peer, NULL);
   free(much);
}

static bool yes(void *argument) {
   (void)argument;
   return true;
}

static void waits_are_bounded(void **state) {
   (void)state;
   rkb_pipe_process_t peer = start("sleep 1000");
   char byte, *much = calloc(1, 1 << 22);
   assert_int_equal(rkb_pipe_process_receive(&peer, &byte, 1, rkb_now_ns() + SECOND / 10, NULL, NULL),
                    RKB_TRANSFER_LATE);
   assert_int_equal(rkb_pipe_process_receive(&peer, &byte, 1, 0, yes, NULL), RKB_TRANSFER_CANCELLED);
   assert_int_equal(rkb_pipe_process_send(&peer, much, 1 << 22, rkb_now_ns() + SECOND / 10, NULL, NULL),
                    RKB_TRANSFER_LATE);
   rkb_pipe_process_kill(&peer, NULL);
   free(much);
}

static void what_cannot_start_says_so(void **state) {
   (void)state;
   rkb_pipe_process_t peer;
   rkb_error_t err;
   const char *arguments[] = {"/nowhere/program", NULL};
   assert_int_equal(rkb_pipe_process_start(&peer, arguments, NULL, -1, &err), RKB_ERR_UNAVAILABLE);
   assert_int_equal(peer.pid, 0);
   assert_non_null(strstr(err.message, "/nowhere/program"));
}

/* The words that a program named ssh gets when it is started with these words; it is a script that prints
 * them. */
static void expect_ssh_words(const char *folder, const char *const *words, const char *expected) {
   rkb_worker_command_t command = {.word_count = 0};
   rkb_pipe_process_t peer;
   rkb_error_t err;
   char path[64], heard[256] = "";
   snprintf(path, sizeof path, "%s/ssh", folder);
   assert_true(rkb_worker_command_add_words(&command, (const char *const[]){path, NULL}) &&
               rkb_worker_command_add_words(&command, words));
   assert_int_equal(rkb_worker_command_start(&command, "7", &peer, &err), RKB_OK);
   for (size_t at = 0; at < sizeof heard - 1; at++)
      if (rkb_pipe_process_receive(&peer, heard + at, 1, rkb_now_ns() + 200 * SECOND, NULL, NULL) !=
          RKB_TRANSFERRED)
         break;
   rkb_pipe_process_kill(&peer, NULL);
   rkb_worker_command_clear(&command);
   assert_string_equal(heard, expected);
}

/* A connection that is cut without a word would keep its reader waiting for ever. */
static void ssh_notices_that_the_other_side_is_gone(void **state) {
   char folder[] = "/tmp/rkb-ssh-XXXXXX", command[128];
   (void)state;
   assert_non_null(mkdtemp(folder));
   snprintf(command, sizeof command, "printf '#!/bin/sh\\necho \"$@\"\\n' >%s/ssh; chmod +x %s/ssh", folder,
            folder);
   assert_int_equal(system(command), 0);
   expect_ssh_words(folder, (const char *const[]){"host", "rkb-worker", NULL},
                    "-oServerAliveInterval=15 -oServerAliveCountMax=4 host rkb-worker 7\n");
   expect_ssh_words(folder, (const char *const[]){"-oServerAliveInterval=5", "host", "rkb-worker", NULL},
                    "-oServerAliveInterval=5 host rkb-worker 7\n");
   snprintf(command, sizeof command, "rm -r %s", folder);
   assert_int_equal(system(command), 0);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(bytes_go_there_and_back), cmocka_unit_test(a_dead_peer_is_an_ended_transfer),
      cmocka_unit_test(waits_are_bounded), cmocka_unit_test(what_cannot_start_says_so),
      cmocka_unit_test(ssh_notices_that_the_other_side_is_gone)};
   return RUN_TESTS(tests);
}
