/* Which Python has PyTorch, and what it may see of the caller's environment.  Starts processes and waits for them: never
 * on the loop thread. */
#ifndef RKB_TASK_PYTHON_H
#define RKB_TASK_PYTHON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RKB_PYTHON_VARIABLES 8 /* room that rkb_python_environment wants, its NULL included */

/* $RKB_PYTHON when it is set; else the first of python3 on PATH and /usr/bin/python3 that has PyTorch (an interpreter of
 * one's own often comes first on PATH, while the distribution's package serves the system's); else "python3". */
const char *rkb_python_find(void);

/* NAME=VALUE texts, NULL-terminated, that the caller frees; the count. */
uint32_t rkb_python_environment(char *out[RKB_PYTHON_VARIABLES]);

/* Runs a line of Python and keeps the first line that it prints.  False when it fails or takes longer than a minute. */
bool rkb_python_ask(const char *python, const char *code, char *line, size_t size);

#endif
