/* The streams of <rkb/ext/random.h>: Philox4x32-10, a pure function of key and counter. */
#ifndef RKB_BASE_RANDOM_H
#define RKB_BASE_RANDOM_H

#include <rkb/ext/random.h>

/* Makes the stream of (seed, name, number, child).  name is a stage's entry id or another purpose ("inputs"). */
rkb_random_t rkb_random_stream(uint64_t seed, const char *name, int64_t number, uint32_t child);
uint64_t rkb_random_next(rkb_random_t *stream);
uint64_t rkb_random_below(rkb_random_t *stream, uint64_t limit);
double rkb_random_real(rkb_random_t *stream);
double rkb_random_normal(rkb_random_t *stream);

/* Returns draw number `position` of a stream without moving the stream; counter-generated inputs use this.  Two draws share one
 * Philox block, so filling a range in order is cheap. */
uint64_t rkb_random_at(const rkb_random_t *stream, uint64_t position);
double rkb_random_normal_at(const rkb_random_t *stream, uint64_t position);
/* Fills out with `count` draws from `position` on; equal to calling rkb_random_at for each. */
void rkb_random_fill(const rkb_random_t *stream, uint64_t position, uint64_t count, uint64_t *out);

/* Turns one 64-bit draw into a standard normal number, for a caller that has filled a range. */
double rkb_random_normal_of(uint64_t draw);
/* Applies rkb_random_normal_of to `count` draws. */
void rkb_random_normals(uint64_t count, const uint64_t *draws, double *out);

/* The Philox bijection: one block of 128 bits. */
void rkb_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

#endif
