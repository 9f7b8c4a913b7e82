/* How many blocks of a kernel a multiprocessor holds at once, from the device's limits as the CUDA C++
 * Programming Guide
 * ('Hardware Multithreading') and the occupancy tables of its compute capability give them.  Pure; any
 * thread. */
#include "kernel/kernel.h"

static int64_t round_up(int64_t value, int64_t unit) {
   return unit > 1 ? (value + unit - 1) / unit * unit : value;
}

static void limit(rkb_occupancy_t *occupancy, int64_t blocks, const char *by) {
   blocks = blocks < 0 ? 0 : blocks;
   if (blocks < occupancy->blocks) {
      occupancy->blocks = (uint32_t)blocks;
      occupancy->limited_by = by;
   }
}

rkb_occupancy_t rkb_occupancy(const rkb_device_t *device, const rkb_built_kernel_t *kernel, uint32_t threads,
                              uint32_t dynamic_shared) {
   rkb_occupancy_t occupancy = {.blocks = (uint32_t)device->blocks_per_multiprocessor,
                                .limited_by = "blocks"};
   const int64_t warp = device->warp_size > 0 ? device->warp_size : 32;
   const int64_t warps = (threads + warp - 1) / warp, all_warps = device->threads_per_multiprocessor / warp;
   const int64_t registers = round_up((int64_t)kernel->registers * warp, device->register_unit) * warps;
   /* The runtime keeps shared_reserved bytes of each block; allocation goes in units of 128 bytes from
    * compute capability 8.0 on. */
   const int64_t shared =
      round_up((int64_t)kernel->shared_bytes + dynamic_shared + device->shared_reserved, 128);
   if (!warps)
      return (rkb_occupancy_t){.limited_by = "threads"};
   limit(&occupancy, all_warps / warps, "threads");
   if (registers)
      limit(&occupancy, device->registers_per_multiprocessor / registers, "registers");
   if (shared)
      limit(&occupancy, device->shared_per_multiprocessor / shared, "shared memory");
   occupancy.warps = occupancy.blocks * (uint32_t)warps;
   occupancy.share = all_warps ? (double)occupancy.warps / (double)all_warps : 0;
   return occupancy;
}
