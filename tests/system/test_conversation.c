/* Programs that are asked and answer in lines: sh and cat.  Except where waiting itself is tested, a time limit only ends a hang. */
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "system/conversation.h"
#include "system/loop.h"

#define LONG_NS (UINT64_C(600) * 1000000000)
#define SHORT_NS (UINT64_C(300) * 1000000)
enum { LIMIT = 4 << 20 };

/* Greets, and answers each line with its process id and the line. */
static const char *const echoes[] = {"sh", "-c", "read greeting; echo ready; while read line; do echo \"$$ $line\"; done", NULL};

static int any(void *argument, const char *line, size_t bytes, rkb_error_t *err) {
   (void)err;
   assert_int_equal(strlen(line), bytes);
   if (argument)
      snprintf(argument, 256, "%s", line);
   return RKB_OK;
}

static int refuse(void *argument, const char *line, size_t bytes, rkb_error_t *err) {
   (void)argument, (void)bytes;
   return rkb_fail(err, RKB_ERR_CONTRACT, "refused: %.100s", line);
}

static rkb_conversation_t *open_as(const char *const *command, uint64_t wait_ns, rkb_conversation_read_t greeted) {
   const rkb_conversation_spec_t spec = {.size = sizeof spec, .command = command, .greeting = "hello", .greeted = greeted, .wait_ns = wait_ns, .line_limit = LIMIT};
   rkb_conversation_t *conversation = NULL;
   rkb_error_t err;
   assert_int_equal(conversation_open(&spec, &conversation, &err), RKB_OK);
   return conversation;
}

static int ask(rkb_conversation_t *conversation, const char *line, char answer[256], rkb_error_t *err) {
   return conversation_ask(conversation, line, 0, NULL, NULL, any, answer, err);
}

static void test_a_process_is_kept(void **state) {
   rkb_conversation_t *conversation = open_as(echoes, LONG_NS, any);
   char first[256], second[256];
   rkb_error_t err;
   (void)state;
   assert_int_equal(ask(conversation, "one", first, &err), RKB_OK);
   assert_int_equal(ask(conversation, "two", second, &err), RKB_OK);
   assert_string_equal(strchr(first, ' '), " one");
   assert_string_equal(strchr(second, ' '), " two");
   assert_int_equal(atoi(first), atoi(second));
   /* What is refused costs the process; the next question starts another. */
   assert_int_equal(conversation_ask(conversation, "three", 0, NULL, NULL, refuse, NULL, &err), RKB_ERR_CONTRACT);
   assert_non_null(strstr(err.message, "refused: "));
   assert_int_equal(ask(conversation, "four", second, &err), RKB_OK);
   assert_int_not_equal(atoi(first), atoi(second));
   conversation_close(conversation);
}

static int measure(void *argument, const char *line, size_t bytes, rkb_error_t *err) {
   (void)line, (void)err;
   *(size_t *)argument = bytes;
   return RKB_OK;
}

/* More than a pipe holds, in both directions and to standard error. */
static void test_long_lines(void **state) {
   const char *const noisy[] = {"sh", "-c", "read greeting; echo ready; head -c 300000 /dev/zero >&2; exec cat", NULL};
   rkb_conversation_t *conversation = open_as(noisy, LONG_NS, any);
   char *line = rkb_allocate(LIMIT + 2, 1);
   size_t bytes = 0;
   rkb_error_t err;
   (void)state;
   memset(line, 'x', LIMIT);
   assert_int_equal(conversation_ask(conversation, line, 0, NULL, NULL, measure, &bytes, &err), RKB_OK);
   assert_int_equal(bytes, LIMIT);
   memset(line, 'x', LIMIT + 1);
   assert_int_equal(conversation_ask(conversation, line, 0, NULL, NULL, measure, &bytes, &err), RKB_ERR_LIMIT);
   free(line);
   conversation_close(conversation);
}

