/* The values of names at many shapes.  A survey evaluates the same few expressions at some ten thousand shapes, so each mention of a name is looked up by its
 * text once, and its value once a shape.  One thread a survey. */
#ifndef RKB_KERNEL_SURVEY_NAMES_H
#define RKB_KERNEL_SURVEY_NAMES_H

#include "kernel/plan.h"

#define SURVEY_MENTIONS 1024u /* a power of two; at most half of them are used */
#define SURVEY_NAMES 128u

typedef struct survey_name {
   const char *name;
   bool is_let, found;
   bool is_constant; /* the same at each shape: no name of the task's */
   uint32_t let;     /* its number */
   uint64_t shape;
   rkb_value_t value; /* at that shape, unless it is a let */
} survey_name_t;

typedef struct survey_names {
   const planner_t *planner;
   uint64_t shape; /* the number of the present shape, from 1 on */
   uint32_t mention_count, name_count;
   struct {
      const char *text; /* a mention in an expression: its address; NULL: free */
      uint32_t name;
   } mentions[SURVEY_MENTIONS];
   survey_name_t names[SURVEY_NAMES];
} survey_names_t;

/* As planner_name, for names whose text outlives the survey.  The task has the same names at each shape.  argument: a survey_names_t.  Lets keep their numbers, and an expression always mentions the
 * same ones: those before it. */
bool survey_names_lookup(void *argument, const char *name, rkb_value_t *value);

#endif
