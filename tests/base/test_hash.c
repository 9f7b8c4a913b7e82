/* Hashes: parts are framed, so that moving a boundary changes the digits.  One thread. */
#include "check.h"
#include "base/hash.h"

#include <string.h>

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

/* The examples of FIPS 180-4, and the first of RFC 4231 for a key of 32 bytes: its key of 20 bytes, filled up
 * with zeros, is the same key. */
static void digits_are_the_standards(void **state) {
   (void)state;
   static const struct {
      const char *text, *digits;
   } cases[] = {
      {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
   };
   char out[RKB_HASH_TEXT];
   for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
      rkb_hash_text(cases[i].text, strlen(cases[i].text), out);
      assert_string_equal(out, cases[i].digits);
   }
   static const unsigned char wanted[RKB_HASH_BYTES] = {
      0xb0, 0x34, 0x4c, 0x61, 0xd8, 0xdb, 0x38, 0x53, 0x5c, 0xa8, 0xaf, 0xce, 0xaf, 0x0b, 0xf1, 0x2b,
      0x88, 0x1d, 0xc2, 0x00, 0xc9, 0x83, 0x3d, 0xa7, 0x26, 0xe9, 0x37, 0x6c, 0x2e, 0x32, 0xcf, 0xf7};
   unsigned char key[RKB_HASH_BYTES] = {0}, sealed[RKB_HASH_BYTES];
   memset(key, 0x0b, 20);
   rkb_hash_keyed(key, "Hi There", 8, sealed);
   assert_memory_equal(sealed, wanted, sizeof wanted);
}

/* A hash is the same however its bytes come: in words, in one long part, and across the bytes that are
 * gathered between two calls of libcrypto. */
static void long_parts_count_whole(void **state) {
   (void)state;
   char text[2000], framed[8 + sizeof text], one[RKB_HASH_TEXT], two[RKB_HASH_TEXT];
   memset(text, 'x', sizeof text);
   for (size_t bytes = 480; bytes <= 530; bytes++)
      for (size_t first = 0; first <= 600; first += 600) {
         char whole[2 * (8 + sizeof text)];
         size_t at = 0;
         rkb_hasher_t *hasher = rkb_hasher_new();
         const size_t parts[2] = {first, bytes};
         for (int i = 0; i < 2; i++) {
            memset(framed, 0, 8);
            framed[0] = (char)(parts[i] & 255);
            framed[1] = (char)(parts[i] >> 8);
            memcpy(framed + 8, text, parts[i]);
            memcpy(whole + at, framed, 8 + parts[i]);
            at += 8 + parts[i];
            rkb_hasher_add(hasher, text, parts[i]);
         }
         rkb_hasher_finish(hasher, one);
         rkb_hash_text(whole, at, two);
         assert_string_equal(one, two);
      }
}

/* XXH3-64 of no bytes at all with seed 0, as the xxHash specification gives it. */
static void table_hashes_take_a_seed(void **state) {
   (void)state;
   assert_true(rkb_hash64("", 0, 0) == UINT64_C(0x2d06800538d394c2));
   assert_true(rkb_hash64("a", 1, 1) != rkb_hash64("a", 1, 2));
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(parts_are_framed),
                                      cmocka_unit_test(digits_are_the_standards),
                                      cmocka_unit_test(long_parts_count_whole),
                                      cmocka_unit_test(table_hashes_take_a_seed)};
   return RUN_TESTS(tests);
}
