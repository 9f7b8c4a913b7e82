/* The values of names at many shapes.  A survey evaluates the same few expressions at some ten thousand shapes.  So each mention of a name is looked up by
 * its text once in the survey, and a name's value once for each shape.  Shapes change along one dim at a time.  So most names keep their values from one
 * shape to the next, and expressions that mention only such names keep theirs.  One thread for a survey. */
#ifndef RKB_KERNEL_SURVEY_NAMES_H
#define RKB_KERNEL_SURVEY_NAMES_H

#include "kernel/plan.h"

#define SURVEY_NAMES 256u
/* Each name has a bit of a word.  Names beyond this number, and names for which there is no room, share the last bit. */
#define SURVEY_TOLD_APART 63u
#define SURVEY_OTHERS (UINT64_C(1) << SURVEY_TOLD_APART)

typedef struct survey_name {
   const char *name;
   bool is_let, found;
   bool is_constant; /* the same at each shape, because it is no name of the task */
   bool is_tasks;    /* only the task has this name; no let or tune parameter has it too */
   uint32_t let;     /* the number of the let */
   uint64_t changed; /* the number of the shape where it got this value */
   rkb_value_t value; /* the value, if it is no let */
} survey_name_t;

/* A name in an expression. */
typedef struct survey_mention {
   const char *text; /* the text's address identifies the mention; NULL: the place is free */
   uint32_t name;    /* SURVEY_NAMES: there is no room for it */
} survey_mention_t;

typedef struct survey_names {
   const planner_t *planner;
   uint64_t shape; /* the number of the present shape, from 1 on */
   uint64_t
      mentioned; /* bits of the task's names that were looked up since a caller set this to 0, including the names that lets come from */
   uint64_t let_names[RKB_MANIFEST_MAX_ENTRIES]; /* bits of the task's names from which a let's value comes */
   uint32_t mention_count, name_count;
   survey_mention_t *mentions;
   uint32_t mention_bits; /* there are 2^mention_bits places, and at most half of them are used */
   survey_name_t names[SURVEY_NAMES];
} survey_names_t;

void survey_names_make(survey_names_t *names, const planner_t *planner);
void survey_names_clear(survey_names_t *names); /* frees what it holds */

/* Begins another shape. */
void survey_names_begin(survey_names_t *names);

/* As planner_name.  argument: a survey_names_t.  The names' texts must outlive the survey, and the task must have the same names at each shape.  An
 * expression always finds the same lets, those before it. */
bool survey_names_lookup(void *argument, const char *name, rkb_value_t *value);

/* As survey_names_lookup, for a name of the table that is no let: its value at the shape that the planner looks up now.  Nothing is noted. */
bool survey_names_find(const survey_names_t *names, const survey_name_t *known, rkb_value_t *value);
/* The name that the text mentions, or NULL: it was not looked up before, or has no place in the table. */
const survey_name_t *survey_names_known(const survey_names_t *names, const char *text);

/* Whether one of the mentioned names has changed its value since the shape with the number `since`. */
bool survey_names_changed(const survey_names_t *names, uint64_t mentioned, uint64_t since);

#endif
