/* Handles --help and the number of arguments for small tools, mostly the benchmarks.  Any thread. */
#ifndef RKB_BASE_USAGE_H
#define RKB_BASE_USAGE_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Returns the exit code when the program is done: 0 after --help, 2 when there are more than `most` arguments.  Returns -1 when
 * it should go on; never, if most is -1.  text is "usage: ...", what the tool does, and a newline. */
static inline int rkb_usage(int argc, char **argv, int most, const char *text) {
   const bool asked = argc > 1 && strcmp(argv[1], "--help") == 0;
   if (!asked && argc - 1 <= most)
      return -1;
   fputs(text, asked ? stdout : stderr);
   return asked ? 0 : 2;
}

#endif
