/* Hashes: parts are framed, so that moving a boundary changes the digits.  One thread. */
#include "check.h"
#include "base/hash.h"

static void parts_are_framed(void **state) {
   (void)state;
   char one[RKB_HASH_TEXT], two[RKB_HASH_TEXT], three[RKB_HASH_TEXT];
   rkb_hasher_t *hasher = rkb_hasher_new();
   rkb_hasher_add_text(hasher, "ab");
   rkb_hasher_add_text(hasher, "c");
   rkb_hasher_finish(hasher, one);
   hasher = rkb_hasher_new();
   rkb_hasher_add_text(hasher, "a");
   rkb_hasher_add(hasher, "bc", 2);
   rkb_hasher_finish(hasher, two);
   hasher = rkb_hasher_new();
   rkb_hasher_add(hasher, "ab", 2);
   rkb_hasher_add(hasher, "c", 1);
   rkb_hasher_finish(hasher, three);
   assert_string_not_equal(one, two);
   assert_string_equal(one, three);
}

/* The digest of no bytes at all, as the xxHash specification gives it for XXH3-128 with seed 0. */
static void digits_are_the_canonical_ones(void **state) {
   (void)state;
   char out[RKB_HASH_TEXT];
   rkb_hash_text("", 0, out);
   assert_string_equal(out, "99aa06d3014798d86001c324468d497f");
   assert_true(rkb_hash64("", 0, 0) == UINT64_C(0x2d06800538d394c2));
   assert_true(rkb_hash64("a", 1, 1) != rkb_hash64("a", 1, 2));
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(parts_are_framed),
                                      cmocka_unit_test(digits_are_the_canonical_ones)};
   return RUN_TESTS(tests);
}
