/* The properties of a target that decide a schedule. */
#ifndef RKB_GENERATOR_TARGET_H
#define RKB_GENERATOR_TARGET_H

#include <rkb/ext/kernel.h>
#include <stdint.h>

/* The values of the decision `tensor`. */
enum rkb_tensor_path {
   RKB_TENSOR_PATH_BF16 = 1,
   RKB_TENSOR_PATH_FP16,
   /* Each float is a sum of two numbers of 11 bits, and each product three products: about float's own
    * precision. */
   RKB_TENSOR_PATH_TF32X3,
   RKB_TENSOR_PATH_FP8, /* e4m3 */
   RKB_TENSOR_PATH_INT8,
   /* The same as TF32X3 with halves, where they have the range; other numbers are multiplied as by TF32X3. */
   RKB_TENSOR_PATH_FP16X3,
   RKB_TENSOR_PATHS
};

typedef struct rkb_target {
   int64_t multiprocessors;
   int64_t shared_bytes;            /* of a block, at most */
   double tensor[RKB_TENSOR_PATHS]; /* multiply-adds a nanosecond of a multiprocessor through mma.sync, by type; 0: it has none */
   /* The same through wgmma, where the target has tensor maps and mbarriers; 0: it has no wgmma. */
   double warpgroup[RKB_TENSOR_PATHS];
   /* Peak rates, which no kernel exceeds; 0: not known. */
   double bytes_a_second;           /* of device memory */
   double cache_bytes;              /* bytes of the second-level cache */
   double fused_a_second;           /* multiply-adds of the whole device, by ordinary arithmetic */
   /* Multiply-adds by the fastest arithmetic that the task's precision class admits. */
   double products_a_second;
   double first_launch_s, next_launch_s;
} rkb_target_t;

/* The target that a device is for a task of this precision class. */
rkb_target_t rkb_target_of(const rkb_device_t *device, const char *precision);

#endif
