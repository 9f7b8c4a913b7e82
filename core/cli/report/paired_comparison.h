/* Arms against the baseline, run by run: paired by subject and seed, tested, and corrected for the number of arms.  The main thread
 * alone. */
#ifndef RKB_CLI_REPORT_PAIRED_COMPARISON_H
#define RKB_CLI_REPORT_PAIRED_COMPARISON_H

#include <jansson.h>
#include "cli/report/compared_runs.h"
#include "statistics/summary.h"

/* null for NaN and infinities */
json_t *rkb_number_json(double value);
json_t *rkb_interval_json(rkb_interval_t interval);

/* "comparisons" of arm_comparison.h.  baseline: the index of an arm.  over: RKB_SPENDINGS compares the results of whole runs.  Any other value compares at
 * equal budgets: of each pair, it takes the results at the moment when each run had spent as much as the cheaper run spent in all. */
json_t *rkb_paired_comparisons(const rkb_compared_runs_t *runs, uint32_t baseline, enum rkb_spending over);

#endif
