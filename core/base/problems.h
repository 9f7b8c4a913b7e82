/* Collects everything that is wrong with a user's file and prints it in file order as "file:line:column: what, and what to write
 * instead".  One thread at a time. */
#ifndef RKB_BASE_PROBLEMS_H
#define RKB_BASE_PROBLEMS_H

#include <stdbool.h>
#include <stdio.h>
#include <rkb/plugin.h>
#include "base/text.h"

typedef struct rkb_place {
   const char *file; /* lives as long as the document it names; NULL when unknown */
   uint32_t line;    /* from 1; 0: unknown */
   uint32_t column;  /* from 1, in bytes */
} rkb_place_t;

typedef struct rkb_problem {
   char *file;
   uint32_t line, column;
   bool warning;
   char *message;
} rkb_problem_t;

#define RKB_PROBLEMS_KEPT 200 /* problems that one list keeps; the counts include all */

typedef struct rkb_problems {
   rkb_problem_t *list;
   uint32_t count, room;
   uint32_t errors, warnings;
} rkb_problems_t;

void rkb_problems_init(rkb_problems_t *problems);
void rkb_problems_free(rkb_problems_t *problems);
void rkb_problem(rkb_problems_t *problems, rkb_place_t place, const char *fmt, ...) RKB_PRINTF(3, 4);
void rkb_problem_warning(rkb_problems_t *problems, rkb_place_t place, const char *fmt, ...) RKB_PRINTF(3, 4);
/* Gives this place to every problem from index `from` on that names no file.  For callers who know the place of a value in whose text a lower layer found
 * problems. */
void rkb_problems_place(rkb_problems_t *problems, uint32_t from, rkb_place_t place);
/* Writes one problem a line, sorted by file (in order of first mention), line and column; then "and N more" if some were dropped. */
void rkb_problems_write(rkb_problems_t *problems, rkb_text_t *out);
/* Returns the first error (not warning) in file order, for a caller that can report only one; RKB_OK when there is none. */
int rkb_problems_error(rkb_problems_t *problems, rkb_error_t *err);

#endif
