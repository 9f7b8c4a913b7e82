/* Memory that ends the process, and memory that may be refused: each in a child of its own, under a limit. */
#include "check.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/text.h"

#define MOST (UINT64_C(64) << 20) /* of the child; what it asks for is larger */
#define LARGE ((size_t)1 << 30)

static void zeroed(void) {
   char *volatile memory = rkb_allocate(LARGE, 1);
   (void)memory;
}

static void grown(void) {
   char *volatile memory = rkb_grow(NULL, LARGE, 1);
   (void)memory;
}

static void wrapped(void) {
   volatile size_t half = SIZE_MAX / 2;
   char *volatile memory = rkb_allocate(half, 4);
   (void)memory;
}

static void in_an_arena(void) {
   char *volatile memory = rkb_arena_array(rkb_arena_new(0), LARGE, 1);
   (void)memory;
}

static void in_a_text(void) {
   rkb_text_t text;
   rkb_text_init(&text, LARGE);
   for (;;)
      rkb_text_add(&text, "a text with a limit above what there is");
}

static void *zeroed_elsewhere(void *unused) {
   zeroed();
   return unused;
}

static void in_a_thread(void) {
   pthread_t thread;
   if (pthread_create(&thread, NULL, zeroed_elsewhere, NULL) == 0)
      pthread_join(thread, NULL);
}

/* Runs it in a child under the limit; gives the exit code and what it wrote to standard error. */
static int end_of(void (*what)(void), char *said, size_t room) {
   int pipes[2], status = 0;
   assert_int_equal(pipe(pipes), 0);
   pid_t child = fork();
   if (child == 0) {
      const struct rlimit limit = {MOST, MOST};
      dup2(pipes[1], STDERR_FILENO);
      close(pipes[0]);
      setrlimit(RLIMIT_DATA, &limit);
      what();
      _exit(0);
   }
   close(pipes[1]);
   size_t used = 0;
   for (ssize_t got = 1; got > 0 && used + 1 < room; used += got > 0 ? (size_t)got : 0)
      got = read(pipes[0], said + used, room - used - 1);
   said[used] = '\0';
   close(pipes[0]);
   waitpid(child, &status, 0);
   return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void what_must_be_there_ends_the_process(void **state) {
   static const struct {
      void (*what)(void);
      const char *bytes;
   } cases[] = {{zeroed, "1073741824"},      {grown, "1073741824"}, {wrapped, "18446744073709551615"},
                {in_an_arena, "1073741824"}, {in_a_text, NULL},     {in_a_thread, "1073741824"}};
   (void)state;
   for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
      char said[512], want[512];
      assert_int_equal(end_of(cases[i].what, said, sizeof said), RKB_EXIT_OUT_OF_MEMORY);
      snprintf(want, sizeof want, "out of memory: the system refused %s",
               cases[i].bytes ? cases[i].bytes : "");
      assert_non_null(strstr(said, want));
      assert_non_null(
         strstr(said, "every finished result of a run is stored: continue it with rkb-run --resume DIR\n"));
   }
}

static void refuse(void) {
   rkb_error_t err = {0};
   char *volatile zero = rkb_try_allocate(LARGE, 1, &err), *volatile raw = rkb_try_uncleared(LARGE, 1, NULL);
   rkb_arena_t *arena = rkb_arena_new(4 * LARGE);
   char *volatile kept = rkb_arena_try(arena, LARGE, 1);
   bool right = !zero && !raw && !kept && err.status == RKB_ERR_NOMEM &&
                strcmp(err.message, "out of memory: the system refused 1073741824 bytes") == 0;
   right = right && rkb_arena_fail(arena, "the plan", &err) == RKB_ERR_NOMEM &&
           strcmp(err.message, "out of memory: the system refused 1073741824 bytes") == 0;
   _exit(right ? 7 : 8);
}

static void what_a_task_decides_is_refused(void **state) {
   char said[512];
   (void)state;
   assert_int_equal(end_of(refuse, said, sizeof said), 7);
   assert_string_equal(said, "");
}

static void texts_are_copied(void **state) {
   (void)state;
   char *whole = rkb_duplicate("abc"), *part = rkb_duplicate_part("abc", 2),
        *made = rkb_format("%d-%s", 7, "x");
   assert_string_equal(whole, "abc");
   assert_string_equal(part, "ab");
   assert_string_equal(made, "7-x");
   free(whole);
   free(part);
   free(made);
   free(rkb_allocate(0, 8));
   free(rkb_grow(NULL, 0, 8));
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(what_must_be_there_ends_the_process),
                                      cmocka_unit_test(what_a_task_decides_is_refused),
                                      cmocka_unit_test(texts_are_copied)};
   return RUN_TESTS(tests);
}
