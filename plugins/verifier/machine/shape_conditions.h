/* Outcomes of conditions that a candidate's kernels decide by their parameters and sizes alone (D % 8 == 4): those that a shape has and no
 * earlier shape had.  One thread. */
#ifndef MACHINE_SHAPE_CONDITIONS_H
#define MACHINE_SHAPE_CONDITIONS_H

#include "plan_constants.h"
#include "shape_features.h"

#define MOST_KERNELS 64u
/* Against shape_features.c's: what the kernel itself tells apart comes before what kernels may tell apart. */
#define WEIGHT_OF_CONDITION 256u
#define WEIGHT_OF_TWO 16u /* decided one after the other */
#define NEWS_WORDS 16u

struct shape_conditions {
   const struct verifier *verifier;
   const struct candidate *candidate;
   rkb_machine_conditions_t *kernels[MOST_KERNELS]; /* by number in the build; NULL: not asked for yet, or it has none */
   /* By kernel and number of a condition: the outcomes at shapes that were noted, a bit each; and whether a shape was tried that was solved for it, or is
    * to be. */
   uint8_t *met[MOST_KERNELS], *solved[MOST_KERNELS];
   struct shape_features *features;
   struct plan_constants *constants; /* owned */
   bool learns;                      /* the check cases are being looked at */
   uint32_t kernel, found;
   uint64_t before; /* the condition decided last, and how */
   bool note;
   uint64_t news
      [NEWS_WORDS]; /* at the shape that was looked at last: a bit, by a hash, for each outcome that no noted shape had */
   bool seeks, sought; /* seeks: marks what is decided as it was at no shape that was noted; sought: there was some */
   bool of_results;    /* what one thread computes is looked at, and no condition of launches */
   uint64_t places[2]; /* of that thread, and of another one */
   bool follows; /* also what loops count and branches choose */
   uint64_t turns; /* blocks and statements that may still be followed for it */
};

/* Takes what the check cases decide. */
int shape_conditions_open(struct shape_conditions *conditions, const struct verifier *verifier, const struct candidate *candidate,
                          struct shape_features *features, rkb_error_t *err);
/* The same for what one thread computes from sizes and its place. */
int shape_conditions_open_results(struct shape_conditions *conditions, const struct verifier *verifier,
                                  const struct candidate *candidate, const uint64_t places[2],
                                  rkb_error_t *err);
/* A list of a kernel's conditions, or results as they are in another list. */
rkb_machine_conditions_t *shape_conditions_read(const struct shape_conditions *conditions, const char *entry,
                                                const rkb_machine_conditions_t *like);
void shape_conditions_close(struct shape_conditions *conditions);
/* From now on also takes what loops count and branches choose, which takes longer; false: the kernels decide nothing by it.  What earlier shapes decided so has to be noted again. */
bool shape_conditions_follow(struct shape_conditions *conditions);
/* Whether this condition is looked at and had a single outcome at all shapes that were noted. */
bool shape_conditions_is_wanted(const struct shape_conditions *conditions, uint32_t kernel, uint32_t number);
/* The same of any of what loops count and branches choose, or of results. */
bool shape_conditions_want(const struct shape_conditions *conditions);
/* As shape_features_new.  A shape that the candidate cannot be launched at decides nothing. */
int shape_conditions_new(struct shape_conditions *conditions, const rkb_case_t *the_case, bool note, uint32_t *news, rkb_error_t *err);
/* Marks the conditions that have an outcome at the shape that they had at no noted shape, and no others; *any: there are some.  size_solver_search looks for
 * them again. */
int shape_conditions_seek(struct shape_conditions *conditions, const rkb_case_t *the_case, bool *any,
                          rkb_error_t *err);

#endif
