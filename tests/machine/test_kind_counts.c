/* What is counted of few heavy blocks and many light ones counts as often as the grid has each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "machine/counts/kind_counts.h"

/* Blocks of the first kind execute 10 instructions and load 2 sectors, those of the second 1,000 and 300. */
static const uint8_t of_blocks[] = {0, 0, 1, 0};
static const uint64_t in_grid[] = {1024, 64};
static const rkb_machine_blocks_t sample = {
   .count = 4, .kinds = of_blocks, .kind_blocks = in_grid, .kind_count = 2};

static rkb_launch_counters_t counted(const rkb_machine_blocks_t *blocks, uint32_t executed) {
   rkb_launch_counters_t c = {.blocks = 1088};
   machine_kind_counts_t *kinds = machine_kinds_open(blocks);
   assert_non_null(kinds);
   for (uint32_t n = 0; n < executed; n++) {
      const uint64_t heavy = of_blocks[n];
      c.executed++;
      c.warp_instructions[RKB_CLASS_F32] += heavy ? 1000 : 10;
      c.load_sectors += heavy ? 300 : 2;
      c.longest_warp = heavy || c.longest_warp > 10 ? 1000 : 10;
      machine_kinds_add(kinds, blocks, &c, n);
   }
   machine_kinds_weigh(kinds, blocks, &c);
   machine_kinds_free(kinds);
   return c;
}

static void each_kind_counts_as_often_as_the_grid_has_it(void **state) {
   (void)state;
   const rkb_launch_counters_t c = counted(&sample, 4);
   assert_int_equal(c.executed, 4);
   assert_int_equal(c.warp_instructions[RKB_CLASS_F32] * 1088 / 4 / 100, (1024 * 10 + 64 * 1000) / 100);
   assert_int_equal(c.load_sectors, (1024 * 2 + 64 * 300) * 4 / 1088);
   assert_int_equal(c.longest_warp, 1000);
}

static void nothing_is_weighed_where_much_is_not_known(void **state) {
   (void)state;
   static const uint64_t many[] = {64, 1024};
   const rkb_machine_blocks_t other = {.count = 4, .kinds = of_blocks, .kind_blocks = many, .kind_count = 2};
   assert_int_equal(counted(&other, 2).warp_instructions[RKB_CLASS_F32],
                    20); /* what most blocks do was not executed */
   assert_int_equal(counted(&sample, 2).warp_instructions[RKB_CLASS_F32],
                    20); /* and here nearly all do that */
   assert_null(machine_kinds_open(&(rkb_machine_blocks_t){.count = 4}));
   assert_null(machine_kinds_open(NULL));
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(each_kind_counts_as_often_as_the_grid_has_it),
                                      cmocka_unit_test(nothing_is_weighed_where_much_is_not_known)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
