/* The speed model on launches whose answer is known from first principles. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "block_turns.h"
#include "describe.h"
#include "roofline.h"
#include "spills.h"

/* A round-numbered device, so that expected times can be worked out by hand. */
static const rkb_device_t device = {
   .multiprocessors = 100,
   .clock_hz = 1e9,
   .memory_sustained = 1e12,
   .l2_bandwidth = 4e12,
   .shared_bandwidth = 128.0 * 100 * 1e9,
   .f32_per_clock = 128,
   .f64_per_clock = 64,
   .f16_per_clock = 256,
   .int32_per_clock = 64,
   .special_per_clock = 16,
   .convert_per_clock = 64,
   .load_store_per_clock = 32,
   .issue_per_clock = 4,
   .memory_latency_s = 600e-9,
   .l2_latency_s = 200e-9,
   .shared_latency_s = 30e-9,
   .issue_latency_clocks = 4,
   .barrier_clocks = 20,
   .tensor_bf16 = 1e15,
   .tensor_tf32 = 5e14,
   .tensor_mma_share = 0.5,
   .tensor_latency_clocks = 30,
   .l2_copy_bandwidth = 8e12,
   .tensor_group_share = 0.8,
   .launch_floor_s = 3e-6,
   .graph_launch_s = 1e-6,
};
static const spilled_registers_t none = {0};
static const block_turns_t own_blocks = {.mean = 1, .most = 1};
static const rkb_occupancy_t full = {.blocks = 8, .warps = 64, .share = 1, .limited_by = "threads"};

/* blocks blocks of 256 threads, each thread copying one float of its own. */
static rkb_launch_counters_t copy_of(uint64_t blocks) {
   rkb_launch_counters_t c = {
      .threads = 256, .blocks = blocks, .executed = 1, .longest_loads = 1, .longest_warp = 10};
   c.warp_instructions[RKB_CLASS_GLOBAL] = 16;
   c.warp_instructions[RKB_CLASS_INTEGER] = 64;
   c.load_requests = c.store_requests = 8;
   c.load_sectors = c.load_least = c.distinct_load_sectors = 32;
   c.store_sectors = c.store_least = c.distinct_store_sectors = 32;
   return c;
}

static void large_copy_takes_its_bytes_over_the_bandwidth(void **state) {
   (void)state;
   rkb_launch_counters_t c = copy_of(1000000); /* 2.048 GB */
   launch_time_t t = roofline_launch(&device, full, &c, own_blocks, 2.048e9, none, true);
   assert_int_equal(t.limiter, LIMIT_MEMORY);
   assert_true(t.part[LIMIT_MEMORY] > 2.0479e-3 && t.part[LIMIT_MEMORY] < 2.0481e-3);
   assert_true(t.seconds >= t.part[LIMIT_MEMORY] + t.floor);
   assert_true(t.seconds < 1.25 * t.part[LIMIT_MEMORY]);
}

static void one_block_is_limited_by_latency(void **state) {
   (void)state;
   rkb_launch_counters_t c = copy_of(1);
   launch_time_t t = roofline_launch(&device, full, &c, own_blocks, 2048, none, true);
   assert_int_equal(t.limiter, LIMIT_LATENCY);
   assert_true(t.seconds > 3.6e-6);
}

static void shared_data_is_counted_once(void **state) {
   (void)state;
   rkb_launch_counters_t c = copy_of(1000000);
   launch_time_t t = roofline_launch(&device, full, &c, own_blocks, 4096, none, true);
   assert_true(t.memory_bytes == 4096);
   assert_int_not_equal(t.limiter, LIMIT_MEMORY);
}

static void bank_conflicts_and_strides_cost_and_are_named(void **state) {
   (void)state;
   rkb_launch_counters_t good = copy_of(100000), bad = good;
   good.shared_requests = good.shared_wavefronts = bad.shared_requests = 1000;
   bad.shared_wavefronts = 32000;
   bad.load_sectors = 256;
   bad.lines[0] = (rkb_line_counters_t){.line = 41, .requests = 8, .sectors = 256, .least = 32};
   launch_time_t a = roofline_launch(&device, full, &good, own_blocks, 1e9, none, false),
                 b = roofline_launch(&device, full, &bad, own_blocks, 1e9, none, false);
   assert_true(b.seconds > 5 * a.seconds);
   assert_int_equal(b.limiter, LIMIT_SHARED);
   char text[320];
   describe_launch(&b, &bad, text, sizeof text);
   assert_non_null(strstr(text, "shared memory"));
   assert_non_null(strstr(text, "line 41"));
   assert_non_null(strstr(text, "32.0 wavefronts"));
}

