/* The speed model's arithmetic.  Owns nothing; pure. */
#include "roofline.h"
#include <math.h>

#define SECTOR_BYTES 32.0

/* Parts overlap, but not perfectly: two parts of nearly the same length slow each other.  A p-norm with p = 3
 * gives the largest part alone when it is much larger than the others, and 26 % more when two are equal.  Of
 * 81 kernels timed on H200 it is the exponent that is least off (1.31 times with 4, 1.29 with 3 and 2.5, 1.32 with 2). */
#define OVERLAP_POWER 3.0

/* Between these shares of the second-level cache, it holds less and less of what blocks read again.  On an
 * H200 (60 MB) 132 and 264 blocks read stretches of their own twice: the second time took no memory traffic
 * up to 34 MB together, half of it at 43 MB and all from 52 MB on. */
#define CACHE_HOLDS 0.55
#define CACHE_LOSES 0.82

/* Seconds that the busiest multiprocessor needs for so many warp instructions, at a rate of lanes a clock. */
static double pipe_seconds(const rkb_device_t *d, double warps, double rate, double imbalance) {
   return rate > 0 ? warps * 32.0 * imbalance / (rate * (double)d->multiprocessors * d->clock_hz) : 0;
}

/* Seconds of the tensor cores of the busiest multiprocessor.  Instructions of single warps and of warpgroups
 * each reach a share of their rates. */
static double tensor_seconds(const rkb_device_t *d, const rkb_launch_counters_t *c, double scale,
                             double imbalance) {
   const double rates[RKB_TENSOR_TYPE_COUNT] = {[RKB_TENSOR_F16] = d->tensor_fp16,
                                                [RKB_TENSOR_BF16] = d->tensor_bf16,
                                                [RKB_TENSOR_TF32] = d->tensor_tf32,
                                                [RKB_TENSOR_F8] = d->tensor_fp8,
                                                [RKB_TENSOR_INT8] = d->tensor_int8};
   double seconds = 0;
   for (int t = 0; t < RKB_TENSOR_TYPE_COUNT; t++) {
      const double of_warps = (double)(c->tensor_products[t] - c->warpgroup_products[t]);
      if (rates[t] > 0)
         seconds +=
            2 * (of_warps / d->tensor_mma_share + (double)c->warpgroup_products[t] / d->tensor_group_share) /
            rates[t];
   }
   return seconds * scale * imbalance;
}

/* A block, or a piece of work that blocks take in turn, cannot be shared between multiprocessors: with few pieces the busiest one has more than its
 * share. */
static double block_imbalance(const rkb_device_t *d, double pieces) {
   double multiprocessors = (double)d->multiprocessors;
   return ceil(pieces / multiprocessors) * multiprocessors / pieces;
}

/* Seconds that the longest warp takes when no other delays it: its chain of dependent instructions, or one
 * clock for each instruction, whichever takes longer.  Where no chain was counted, every instruction counts
 * as dependent. */
static double warp_seconds(const rkb_device_t *d, const rkb_launch_counters_t *c) {
   const double clock = 1.0 / d->clock_hz, instructions = (double)c->longest_warp;
   const double chain = c->chain_instructions ? (double)c->chain_instructions : instructions;
   return fmax(chain * d->issue_latency_clocks * clock + (double)c->chain_shared * d->shared_latency_s +
                  (double)c->chain_tensor * d->tensor_latency_clocks * clock,
               instructions * clock);
}

/* The share of the loaded sectors that come from device memory: a sector comes from there once, and later
 * loads of it find it in L2. */
static double first_touched_share(const rkb_launch_counters_t *c, double scale, double referenced_bytes) {
   if (!c->load_sectors)
      return 1;
   const double distinct = fmin((double)c->distinct_load_sectors * scale, referenced_bytes / SECTOR_BYTES);
   return fmin(1, distinct / ((double)c->load_sectors * scale));
}

/* The time that a block waits for the copies of its pipeline if nothing else delays them.  With n stages, n - 1 copies are in
 * flight at once; each takes the latency of a load plus its bytes at the block's share of the second-level cache's bandwidth. */
