/* Numbers by which launches and control paths are told apart (machine/state/keyed_sum.h): nobody can make two lists with one number without the key. */
#include "check.h"
#include "machine/state/keyed_sum.h"

/* Every pair of subsets of a few basic blocks differs, under keys that are small and large. */
static void all_paths_differ(void **state) {
   static const uint64_t numbers[] = {0, 1, UINT64_MAX, KEYED_SUM_PRIME, KEYED_SUM_PRIME - 1, 0x123456789abcdefull,
                                      0x9e3779b97f4a7c15ull, 0xfedcba987654321ull};
   enum { BLOCKS = 10, PATHS = 1 << BLOCKS };
   static uint64_t sums[PATHS];
   (void)state;
   for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++) {
      const uint64_t key = keyed_sum_key(numbers[n]);
      assert_in_range(key, 2, KEYED_SUM_PRIME - 1);
      for (uint32_t path = 0; path < PATHS; path++) {
         sums[path] = 0;
         for (uint32_t block = 0; block < BLOCKS; block++)
            if (path >> block & 1)
               sums[path] = keyed_sum(key, sums[path], block + 1);
         assert_true(sums[path] < KEYED_SUM_PRIME);
         const uint64_t number = numbers[n] % KEYED_SUM_PRIME;
         assert_true(keyed_sum(key, sums[path], number) ==
                     (uint64_t)(((unsigned __int128)sums[path] * key + number) % KEYED_SUM_PRIME));
      }
      if (key < 100) /* so small a key is one of few, and lists of small numbers may meet under it */
         continue;
      for (uint32_t path = 0; path < PATHS; path++)
         for (uint32_t other = 0; other < path; other++)
            assert_true(sums[path] != sums[other]);
   }
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(all_paths_differ)};
   return RUN_TESTS(tests);
}
