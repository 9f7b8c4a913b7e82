/* The allocator of rkb-compiler: a fork gets the same addresses for the same calls, whatever its parent
 * allocated before, and wherever the kernel put parent and fork.  This program is linked with the allocator,
 * so it tests its own malloc. */
#include "check.h"
#include "kernel/compiler/compiler.h"
#include "kernel/compiler_protocol.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIMIT (96u << 20)
enum { CALLS = 400 };

/* Sizes and a mix of calls that use free rooms again, from a fixed sequence. */
static void allocate(uintptr_t addresses[CALLS]) {
   void *held[16] = {NULL};
   uint32_t state = 1;
   for (uint32_t n = 0; n < CALLS; n++) {
      state = state * 1664525u + 1013904223u;
      const size_t bytes = (state >> 8) % ((state >> 28) ? 700 : 100000);
      void **place = &held[state >> 28];
      if (n % 3 == 0) {
         *place = realloc(*place, bytes);
      } else {
         free(*place);
         *place = n % 7 ? malloc(bytes) : calloc(bytes, 1);
      }
      addresses[n] = (uintptr_t)*place;
   }
}

/* What a fork of this process sees; the first one has pages of its own. */
static void allocate_in_fork(bool first_fork, uintptr_t addresses[CALLS]) {
   int ends[2], status = 0;
   assert_int_equal(pipe(ends), 0);
   const pid_t child = fork();
   if (child == 0) {
      heap_fork(first_fork);
      allocate(addresses);
      _exit(write(ends[1], addresses, CALLS * sizeof *addresses) == CALLS * sizeof *addresses ? 0 : 1);
   }
   assert_int_equal(read(ends[0], addresses, CALLS * sizeof *addresses), CALLS * sizeof *addresses);
   assert_int_equal(waitpid(child, &status, 0), child);
   assert_int_equal(status, 0);
   close(ends[0]);
   close(ends[1]);
}

/* The same of another process, which the kernel puts elsewhere: this program started anew. */
static void allocate_in_another(uintptr_t addresses[CALLS]) {
   char path[4096] = "";
   assert_true(readlink("/proc/self/exe", path, sizeof path - 1) > 0);
   strcat(path, " addresses");
   FILE *other = popen(path, "r");
   assert_non_null(other);
   assert_int_equal(fread(addresses, sizeof *addresses, CALLS, other), CALLS);
   assert_int_equal(pclose(other), 0);
}

static void forks_get_the_same_addresses(void **state) {
   uintptr_t first[CALLS], second[CALLS], other[CALLS];
   (void)state;
   allocate_in_fork(true, first);
   char *before = malloc(3000000);
   memset(before, 1, 3000000);
   allocate_in_fork(false, second);
   free(before);
   allocate_in_another(other);
   assert_memory_equal(first, second, sizeof first);
   assert_memory_equal(first, other, sizeof first);
}

static void blocks_hold_what_was_asked_for(void **state) {
   volatile size_t absurd = SIZE_MAX / 2; /* of which the compiler does not know that it is */
   (void)state;
   for (size_t bytes = 0; bytes < 3000000; bytes = bytes * 9 / 8 + 1)
      for (size_t alignment = 16; alignment <= 4096; alignment *= 16) {
         char *block = memalign(alignment, bytes), *next = memalign(alignment, bytes);
         assert_int_equal((uintptr_t)block % alignment, 0);
         assert_true(malloc_usable_size(block) >= bytes);
         memset(block, 1, bytes);
         memset(next, 2, bytes);
         assert_true(bytes == 0 || (block[0] == 1 && block[bytes - 1] == 1));
         block = realloc(block, bytes * 3 + 1);
         assert_true(bytes == 0 || (block[0] == 1 && block[bytes - 1] == 1));
         free(block);
         free(next);
      }
   assert_null(malloc(absurd));
   assert_null(calloc(absurd, 3));
}

static int end_of_fork(bool first_fork, size_t bytes) {
   int status = 0;
   const pid_t child = fork();
   if (child == 0) {
      heap_fork(first_fork);
      char *block = malloc(bytes);
      _exit(block && memset(block, 1, bytes) ? 0 : 1);
   }
   assert_int_equal(waitpid(child, &status, 0), child);
   assert_true(WIFEXITED(status));
   return WEXITSTATUS(status);
}

static void a_fork_beyond_its_limit_says_so(void **state) {
   (void)state;
   for (int first_fork = 0; first_fork < 2; first_fork++) {
      assert_int_equal(end_of_fork(first_fork, LIMIT / 2), 0);
      assert_int_equal(end_of_fork(first_fork, LIMIT - LIMIT / 8),
                       0); /* partly beyond the pages of its own */
      assert_int_equal(end_of_fork(first_fork, LIMIT * 2), COMPILER_EXIT_MEMORY);
      /* no text needs so much: whoever asks is broken, and learns that there is none */
      assert_int_not_equal(end_of_fork(first_fork, SIZE_MAX / 2), COMPILER_EXIT_MEMORY);
   }
}

int main(int argc, char **argv) {
   if (!HEAP_IS_OURS)
      return 77; /* a sanitizer's is used */
   uintptr_t addresses[CALLS];
   if (!heap_share(LIMIT))
      return 1;
   if (argc == 2 && strcmp(argv[1], "addresses") == 0) {
      allocate_in_fork(false, addresses);
      return fwrite(addresses, sizeof *addresses, CALLS, stdout) == CALLS ? 0 : 1;
   }
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(forks_get_the_same_addresses),
      cmocka_unit_test(blocks_hold_what_was_asked_for),
      cmocka_unit_test(a_fork_beyond_its_limit_says_so),
   };
   return RUN_TESTS(tests);
}
