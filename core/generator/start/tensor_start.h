/* Decisions that suit a product on tensor cores.  Pure functions; one thread a graph. */
#ifndef RKB_GENERATOR_TENSOR_START_H
#define RKB_GENERATOR_TENSOR_START_H

#include "generator/graph/schedule.h"
#include "generator/graph/target.h"

/* Extents of products in the bench cases. */
#define RKB_MOST_EXTENTS 8u

/* Rows, columns and terms of a product, and how many there are side by side. */
typedef struct rkb_extent {
   double m, n, depth, groups;
   double matrices; /* matrices, where each row, or each term, picks one */
   bool terms;      /* each term picks a matrix, and each product has only the terms that pick its matrix */
} rkb_extent_t;

/* Extents as geometric means over the bench cases, and in each of the first RKB_MOST_EXTENTS cases: a tile that
 * suits the means may suit no case. */
typedef struct rkb_extents {
   rkb_extent_t mean, cases[RKB_MOST_EXTENTS];
   uint32_t count;
   bool computed[2]; /* whether a factor is computed wherever it is read */
} rkb_extents_t;

/* launch_extents.c: the extents of a product in the bench cases; one of the launch's anchors is the product. */
rkb_extents_t rkb_launch_extents(const rkb_graph_t *graph, const rkb_launch_t *launch);
/* The longest sum of any case: if it is too short, no sum is split. */
double rkb_most_depth(const rkb_extents_t *extents);

/* Whether the target has what a launch of mapping TENSOR needs to multiply and copy. */
bool rkb_tensor_has(const rkb_target_t *target, const rkb_launch_t *launch);
/* Lets warpgroups compute a launch of mapping TENSOR where an estimate says that they are faster.  False: the launch is unchanged.  This
 * function does not know whether tensor maps describe the factors. */
bool rkb_tensor_suit_warpgroups(const rkb_graph_t *graph, const rkb_target_t *target, const rkb_extents_t *extents, rkb_launch_t *launch);
/* Gives a launch of warpgroups a second tile where an estimate says that it makes some bench cases faster.  False: the launch is unchanged. */
bool rkb_tensor_suit_other(const rkb_graph_t *graph, const rkb_target_t *target, const rkb_extents_t *extents, rkb_launch_t *launch);
/* About how long a launch of mapping TENSOR takes, in nanoseconds: the geometric mean over the bench cases. */
double rkb_tensor_estimate(const rkb_target_t *target, const rkb_extents_t *extents, const int64_t *decisions);
/* Gives the launch the mapping TENSOR and suitable decisions, and returns the estimate of their time.  HUGE_VAL: no tensor core of the target
 * may multiply this, and the launch is unchanged. */
double rkb_tensor_suit(const rkb_graph_t *graph, const rkb_target_t *target, const rkb_extents_t *extents,
                       rkb_launch_t *launch);
/* Finds operands of products that the products' launches would compute from several stored values.  If an earlier
 * launch has one of these values, it writes the operand instead, so that the operand can be copied as it is.
 * Call this while launches still have their mappings from the partition. */
void rkb_schedule_store_operands(rkb_graph_t *graph, const rkb_target_t *target, rkb_schedule_t *schedule);
/* Whether a factor is computed wherever it is read: it needs nothing but inputs, and it is not merely one input
 * under a view or in another type. */
bool rkb_factor_is_computed(const rkb_graph_t *graph, uint32_t node);
/* The type that the target's tensor cores multiply fastest among those that are legal; 0: none is. */
int64_t rkb_tensor_best(const rkb_graph_t *graph, const rkb_target_t *target, uint32_t product);

#endif
