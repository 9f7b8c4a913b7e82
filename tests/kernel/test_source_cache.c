/* The cache of sources: a text is read once, however often and from however many threads it is asked for; a full cache drops the source that was
 * asked for longest ago; what was taken stays. */
#include "kernel_fixture.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 8

static void a_text_is_read_once(void **state) {
   (void)state;
   size_t bytes;
   char *text = fixture_read("manifests/good_everything.cu", &bytes), *copy = strdup(text);
   rkb_source_cache_t *cache = rkb_source_cache_new();
   assert_null(rkb_source_cache_find(cache, text, bytes));
   rkb_source_t *first = rkb_source_cache_take(cache, text), *second = rkb_source_cache_take(cache, copy);
   rkb_source_t *found = rkb_source_cache_find(cache, copy, bytes);
   assert_ptr_equal(first, second);
   assert_ptr_equal(first, found);
   assert_non_null(first->manifest);
   assert_int_equal(rkb_source_cache_reads(cache), 1);
   copy[bytes - 1] ^= 1; /* another text of the same length */
   assert_null(rkb_source_cache_find(cache, copy, bytes));
   assert_null(rkb_source_cache_find(cache, text, bytes - 1));
   /* What was taken outlives the cache, the text and each other. */
   rkb_source_cache_free(cache);
   free(text);
   rkb_tokens_t *tokens = rkb_tokens_ref(first->tokens);
   rkb_manifest_t *manifest = rkb_manifest_ref(first->manifest);
   rkb_source_free(first);
   rkb_source_free(second);
   assert_int_equal(found->bytes, bytes);
   rkb_source_free(found);
   uint32_t count;
   assert_non_null(rkb_tokens_at(tokens, &count));
   assert_true(count > 0 && manifest->launch_count > 0);
   rkb_tokens_free(tokens);
   rkb_manifest_free(manifest);
   free(copy);
}

static bool has(rkb_source_cache_t *cache, const char *text) {
   rkb_source_t *found = rkb_source_cache_find(cache, text, strlen(text));
   rkb_source_free(found);
   return found != NULL;
}

static void the_oldest_makes_room(void **state) {
   (void)state;
   rkb_source_cache_t *cache = rkb_source_cache_new();
   char text[32];
   rkb_source_t *held = rkb_source_cache_take(cache, "int held;");
   for (uint32_t n = 0; n < 1000; n++) {
      snprintf(text, sizeof text, "int number_%u;", n);
      rkb_source_free(rkb_source_cache_take(cache, text));
      if (n < 900)
         assert_true(has(cache, "int number_0;")); /* asked for, so it stays */
   }
   assert_false(has(cache, "int held;"));
   assert_false(has(cache, "int number_1;"));
   assert_true(has(cache, "int number_0;"));
   assert_true(has(cache, "int number_999;"));
   assert_int_equal(rkb_source_cache_reads(cache), 1001);
   assert_string_equal(held->text, "int held;");
   rkb_source_free(held);
   rkb_source_cache_free(cache);
}

/* Texts of 200,000 bytes: five are kept.  One that no compiler takes is read each time, and drops nobody. */
static void bytes_are_bounded(void **state) {
   (void)state;
   rkb_source_cache_t *cache = rkb_source_cache_new();
   char *text = malloc(300001);
   assert_non_null(text);
   uint32_t kept = 0;
   memset(text, ' ', 300000);
   text[300000] = '\0';
   for (char n = 0; n < 10; n++) {
      text[0] = (char)('a' + n);
      text[200000] = '\0';
      rkb_source_free(rkb_source_cache_take(cache, text));
      text[200000] = ' ';
      rkb_source_free(rkb_source_cache_take(cache, text));
      assert_false(has(cache, text));
   }
   text[200000] = '\0';
   for (char n = 0; n < 10; n++) {
      text[0] = (char)('a' + n);
      kept += has(cache, text);
   }
   assert_int_equal(kept, 5);
   rkb_source_cache_free(cache);
   free(text);
}

static void *take_many(void *argument) {
   rkb_source_cache_t *cache = argument;
   char text[32];
   for (uint32_t n = 0; n < 2000; n++) {
      snprintf(text, sizeof text, "int number_%u;", n * 7 % 300);
      rkb_source_t *source = rkb_source_cache_take(cache, text);
      rkb_tokens_t *tokens = rkb_tokens_ref(source->tokens);
      rkb_source_free(source);
      uint32_t count = 0;
      rkb_tokens_at(tokens, &count);
      rkb_tokens_free(tokens);
      if (count != 3)
         return cache; /* wrong */
   }
   return NULL;
}

static void any_thread_may_ask(void **state) {
   (void)state;
   rkb_source_cache_t *cache = rkb_source_cache_new();
   pthread_t threads[THREADS];
   for (uint32_t n = 0; n < THREADS; n++)
      assert_int_equal(pthread_create(&threads[n], NULL, take_many, cache), 0);
   for (uint32_t n = 0; n < THREADS; n++) {
      void *wrong;
      assert_int_equal(pthread_join(threads[n], &wrong), 0);
      assert_null(wrong);
   }
   rkb_source_cache_free(cache);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_text_is_read_once),
      cmocka_unit_test(the_oldest_makes_room),
      cmocka_unit_test(bytes_are_bounded),
      cmocka_unit_test(any_thread_may_ask),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