static void a_tail_wave_costs_a_whole_wave(void **state) {
   (void)state;
   rkb_launch_counters_t exact = copy_of(800), over = copy_of(801);
   exact.longest_loads = over.longest_loads = 100;
   launch_time_t a = roofline_launch(&device, full, &exact, own_blocks, 1e9, none, false),
                 b = roofline_launch(&device, full, &over, own_blocks, 1e9, none, false);
   assert_true(fabs(b.part[LIMIT_LATENCY] / a.part[LIMIT_LATENCY] - 2) < 1e-9);
}

static double latency_of(const rkb_launch_counters_t *c) {
   return roofline_launch(&device, full, c, own_blocks, 1e9, none, false).part[LIMIT_LATENCY];
}

static void only_what_waits_is_charged_its_latency(void **state) {
   (void)state;
   rkb_launch_counters_t unknown = copy_of(1), chain = unknown, parallel = unknown, shared = unknown;
   unknown.longest_loads = chain.longest_loads = parallel.longest_loads = shared.longest_loads = 0;
   unknown.longest_warp = chain.longest_warp = parallel.longest_warp = shared.longest_warp = 1000;
   chain.chain_instructions = 1000;
   parallel.chain_instructions = 100; /* 400 clocks, less than the thousand it takes to issue them */
   shared.chain_instructions = 500;
   shared.chain_shared = 10;
   assert_true(fabs(latency_of(&unknown) - 4000e-9) < 1e-12);
   assert_true(fabs(latency_of(&chain) - 4000e-9) < 1e-12);
   assert_true(fabs(latency_of(&parallel) - 1000e-9) < 1e-12);
   assert_true(fabs(latency_of(&shared) - 2300e-9) < 1e-12);
}

static void a_load_of_what_was_loaded_before_takes_as_long_as_the_cache(void **state) {
   (void)state;
   rkb_launch_counters_t fresh = copy_of(1), half = fresh;
   fresh.longest_warp = half.longest_warp = 0;
   half.distinct_load_sectors = half.load_sectors / 2;
   assert_true(fabs(latency_of(&fresh) - 600e-9) < 1e-12);
   assert_true(fabs(latency_of(&half) - 400e-9) < 1e-12);
}

/* 1e12 multiply-adds are 2e12 operations: 2 ms at the full rate of bf16, of which warpgroups hold 0.8 and single warps half; tf32 takes twice as
 * long. */
static void products_take_their_type_s_rate(void **state) {
   (void)state;
   rkb_launch_counters_t c = copy_of(100), warpgroups, tf32;
   c.tensor_products[RKB_TENSOR_BF16] = 10000000000; /* of the one block that was executed */
   warpgroups = tf32 = c;
   warpgroups.warpgroup_products[RKB_TENSOR_BF16] = warpgroups.tensor_products[RKB_TENSOR_BF16];
   tf32.tensor_products[RKB_TENSOR_TF32] = tf32.tensor_products[RKB_TENSOR_BF16];
   tf32.tensor_products[RKB_TENSOR_BF16] = 0;
   const launch_time_t single = roofline_launch(&device, full, &c, own_blocks, 4096, none, true);
   assert_int_equal(single.limiter, LIMIT_TENSOR);
   assert_true(fabs(single.part[LIMIT_TENSOR] - 4e-3) < 1e-9);
   assert_true(
      fabs(roofline_launch(&device, full, &warpgroups, own_blocks, 4096, none, true).part[LIMIT_TENSOR] -
           2.5e-3) < 1e-9);
   assert_true(fabs(roofline_launch(&device, full, &tf32, own_blocks, 4096, none, true).part[LIMIT_TENSOR] -
                    8e-3) < 1e-9);
}

/* 100 blocks bring 1,000 sectors each by copies, in 10 steps: 3.2 MB at 8 TB/s.  One block a multiprocessor waits 200 ns for each step and 0.4 us
 * for its bytes, unless several stages are on their way together. */
