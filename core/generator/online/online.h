/* A launch over scores while it is written: what the online_*.c files and launch_online.c share.  One thread. */
#ifndef RKB_GENERATOR_ONLINE_H
#define RKB_GENERATOR_ONLINE_H

#include "generator/text/fragments.h"
#include "generator/text/launch_text.h"
#include "generator/online/online_nodes.h"
#include "generator/text/product_index.h"

#define RKB_ONLINE_PADDING 4      /* floats between two rows of a tile */
#define RKB_ONLINE_SUMS_PADDING 8 /* floats between two rows of the results of fragments */

/* A factor's rows that a block loads to shared memory. */
typedef struct rkb_brought {
   uint32_t node;
   const rkb_index_t *at[RKB_MAX_RANK]; /* coordinates; they contain the own or the streamed number, and inner */
   const rkb_index_t *inner;
   int64_t width, rows;
   bool own;
   const char *name;
   int64_t first; /* of tensor cores: the tile's first element among the own elements, or in a stage */
   const char *held; /* of warpgroups: the fragments of own rows that stay in registers */
} rkb_brought_t;

typedef struct rkb_online {
   const rkb_launch_t *launch;
   rkb_online_nodes_t nodes;
   const rkb_index_t *own, *stream, *own_total, *stream_total, *group_total;
   /* How many matrices of scores there are; NULL: one.  group_total is how many of them the block has. */
   const rkb_index_t *group_extent;
   const rkb_index_t *group[RKB_MAX_RANK];
   /* Where a block adds up the outs of several matrices: how many, and which sum it owns; NULL: it has one matrix. */
   const rkb_index_t *turns, *total, *total_extent;
   rkb_product_t products[RKB_MAX_LAUNCH_NODES]; /* of outs */
   int64_t own_tile, stream_tile, rows, columns, out_columns, across, down, threads, head; /* columns: of scores; head: a row of an out */
   rkb_brought_t brought[2 * RKB_ONLINE_MANY];
   uint32_t brought_count;
   struct rkb_factor {
      uint32_t own, streamed; /* numbers of what is brought */
   } factors[RKB_ONLINE_MANY];
   uint32_t out_brought[RKB_ONLINE_MANY];
   const char *score_names[RKB_ONLINE_MANY], *out_names[RKB_ONLINE_MANY], *reduce_names[RKB_ONLINE_MANY], *made_names[RKB_ONLINE_MANY],
      *made_tiles[RKB_ONLINE_MANY];
   const rkb_index_t *from[RKB_ONLINE_MANY][RKB_MAX_RANK]; /* coordinates of the reductions' operands */
   const rkb_index_t *begin, *end; /* the streamed numbers that the block goes over; NULL: all */
   /* The node whose value is the first hidden streamed number; all later ones are hidden too.  RKB_NO_NODE: there is none. */
   uint32_t length;
   const rkb_index_t *length_at[RKB_MAX_RANK];
   bool hides, streams_first;
   bool shortens; /* blocks of the first own numbers go over the most streamed numbers */
   /* The numbers of a thread's element [i][j] in the block's tile, and the condition for the first of the
    * lanes that share a row. */
   const char *own_at, *streamed_at, *first_lane;
   /* Of tensor cores: */
   const rkb_fragment_type_t *tensor; /* NULL: ordinary arithmetic */
   int64_t warp_m, warp_n;            /* a warp's scores */
   int64_t stage_elements, own_elements;
   bool keeps; /* whether fragments of the own rows stay in registers */
   /* By warpgroups, where the first scores are multiplied by a positive number and the exponents apply this number instead: the node of the
    * products, and the node of their largest.  RKB_NO_NODE: there is no such number. */
   uint32_t scaled, scaled_largest;
   /* By warpgroups, of several kinds of scores.  If the values made of them for an out are multiplied by a positive number, and the out is
    * multiplied by it instead: the node of this product.  RKB_NO_NODE: there is none. */
   uint32_t later[RKB_ONLINE_MANY];
   /* Warpgroups that multiply (0: warps do), and where their warps' rooms begin in shared memory. */
   int64_t groups, rooms_at;
   int64_t stages; /* by warpgroups: stages of the streamed tiles */
   /* Stored statistics from which, with the scores, later values are computed: of the own rows, or of the streamed rows. */
   struct rkb_given {
      uint32_t node;
      const rkb_index_t *at[RKB_MAX_RANK];
      bool own, powers; /* powers: it is a sum of powers, of which the logarithm is kept */
      bool part;        /* it is the largest score, of which a part is kept (part_below in fragments.c) */
      const char *name;
   } given[RKB_ONLINE_MANY];
   uint32_t given_count;
   /* The share that a lambda `weigh_first` computes from the first scores alone, while the tensor cores compute the other scores.  RKB_NO_NODE:
    * no share is computed this way. */
   uint32_t share;
} rkb_online_t;

