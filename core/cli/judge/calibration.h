/* How good language models are as judges: compares their verdicts with the results of executing the same candidates. */
#ifndef RKB_CLI_JUDGE_CALIBRATION_H
#define RKB_CLI_JUDGE_CALIBRATION_H

#include "archive/archive.h"

/* A share of n with its 95 % interval by Wilson's score ('Probable inference, the law of succession, and
 * statistical inference', 1927), which is valid for small and for extreme counts too.  n 0: all NaN. */
typedef struct rkb_share {
   int64_t hits, n;
   double value, low, high;
} rkb_share_t;

rkb_share_t rkb_share_of(int64_t hits, int64_t n);

/* Prints a section when the run has judges. */
int rkb_calibration_print(rkb_archive_t *archive, rkb_error_t *err);

#endif