static void copies_of_a_pipeline_overlap(void **state) {
   (void)state;
   rkb_launch_counters_t c = copy_of(100);
   c.longest_warp = c.longest_loads = 0;
   c.load_sectors = c.bulk_sectors = 1000;
   c.distinct_load_sectors = c.store_sectors = 0;
   c.bulk_phases = 10;
   c.bulk_barriers = 2;
   const double two = latency_of(&c),
                l2 = roofline_launch(&device, full, &c, own_blocks, 4096, none, true).part[LIMIT_L2];
   c.bulk_barriers = 4;
   assert_true(fabs(l2 - 0.4e-6) < 1e-12);
   assert_true(fabs(two - 2.4e-6) < 1e-12);
   assert_true(fabs(latency_of(&c) - two / 3) < 1e-12);
}

/* A chain of 1,000 products of a warp waits 30 clocks for each. */
static void products_in_a_chain_wait_for_each_other(void **state) {
   (void)state;
   rkb_launch_counters_t c = copy_of(1);
   c.longest_loads = 0;
   c.longest_warp = 1000;
   c.chain_instructions = 1;
   c.chain_tensor = 1000;
   assert_true(fabs(roofline_launch(&device, full, &c, own_blocks, 2048, none, true).part[LIMIT_LATENCY] -
                    30e-6) < 1e-7);
}

/* 100 blocks, one on each multiprocessor, each of which loads its own 1 MiB twice. 105 MB are loaded in
 * between.  A cache of 60 MB has none of it any more; one of 200 MB has all of it, and also what all blocks
 * share. */
static void what_the_cache_lost_is_read_again(void **state) {
   (void)state;
   rkb_device_t small = device, large = device;
   const rkb_occupancy_t single = {.blocks = 1, .warps = 8, .share = 0.1, .limited_by = "registers"};
   rkb_launch_counters_t c = copy_of(100), shared;
   c.load_sectors = 65536;
   c.distinct_load_sectors = c.reused_sectors[14 - RKB_REUSE_LEAST] = 32768;
   shared = c;
   small.l2_bytes = 60e6;
   large.l2_bytes = 400e6;
   const double bytes = 100 * 32768 * 32.0, once = bytes + 100 * 32 * 32.0;
   assert_true(fabs(roofline_launch(&small, single, &c, own_blocks, 1e9, none, true).memory_bytes -
                    (once + bytes)) < 1);
   assert_true(fabs(roofline_launch(&large, single, &c, own_blocks, 1e9, none, true).memory_bytes - once) <
               1);
   assert_true(
      fabs(roofline_launch(&small, single, &shared, own_blocks, bytes / 100, none, true).memory_bytes -
           bytes / 100) < 1);
}

/* Half of the multiprocessors reach more than half of what memory and the second-level cache give, and not all of it. */
static void few_blocks_reach_a_part_of_a_bandwidth(void **state) {
   (void)state;
   rkb_launch_counters_t c = copy_of(100);
   c.load_sectors = c.distinct_load_sectors = c.store_sectors = c.distinct_store_sectors = 3200000;
   const launch_time_t all = roofline_launch(&device, full, &c, own_blocks, 1e15, none, true);
   c.blocks = 50;
   const launch_time_t half = roofline_launch(&device, full, &c, own_blocks, 1e15, none, true);
   assert_float_equal(all.part[LIMIT_MEMORY], 100 * 6400000.0 * 32 / 1e12, 1e-6);
   assert_float_equal(half.part[LIMIT_MEMORY] / all.part[LIMIT_MEMORY], 0.5 / 0.838, 0.001);
   assert_float_equal(half.part[LIMIT_L2] / all.part[LIMIT_L2], 0.5 / 0.711, 0.001);
}

