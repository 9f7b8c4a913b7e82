/* The values of names at many shapes.  A survey evaluates the same few expressions at some ten thousand shapes, so each mention of a name is looked up by its
 * text once, and its value once a shape.  Shapes are tried along one dim at a time, so most names keep their values from one shape to the
 * next, and with them the expressions that mention no others.  One thread a survey. */
#ifndef RKB_KERNEL_SURVEY_NAMES_H
#define RKB_KERNEL_SURVEY_NAMES_H

#include "kernel/plan.h"

#define SURVEY_NAMES 256u
/* Names are told apart in a word's bits; those beyond, and those for which there is no room, share the last bit. */
#define SURVEY_TOLD_APART 63u
#define SURVEY_OTHERS (UINT64_C(1) << SURVEY_TOLD_APART)

typedef struct survey_name {
   const char *name;
   bool is_let, found;
   bool is_constant; /* the same at each shape: no name of the task's */
   bool is_tasks;    /* neither a let nor a tune parameter has this name too */
   uint32_t let;     /* its number */
   uint64_t changed; /* the number of the shape where it got this value */
   rkb_value_t value; /* unless it is a let */
} survey_name_t;

/* A name in an expression. */
typedef struct survey_mention {
   const char *text; /* its address; NULL: free */
   uint32_t name;    /* SURVEY_NAMES: there is no room for it */
} survey_mention_t;

typedef struct survey_names {
   const planner_t *planner;
   uint64_t shape; /* the number of the present shape, from 1 on */
   uint64_t
      mentioned; /* the task's names that were asked for since somebody set this to 0, those of lets among them */
   uint64_t let_names[RKB_MANIFEST_MAX_ENTRIES]; /* the task's names that a let's value comes from */
   uint32_t mention_count, name_count;
   survey_mention_t *mentions;
   uint32_t mention_bits; /* 2^mention_bits places, of which at most half are used */
   survey_name_t names[SURVEY_NAMES];
} survey_names_t;

void survey_names_make(survey_names_t *names, const planner_t *planner);
void survey_names_clear(survey_names_t *names); /* frees what it holds */

/* Begins another shape. */
void survey_names_begin(survey_names_t *names);

/* As planner_name, for names whose text outlives the survey.  The task has the same names at each shape.  argument: a survey_names_t.  Lets keep their numbers, and an expression always mentions the
 * same ones: those before it. */
bool survey_names_lookup(void *argument, const char *name, rkb_value_t *value);

/* Whether one of the names has another value than at the shape with the number `since`. */
bool survey_names_changed(const survey_names_t *names, uint64_t mentioned, uint64_t since);

#endif
