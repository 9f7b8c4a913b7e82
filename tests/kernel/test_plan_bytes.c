/* The byte form of plans: the same plan comes back, and other bytes give none. */
#include "plan_fixture.h"

#include <stdlib.h>
#include <string.h>

static void only_these_bytes(const char *manifest) {
   fixture_case_t odd;
   rkb_finding_t finding = {0};
   rkb_plan_t *plan, *again;
   rkb_error_t err;
   unsigned char *bytes;
   void *written, *rewritten;
   size_t length, second;
   char left[RKB_HASH_TEXT], right[RKB_HASH_TEXT];
   uint32_t accepted = 0;
   fixture_rmsnorm(&odd, 3, 5, 31);
   plan = plan_fixture_make(manifest, NULL, &odd, &finding);
   assert_int_equal(rkb_plan_write(plan, &written, &length, &err), RKB_OK);
   assert_int_equal(rkb_plan_read(written, length, &again, &err), RKB_OK);
   assert_int_equal(rkb_plan_write(again, &rewritten, &second, &err), RKB_OK);
   assert_int_equal(length, second);
   assert_memory_equal(written, rewritten, length);
   rkb_plan_hash(plan, left);
   rkb_plan_hash(again, right);
   assert_string_equal(left, right);
   rkb_plan_free(again);
   free(rewritten);
   for (size_t cut = 0; cut < length; cut++)
      assert_int_not_equal(rkb_plan_read(written, cut, &again, &err), RKB_OK);
   /* Any flipped byte is refused or read as a plan that writes itself back: no number is lost or made up. */
   bytes = written;
   for (size_t i = 0; i < length; i++) {
      bytes[i] ^= 0x81;
      if (rkb_plan_read(bytes, length, &again, &err) == RKB_OK) {
         assert_int_equal(rkb_plan_write(again, &rewritten, &second, &err), RKB_OK);
         assert_int_equal(second, length);
         assert_memory_equal(rewritten, bytes, length);
         rkb_plan_free(again);
         free(rewritten);
         accepted++;
      }
      bytes[i] ^= 0x81;
   }
   assert_true(accepted < length / 2);
   rkb_plan_free(plan);
   free(written);
}

static void bytes_give_the_same_plan_and_nothing_else_does(void **state) {
   (void)state;
   only_these_bytes(plan_fixture_whole);
   only_these_bytes(plan_fixture_mapped);
   only_these_bytes(plan_fixture_pixels);
   only_these_bytes(plan_fixture_packed);
}

/* Version 1 as it was first written; this file must stay readable. */
static void an_old_plan_is_still_read(void **state) {
   size_t length;
   char *bytes = fixture_read("../fuzz/corpus/plan/whole", &length);
   rkb_plan_t *plan;
   rkb_error_t err = {0};
   (void)state;
   if (rkb_plan_read(bytes, length, &plan, &err) != RKB_OK)
      fail_msg("%s", err.message);
   assert_int_equal(plan->buffer_count, 3);
   assert_string_equal(plan->constants[0].symbol, "filter");
   assert_int_equal(plan->launches[0].grid[0], 15);
   assert_int_equal(plan->launches[0].arguments[1].value, 60);
   rkb_plan_free(plan);
   free(bytes);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(bytes_give_the_same_plan_and_nothing_else_does),
      cmocka_unit_test(an_old_plan_is_still_read),
   };
   return RUN_TESTS(tests);
}