/* Each block loads 1,000 sectors ten times over; the second-level cache is asked for what the first-level cache does not hold. */
static void loads_of_the_first_level_cache_ask_no_other(void **state) {
   (void)state;
   rkb_launch_counters_t c = copy_of(800);
   c.load_sectors = 10000;
   c.distinct_load_sectors = 1000;
   c.reused_sectors[2] = 9000; /* 1,024 to 2,048 sectors before, of 8 blocks at once: 393 KB */
   const double all = roofline_launch(&device, full, &c, own_blocks, 1e15, none, true).part[LIMIT_L2];
   assert_float_equal(all, 800 * 10032.0 * 32 / 4e12, 1e-9);
   assert_float_equal(
      roofline_launch(&device, full, &c, own_blocks, 1e15, (spilled_registers_t){.cache_bytes = 256000}, true)
         .part[LIMIT_L2],
      all, 1e-12);
   assert_float_equal(
      roofline_launch(&device, full, &c, own_blocks, 1e15, (spilled_registers_t){.cache_bytes = 512000}, true)
         .part[LIMIT_L2],
      800 * 1032.0 * 32 / 4e12, 1e-9);
}

/* Eleven waves of blocks of which few are long: one wave is. */
static void few_long_blocks_make_one_wave_long(void **state) {
   (void)state;
   rkb_launch_counters_t c = copy_of(8800);
   c.warp_instructions[RKB_CLASS_F32] = 80000 - 80; /* 10,000 a warp in the mean */
   c.longest_warp = c.chain_instructions = 10000;
   const double alike =
      roofline_launch(&device, full, &c, own_blocks, 2.048e9, none, true).part[LIMIT_LATENCY];
   c.longest_warp = c.chain_instructions = 400000;
   const double few = roofline_launch(&device, full, &c, own_blocks, 2.048e9, none, true).part[LIMIT_LATENCY];
   assert_float_equal(alike, 11 * (10000 * 4e-9 + 600e-9), 1e-8);
   assert_float_equal(few, (1 + 10 * 0.1) * (400000 * 4e-9 + 600e-9), 1e-8);
}

static void nothing_executed_predicts_the_floor(void **state) {
   (void)state;
   rkb_launch_counters_t c = {.threads = 256, .blocks = 100, .executed = 0};
   launch_time_t t = roofline_launch(&device, full, &c, own_blocks, 1e9, none, false);
   assert_true(t.seconds == device.graph_launch_s);
}

/* 100 multiprocessors move 12.8e12 bytes a second through their first-level caches, the second-level cache 4e12, memory 1e12. */
static void spilled_registers_take_the_time_of_the_cache_that_holds_them(void **state) {
   (void)state;
   rkb_launch_counters_t c = copy_of(800); /* all resident at once */
   const double bytes = 800.0 * 256 * 4096;
   spilled_registers_t spilled = {.bytes = 4096, .frame = 64, .cache_bytes = 8 * 256 * 64};
   const launch_time_t first = roofline_launch(&device, full, &c, own_blocks, 1e9, spilled, true);
   assert_true(fabs(first.part[LIMIT_SPILLED] - bytes / 12.8e12) < 1e-12);
   assert_int_equal(first.limiter, LIMIT_SPILLED);
   rkb_device_t large = device;
   large.l2_bytes = 1e9;
   spilled.frame = 128; /* half of it in the first-level cache */
   assert_true(fabs(roofline_launch(&large, full, &c, own_blocks, 1e9, spilled, true).part[LIMIT_SPILLED] -
                    bytes * (1 / 12.8e12 + 0.5 / 4e12)) < 1e-12);
   large.l2_bytes = 1; /* that half in memory */
   assert_true(roofline_launch(&large, full, &c, own_blocks, 1e9, spilled, true).part[LIMIT_SPILLED] >
               bytes * (0.5 / 4e12 + 0.49 / 1e12));
   assert_true(roofline_launch(&device, full, &c, own_blocks, 1e9, none, true).part[LIMIT_SPILLED] == 0);
}

static const char PTX[] =
   ".version 9.0\n.visible .entry other(\n\t.param .u64 p\n)\n{\n\tret;\n}\n"
   ".visible .entry kernel_long(\n)\n{\n\tret;\n}\n"
   ".visible .entry kernel(\n\t.param .u64 p\n)\n.maxntid 256, 1, 1\n{\n\t.reg .b32 %r<9>;\n\tmov.u32 \t%r1, 0;\n$L:\n"
   "\t// begin inline asm\n\t{\n\tadd.u32 %r1, %r1, 1;\n\t}\n\t@%p1 bra \t$L;\n\tret;\n}\n";