static double pipeline_seconds(const rkb_device_t *d, const rkb_launch_counters_t *c, double resident,
                               double load) {
   if (!c->bulk_barriers)
      return 0;
   const double executed = (double)c->executed, stages = fmax(1, (double)c->bulk_barriers / executed),
                steps = (double)c->bulk_phases / executed,
                bytes = (double)c->bulk_sectors * SECTOR_BYTES / executed;
   return (steps * load + bytes * resident * (double)d->multiprocessors / d->l2_copy_bandwidth) /
          fmax(1, stages - 1);
}

/* How long a usual wave takes, as a share of the wave that has the longest warp.  Warps of one block may do different work, so a mean of at least a quarter of
 * the longest warp tells nothing.  If the mean is less, few blocks of the grid have such warps (launches that share a kernel), and most waves have none. */
#define WARPS_DIFFER 4.0
static double usual_wave(const rkb_launch_counters_t *c) {
   uint64_t issued = 0;
   for (int i = 0; i < RKB_CLASS_COUNT; i++)
      issued += c->warp_instructions[i];
   const double warps = ceil(c->threads / 32.0) * (double)c->executed;
   return c->longest_warp && warps > 0
             ? fmin(1, WARPS_DIFFER * (double)issued / warps / (double)c->longest_warp)
             : 1;
}

/* What a multiprocessor needs for a warp that waits at the cluster's barrier, and for a lane that accesses another block's shared memory.  An H200 took 3.5
 * to 7.6 and 8.5 to 17 ns where kernels did nothing else (devices/measure.cu); two kernels that also moved 134 and 201 MB of memory took so much, beside all
 * other time that the model gives them. */
#define CLUSTER_WAIT_S 8e-9
#define REMOTE_ACCESS_S 16e-9
/* How long a block alone waits at the cluster's barrier: 0.07 us in clusters of two blocks, 0.18 in those of eight. */
#define CLUSTER_LATENCY_S 0.18e-6

/* The time that no other work hides: whole waves of resident blocks, one of them as long as its longest warp's chain
 * of loads, dependent instructions and barriers.  A last wave that is not full takes as long as a full one. */
static double latency_seconds(const rkb_device_t *d, const rkb_launch_counters_t *c, double waves,
                              double resident, double first_touched) {
   double barriers = (double)c->barriers / (double)c->executed;
   double load = first_touched * d->memory_latency_s + (1 - first_touched) * d->l2_latency_s;
   return (1 + (ceil(waves) - 1) * usual_wave(c)) *
          ((double)c->longest_loads * load + warp_seconds(d, c) + barriers * d->barrier_clocks / d->clock_hz +
           (double)c->cluster_waits / (double)c->executed * CLUSTER_LATENCY_S +
           pipeline_seconds(d, c, resident, load));
}

/* Bytes that blocks read again from memory, because the bytes that all blocks read in between do not fit into the second-level
 * cache.  Blocks that read the same bytes need less of it. */
static double reread_bytes(const rkb_device_t *d, const rkb_launch_counters_t *c, double resident, double scale, double distinct, double referenced_bytes) {
   const double together = fmin(resident * (double)d->multiprocessors, (double)c->blocks) * fmin(1, referenced_bytes / fmax(distinct, 1));
   double bytes = 0;
   for (int r = 0; r < RKB_REUSE_RANGES && d->l2_bytes > 0; r++) {
      const double between = 1.5 * exp2(RKB_REUSE_LEAST + r) * SECTOR_BYTES * together / d->l2_bytes; /* the middle of the range */
      bytes += (double)c->reused_sectors[r] * SECTOR_BYTES * scale * fmax(0, fmin(1, (between - CACHE_HOLDS) / (CACHE_LOSES - CACHE_HOLDS)));
   }
   return bytes;
}

/* So many times its even share of the bandwidth is what one multiprocessor alone reaches, of the second-level cache and of memory.  On an H200 one block of
 * 1,024 threads on each of 33, 66 and 132 multiprocessors read 3.3, 6.6 and 8.9 TB/s that the second-level cache held, and copied 2.2, 3.3 and 3.9 TB/s of
 * memory (8 vectors of 16 bytes a thread under way). */
#define ALONE_CACHE 1.75
#define ALONE_MEMORY 2.66

/* The share of a bandwidth of the whole device that the multiprocessors with a block reach.  Between what each reaches alone and what the device has, both
 * limits are felt: the inverse squares add up. */
