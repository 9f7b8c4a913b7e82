/* Launches over scores by warpgroups whose factors are floats: each float is a sum of two numbers that tensor
 * cores take (tf32x3).  One thread writes them. */
#ifndef RKB_GENERATOR_ONLINE_SPLIT_H
#define RKB_GENERATOR_ONLINE_SPLIT_H

#include "generator/online/online.h"

#define RKB_ONLINE_SQUARE 32 /* rows and columns of floats that are transposed at a time */

/* Registers of a thread for the values made of a tile's scores, and for its own rows of two steps. */
int64_t rkb_online_split_registers(int64_t stream_tile);
/* Warps of the copying warpgroup split each float that has come into two numbers, and transpose the rows of
 * the out. */
void rkb_online_write_splitting(rkb_writer_t *writer, const rkb_online_t *o);
void rkb_online_write_split_fragments(rkb_writer_t *writer, const rkb_online_t *o);
/* The lambdas `multiply`, `add` and `pack`: the first computes the scores of a stage; the second multiplies the
 * values made of scores by the rows of a stage; the third makes the fragments of these values. */
void rkb_online_write_split_multiply(rkb_writer_t *writer, const rkb_online_t *o);
void rkb_online_write_split_add(rkb_writer_t *writer, const rkb_online_t *o);
void rkb_online_write_split_pack(rkb_writer_t *writer, const rkb_online_t *o);

#endif
