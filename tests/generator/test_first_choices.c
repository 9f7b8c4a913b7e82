/* The decisions of first schedules that follow from measured times (docs/results/2026-11-26-table), not from
 * arithmetic; and that scores are fused where other launches read products of them
 * (docs/decisions/schedules.md). */
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "generator/generator.h"

static const rkb_target_t target = {.multiprocessors = 132,
                                    .shared_bytes = 227 << 10,
                                    .tensor = {0, 2361, 2361, 393, 4723, 4723, 787},
                                    .warpgroup = {0, 3748, 3748, 624, 7496, 7496},
                                    .bytes_a_second = 3.35e12,
                                    .cache_bytes = 50 << 20,
                                    .fused_a_second = 33e12,
                                    .products_a_second = 495e12}; /* an H100 */

static const struct {
   const char *directory, *direction, *start, *has;
} cases[] = {
   /* With 16 rows the second tile is faster, whatever the first one is.  With 1,024 rows, tiles of 128 x 128
    * need two rounds. */
   {TASKS "/w4a16_gemm", "forward", "suited",
    "tile_m: 128, tile_n: 256, tile_k: 64, blocks: 0, tensor: bf16, warp_m: 64, warp_n: 64, copy: tensor, stages: 4, order: 0, groups: 2, "
    "persistent: 1, taps: 0, other_m: 64, other_n: 256, other_split: 2, narrow: 1}"},
   /* A weight of 64 channels by nine taps of 64 has three such tiles, with as many parts as 132
    * multiprocessors have room for. */
   {TASKS "/bf16_conv2d", "backward", "suited", "other_m: 64, other_n: 192, other_split: 44"},
   /* Silu and its slope are computed where they are read.  So the product's results are stored in two bytes,
    * instead of these values in six. */
   {TASKS "/bf16_swiglu_ffw", "backward", "suited", "compute: [gated], write: [gated],"},
   {TASKS "/bf16_swiglu_ffw", "backward", "suited", "compute: [matmul], write: [mul_2, mul_3],"},
   /* One product is added to the other. */
   {TASKS "/bf16_swiglu_ffw", "backward", "suited", "compute: [matmul_5], write: [add],"},
   /* A share times a number of the row is one product. */
   {TASKS "/bf16_cross_entropy", "backward", "suited", "const float mul = softmax_power * softmax_scale;"},
   /* Blocks that fill a multiprocessor's shared memory have seven warps, and copy a row while they store another. */
   {TASKS "/bf16_cross_entropy", "forward", "suited", "keep: 32, shorter: 2, cluster: 8, warps: 7}"},
   {TASKS "/bf16_cross_entropy", "backward", "suited",
    "prefetch: 1, keep: 32, shorter: 2, cluster: 8, warps: 7}"},
   /* Threads add powers below their own largest element, so that a cluster waits once, and the target's element is written by itself. */
   {TASKS "/bf16_cross_entropy", "forward", "suited",
    "cluster_powers<8>(log_softmax_largest, log_softmax_sum);"},
   {TASKS "/bf16_cross_entropy", "backward", "suited", "if (picked / 8 % 1792 == thread) {"},
   /* What has one element for each row is loaded before the blocks of a cluster go over it. */
   {TASKS "/bf16_cross_entropy", "backward", "suited",
    "grad_loss_here = grad_loss[row];\n      const index picked = (index)target_here;"},
   /* A second tile that is faster in each of three cases. */
   {TASKS "/bf16_conv2d", "forward", "suited", "other_m: 128, other_n: 128, narrow: 1}"},
   /* One that is faster in one of two cases, which a mean over both hides. */
   {TASKS "/bf16_linear", "forward", "suited",
    "tile_m: 128, tile_n: 192, tile_k: 64, blocks: 0, tensor: bf16, warp_m: 64, warp_n: 64, copy: tensor, stages: 4, "
    "order: 0, groups: 2, persistent: 1, taps: 0, other_m: 128, other_n: 128}"},
   /* Sums that are stored as they are are rounded before they go through shared memory; sums with a bias are not. */
   {TASKS "/bf16_gemm", "forward", "suited", "persistent: 1, taps: 0, narrow: 1}"},
   /* None where heads of 64 do not fill the first one. */
   {TASKS "/attention", "backward", "suited",
    "compute: [matmul_4], write: [permute], split: 1, tile_m: 128, tile_n: 128, tile_k: 32, blocks: 0, tensor: tf32x3, warp_m: 64, warp_n: 64, "
    "copy: tensor, stages: 4, order: 0, groups: 2, persistent: 1, taps: 0, held: 1}"},
   /* Small shapes have the first tile. */
   {TASKS "/bf16_linear_residual", "backward", "suited",
    "(((N) + (127)) / (128)) * (((K) + (191)) / (192)) > 2"},
   /* Rows that fewer threads keep are owned by more blocks. */
   {TASKS "/bf16_layernorm", "backward", "suited", "grid: \"min(if(D <= 2048, 528, 264), R)\""},
   /* Rows to come are in shared memory where a thread has no registers for them. */
   {TASKS "/bf16_layernorm", "backward", "suited", "keep: 2, stages: 3, stretches: 264, shorter: 4}"},
   {TASKS "/bf16_rmsnorm_residual", "backward", "suited", "keep: 2, stages: 3, stretches: 132, shorter: 2}"},
   {TASKS "/llama_rmsnorm", "backward", "suited", "keep: 2, stretches: 264}"},
   /* A norm's weight is loaded before the row's sum is known; not where nothing else is read later. */
   {TASKS "/bf16_rmsnorm_residual", "forward", "suited", "split: 1, prefetch: 1, keep: 2, shorter: 2}"},
   {TASKS "/attention", "backward", "suited",
    "write: [sum_2, mul_scalar], threads: 256, vector: 4, rows: 1, split: 1, keep: 2}"},
   /* Heads that share keys add their gradients where they are made. */
   {TASKS "/bf16_attention", "backward", "fused",
    "compute: [dots, matmul, matmul_2, matmul_4, sum_2, sum_5], write: [reshape_3, reshape_2], tile_m: 128, tile_n: 64, keep: 1, blocks: 0, "
    "tensor: bf16, warp_m: 32, warp_n: 32, copy: tensor, stages: 3}"},
   {TASKS "/bf16_attention", "backward", "fused",
    "write: [share_largest, share_sum, sum_3], tile_m: 128, tile_n: 128, keep: 1, blocks: 0, tensor: bf16, warp_m: 32, warp_n: 32, "
    "copy: tensor, stages: 2}"},
   /* Where no place is hidden, the gradient's masks hide none either. */
   {TASKS "/bf16_attention", "backward", "fused", "dots[j / 2 * 4 + i * 2 + j % 2] = mul_3;"},
   /* The scores' scale multiplies the gradients of queries and keys, and the exponents. */
   {TASKS "/bf16_attention", "backward", "fused", "matmul_4[j / 2 * 4 + i * 2 + j % 2] *= scale;"},
   {TASKS "/bf16_attention", "backward", "fused",
    "part_below(dots[j / 2 * 4 + i * 2 + j % 2], minus_scale_part, share_largest_part_rows_here);"},
   /* Blocks go only over the tiles that the masks leave, transposed or not.  A block of keys begins at the
    * first query that sees one of them. */
   {TASKS "/bf16_attention", "backward", "fused", "const index first_seen = m_first;"},
   /* Own rows of 64 elements are multiplied from registers, those of 128 from shared memory. */
   {TASKS "/bf16_attention", "backward", "fused",
    "begin_held_bf16_n64<0>(dots, keys_turned_own[0], matrix(rows, 16));"},
   {TASKS "/bf16_attention", "backward", "fused",
    "begin_bf16_n64<0, 0>(dots, matrix(own_rows, 16), matrix(rows, 16));"},
   /* Powers are of the same exponents in all launches, or a share of a large score is not 1. */
   {TASKS "/bf16_attention", "backward", "fused",
    "power_of_two((dots[j / 2 * 4 + i * 2 + j % 2] - peak) * in_twos)"},
   {TASKS "/bf16_attention", "backward", "fused",
    "power_of_two(fmaf(share_below, -184.664965f, -share_sum_log_rows_here));"},
   /* A sum of few terms has a thread, not a warp. */
   {OWN_TASKS "/few_rows", "backward", "suited", "{map: element, compute: [matmul_2], write: [matmul_2]"},
};

static void test_choices(void **state) {
   (void)state;
   for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
      rkb_problems_t problems;
      rkb_error_t err = {0};
      char *text = NULL;
      rkb_problems_init(&problems);
      rkb_task_t *task = rkb_task_load(cases[i].directory, cases[i].direction, 0, &problems);
      rkb_problems_free(&problems);
      assert_non_null(task);
      assert_int_equal(rkb_generator_start(&(rkb_generator_t){task, target}, cases[i].start, &text, &err), RKB_OK);
      if (!strstr(text, cases[i].has))
         fail_msg("the schedule '%s' of %s %s has no '%s'", cases[i].start, cases[i].directory, cases[i].direction, cases[i].has);
      free(text);
      rkb_task_free(task);
   }
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(test_choices)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