static double reached_share(const rkb_device_t *d, double blocks, double alone) {
   const double busy = fmin(1, blocks / (double)d->multiprocessors);
   return 1 / sqrt(1 / (alone * busy * alone * busy) + 1 - 1 / (alone * alone));
}

/* Loads that find their sector in the first-level cache: the block asked for it before, and all that the resident blocks asked for since fits there. */
static double first_cache_loads(const rkb_launch_counters_t *c, double resident, double cache_bytes) {
   double loads = 0;
   for (int r = 0; r < RKB_REUSE_RANGES; r++) {
      const double between = (r ? 1.5 : 1) * exp2(RKB_REUSE_LEAST + r) * SECTOR_BYTES * resident;
      loads += between < cache_bytes ? (double)c->reused_sectors[r] : 0;
   }
   return fmin(loads, (double)(c->load_sectors - c->bulk_sectors));
}

/* Seconds of the accesses to spilled registers: all pass the first-level cache, 128 bytes a clock.  The part of the resident threads' frames that it cannot
 * hold goes on to the second-level cache.  The part of the whole device's frames that the second-level cache cannot hold goes to memory. */
static double spilled_seconds(const rkb_device_t *d, const rkb_launch_counters_t *c, double resident,
                              double imbalance, spilled_registers_t spilled) {
   const double bytes = spilled.bytes * (double)c->threads * (double)c->blocks,
                frames = spilled.frame * (double)c->threads * resident;
   if (bytes <= 0 || frames <= 0)
      return 0;
   const double beyond_first = bytes * fmax(0, 1 - spilled.cache_bytes / frames);
   const double beyond_second =
      beyond_first * fmax(0, 1 - CACHE_HOLDS * d->l2_bytes / (frames * (double)d->multiprocessors));
   return bytes * imbalance / d->shared_bandwidth + beyond_first / d->l2_bandwidth +
          beyond_second / d->memory_sustained;
}

static double smooth_maximum(const double *part, enum limiter *largest) {
   double top = 0, sum = 0;
   *largest = LIMIT_LATENCY;
   for (int i = 0; i < LIMIT_COUNT; i++) {
      if (part[i] > top) {
         top = part[i];
         *largest = (enum limiter)i;
      }
   }
   if (top <= 0)
      return 0;
   for (int i = 0; i < LIMIT_COUNT; i++)
      sum += pow(part[i] / top, OVERLAP_POWER);
   return top * pow(sum, 1.0 / OVERLAP_POWER);
}

/* The warps of a warpgroup store what they have multiplied, and meanwhile the tensor cores wait, unless another block of the multiprocessor has products
 * for them. */
static double store_seconds(const rkb_device_t *d, const rkb_launch_counters_t *c, double blocks,
                            double resident, double scale, double imbalance) {
   uint64_t products = 0;
   for (int t = 0; t < RKB_TENSOR_TYPE_COUNT; t++)
      products += c->warpgroup_products[t];
   if (!products)
      return 0;
   const double busy = fmin(1, blocks / (double)d->multiprocessors);
   return (double)c->store_sectors * SECTOR_BYTES * scale * imbalance * busy / d->l2_bandwidth /
          reached_share(d, blocks, ALONE_CACHE) / resident;
}

static double cluster_seconds(const rkb_device_t *d, const rkb_launch_counters_t *c, double scale,
                              double imbalance) {
   const double warps = ceil(c->threads / 32.0);
   return ((double)c->cluster_waits * warps * CLUSTER_WAIT_S + (double)c->remote_accesses * REMOTE_ACCESS_S) *
          scale * imbalance / (double)d->multiprocessors;
}

