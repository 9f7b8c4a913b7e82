/* What a survey knows of up to 64 shapes at once (survey_many.c).  One thread a survey. */
#ifndef RKB_KERNEL_SURVEY_MANY_H
#define RKB_KERNEL_SURVEY_MANY_H

#include "base/expression_many.h"
#include "kernel/survey_expressions.h"
#include "kernel/survey_names.h"

/* What is kept of an expression that was evaluated, if the shapes are taken. */
typedef struct survey_evaluated {
   surveyed_t *expression;
   surveyed_t after;
} survey_evaluated_t;

/* An expression at each of the shapes. */
typedef struct survey_many_value {
   rkb_many_t values;
   uint64_t mentioned[RKB_MANY]; /* as surveyed_t has it */
} survey_many_value_t;

typedef struct survey_many {
   survey_names_t *names;
   uint64_t turn;   /* numbers the calls, so that an expression that is mentioned twice is evaluated once */
   uint64_t inside; /* the shapes that are in the domain */
   uint64_t changed
      [RKB_MANY]; /* at each shape, bits of the names that have another value than at the shape before */
   rkb_many_t values[SURVEY_NAMES]; /* of each name */
   survey_many_value_t *lets;
   uint32_t let_count;
   survey_evaluated_t *evaluated;
   uint32_t evaluated_count, evaluated_room;
   rkb_many_decisions_t decisions;
   uint64_t *mentioned; /* where the names that an evaluation mentions are noted */
} survey_many_t;

survey_many_t *survey_many_new(survey_names_t *names, uint32_t let_count);
void survey_many_free(survey_many_t *many);

/* Begins count shapes.  set: makes a shape the one whose names the planner looks up; false: it is not in the domain.  The function returns false when
 * the shapes must be decided one by one, and so do those below. */
bool survey_many_begin(survey_many_t *many, uint32_t count, bool (*set)(void *argument, uint32_t shape),
                       void *argument);
/* Evaluates an expression at the given shapes, as if these came one after the other.  value may be NULL. */
bool survey_many_decide(survey_many_t *many, surveyed_t *known, uint64_t shapes, survey_many_value_t *value);
/* Makes the state of the survey what it would be after deciding these shapes one by one. */
void survey_many_take(survey_many_t *many);

#endif
