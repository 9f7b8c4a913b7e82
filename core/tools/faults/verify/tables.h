/* What is printed of the results.  One thread. */
#ifndef RKB_TOOLS_FAULTS_VERIFY_TABLES_H
#define RKB_TOOLS_FAULTS_VERIFY_TABLES_H

#include "verify/verify_subjects.h"

/* Of the faults kept out of tuning, or of the others: by operator what became of them, with Wilson's intervals. */
void tables_print(const bench_t *b, bool kept_out);
void tables_print_kernels(const bench_t *b);
/* Names what ended its process; true when something did. */
bool tables_print_crashes(const bench_t *b);
/* RKB_ERR_INVALID, and a line for each, when a fault is accepted that the list of misses lacks or has and is not, or a correct kernel
 * is not accepted. */
int tables_compare_misses(const bench_t *b, rkb_error_t *err);

#endif
