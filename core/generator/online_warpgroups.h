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
/* The own rows of the scores, the streamed ones, and the rows of the out: two tiles where warpgroups work. */
static inline const rkb_brought_t *rkb_online_own_of(const rkb_online_t *o) {
   return &o->brought[o->factors[0].own];
}
static inline const rkb_brought_t *rkb_online_scored_of(const rkb_online_t *o) {
   return &o->brought[o->factors[0].streamed];
}
static inline const rkb_brought_t *rkb_online_added_of(const rkb_online_t *o) {
   return &o->brought[o->out_brought[0]];
}
/* A tile's name without "_tile", as its barriers have it. */
static inline const char *rkb_online_short_name(const rkb_writer_t *writer, const rkb_brought_t *tile) {
   return writer->graph->nodes[tile->node].name;
}
/* Steps to the next stage: of `stage` and `turn`. */
static inline void rkb_online_write_next_stage(rkb_writer_t *writer, const rkb_online_t *o) {
   rkb_write(writer, "stage = stage == %lld ? 0 : stage + 1;", (long long)o->stages - 1);
   rkb_write(writer, "turn ^= stage == 0;");
}
/* All that comes between the block's place and its results. */
void rkb_online_write_warpgroups(rkb_writer_t *writer, rkb_online_t *o);

#endif
