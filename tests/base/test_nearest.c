/* 'Did you mean': which names count as near.  One thread. */
#include "check.h"
#include "base/nearest_name.h"

#include <string.h>

static const char *const names[] = {"tolerance", "trials", "block", "grid", "direction", "x", NULL};

static void near_names_are_found(void **state) {
   (void)state;
   assert_string_equal(rkb_nearest("toleranse", names), "tolerance");
   assert_string_equal(rkb_nearest("tolernace", names), "tolerance"); /* neighbours swapped count once */
   assert_string_equal(rkb_nearest("trails", names), "trials");
   assert_string_equal(rkb_nearest("dircetoin", names), "direction");
   assert_string_equal(rkb_nearest("gird", names), "grid");
}

static void far_names_are_not(void **state) {
   (void)state;
   char longest[200];
   memset(longest, 'a', sizeof longest - 1);
   longest[sizeof longest - 1] = '\0';
   assert_null(rkb_nearest("memory", names));
   assert_null(rkb_nearest("flock_of", names));
   assert_null(rkb_nearest("y", names)); /* distance 1, but nothing in common */
   assert_null(rkb_nearest("", names));
   assert_null(rkb_nearest(longest, names));
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(near_names_are_found),
                                      cmocka_unit_test(far_names_are_not)};
   return RUN_TESTS(tests);
}
