/* The rule by which a kernel's numbers are compared with the reference (docs/numerics.md).  Pure functions, any thread. */
#ifndef RKB_REFERENCE_JUDGE_H
#define RKB_REFERENCE_JUDGE_H

#include <rkb/ext/task.h>

/* An output of which more elements are ambiguous is not judged. */
#define RKB_AMBIGUOUS_SHARE 0.25

/* What decides about one output on one family of inputs. */
typedef struct rkb_judge_rule {
   bool exact, stat;          /* equality is demanded; the stat bound applies */
   bool loose;                /* the task states a tolerance of its own, which replaces the derived bounds */
   double relative, absolute; /* that tolerance */
   uint32_t dtype;            /* of the output's elements */
   bool probe;                /* the inputs were made to show too low a precision */
   bool reports_only;         /* what breaks is suspect, not rejected */
   bool decides_precision;    /* breaking the stat bound rejects; elsewhere it is suspect */
} rkb_judge_rule_t;

/* Compares points->count elements, data in the rule's dtype.  shadow: the same elements in double precision, or NULL; elements: their
 * numbers for the judgement, or NULL for 0, 1, ...  False: nothing breaks a rule, and too many elements are ambiguous to say more. */
bool rkb_judge(const rkb_judge_rule_t *rule, const void *data, const double *shadow,
               const rkb_points_t *points, const uint64_t *elements, rkb_judgement_t *judgement);

#endif
