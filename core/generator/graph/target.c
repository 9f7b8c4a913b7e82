/* The properties of a device that decide a schedule (target.h). */
#include "generator/graph/target.h"

#include <string.h>
#include "task/least_time.h"

rkb_target_t rkb_target_of(const rkb_device_t *device, const char *precision) {
   const double whole = 1 / (2e9 * (double)device->multiprocessors), share = device->tensor_mma_share * whole;
   const double of_warpgroups = strcmp(device->architecture, "sm_90a") == 0 ? whole : 0;
   const rkb_peaks_t peaks = rkb_peaks_of(device);
   /* tf32x3 and fp16x3 compute each product as three products. */
   return (rkb_target_t){.multiprocessors = device->multiprocessors,
                         .shared_bytes = device->shared_per_block_optin,
                         .tensor = {[RKB_TENSOR_PATH_BF16] = device->tensor_bf16 * share,
                                    [RKB_TENSOR_PATH_FP16] = device->tensor_fp16 * share,
                                    [RKB_TENSOR_PATH_TF32X3] = device->tensor_tf32 / 3 * share,
                                    [RKB_TENSOR_PATH_FP8] = device->tensor_fp8 * share,
                                    [RKB_TENSOR_PATH_INT8] = device->tensor_int8 * share,
                                    [RKB_TENSOR_PATH_FP16X3] = device->tensor_fp16 / 3 * share},
                         .warpgroup = {[RKB_TENSOR_PATH_BF16] = device->tensor_bf16 * of_warpgroups,
                                       [RKB_TENSOR_PATH_FP16] = device->tensor_fp16 * of_warpgroups,
                                       [RKB_TENSOR_PATH_TF32X3] = device->tensor_tf32 / 3 * of_warpgroups,
                                       [RKB_TENSOR_PATH_FP8] = device->tensor_fp8 * of_warpgroups,
                                       [RKB_TENSOR_PATH_INT8] = device->tensor_int8 * of_warpgroups},
                         .bytes_a_second = peaks.bytes_per_s,
                         .cache_bytes = device->l2_bytes,
                         .fused_a_second = peaks.operations_per_s / 2,
                         .products_a_second = rkb_peak_rate(&peaks, precision) / 2,
                         .first_launch_s = device->launch_floor_s,
                         .next_launch_s = device->graph_launch_s};
}
