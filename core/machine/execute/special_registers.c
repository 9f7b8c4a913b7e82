/* Special registers: what a lane reads from %tid, %ctaid and the like.  They are registers of a warp that are written before it runs, so that an instruction
 * reads them as any other.  On the machine's thread. */
#include "machine/state/environment.h"
#include "machine/state/execution.h"

static uint32_t thread_index(const machine_block_t *block, uint32_t thread, uint32_t axis) {
   uint32_t index[3];
   machine_thread_index(block, thread, index);
   return index[axis];
}

static uint32_t block_index(const machine_block_t *block, uint32_t thread, uint32_t axis) {
   uint32_t index[3];
   machine_block_index(block->launch, block->serial, thread, index);
   return index[axis];
}

static uint32_t special_value(const machine_block_t *block, uint32_t special, uint32_t thread) {
   const rkb_plan_launch_t *plan = block->launch->plan;
   const machine_cluster_t *cluster = &block->cluster;
   const uint32_t rank = thread / (cluster->warps * LANES);
   const uint32_t lane = thread % LANES;
   switch (special) {
   case PTX_SPECIAL_TID_X:
   case PTX_SPECIAL_TID_Y:
   case PTX_SPECIAL_TID_Z:
      return thread_index(block, thread, special - PTX_SPECIAL_TID_X);
   case PTX_SPECIAL_NTID_X:
   case PTX_SPECIAL_NTID_Y:
   case PTX_SPECIAL_NTID_Z:
      return plan->block[special - PTX_SPECIAL_NTID_X];
   case PTX_SPECIAL_CTAID_X:
   case PTX_SPECIAL_CTAID_Y:
   case PTX_SPECIAL_CTAID_Z:
      return block_index(block, thread, special - PTX_SPECIAL_CTAID_X);
   case PTX_SPECIAL_NCTAID_X:
   case PTX_SPECIAL_NCTAID_Y:
   case PTX_SPECIAL_NCTAID_Z:
      return plan->grid[special - PTX_SPECIAL_NCTAID_X];
   case PTX_SPECIAL_CLUSTER_X:
   case PTX_SPECIAL_CLUSTER_Y:
   case PTX_SPECIAL_CLUSTER_Z:
      return block_index(block, thread, special - PTX_SPECIAL_CLUSTER_X) /
             cluster->dims[special - PTX_SPECIAL_CLUSTER_X];
   case PTX_SPECIAL_CLUSTERS_X:
   case PTX_SPECIAL_CLUSTERS_Y:
   case PTX_SPECIAL_CLUSTERS_Z:
      return plan->grid[special - PTX_SPECIAL_CLUSTERS_X] / cluster->dims[special - PTX_SPECIAL_CLUSTERS_X];
   case PTX_SPECIAL_CLUSTER_BLOCK_X:
   case PTX_SPECIAL_CLUSTER_BLOCK_Y:
   case PTX_SPECIAL_CLUSTER_BLOCK_Z:
      return block_index(block, thread, special - PTX_SPECIAL_CLUSTER_BLOCK_X) %
             cluster->dims[special - PTX_SPECIAL_CLUSTER_BLOCK_X];
   case PTX_SPECIAL_CLUSTER_BLOCKS_X:
   case PTX_SPECIAL_CLUSTER_BLOCKS_Y:
   case PTX_SPECIAL_CLUSTER_BLOCKS_Z:
      return cluster->dims[special - PTX_SPECIAL_CLUSTER_BLOCKS_X];
   case PTX_SPECIAL_CLUSTER_RANK:
      return rank;
   case PTX_SPECIAL_CLUSTER_SIZE:
      return cluster->blocks;
   case PTX_SPECIAL_CLUSTER_EXPLICIT:
      return cluster->blocks > 1 || block->launch->program->entry->required_cluster[0];
   case PTX_SPECIAL_LANEID:
      return lane;
   case PTX_SPECIAL_WARPID:
   case PTX_SPECIAL_NWARPID:
   case PTX_SPECIAL_SMID:
   case PTX_SPECIAL_NSMID:
   case PTX_SPECIAL_GRIDID:
      return machine_environment_special(block, special, thread / LANES % cluster->warps);
   case PTX_SPECIAL_LANEMASK_EQ:
      return 1u << lane;
   case PTX_SPECIAL_LANEMASK_LT:
      return (1u << lane) - 1;
   case PTX_SPECIAL_LANEMASK_LE:
      return lane == 31 ? FULL_MASK : (2u << lane) - 1;
   case PTX_SPECIAL_LANEMASK_GT:
      return lane == 31 ? 0 : FULL_MASK << (lane + 1);
   case PTX_SPECIAL_LANEMASK_GE:
      return FULL_MASK << lane;
   case PTX_SPECIAL_DYNAMIC_SHARED:
      return plan->dynamic_shared;
   case PTX_SPECIAL_WORKSPACE_HIGH:
      return plan->cooperative ? (uint32_t)(machine_workspace_address(block->run) >> 32) : 0;
   case PTX_SPECIAL_WORKSPACE_LOW:
      return plan->cooperative ? (uint32_t)machine_workspace_address(block->run) : 0;
   case PTX_SPECIAL_TOTAL_SHARED:
      return (uint32_t)machine_shared_without_gaps(block->launch->program, cluster->shared_bytes);
   default:
      return 0;
   }
}