static void spills_are_executed_as_often_as_other_instructions(void **state) {
   (void)state;
   assert_int_equal((int)ptx_instructions(PTX, "kernel"), 4);
   assert_int_equal((int)ptx_instructions(PTX, "other"), 1);
   assert_int_equal((int)ptx_instructions(PTX, "absent"), 0);
   assert_int_equal((int)ptx_instructions(".entry kernel(", "kernel"), 0);
   const rkb_built_kernel_t kernels[] = {{.entry = "kernel",
                                          .spill_store_bytes = 8,
                                          .spill_load_bytes = 16,
                                          .local_bytes = 8,
                                          .shared_bytes = 1000}};
   const rkb_build_t build = {.ptx = PTX, .kernel_count = 1, .kernels = kernels};
   const rkb_plan_launch_t launch = {.dynamic_shared = 1000};
   rkb_launch_counters_t c = copy_of(100);
   for (int i = 0; i < RKB_CLASS_COUNT; i++)
      c.warp_instructions[i] = 0;
   c.warp_instructions[RKB_CLASS_INTEGER] =
      8 * 4 * 10; /* each of the 8 warps executes each instruction ten times */
   rkb_device_t small = device;
   small.shared_per_multiprocessor = 20000;
   const spilled_registers_t spilled = spilled_registers(&small, &build, &launch, &c, full);
   assert_true(fabs(spilled.bytes - 240) < 1e-9 && spilled.frame == 8);
   assert_true(fabs(spilled.cache_bytes - (28672 + 20000 - 8 * 2000)) < 1e-9);
}

/* A grid of min(250, 100) blocks: 50 of them take three pieces of 32 sectors, the others two. */
static void blocks_of_a_bounded_grid_take_pieces_in_turn(void **state) {
   (void)state;
   bounded_grids_t grids = {.count = 0};
   const rkb_plan_decision_t decisions[] = {{.left = 300, .right = 100, .divides = 1},
                                            {.left = 900, .right = 100, .is_value = 1},
                                            {.left = 100, .right = 100},
                                            {.left = 0, .right = 100},
                                            {.left = 70, .right = 50},
                                            {.left = 250, .right = 100, .outcome = 1}};
   for (size_t n = 0; n < sizeof decisions / sizeof *decisions; n++)
      block_turns_note(&grids, &decisions[n]);
   rkb_plan_buffer_t buffers[] = {{.bytes = 250 * 1024, .role = RKB_IN},
                                  {.bytes = 250 * 1024, .role = RKB_OUT}};
   rkb_plan_argument_t arguments[] = {{.buffer = 0}, {.buffer = 1}};
   rkb_plan_launch_t launch = {.grid = {100, 1, 1}, .arguments = arguments, .argument_count = 2};
   const rkb_plan_t plan = {.buffers = buffers, .buffer_count = 2};
   rkb_launch_counters_t c = copy_of(100);
   c.distinct_store_sectors = 64;
   block_turns_t turns = block_turns_of(&device, &plan, &launch, &c, &grids);
   assert_true(turns.pieces == 250 && fabs(turns.mean - 1.25) < 1e-12 && fabs(turns.most - 1.5) < 1e-12);
   c.distinct_store_sectors = 96;
   turns = block_turns_of(&device, &plan, &launch, &c, &grids);
   assert_true(turns.pieces == 250 && fabs(turns.mean - 2.5 / 3) < 1e-12 && fabs(turns.most - 1) < 1e-12);
   c.distinct_store_sectors = 32; /* no block takes one piece: they fill another buffer, if any */
   assert_true(block_turns_of(&device, &plan, &launch, &c, &grids).pieces == 0);
   c.distinct_store_sectors = 64;
   launch.argument_count = 1; /* only what it reads */
   assert_true(block_turns_of(&device, &plan, &launch, &c, &grids).pieces == 0);
   launch.argument_count = 2;
   launch.grid[0] = 70; /* no whole number of blocks a multiprocessor */
   assert_true(block_turns_of(&device, &plan, &launch, &c, &grids).pieces == 0);
}

