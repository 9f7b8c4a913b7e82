/* The rule that compares a kernel's numbers with the reference (docs/numerics.md).  Pure functions; any thread. */
#ifndef RKB_REFERENCE_JUDGE_H
#define RKB_REFERENCE_JUDGE_H

#include <rkb/ext/task.h>

/* An output with a larger share of ambiguous elements is not judged. */
#define RKB_AMBIGUOUS_SHARE 0.25

/* What is known of an element that is the place of a chosen element (task/judged_places.h).  If nothing is known, its bounds judge it. */
enum rkb_place_standing {
   RKB_PLACE_UNKNOWN,
   RKB_PLACE_RIGHT, /* rounding may bring the element there to this turn */
   RKB_PLACE_OPEN,  /* right, but so many others are right that this proves little: it counts as ambiguous */
   RKB_PLACE_WRONG
};

/* The rule for one output on one family of inputs. */
typedef struct rkb_judge_rule {
   bool exact, stat;          /* exact: values must be equal; stat: the stat bound applies */
   bool loose;                /* the task states a tolerance, which replaces the derived bounds */
   double relative, absolute; /* the task's tolerance */
   uint32_t dtype;            /* of the output's elements */
   bool probe;                /* the inputs were made to show too low a precision */
   bool reports_only;         /* a broken rule gives suspect, not reject */
   bool decides_precision;    /* a broken stat bound gives reject; otherwise suspect */
   /* How much further from the reference the results of a transform may be.  The factors apply to the largest
    * bounds among the elements that are judged together, because a transform mixes those elements.  0: no
    * further. */
   double hard_growth, stat_growth;
   bool spreads_nan;          /* inputs have NaN, and the algorithm may spread it to other elements */
   const uint8_t *
      places; /* enum rkb_place_standing of each element; NULL: elements are no places, or none is in doubt */
} rkb_judge_rule_t;

/* Compares points->count elements; data has the rule's dtype.  shadow holds the same elements in double precision, or is NULL.
 * elements holds their numbers, for messages, or is NULL for 0, 1, ...  Returns false when nothing breaks a rule but too many
 * elements are ambiguous to decide. */
bool rkb_judge(const rkb_judge_rule_t *rule, const void *data, const double *shadow,
               const rkb_points_t *points, const uint64_t *elements, rkb_judgement_t *judgement);

/* Whether too many of count elements are ambiguous to decide. */
bool rkb_judge_has_too_many(const rkb_judgement_t *judgement, uint64_t count);

#endif