/* Whether lanes of one warp have different values. */
static bool names_lane(uint32_t special) {
   return special <= PTX_SPECIAL_TID_Z /* these come first in the list */ || special == PTX_SPECIAL_LANEID ||
          (special >= PTX_SPECIAL_LANEMASK_EQ && special <= PTX_SPECIAL_LANEMASK_GT);
}

static void write_special(machine_block_t *block, machine_warp_t *warp, const machine_register_info_t *info) {
   if (info->bytes == 0) { /* a predicate, the same for all lanes */
      const uint32_t truth = special_value(block, info->special, warp->first_thread) ? FULL_MASK : 0;
      memcpy(warp->registers + info->offset, &truth, sizeof truth);
      return;
   }
   uint32_t *lanes = LANES_OF(uint32_t, info->offset);
   const bool varies = names_lane(info->special);
   for (uint32_t l = 0; l < LANES; l++)
      lanes[l] = l == 0 || varies ? special_value(block, info->special, warp->first_thread + l) : lanes[0];
}

static bool names_block(uint32_t special) {
   return (special >= PTX_SPECIAL_CTAID_X && special <= PTX_SPECIAL_CTAID_Z) || special == PTX_SPECIAL_SMID ||
          (special >= PTX_SPECIAL_CLUSTER_X && special <= PTX_SPECIAL_CLUSTER_Z);
}

/* Writes the special registers that stay the same for the whole launch: all but those that name the block. */
void machine_launch_begin(machine_launch_t *launch) {
   machine_block_t *block = &launch->run->block;
   block->launch = launch;
   for (uint32_t w = 0; w < block->warp_count; w++)
      for (uint32_t n = 0; n < launch->program->special_count; n++) {
         const machine_register_info_t *info = &launch->program->registers[launch->program->constants[n]];
         if (!names_block(info->special))
            write_special(block, &block->warps[w], info);
      }
}

void machine_write_block_index(machine_block_t *block, machine_warp_t *warp) {
   const machine_program_t *program = warp->program;
   for (uint32_t n = 0; n < program->special_count; n++) {
      const machine_register_info_t *info = &program->registers[program->constants[n]];
      if (names_block(info->special)) {
         /* Without clusters all warps are of one block, and the first warp's registers have the values already. */
         const bool known = warp->number && block->cluster.blocks == 1;
         uint32_t *lanes = LANES_OF(uint32_t, info->offset), value;
         if (known)
            memcpy(&value, block->warps[0].registers + info->offset, sizeof value);
         else
            value = special_value(block, info->special, warp->first_thread);
         for (uint32_t l = 0; l < LANES; l++)
            lanes[l] = value;
      }
   }
}
