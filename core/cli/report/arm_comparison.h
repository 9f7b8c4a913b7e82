/* The comparison of a sweep's arms as one JSON document, which `rkb report DIR...` prints as text, CSV, LaTeX or JSON.
 *
 *   objective, unit, baseline   baseline: the arm that the others are compared with
 *   methods      how intervals, tests and shares are computed, a sentence each
 *   arms, subjects  names.  An arm is a setting; a subject is a task, direction and target
 *   runs         directory, arm, subject, seed, value, share, gain, evaluations, seconds, calls, usd, curves {evaluations, seconds, calls, usd:
 *                [[spent, best so far], ...]}
 *   left_out     directory, why: runs that have not ended
 *   summaries    for each subject and arm, and for each arm over all subjects (subject null): runs, found, value (of one subject
 *                alone), share, gain, evaluations, seconds, calls, usd {median, mean: {estimate, low, high}}
 *   comparisons  for each arm but the baseline: pairs, unmatched, better, same, worse, ratio {estimate, low, high}, p, p_holm,
 *                least_p, exact
 *   equal        for evaluations, calls and usd: over, comparisons as above with a budget {least, most}: each pair's runs are cut where the
 *                one that spent less of it ended
 *   curves       for evaluations, seconds, calls and usd: over, points (parts of the longest run of the subject), arms [{arm, share: [...],
 *                area {estimate, low, high}}]; calls and usd are absent when no model was asked
 *
 * A value is the objective of a run's best accepted candidate, null when there is none.  Its share is the best value of any run on
 * the subject divided by it, 0 for none: 1 is the best that was found.  A gain is the value of the run's best first candidate
 * divided by its value.  Numbers that are not known are null.  The main thread alone. */
#ifndef RKB_CLI_REPORT_ARM_COMPARISON_H
#define RKB_CLI_REPORT_ARM_COMPARISON_H

#include <jansson.h>
#include "cli/report/compared_runs.h"

/* baseline: the name of an arm, or NULL for the first.  RKB_ERR_INVALID: there is no such arm.  *comparison is owned by the caller. */
int rkb_comparison_make(const rkb_compared_runs_t *runs, const char *baseline, json_t **comparison,
                        rkb_error_t *err);

/* [[spent, best so far], ...]; NULL when memory is out. */
json_t *rkb_steps_json(const rkb_step_curve_t *curve);

/* On standard output: for people; one row for each number; tables for a paper (they need the package booktabs). */
void rkb_comparison_print(const json_t *comparison);
void rkb_comparison_print_csv(const json_t *comparison);
void rkb_comparison_print_latex(const json_t *comparison);

#endif
