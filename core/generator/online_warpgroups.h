/* Kernels of launches over scores by warpgroups: `online_tensor` with `copy: tensor`.  One thread writes them. */
#ifndef RKB_GENERATOR_ONLINE_WARPGROUPS_H
#define RKB_GENERATOR_ONLINE_WARPGROUPS_H

#include "generator/online.h"

#define RKB_ROOM_COLUMNS 32    /* sums that a warp brings to memory at a time, of 16 rows */
#define RKB_ROOM_PADDING 8     /* floats: four rows of pairs lie in different banks */
#define RKB_ROOM_FLOATS (16 * (RKB_ROOM_COLUMNS + RKB_ROOM_PADDING))

/* Why decisions of a launch by warpgroups cannot work, whatever its rows' length is; NULL: they may. */
const char *rkb_online_warpgroups_refused(const rkb_graph_t *graph, const rkb_launch_t *launch);
/* A thread's part of the scores and of an out, and where it lies. */
void rkb_online_set_warpgroups(rkb_writer_t *writer, rkb_online_t *o);
/* Shared memory and its barriers; returns its dynamic bytes. */
int64_t rkb_online_open_warpgroups(rkb_writer_t *writer, rkb_online_t *o);
/* All that comes between the block's place and its results. */
void rkb_online_write_warpgroups(rkb_writer_t *writer, rkb_online_t *o);

#endif
