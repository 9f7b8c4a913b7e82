/* Prints the results.  One thread. */
#ifndef RKB_TOOLS_FAULTS_VERIFY_TABLES_H
#define RKB_TOOLS_FAULTS_VERIFY_TABLES_H

#include "tools/faults/verify/verify_subjects.h"

/* Prints, by operator, what became of the faults kept out of tuning, or of the others, with Wilson's
 * intervals. */
void tables_print(const bench_t *b, bool kept_out);
void tables_print_kernels(const bench_t *b);
/* Names the subjects that ended their process; true when there were any. */
bool tables_print_crashes(const bench_t *b);
/* RKB_ERR_INVALID, with a line for each: a fault is accepted that the list of misses does not have, a listed
 * one is not accepted, or a correct kernel is not accepted. */
int tables_compare_misses(const bench_t *b, rkb_error_t *err);

#endif
