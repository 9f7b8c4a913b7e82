/* Tests whether paired differences are centred at zero, and corrects for several such tests.  Pure; any
 * thread. */
#ifndef RKB_STATISTICS_PAIRED_TEST_H
#define RKB_STATISTICS_PAIRED_TEST_H

#include <stdbool.h>
#include <stdint.h>

#define RKB_SIGNED_RANK_EXACT 200 /* up to this many pairs the exact distribution is enumerated */

typedef struct rkb_signed_rank {
   uint32_t pairs;  /* pairs that differ; equal pairs are left out (Wilcoxon 1945) */
   double positive; /* sum of the ranks of positive differences */
   double p;        /* two-sided; 1 when no pair differs */
   double least_p;  /* the smallest p that this number of pairs can give: 2^(1 - pairs) */
   bool exact;
} rkb_signed_rank_t;

/* Wilcoxon's signed-rank test of differences, which may be infinite.  Equal magnitudes share the mean of
 * their ranks.  Up to RKB_SIGNED_RANK_EXACT pairs p is exact, also with ties: every assignment of signs
 * counts once.  Beyond that, p comes from the normal approximation with the variance of the actual ranks and
 * a continuity correction. */
rkb_signed_rank_t rkb_signed_rank(const double *differences, uint32_t count);

/* Two-sided p of the sign test (McNemar's exact test of two judges).  The arguments count the pairs that
 * differ in one direction and in the other.  1 when no pair differs. */
double rkb_sign_test(uint32_t one_way, uint32_t other_way);

/* Holm's step-down correction (1979): adjusts p values so that the chance of any false rejection stays at the
 * level.  adjusted may be p. */
void rkb_holm(const double *p, uint32_t count, double *adjusted);

#endif
