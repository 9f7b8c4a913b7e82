/* The cache of kernels' structures: what it gives is what the text has, whatever was kept, replaced or too long to keep, and a structure that was taken
 * outlives its place. */
#include "check.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include "asking/structure_cache.h"
#include "kernel/kernel.h"

enum { TEXTS = 2600, THREADS = 4, MOST_TEXT = 256 };

static const rkb_kernel_api_t KERNEL = {.size = sizeof KERNEL, .tokens = rkb_tokens_new, .tokens_at = rkb_tokens_at, .tokens_free = rkb_tokens_free};

/* Texts of different lengths, so that no two structures have as many runs. */
typedef struct made {
   char text[MOST_TEXT + 8 * 1024], hash[RKB_HASH_TEXT];
   rkb_archive_row_t row;
} made_t;

static void make(made_t *made, uint32_t number) {
   size_t used = 0;
   for (uint32_t i = 0; i < number % 61 + 20; i++)
      used += (size_t)snprintf(made->text + used, sizeof made->text - used, "a%u = f%u(b);\n", number * 3 + i, i);
   snprintf(made->hash, sizeof made->hash, "%08x", number * 2654435761u);
   made->row = (rkb_archive_row_t){.number = number, .source = made->text, .source_hash = made->hash};
}

static void assert_right(structure_cache_t *cache, uint32_t number) {
   made_t made;
   kernel_structure_t read;
   make(&made, number);
   const kernel_structure_t *taken = structure_cache_take(cache, &KERNEL, &made.row);
   assert_non_null(taken);
   assert_true(kernel_structure_read(&KERNEL, made.text, &read));
   assert_true(read.count > 1);
   assert_int_equal(taken->count, read.count);
   assert_memory_equal(taken->hashes, read.hashes, read.count * sizeof *read.hashes);
   free(read.hashes);
   structure_cache_return(cache, taken);
}

static void what_is_replaced_is_read_again(void **state) {
   structure_cache_t *cache = structure_cache_new();
   made_t made;
   (void)state;
   make(&made, 1);
   const kernel_structure_t *held = structure_cache_take(cache, &KERNEL, &made.row);
   const uint64_t first = held->hashes[0];
   for (uint32_t number = 0; number < TEXTS; number++)
      assert_right(cache, number);
   for (uint32_t number = 0; number < TEXTS; number += 500)
      assert_right(cache, number);
   assert_int_equal(held->hashes[0], first);
   structure_cache_return(cache, held);
   structure_cache_return(cache, NULL);
   structure_cache_free(cache);
   structure_cache_free(NULL);
}

static void what_was_read_is_kept(void **state) {
   structure_cache_t *cache = structure_cache_new();
   made_t made;
   (void)state;
   make(&made, 7);
   const kernel_structure_t *first = structure_cache_take(cache, &KERNEL, &made.row), *second = structure_cache_take(cache, &KERNEL, &made.row);
   assert_ptr_equal(first, second);
   structure_cache_return(cache, first);
   structure_cache_return(cache, second);
   structure_cache_free(cache);
}

static void a_long_text_is_not_kept(void **state) {
   const size_t words = 20000;
   structure_cache_t *cache = structure_cache_new();
   char *text = malloc(words * 16), *at = text;
   (void)state;
   for (size_t i = 0; i < words; i++)
      at += sprintf(at, "w%zu ", i);
   const rkb_archive_row_t row = {.source = text, .source_hash = "long"};
   const kernel_structure_t *first = structure_cache_take(cache, &KERNEL, &row);
   assert_true(first->count > 8192);
   const kernel_structure_t *second = structure_cache_take(cache, &KERNEL, &row);
   assert_ptr_not_equal(first, second);
   assert_true(kernel_structure_likeness(first, second) >= 1);
   structure_cache_return(cache, first);
   structure_cache_return(cache, second);
   structure_cache_free(cache);
   free(text);
}

static void *take_all(void *data) {
   for (uint32_t number = 0; number < TEXTS; number += 9)
      assert_right(data, number);
   return NULL;
}

static void threads_share_it(void **state) {
   structure_cache_t *cache = structure_cache_new();
   pthread_t threads[THREADS];
   (void)state;
   for (uint32_t i = 0; i < THREADS; i++)
      assert_int_equal(pthread_create(&threads[i], NULL, take_all, cache), 0);
   for (uint32_t i = 0; i < THREADS; i++)
      assert_int_equal(pthread_join(threads[i], NULL), 0);
   structure_cache_free(cache);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_replaced_is_read_again), cmocka_unit_test(what_was_read_is_kept),
                                      cmocka_unit_test(a_long_text_is_not_kept), cmocka_unit_test(threads_share_it)};
   return RUN_TESTS(tests);
}
