/* Arenas: alignment, zeros, the ceiling, and sizes that would wrap.  One thread. */
#include "check.h"
#include "base/arena.h"

#include <string.h>

static void memory_is_zeroed_and_aligned(void **state) {
   (void)state;
   rkb_arena_t *arena = rkb_arena_new(0);
   for (size_t bytes = 0; bytes < 3000; bytes += 7) {
      unsigned char *memory = rkb_arena_alloc(arena, bytes);
      assert_non_null(memory);
      assert_int_equal((uintptr_t)memory % 16, 0);
      for (size_t i = 0; i < bytes; i++)
         assert_int_equal(memory[i], 0);
      memset(memory, 0xff, bytes);
   }
   rkb_arena_free(arena);
}

static void a_large_block_leaves_the_small_ones_alone(void **state) {
   (void)state;
   rkb_arena_t *arena = rkb_arena_new(0);
   char *first = rkb_arena_text(arena, "first", 5);
   char *large = rkb_arena_alloc(arena, 1 << 20);
   char *second = rkb_arena_text(arena, "second", 6);
   memset(large, 'x', 1 << 20);
   assert_string_equal(first, "first");
   assert_string_equal(second, "second");
   assert_true(second - first == 16); /* still the same chunk */
   rkb_arena_free(arena);
}

static void the_limit_is_kept(void **state) {
   (void)state;
   rkb_arena_t *arena = rkb_arena_new(1024);
   assert_non_null(rkb_arena_try(arena, 1, 1000));
   assert_int_equal(rkb_arena_used(arena), 1008);
   assert_null(rkb_arena_try(arena, 17, 1));
   assert_non_null(rkb_arena_try(arena, 16, 1));
   assert_null(rkb_arena_try(arena, 1, 1));
   assert_int_equal(rkb_arena_used(arena), 1024);
   rkb_error_t err;
   assert_int_equal(rkb_arena_fail(arena, "the plan", &err), RKB_ERR_LIMIT);
   assert_string_equal(err.message, "the plan needs more than 0 MiB");
   /* What has a ceiling of its own is not counted against the limit, and does not make room either. */
   assert_non_null(rkb_arena_alloc(arena, 64));
   assert_null(rkb_arena_try(arena, 1, 1));
   rkb_arena_free(arena);
}

static void sizes_do_not_wrap(void **state) {
   (void)state;
   rkb_arena_t *arena = rkb_arena_new(0);
   assert_null(rkb_arena_try(arena, SIZE_MAX / 8 + 2, 8));
   assert_null(rkb_arena_try(arena, SIZE_MAX, 1));
   assert_null(rkb_arena_try(arena, 1, SIZE_MAX - 15));
   assert_int_equal(rkb_arena_used(arena), 0);
   rkb_arena_free(arena);
   rkb_arena_free(NULL);
}

static void texts_are_copied_and_formatted(void **state) {
   (void)state;
   rkb_arena_t *arena = rkb_arena_new(0);
   assert_string_equal(rkb_arena_text(arena, "abcdef", 3), "abc");
   assert_string_equal(rkb_arena_format(arena, "%s:%d", "line", 7), "line:7");
   assert_string_equal(rkb_arena_text(arena, NULL, 0), "");
   rkb_arena_free(arena);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(memory_is_zeroed_and_aligned),
      cmocka_unit_test(a_large_block_leaves_the_small_ones_alone), cmocka_unit_test(the_limit_is_kept),
      cmocka_unit_test(sizes_do_not_wrap), cmocka_unit_test(texts_are_copied_and_formatted)};
   return RUN_TESTS(tests);
}
