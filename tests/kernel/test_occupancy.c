/* Device profiles, and how many blocks of a kernel a device holds at once. */
#include "kernel_fixture.h"

static void occupancy_follows_the_tightest_limit(void **state) {
   const rkb_device_t *device = fixture_device("h200");
   rkb_built_kernel_t kernel = {.registers = 32};
   rkb_occupancy_t occupancy = rkb_occupancy(device, &kernel, 256, 0);
   (void)state;
   assert_int_equal(occupancy.blocks, 8);
   assert_float_equal(occupancy.share, 1.0, 0);
   assert_string_equal(occupancy.limited_by, "threads");
   kernel.registers = 128; /* 65536 / (128 * 256) */
   occupancy = rkb_occupancy(device, &kernel, 256, 0);
   assert_int_equal(occupancy.blocks, 2);
   assert_string_equal(occupancy.limited_by, "registers");
   occupancy = rkb_occupancy(device, &kernel, 32, 100 * 1024); /* 228 KiB / 101 KiB */
   assert_int_equal(occupancy.blocks, 2);
   assert_string_equal(occupancy.limited_by, "shared memory");
   kernel.registers = 16;
   occupancy = rkb_occupancy(device, &kernel, 32, 0);
   assert_int_equal(occupancy.blocks, 32);
   assert_string_equal(occupancy.limited_by, "blocks");
   assert_int_equal(rkb_occupancy(device, &kernel, 32, 256 * 1024).blocks, 0);
}

static void every_profile_loads(void **state) {
   static const char *const names[] = {"a100", "h100", "h200", "b200", "l4", "rtx4090", NULL};
   (void)state;
   for (int i = 0; names[i]; i++) {
      const rkb_device_t *device = fixture_device(names[i]);
      assert_string_equal(device->name, names[i]);
      assert_true(device->multiprocessors > 0 && device->clock_hz > 1e9 && device->memory_bandwidth > 1e11);
      assert_true(device->memory_sustained <= device->memory_bandwidth &&
                  device->shared_per_block_optin <= device->shared_per_multiprocessor);
      assert_true(device->memory_latency_s > device->l2_latency_s &&
                  device->l2_latency_s > device->shared_latency_s);
   }
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(occupancy_follows_the_tightest_limit),
      cmocka_unit_test(every_profile_loads),
   };
   return RUN_TESTS(tests);
}
