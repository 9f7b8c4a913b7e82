/* Finds a Python that has PyTorch, and chooses the environment variables that it gets.  Starts processes and waits for them, so
 * never call it on the loop thread. */
#ifndef RKB_TASK_PYTHON_H
#define RKB_TASK_PYTHON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RKB_PYTHON_VARIABLES 8 /* entries that rkb_python_environment fills at most, its NULL included */

/* Returns $RKB_PYTHON when it is set; else the first of python3 on PATH and /usr/bin/python3 that has PyTorch; else "python3".
 * (A user's own interpreter often comes first on PATH, while the distribution's PyTorch belongs to the system's Python.) */
const char *rkb_python_find(void);

/* Fills out with NAME=VALUE texts and a NULL; the caller frees the texts.  Returns their number. */
uint32_t rkb_python_environment(char *out[RKB_PYTHON_VARIABLES]);

/* Runs a line of Python and stores the first line that it prints.  False when it fails or takes longer than a minute. */
bool rkb_python_ask(const char *python, const char *code, char *line, size_t size);

#endif
