/* Two texts with one XXH3-128, of which one is right and the other is wrong (tests/adversary/identity/two_texts_with_one_xxh3).  While identities
 * were XXH3-128, the cache gave the right one's build for the wrong one.  They have identities and builds of their own. */
#include "kernel_fixture.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include "base/hash.h"

static const char *const names[2] = {"twin.cu", "kernel.cu"};

static char *text_of(uint32_t n, size_t *length) {
   char path[256];
   snprintf(path, sizeof path, "../adversary/identity/two_texts_with_one_xxh3/%s", names[n]);
   return fixture_read(path, length);
}

static rkb_build_t *build(rkb_compilers_t *pool, const char *source, rkb_build_cost_t *cost) {
   rkb_build_t *made = NULL;
   rkb_finding_t finding = {0};
   rkb_error_t err = {0};
   if (rkb_build_candidate(pool, fixture_device("h200"), source, NULL, 0, NULL, NULL, &made, cost, &finding,
                           &err) != RKB_OK ||
       !made)
      fail_msg("%s%s", err.message, finding.message);
   return made;
}

static void they_have_one_xxh3_and_two_identities(void **state) {
   char *texts[2], hashes[2][RKB_HASH_TEXT];
   size_t lengths[2];
   XXH128_hash_t sums[2];
   (void)state;
   for (uint32_t n = 0; n < 2; n++) {
      texts[n] = text_of(n, &lengths[n]);
      sums[n] = XXH3_128bits(texts[n], lengths[n]);
      rkb_hash_text(texts[n], lengths[n], hashes[n]);
   }
   assert_int_equal(lengths[0], lengths[1]);
   assert_memory_not_equal(texts[0], texts[1], lengths[0]);
   assert_true(XXH128_isEqual(sums[0], sums[1]));
   assert_true(XXH3_64bits(texts[0], lengths[0]) == XXH3_64bits(texts[1], lengths[1]));
   assert_string_not_equal(hashes[0], hashes[1]);
   for (uint32_t n = 0; n < 2; n++)
      free(texts[n]);
}

/* In either order, from the compiler and from the cache. */
static void each_has_its_own_build(void **state) {
   (void)state;
   for (uint32_t first = 0; first < 2; first++) {
      char *directory = fixture_directory(), *ptx[2] = {NULL, NULL};
      rkb_compilers_t *pool = fixture_pool(1, directory);
      for (uint32_t turn = 0; turn < 4; turn++) {
         const uint32_t n = (first + turn) % 2;
         size_t length;
         rkb_build_cost_t cost;
         char *source = text_of(n, &length);
         rkb_build_t *made = build(pool, source, &cost);
         assert_int_equal(cost.from_cache, turn >= 2);
         if (turn < 2)
            ptx[n] = strndup(made->ptx, made->ptx_bytes);
         assert_int_equal(strlen(ptx[n]), made->ptx_bytes);
         assert_memory_equal(ptx[n], made->ptx, made->ptx_bytes);
         rkb_build_free(made);
         free(source);
      }
      assert_string_not_equal(ptx[0], ptx[1]);
      free(ptx[0]);
      free(ptx[1]);
      rkb_compilers_close(pool);
      fixture_remove(directory);
      free(directory);
   }
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(they_have_one_xxh3_and_two_identities),
                                      cmocka_unit_test(each_has_its_own_build)};
   return RUN_TESTS(tests);
}
