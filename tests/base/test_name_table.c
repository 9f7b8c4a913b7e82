/* Names are found in a full table, and what is not there is not found.  One thread. */
#include "check.h"
#include "base/name_table.h"

#include <stdio.h>

#define NAMES 3000u

static void every_name_is_found(void **state) {
   (void)state;
   rkb_arena_t *arena = rkb_arena_new(0);
   rkb_name_table_t table;
   rkb_name_table_make(&table, arena, NAMES);
   for (uint32_t i = 0; i < NAMES; i++) {
      assert_int_equal(rkb_name_table_find(&table, rkb_arena_format(arena, "value_%u", i)), UINT32_MAX);
      rkb_name_table_add(&table, rkb_arena_format(arena, "value_%u", i));
   }
   for (uint32_t i = 0; i < NAMES; i++)
      assert_int_equal(rkb_name_table_find(&table, rkb_arena_format(arena, "value_%u", i)), i);
   assert_int_equal(rkb_name_table_find(&table, "value"), UINT32_MAX);
   assert_int_equal(rkb_name_table_find(&table, ""), UINT32_MAX);
   rkb_arena_free(arena);
}

static void the_later_place_is_found(void **state) {
   (void)state;
   rkb_arena_t *arena = rkb_arena_new(0);
   rkb_name_table_t table;
   rkb_name_table_make(&table, arena, 3);
   rkb_name_table_add(&table, "x");
   rkb_name_table_add(&table, "y");
   rkb_name_table_add(&table, "x");
   assert_int_equal(rkb_name_table_find(&table, "x"), 2);
   assert_int_equal(rkb_name_table_find(&table, "y"), 1);
   rkb_arena_free(arena);
}

static void an_empty_table_has_no_name(void **state) {
   (void)state;
   rkb_arena_t *arena = rkb_arena_new(0);
   rkb_name_table_t table;
   rkb_name_table_make(&table, arena, 0);
   assert_int_equal(rkb_name_table_find(&table, "x"), UINT32_MAX);
   rkb_arena_free(arena);
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(every_name_is_found),
                                      cmocka_unit_test(the_later_place_is_found),
                                      cmocka_unit_test(an_empty_table_has_no_name)};
   return RUN_TESTS(tests);
}
