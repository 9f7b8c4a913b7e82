/* Launches that compute tiles of a product by tensor cores: what arithmetic refuses, the conditions of
 * variants, and the kernel.  One thread. */
#ifndef RKB_GENERATOR_TENSOR_TILE_H
#define RKB_GENERATOR_TENSOR_TILE_H

#include "generator/text/launch_text.h"

#define RKB_TENSOR_CONDITIONS 8u

/* NULL, or why the launch cannot work on a device with this much shared memory for a block. */
const char *rkb_tensor_refused(const rkb_graph_t *graph, const rkb_launch_t *launch, int64_t shared_bytes);

/* Variants of a launch with wide accesses, one for each order that the factors' dims have in some case.  Fills conditions and returns
 * how many; 0 with *possible false: no access of this variant can be wide. */
uint32_t rkb_tensor_variants(const rkb_graph_t *graph, const rkb_launch_t *launch);
uint32_t rkb_tensor_conditions(rkb_graph_t *graph, rkb_arena_t *arena, const rkb_storage_t *storage,
                               const rkb_launch_t *launch, uint32_t variant,
                               rkb_condition_t conditions[RKB_TENSOR_CONDITIONS], bool *possible);

/* Adds a condition.  False: the size is a multiple in no case.  A constant size needs no condition. */
bool rkb_tensor_add_condition(const rkb_graph_t *graph, rkb_condition_t *conditions, uint32_t *count,
                              rkb_condition_t wanted);
/* The condition under which neighbouring sums are stored together: the output's last dim is a multiple of their number. */
rkb_condition_t rkb_tensor_stored_together(const rkb_graph_t *graph, const rkb_launch_t *launch);

/* decisions[RKB_VECTOR]: 1: accesses of single elements; else accesses as wide as the conditions allow. */
void rkb_write_tensor_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape);

#endif
