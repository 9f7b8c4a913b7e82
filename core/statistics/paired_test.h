/* Tests whether paired differences lie about zero, and the correction for several of them.  Pure; any thread. */
#ifndef RKB_STATISTICS_PAIRED_TEST_H
#define RKB_STATISTICS_PAIRED_TEST_H

#include <stdbool.h>
#include <stdint.h>

#define RKB_SIGNED_RANK_EXACT 200 /* pairs up to which the distribution is counted out */

typedef struct rkb_signed_rank {
   uint32_t pairs;  /* that differ; equal ones are left out (Wilcoxon 1945) */
   double positive; /* sum of the ranks of positive differences */
   double p;        /* two-sided; 1 when no pair differs */
   double least_p;  /* the smallest p that so many pairs can give: 2^(1 - pairs) */
   bool exact;
} rkb_signed_rank_t;

/* Wilcoxon's signed-rank test of differences, which may be infinite.  Equal magnitudes share the mean of their ranks.  Up to
 * RKB_SIGNED_RANK_EXACT pairs p is exact, also with ties: every assignment of signs counts once.  Beyond, p is from the normal
 * approximation with the variance of the ranks as they are and a continuity correction. */
rkb_signed_rank_t rkb_signed_rank(const double *differences, uint32_t count);

/* Two-sided p of the sign test (McNemar's exact test of two judges): of the pairs that differ, so many differ one way and so many the
 * other.  1 when no pair differs. */
double rkb_sign_test(uint32_t one_way, uint32_t other_way);

/* Holm's step-down correction (1979): adjusted p values that hold the chance of any false one to the level.  adjusted may be p. */
void rkb_holm(const double *p, uint32_t count, double *adjusted);

#endif
