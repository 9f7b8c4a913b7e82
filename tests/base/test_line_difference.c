/* Differences of texts by lines: known ones to the letter, and random ones by applying them again.  One thread. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "base/line_difference.h"
#include "base/random.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static char *difference_of(const char *before, const char *after) {
   rkb_text_t text;
   rkb_text_init(&text, 1 << 20);
   rkb_line_difference(before, after, &text);
   assert_false(text.cut);
   return text.length ? rkb_text_take(&text) : strdup("");
}

static const struct {
   const char *before, *after, *want;
} known[] = {
   {"a\nb\n", "a\nb\n", ""},
   {"", "", ""},
   {"", "a\n", "@@ -0,0 +1 @@\n+a\n"},
   {"a\n", "", "@@ -1 +0,0 @@\n-a\n"},
   {"a\nb\nc\nd\ne\n", "a\nb\nC\nd\ne\n", "@@ -1,5 +1,5 @@\n a\n b\n-c\n+C\n d\n e\n"},
   {"1\n2\n3\n4\n5\n6\n", "1\n2\n3\n4\n5\n6\n7\n", "@@ -4,3 +4,4 @@\n 4\n 5\n 6\n+7\n"},
   /* seven equal lines part two hunks, six do not */
   {"x\n1\n2\n3\n4\n5\n6\n7\ny\n", "X\n1\n2\n3\n4\n5\n6\n7\nY\n",
    "@@ -1,4 +1,4 @@\n-x\n+X\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-y\n+Y\n"},
   {"x\n1\n2\n3\n4\n5\n6\ny\n", "X\n1\n2\n3\n4\n5\n6\nY\n",
    "@@ -1,8 +1,8 @@\n-x\n+X\n 1\n 2\n 3\n 4\n 5\n 6\n-y\n+Y\n"},
   {"a\nb", "a\nc", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n"},
};

static void known_differences_are_written_as_diff_writes_them(void **state) {
   (void)state;
   for (size_t n = 0; n < COUNT(known); n++) {
      char *got = difference_of(known[n].before, known[n].after);
      assert_string_equal(got, known[n].want);
      free(got);
   }
}

/* Before with every hunk carried out, which also says that hunks are in order and that their equal lines are. */
static void apply(const char *before, const char *difference, rkb_text_t *out) {
   unsigned line = 1;
   const char *at = difference;
   while (*at) {
      unsigned first, count = 1;
      assert_true(sscanf(at, "@@ -%u,%u", &first, &count) >= 1);
      for (first += count == 0; line < first; line++) { /* an empty side names the line before it */
         const char *end = strchr(before, '\n');
         assert_non_null(end);
         rkb_text_append(out, before, (size_t)(end + 1 - before));
         before = end + 1;
      }
      for (at = strchr(at, '\n') + 1; *at && *at != '@';) {
         const char *end = strchr(at, '\n') + 1;
         const size_t length = (size_t)(end - at - 1);
         if (*at != '+') {
            assert_memory_equal(before, at + 1, length);
            before += length;
            line++;
         }
         if (*at != '-')
            rkb_text_append(out, at + 1, length);
         at = end;
      }
   }
   rkb_text_add(out, before);
}

static void random_text(rkb_random_t *stream, rkb_text_t *text) {
   const uint64_t lines = rkb_random_below(stream, 60);
   for (uint64_t n = 0; n < lines; n++)
      rkb_text_format(text, "%c\n", (int)('a' + rkb_random_below(stream, 4)));
}

static void differences_lead_from_one_text_to_the_other(void **state) {
   (void)state;
   rkb_random_t stream = rkb_random_stream(7, "line_difference", 0, 0);
   for (int round = 0; round < 2000; round++) {
      rkb_text_t before, after, made;
      rkb_text_init(&before, 4096);
      rkb_text_init(&after, 4096);
      rkb_text_init(&made, 8192);
      random_text(&stream, &before);
      random_text(&stream, &after);
      char *difference = difference_of(rkb_text_get(&before), rkb_text_get(&after));
      apply(rkb_text_get(&before), difference, &made);
      assert_string_equal(rkb_text_get(&made), rkb_text_get(&after));
      free(difference);
      rkb_text_free(&before);
      rkb_text_free(&after);
      rkb_text_free(&made);
   }
}

/* Two texts with nothing in common and too many pairs of lines: replaced as a whole, quickly. */
static void long_texts_are_replaced_as_a_whole(void **state) {
   (void)state;
   rkb_text_t before, after, made;
   rkb_text_init(&before, 1 << 20);
   rkb_text_init(&after, 1 << 20);
   rkb_text_init(&made, 1 << 20);
   for (int n = 0; n < 5000; n++) {
      rkb_text_format(&before, "b%d\n", n);
      rkb_text_format(&after, "a%d\n", n);
   }
   char *difference = difference_of(rkb_text_get(&before), rkb_text_get(&after));
   apply(rkb_text_get(&before), difference, &made);
   assert_string_equal(rkb_text_get(&made), rkb_text_get(&after));
   free(difference);
   rkb_text_free(&before);
   rkb_text_free(&after);
   rkb_text_free(&made);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(known_differences_are_written_as_diff_writes_them),
      cmocka_unit_test(differences_lead_from_one_text_to_the_other),
      cmocka_unit_test(long_texts_are_replaced_as_a_whole),
   };
   return RUN_TESTS(tests);
}
