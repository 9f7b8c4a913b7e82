/* The expressions of a manifest that a survey evaluates.  The launches of a network repeat a few texts some hundred times (`ceildiv(B * H * W, 128)`).  So
 * launches that always run share one expression for each text: with the same values of names it has the same value and the same decisions.  Launches with a
 * condition share no expressions, because they run at different shapes.  Lets share none either: a name in a let may mean a dim, and the same name elsewhere
 * a later let.  Made once for a survey; one thread. */
#ifndef RKB_KERNEL_SURVEY_EXPRESSIONS_H
#define RKB_KERNEL_SURVEY_EXPRESSIONS_H

#include "kernel/plan.h"

#define SURVEY_NO_EXPRESSION UINT32_MAX

/* An expression, and its value at the shape with this number. */
typedef struct surveyed {
   const rkb_expression_t *expression;
   uint64_t shape, mentioned; /* shape 0: not evaluated yet */
   rkb_value_t value;
   bool is_decided;
   uint64_t turn; /* when it was last decided at many shapes at once (survey_many.c) */
} surveyed_t;

typedef struct survey_expressions {
   surveyed_t *expressions;
   uint32_t *mentions; /* numbers of expressions, in the manifest's order */
   uint32_t *whens;    /* a launch's condition; SURVEY_NO_EXPRESSION: it has none */
   uint32_t *
      ends; /* mentions of launch i end at ends[i], and those of launch i + 1 begin there; mentions of tensor maps follow those of the last launch */
   uint32_t mention_count;
} survey_expressions_t;

/* Fills the list, in memory of the arena.  is_value: whether a name stands for a number at every shape.  An argument that begins with any other name is a
 * buffer or a tensor map. */
void survey_expressions_make(survey_expressions_t *list, const manifest_t *manifest, rkb_lookup_t is_value,
                             void *argument, rkb_arena_t *arena);

#endif