static void fails_with(const char *script, uint64_t wait_ns, int status, const char *words) {
   const char *const command[] = {"sh", "-c", script, NULL};
   rkb_conversation_t *conversation = open_as(command, wait_ns, any);
   rkb_error_t err = {.message = ""};
   assert_int_equal(ask(conversation, "question", NULL, &err), status);
   if (!strstr(err.message, words))
      fail_msg("'%s' is not in '%s'", words, err.message);
   conversation_close(conversation);
}

static void test_ends(void **state) {
   (void)state;
   fails_with("read a; echo ready; read b; echo first >&2; echo 'last words' >&2; exit 7", LONG_NS, RKB_ERR_UNAVAILABLE,
              "ended with exit code 7 before it answered: last words");
   fails_with("read a; echo ready; read b; kill -9 $$", LONG_NS, RKB_ERR_UNAVAILABLE, "ended with signal 9");
   fails_with("exit 3", LONG_NS, RKB_ERR_UNAVAILABLE, "ended with exit code 3");
   fails_with("read a; echo ready; read b; exec sleep 100000", SHORT_NS, RKB_ERR_TIMEOUT, "did not answer in time");
   fails_with("read a; echo ready; read b; yes | tr -d '\\n'", LONG_NS, RKB_ERR_LIMIT, "answered with more than 4194304 bytes");
   fails_with("read a; echo ready; read b; printf 'one\\ntwo\\n'; exec sleep 100000", LONG_NS, RKB_ERR_CONTRACT, "more than one line");
   const char *const absent[] = {"/no/such/program", NULL};
   rkb_conversation_t *conversation = open_as(absent, LONG_NS, any);
   rkb_error_t err;
   assert_int_equal(ask(conversation, "question", NULL, &err), RKB_ERR_UNAVAILABLE);
   conversation_close(conversation);
   conversation = open_as(echoes, LONG_NS, refuse);
   assert_int_equal(ask(conversation, "question", NULL, &err), RKB_ERR_CONTRACT);
   assert_string_equal(err.message, "refused: ready");
   conversation_close(conversation);
}

static bool at_once(void *whom) {
   (void)whom;
   return true;
}

static void test_limits_of_a_job(void **state) {
   const char *const silent[] = {"sh", "-c", "read a; echo ready; exec sleep 100000", NULL};
   rkb_conversation_t *conversation = open_as(silent, LONG_NS, any);
   rkb_error_t err;
   (void)state;
   assert_int_equal(conversation_ask(conversation, "q", rkb_now_ns() + SHORT_NS, NULL, NULL, any, NULL, &err), RKB_ERR_TIMEOUT);
   assert_int_equal(conversation_ask(conversation, "q", 0, at_once, NULL, any, NULL, &err), RKB_ERR_CANCELLED);
   conversation_close(conversation);
}

static void test_environment_and_folder(void **state) {
   const char *const shows[] = {"sh", "-c", "read a; echo ready; read b; echo \"$(pwd) $GIVEN ${KEPT_BACK-nothing}\"", NULL};
   const char *const names[] = {"GIVEN", "NOT_SET_ANYWHERE", NULL};
   const rkb_conversation_spec_t spec = {.size = sizeof spec, .command = shows, .environment = names, .directory = "/usr", .greeting = "hello",
                                         .greeted = any, .wait_ns = LONG_NS, .line_limit = LIMIT};
   rkb_conversation_t *conversation = NULL;
   char answer[256];
   rkb_error_t err;
   (void)state;
   setenv("GIVEN", "given", 1);
   setenv("KEPT_BACK", "a key", 1);
   assert_int_equal(conversation_open(&spec, &conversation, &err), RKB_OK);
   assert_int_equal(ask(conversation, "where", answer, &err), RKB_OK);
   assert_string_equal(answer, "/usr given nothing");
   conversation_close(conversation);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_process_is_kept),  cmocka_unit_test(test_long_lines),
      cmocka_unit_test(test_ends),               cmocka_unit_test(test_limits_of_a_job),
      cmocka_unit_test(test_environment_and_folder),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
