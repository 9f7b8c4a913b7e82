/* Growing texts and their ceiling.  One thread. */
#include "check.h"
#include "base/text.h"

#include <stdlib.h>

static void appends_grow(void **state) {
   (void)state;
   rkb_text_t text;
   rkb_text_init(&text, 1 << 20);
   assert_string_equal(rkb_text_get(&text), "");
   for (int i = 0; i < 1000; i++)
      rkb_text_format(&text, "%d,", i % 10);
   rkb_text_add(&text, "end");
   assert_int_equal(text.length, 2003);
   assert_false(text.cut);
   assert_string_equal(rkb_text_get(&text) + 1996, "8,9,end");
   rkb_text_free(&text);
   assert_string_equal(rkb_text_get(&text), "");
}

static void the_ceiling_keeps_a_prefix_and_stays(void **state) {
   (void)state;
   rkb_text_t text;
   rkb_text_init(&text, 5);
   rkb_text_add(&text, "abc");
   rkb_text_add(&text, "defg");
   assert_true(text.cut);
   assert_string_equal(rkb_text_get(&text), "abcde");
   rkb_text_add(&text, "h");
   rkb_text_format(&text, "%d", 1);
   assert_string_equal(rkb_text_get(&text), "abcde");
   rkb_text_clear(&text);
   assert_false(text.cut);
   rkb_text_format(&text, "%s", "123456");
   assert_true(text.cut);
   assert_string_equal(rkb_text_get(&text), "12345");
   rkb_text_clear(&text);
   rkb_text_add(&text, "exact");
   assert_false(text.cut);
   rkb_text_free(&text);
}

static void taking_gives_the_bytes_away(void **state) {
   (void)state;
   rkb_text_t text;
   rkb_text_init(&text, 100);
   char *empty = rkb_text_take(&text);
   assert_string_equal(empty, "");
   rkb_text_append(&text, "a\0b", 3);
   char *taken = rkb_text_take(&text);
   assert_memory_equal(taken, "a\0b", 4);
   rkb_text_add(&text, "more");
   assert_string_equal(rkb_text_get(&text), "more");
   free(empty);
   free(taken);
   rkb_text_free(&text);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(appends_grow),
                                      cmocka_unit_test(the_ceiling_keeps_a_prefix_and_stays),
                                      cmocka_unit_test(taking_gives_the_bytes_away)};
   return RUN_TESTS(tests);
}
