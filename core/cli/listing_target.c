/* From a device profile's figures to those that least times are reckoned with.  Pure. */
#include "cli/listing_target.h"

rkb_listing_target_t rkb_listing_target_of(const rkb_device_t *device) {
   return (rkb_listing_target_t){
      .name = device->name,
      /* Use the peak bandwidth: some kernels exceed the sustained rate of a copy, and none may beat the least time. */
      .bytes_per_s = device->memory_bandwidth,
      .operations_per_s = 2 * device->f32_per_clock * (double)device->multiprocessors * device->clock_hz,
      .tf32_per_s = device->tensor_tf32,
      .half_per_s = device->tensor_bf16,
      .eighth_per_s =
         2 * device->tensor_bf16, /* every tensor core that has 8-bit types multiplies them twice as fast */
      .launch_floor_s = device->launch_floor_s,
   };
}
