/* The sum of products of one element by several threads of a block, each of which adds some of the terms.  One thread writes the text. */
#ifndef RKB_GENERATOR_SUM_PARTS_H
#define RKB_GENERATOR_SUM_PARTS_H

#include "generator/text/writer.h"

/* Least threads of a part, of which each has an element of its own.  A part has whole warps, so that neighbouring lanes have neighbouring
 * elements. */
#define RKB_LEAST_PART_THREADS 32

/* Writes which element the thread has and which part of the sum it adds, and returns the element's number.  Threads past the last element
 * have the last element, since all threads of the block must come to rkb_sum_parts_add. */
const rkb_index_t *rkb_sum_parts_open(rkb_writer_t *writer, const rkb_index_t *elements, int64_t threads,
                                      int64_t parts);
/* Opens a loop over the thread's own terms along one dim of the sum. */
const rkb_index_t *rkb_sum_parts_loop(rkb_writer_t *writer, const char *wanted, const rkb_index_t *extent);
/* Adds the parts that the block's threads have.  The first part's threads then have the sums, and the other threads end. */
void rkb_sum_parts_add(rkb_writer_t *writer, const char *sum);

#endif
