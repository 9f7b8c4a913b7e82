/* Launches over several kinds of scores by warpgroups, of numbers of two bytes.  One thread writes them. */
#ifndef RKB_GENERATOR_ONLINE_SCORE_KINDS_H
#define RKB_GENERATOR_ONLINE_SCORE_KINDS_H

#include "generator/online/online.h"

/* Writes shared memory and its barriers; returns the bytes of dynamic shared memory. */
int64_t rkb_online_open_several(rkb_writer_t *writer, rkb_online_t *o);
/* Writes everything between the block's place and its results. */
void rkb_online_write_several(rkb_writer_t *writer, rkb_online_t *o);

#endif