static void the_busiest_multiprocessor_takes_the_most_pieces(void **state) {
   (void)state;
   rkb_launch_counters_t c = copy_of(100);
   c.warp_instructions[RKB_CLASS_F32] = 1000000;
   const block_turns_t turns = {.pieces = 250, .mean = 1.25, .most = 1.5};
   const launch_time_t alike = roofline_launch(&device, full, &c, own_blocks, 1e15, none, true),
                       uneven = roofline_launch(&device, full, &c, turns, 1e15, none, true);
   assert_true(fabs(uneven.part[LIMIT_F32] / alike.part[LIMIT_F32] - 1.5) < 1e-9);
   assert_true(fabs(uneven.part[LIMIT_LATENCY] / alike.part[LIMIT_LATENCY] - 1.5) < 1e-9);
   assert_true(fabs(uneven.part[LIMIT_MEMORY] / alike.part[LIMIT_MEMORY] - 1.25) < 1e-9);
}

/* 100 blocks store 1,000 sectors each: 3.2 MB at 4 TB/s.  Of two blocks of a multiprocessor one stores while the other multiplies. */
static void warpgroups_store_after_their_products(void **state) {
   (void)state;
   rkb_launch_counters_t c = copy_of(100);
   c.store_sectors = 1000;
   c.tensor_products[RKB_TENSOR_BF16] = 1000000;
   const launch_time_t warps = roofline_launch(&device, full, &c, own_blocks, 1e15, none, true);
   c.warpgroup_products[RKB_TENSOR_BF16] = 1000000;
   const launch_time_t alone = roofline_launch(&device, full, &c, own_blocks, 1e15, none, true);
   assert_true(warps.stores == 0);
   assert_true(fabs(alone.stores - 0.8e-6) < 1e-12);
   c.blocks = 200;
   assert_true(fabs(roofline_launch(&device, full, &c, own_blocks, 1e15, none, true).stores - 0.8e-6) <
               1e-12);
   c.blocks = 300;
   c.executed = 3;
   c.store_sectors = 3000;
   assert_true(fabs(roofline_launch(&device, full, &c, own_blocks, 1e15, none, true).stores - 0.8e-6) <
               1e-12);
}

/* Blocks of a cluster that wait for each other take a time of their own, beside all others. */
static void clusters_wait_beside_all_else(void **state) {
   (void)state;
   rkb_launch_counters_t c = copy_of(1000);
   const launch_time_t without = roofline_launch(&device, full, &c, own_blocks, 1e15, none, true);
   c.cluster_waits = 4;
   c.remote_accesses = 16;
   const launch_time_t with = roofline_launch(&device, full, &c, own_blocks, 1e15, none, true);
   assert_true(without.clusters == 0);
   assert_true(fabs(with.clusters - 10 * (4 * 8 * 8e-9 + 16 * 16e-9)) < 1e-12);
   assert_true(fabs(with.part[LIMIT_LATENCY] - without.part[LIMIT_LATENCY] - 2 * 4 * 0.18e-6) < 1e-12);
   assert_true(with.seconds > without.seconds + with.clusters);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(large_copy_takes_its_bytes_over_the_bandwidth),
      cmocka_unit_test(one_block_is_limited_by_latency),
      cmocka_unit_test(shared_data_is_counted_once),
      cmocka_unit_test(bank_conflicts_and_strides_cost_and_are_named),
      cmocka_unit_test(a_tail_wave_costs_a_whole_wave),
      cmocka_unit_test(only_what_waits_is_charged_its_latency),
      cmocka_unit_test(a_load_of_what_was_loaded_before_takes_as_long_as_the_cache),
      cmocka_unit_test(products_take_their_type_s_rate),
      cmocka_unit_test(copies_of_a_pipeline_overlap),
      cmocka_unit_test(products_in_a_chain_wait_for_each_other),
      cmocka_unit_test(what_the_cache_lost_is_read_again),
      cmocka_unit_test(few_blocks_reach_a_part_of_a_bandwidth),
      cmocka_unit_test(loads_of_the_first_level_cache_ask_no_other),
      cmocka_unit_test(few_long_blocks_make_one_wave_long),
      cmocka_unit_test(nothing_executed_predicts_the_floor),
      cmocka_unit_test(spilled_registers_take_the_time_of_the_cache_that_holds_them),
      cmocka_unit_test(spills_are_executed_as_often_as_other_instructions),
      cmocka_unit_test(blocks_of_a_bounded_grid_take_pieces_in_turn),
      cmocka_unit_test(the_busiest_multiprocessor_takes_the_most_pieces),
      cmocka_unit_test(warpgroups_store_after_their_products),
      cmocka_unit_test(clusters_wait_beside_all_else),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