/* online_places.c: finds the coordinates at which the launch's values need each other, and the tiles that it
 * brings. */
void rkb_online_find_places(rkb_writer_t *writer, rkb_online_t *o);
void rkb_online_find_factors(rkb_writer_t *writer, rkb_online_t *o);
/* Whether rows of this width can be multiplied; fails otherwise. */
bool rkb_online_is_width(rkb_writer_t *writer, const rkb_index_t *width);

/* online_totals.c: where blocks add up the outs of several matrices. */
/* rkb_online_set_totals: sets how many matrices a block adds up.  rkb_online_find_totals: gives the own rows the places that they have for the
 * first matrix, and fails if another matrix has them elsewhere. */
void rkb_online_set_totals(rkb_writer_t *writer, rkb_online_t *o);
void rkb_online_find_totals(rkb_writer_t *writer, rkb_online_t *o);
/* The loop over the matrices, around that over the streamed numbers. */
void rkb_online_open_turns(rkb_writer_t *writer, const rkb_online_t *o);
void rkb_online_close_turns(rkb_writer_t *writer, const rkb_online_t *o);
/* If outs are summed: sets an out's place to its sum's place, and returns the node of the sum.  Else returns the out's node. */
uint32_t rkb_online_total_of(rkb_writer_t *writer, const rkb_online_t *o, uint32_t out, const rkb_index_t **at);

/* online_names.c: the text of a thread's score, or of its element of an out. */
const char *rkb_online_score(rkb_writer_t *writer, const rkb_online_t *o, uint32_t s);
const char *rkb_online_out(rkb_writer_t *writer, const rkb_online_t *o, uint32_t out);

/* online_bounds.c.  rkb_online_find_bounds: a mask is -infinity past a diagonal; finds which streamed numbers it
 * leaves for a block's own numbers.  rkb_online_write_place: writes the block's place in the matrix; blocks: how
 * many blocks there are along the own numbers. */
void rkb_online_find_bounds(rkb_writer_t *writer, rkb_online_t *o);
void rkb_online_write_place(rkb_writer_t *writer, rkb_online_t *o, const rkb_index_t *blocks);

/* online_statistics.c: writes the values made of the present scores: statistics of their rows, and terms for
 * later products. */
void rkb_online_write_made(rkb_writer_t *writer, rkb_online_t *o);
/* The same by warpgroups: a lambda `weigh` that replaces a tile's scores by the values made of them. */
void rkb_online_write_weigh(rkb_writer_t *writer, rkb_online_t *o);
/* The same where there are several kinds of scores.  The lambda computes statistics alone, or later values from the scores and stored
 * statistics. */
void rkb_online_write_weigh_several(rkb_writer_t *writer, rkb_online_t *o);
/* Opens a loop over a thread's own or streamed numbers, in which those past the end count as the last one. */
void rkb_online_open_existing(rkb_writer_t *writer, const rkb_online_t *o, bool own);
/* online_rescale.c */
/* Whether an out scales with the largest score, so that it must be rescaled when a larger one comes. */
bool rkb_online_rescales(rkb_writer_t *writer, const rkb_online_t *o, uint32_t out);
bool rkb_online_is_sum(const rkb_writer_t *writer, uint32_t reduce);
/* Returns the statistic that is a largest number; RKB_ONLINE_MANY: there is none. */
uint32_t rkb_online_largest(const rkb_writer_t *writer, const rkb_online_t *o);
/* Returns the divisions by sums that were left to the end: " / sum[i]", or "". */
const char *rkb_online_quotients(rkb_writer_t *writer, const rkb_online_t *o, uint32_t value);
/* Joins the statistics of the warps that share a row: the largest, and the sums below it. */
void rkb_online_join_warps(rkb_writer_t *writer, rkb_online_t *o);
/* Rescale to another largest score: the first function rescales the other statistics, the second one the outs' sums too. */
void rkb_online_rescale_sums(rkb_writer_t *writer, const rkb_online_t *o, uint32_t number,
                             const char *factor);
