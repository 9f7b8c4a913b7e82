/* Numbers of operations, in families of instructions that have many.  The decoder writes these numbers, and the handlers read them.
 * Immutable. */
#ifndef RKB_MACHINE_DECODE_OPERATION_CODES_H
#define RKB_MACHINE_DECODE_OPERATION_CODES_H

enum machine_mbarrier_operation {
   MBARRIER_INIT,
   MBARRIER_INVAL,
   MBARRIER_ARRIVE,
   MBARRIER_ARRIVE_EXPECT,
   MBARRIER_ARRIVE_NO_COMPLETE,
   MBARRIER_ARRIVE_COPIES, /* cp.async.mbarrier.arrive */
   MBARRIER_EXPECT,
   MBARRIER_COMPLETE,
   MBARRIER_PENDING_COUNT,
   MBARRIER_TEST_STATE,
   MBARRIER_TEST_PARITY,
   MBARRIER_TRY_STATE,
   MBARRIER_TRY_PARITY,
   MBARRIER_CLUSTER_WAIT, /* barrier.cluster.wait, which stalls in the same way */
   WARPGROUP_WAIT         /* wgmma.wait_group, likewise */
};

/* Whom a fence of tensor maps is for: the device (or the system), the cluster of its block, or the block alone. */
enum machine_map_scope { MAP_FENCE_DEVICE, MAP_FENCE_CLUSTER, MAP_FENCE_BLOCK };

/* The field that tensormap.replace changes, in the order of the decoder's table. */
enum machine_map_field {
   MAP_ADDRESS,
   MAP_RANK,
   MAP_BOX,
   MAP_DIM,
   MAP_STRIDE,
   MAP_STEP,
   MAP_TYPE,
   MAP_INTERLEAVE,
   MAP_SWIZZLE,
   MAP_FILL
};

/* What a fence of the async proxy is for, a bit each (machine_instruction_t.immediate). */
#define FENCES_SHARED 1u
#define FENCES_GLOBAL 2u

#endif
