/* The expressions of a manifest that a survey evaluates.  A network's launches repeat a few texts some hundred times (`ceildiv(B * H * W,
 * 128)`), so launches that always run share one expression here for each text: with the same values of the same names it has the same value
 * and decides the same.  Launches with a condition share none: what a text decides where one launch runs is another thing than where
 * another one runs.  Nor do lets: a name that a let mentions may be a dim's there and a later let's elsewhere.  Made once a survey; one
 * thread. */
#ifndef RKB_KERNEL_SURVEY_EXPRESSIONS_H
#define RKB_KERNEL_SURVEY_EXPRESSIONS_H

#include "kernel/plan.h"

#define SURVEY_NO_EXPRESSION UINT32_MAX

/* An expression, and what it came to at the shape with that number. */
typedef struct surveyed {
   const rkb_expression_t *expression;
   uint64_t shape, mentioned; /* shape 0: it was not evaluated yet */
   rkb_value_t value;
   bool is_decided;
} surveyed_t;

typedef struct survey_expressions {
   surveyed_t *expressions;
   uint32_t *mentions; /* numbers of expressions, in the manifest's order */
   uint32_t *whens;    /* a launch's condition; SURVEY_NO_EXPRESSION: it has none */
   uint32_t *
      ends; /* mentions of launch i end at ends[i], where those of the next one begin; those of tensor maps follow the last launch's */
   uint32_t mention_count;
} survey_expressions_t;

/* Lists them.  is_value: whether a name stands for a number at every shape; an argument with another name in front is a buffer or a tensor map.
 * Memory of the arena. */
void survey_expressions_make(survey_expressions_t *list, const manifest_t *manifest, rkb_lookup_t is_value,
                             void *argument, rkb_arena_t *arena);

#endif
