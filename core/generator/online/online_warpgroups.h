/* Kernels of launches over scores by warpgroups: `online_tensor` with `copy: tensor`.  One thread writes them. */
#ifndef RKB_GENERATOR_ONLINE_WARPGROUPS_H
#define RKB_GENERATOR_ONLINE_WARPGROUPS_H

#include "generator/online/online.h"

#define RKB_ROOM_COLUMNS 32 /* sums of 16 rows that a warp brings to memory at a time */
#define RKB_ROOM_PADDING 8  /* floats between rows, so that four rows of pairs are in different banks */
#define RKB_ROOM_FLOATS (16 * (RKB_ROOM_COLUMNS + RKB_ROOM_PADDING))

/* Why decisions of a launch by warpgroups cannot work, whatever the length of its rows; NULL: they may work. */
const char *rkb_online_warpgroups_refused(const rkb_graph_t *graph, const rkb_launch_t *launch);
/* Sets a thread's part of the scores and of an out, and where that part is. */
void rkb_online_set_warpgroups(rkb_writer_t *writer, rkb_online_t *o);
/* Writes shared memory and its barriers; returns the bytes of dynamic shared memory. */
int64_t rkb_online_open_warpgroups(rkb_writer_t *writer, rkb_online_t *o);
/* Ends the text that starts the barriers: a loop over stages inside a block of thread 0.  first: bytes of the tiles; the room for each warp's sums lies
 * behind them.  Returns the bytes of dynamic shared memory. */
int64_t rkb_online_close_barriers(rkb_writer_t *writer, rkb_online_t *o, int64_t first);
/* The own rows of the scores, the streamed rows, and the rows of the out, which is a second tile for
 * warpgroups. */
static inline const rkb_brought_t *rkb_online_own_of(const rkb_online_t *o) {
   return &o->brought[o->factors[0].own];
}
static inline const rkb_brought_t *rkb_online_scored_of(const rkb_online_t *o) {
   return &o->brought[o->factors[0].streamed];
}
static inline const rkb_brought_t *rkb_online_added_of(const rkb_online_t *o) {
   return &o->brought[o->out_brought[0]];
}
/* A tile's name without "_tile", as in its barriers' names. */
static inline const char *rkb_online_short_name(const rkb_writer_t *writer, const rkb_brought_t *tile) {
   return writer->graph->nodes[tile->node].name;
}
/* Advances `stage` and `turn` to the next stage. */
static inline void rkb_online_write_next_stage(rkb_writer_t *writer, const rkb_online_t *o) {
   rkb_write(writer, "stage = stage == %lld ? 0 : stage + 1;", (long long)o->stages - 1);
   rkb_write(writer, "turn ^= stage == 0;");
}
/* Whether a launch has the form of online_score_kinds.c: scores of several kinds, several outs, or no out. */
static inline bool rkb_online_is_several(const rkb_online_nodes_t *nodes) {
   return nodes->score_count != 1 || nodes->out_count != 1;
}
/* The copying warpgroup gives registers to the others: writes this, if any are moved. */
void rkb_online_write_fewer_registers(rkb_writer_t *writer, const rkb_online_t *o);
void rkb_online_write_more_registers(rkb_writer_t *writer, const rkb_online_t *o);
/* Whether a thread's registers hold scores, sums of outs, and the values made of scores while these values are multiplied. */
bool rkb_online_has_registers(const rkb_online_t *o, bool made);
/* Of several kinds of scores.  The first function decides whether own rows stay in registers, from which they are multiplied (keep); the
 * second declares these registers; the third loads the rows once they have come. */
void rkb_online_keep_rows(rkb_writer_t *writer, rkb_online_t *o);
void rkb_online_write_kept(rkb_writer_t *writer, const rkb_online_t *o);
void rkb_online_load_kept(rkb_writer_t *writer, const rkb_online_t *o);
/* Write products that are in flight afterwards: those of a kind of scores, of the tile at `stage`; and those of values computed from scores. */
void rkb_online_write_multiply(rkb_writer_t *writer, const rkb_online_t *o, uint32_t score);
void rkb_online_write_add(rkb_writer_t *writer, const rkb_online_t *o, uint32_t out);
void rkb_online_write_pack(rkb_writer_t *writer, const rkb_online_t *o, uint32_t out, const char *from);
/* Writes everything between the block's place and its results. */
void rkb_online_write_warpgroups(rkb_writer_t *writer, rkb_online_t *o);

#endif