launch_time_t roofline_launch(const rkb_device_t *d, rkb_occupancy_t occupancy,
                              const rkb_launch_counters_t *c, block_turns_t turns, double referenced_bytes,
                              spilled_registers_t spilled, bool first) {
   launch_time_t t = {.floor = first ? d->launch_floor_s : d->graph_launch_s, .occupancy = occupancy};
   if (c->executed == 0 || c->blocks == 0 || occupancy.blocks == 0) {
      t.limiter = LIMIT_LATENCY;
      t.seconds = t.floor;
      return t;
   }
   double blocks = (double)c->blocks;
   double scale = blocks / (double)c->executed * turns.mean;
   double imbalance = block_imbalance(d, turns.pieces > 0 ? turns.pieces : blocks);
   const uint64_t *warps = c->warp_instructions;
   uint64_t issued = 0;
   for (int i = 0; i < RKB_CLASS_COUNT; i++)
      issued += warps[i];

   /* Blocks that read the same data (weights) touch the same sectors.  Scaling the sample counts those again
    * for every block, so the sum is at most what the launch's buffers hold. */
   double distinct = (double)(c->distinct_load_sectors + c->distinct_store_sectors) * SECTOR_BYTES * scale;
   t.memory_bytes = fmin(distinct, referenced_bytes) + reread_bytes(d, c, (double)occupancy.blocks, scale, distinct, referenced_bytes);
   t.waves = blocks / ((double)occupancy.blocks * (double)d->multiprocessors);

   double *part = t.part;
   const double here = fmin(occupancy.blocks, ceil(blocks / (double)d->multiprocessors));
   part[LIMIT_MEMORY] = t.memory_bytes / d->memory_sustained / reached_share(d, blocks, ALONE_MEMORY);
   part[LIMIT_L2] = (((double)(c->load_sectors - c->bulk_sectors + c->store_sectors) -
                      first_cache_loads(c, here, spilled.cache_bytes)) /
                        d->l2_bandwidth +
                     (double)c->bulk_sectors / d->l2_copy_bandwidth) *
                    SECTOR_BYTES * scale / reached_share(d, blocks, ALONE_CACHE);
   /* A multiprocessor serves one wavefront (128 bytes) a clock; shared_bandwidth is that of the whole device. */
   part[LIMIT_SHARED] = (double)c->shared_wavefronts * 128.0 * scale * imbalance / d->shared_bandwidth;
   part[LIMIT_LOAD_STORE] = pipe_seconds(d,
                                         (double)(warps[RKB_CLASS_GLOBAL] + warps[RKB_CLASS_SHARED] +
                                                  warps[RKB_CLASS_LOCAL] + warps[RKB_CLASS_SHUFFLE]) *
                                            scale,
                                         d->load_store_per_clock, imbalance);
   part[LIMIT_ISSUE] = pipe_seconds(d, (double)issued * scale, d->issue_per_clock * 32.0, imbalance);
   part[LIMIT_F32] = pipe_seconds(d, (double)warps[RKB_CLASS_F32] * scale, d->f32_per_clock, imbalance);
   part[LIMIT_F64] = pipe_seconds(d, (double)warps[RKB_CLASS_F64] * scale, d->f64_per_clock, imbalance);
   part[LIMIT_F16] = pipe_seconds(d, (double)warps[RKB_CLASS_F16] * scale, d->f16_per_clock, imbalance);
   part[LIMIT_INTEGER] =
      pipe_seconds(d, (double)(warps[RKB_CLASS_INTEGER] + warps[RKB_CLASS_MULTIPLY]) * scale,
                   d->int32_per_clock, imbalance);
   part[LIMIT_SPECIAL] =
      pipe_seconds(d, (double)warps[RKB_CLASS_SPECIAL] * scale, d->special_per_clock, imbalance);
   part[LIMIT_CONVERT] =
      pipe_seconds(d, (double)warps[RKB_CLASS_CONVERT] * scale, d->convert_per_clock, imbalance);
   /* The L2 slice that owns an address does one operation on it a clock. */
   part[LIMIT_ATOMIC] = (double)c->atomic_serial * scale / ((double)d->multiprocessors * d->clock_hz);
   part[LIMIT_TENSOR] = tensor_seconds(d, c, scale, imbalance);
   part[LIMIT_SPILLED] = spilled_seconds(d, c, here, imbalance, spilled);
   part[LIMIT_LATENCY] =
      latency_seconds(d, c, t.waves, here, first_touched_share(c, scale, referenced_bytes)) * turns.most;
   t.stores = store_seconds(d, c, blocks, here, scale, imbalance);

   t.clusters = cluster_seconds(d, c, scale, imbalance);

   t.seconds = t.floor + smooth_maximum(part, &t.limiter) + t.stores + t.clusters;
   t.memory_share = t.memory_bytes / t.seconds / d->memory_sustained;
   return t;
}
