/* Task directories for tests: loading with the problems shown, and writing small ones from text. */
#ifndef TESTS_TASK_FIXTURE_H
#define TESTS_TASK_FIXTURE_H

#include "task/task.h"

/* Loads, or fails the test with the problems.  NULL only when the direction is not the task's. */
rkb_task_t *fixture_load(const char *directory, const char *direction);

/* Writes task.yaml and reference.graph.yaml into a directory below the build's tests/task; the path is the
 * caller's to free. */
char *fixture_write(const char *name, const char *task, const char *graph);

/* Reads a line of a text file without its newline, skipping comments and blank lines; malloc'd, NULL at the
 * end. */
char *fixture_line(FILE *file);

/* Splits text in place at every occurrence of mark and trims each part; returns the number of parts. */
int fixture_split(char *text, const char *mark, char **parts, int most);

/* Writes the one-node task of a line of functions.txt (which it takes apart); *name gets its name. */
char *fixture_function(char *line, int number, const char **name);

#endif