void rkb_online_rescale(rkb_writer_t *writer, rkb_online_t *o, uint32_t number);
/* The text that makes an exponent of two from a score; and the text of e^x, computed as 2^(x log2(e)). */
const char *rkb_online_exponent_text(const rkb_online_t *o);
const char *rkb_online_power_text(rkb_writer_t *writer, const rkb_online_t *o, const char *x);
/* online_stored_statistics.c: finds the statistics that memory has. */
void rkb_online_find_given(rkb_writer_t *writer, rkb_online_t *o);
bool rkb_online_streams_given(const rkb_online_t *o);
/* Write, in this order: the stages of these statistics in shared memory from byte `first` on (returns their bytes); what a warp does that
 * brings them; those of the own rows in registers; and, in a loop over a thread's own or streamed numbers, where each statistic is. */
int64_t rkb_online_write_given_tiles(rkb_writer_t *writer, const rkb_online_t *o, int64_t first);
void rkb_online_bring_given(rkb_writer_t *writer, const rkb_online_t *o);
void rkb_online_keep_given(rkb_writer_t *writer, const rkb_online_t *o);
/* share: the statistics that the share needs; else the other ones, which later values need. */
void rkb_online_know_given(rkb_writer_t *writer, const rkb_online_t *o, bool own, bool share);
/* online_scale.c: finds a positive number that multiplies all scores, and may multiply exponents instead. */
void rkb_online_find_scale(const rkb_writer_t *writer, rkb_online_t *o);
/* Finds for each out a positive number that multiplies the values made of the scores, and may multiply the out instead. */
void rkb_online_find_later(const rkb_writer_t *writer, rkb_online_t *o);
/* The first function lets the operand of each of these products stand for the product; the second one ends this. */
void rkb_online_pass_scale(rkb_writer_t *writer, const rkb_online_t *o);
void rkb_online_pass_none(rkb_writer_t *writer);
/* Writes the number by which scores' exponents are multiplied, or a part of it. */
void rkb_online_write_scale(rkb_writer_t *writer, const rkb_online_t *o);
void rkb_online_open_own(rkb_writer_t *writer, const rkb_online_t *o);
void rkb_online_open_guard(rkb_writer_t *writer, const char *number, const rkb_index_t *total);

/* online_stages.c: tiles for tensor cores, side by side in shared memory; the streamed ones have stages.
 * write_stages returns their bytes; open_stream begins the loop over the streamed numbers, in which the
 * tiles' names point to the tiles that have come. */
int64_t rkb_online_write_stages(rkb_writer_t *writer, rkb_online_t *o);
void rkb_online_bring_own(rkb_writer_t *writer, rkb_online_t *o);
void rkb_online_open_stream(rkb_writer_t *writer, rkb_online_t *o);
void rkb_online_close_stream(rkb_writer_t *writer, const rkb_online_t *o);
/* online_places.c: elements from a row of a tile to the next, and the offset of an element in a tile. */
int64_t rkb_online_pitch(const rkb_online_t *o, const rkb_brought_t *tile);
const char *rkb_online_place(rkb_writer_t *writer, const rkb_online_t *o, const rkb_brought_t *tile, const char *row, const char *column);

/* online_fragments.c: writes products of fragments, and before them where each lane's loads begin. */
void rkb_online_write_lanes(rkb_writer_t *writer, const rkb_online_t *o);
/* Loads the fragments of the own rows that stay in registers. */
void rkb_online_keep_own(rkb_writer_t *writer, const rkb_online_t *o);
void rkb_online_write_fragments(rkb_writer_t *writer, const rkb_online_t *o);
void rkb_online_add_fragments(rkb_writer_t *writer, const rkb_online_t *o, uint32_t out);

/* online_results.c: writes the roots that are computed from statistics and outs to memory. */
/* Writes an out's elements of row m, from column u on, to the roots that are computed from them: as many elements as an access is wide.  They
 * lie side by side in shared memory.  first: the text of the first element's place without its end, "room[row * 40 + u", to which the
 * places of the others add a number. */
void rkb_online_write_elements(rkb_writer_t *writer, const rkb_online_t *o, uint32_t out, const rkb_launch_t *roots, int64_t width,
                               const char *first);
void rkb_online_write_results(rkb_writer_t *writer, rkb_online_t *o);

#endif
