/* Prints the results.  One thread. */
#ifndef RKB_TOOLS_FAULTS_VERIFY_TABLES_H
#define RKB_TOOLS_FAULTS_VERIFY_TABLES_H

#include "tools/faults/verify/verify_subjects.h"

/* Prints the verdicts on the faults that were kept out of tuning, or on the others, for each operator, with Wilson's intervals. */
void tables_print(const bench_t *b, bool kept_out);
void tables_print_kernels(const bench_t *b);
/* Names the subjects that ended their process; true when there were any. */
bool tables_print_crashes(const bench_t *b);
/* Compares the verdicts with the list of misses.  RKB_ERR_INVALID, with a line for each: a fault outside the list is accepted, a fault in the list is not
 * accepted, or a correct kernel is not accepted. */
int tables_compare_misses(const bench_t *b, rkb_error_t *err);

#endif
