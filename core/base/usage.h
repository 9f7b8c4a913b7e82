/* What a tool with few arguments tells of itself: the benchmarks, mostly.  Any thread. */
#ifndef RKB_BASE_USAGE_H
#define RKB_BASE_USAGE_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The exit code of a call that is over: 0 after --help, 2 where there are more than most arguments; -1 to go on (never where most is -1).  text: "usage: ..."
 * and what the tool does, with its newline. */
static inline int rkb_usage(int argc, char **argv, int most, const char *text) {
   const bool asked = argc > 1 && strcmp(argv[1], "--help") == 0;
   if (!asked && argc - 1 <= most)
      return -1;
   fputs(text, asked ? stdout : stderr);
   return asked ? 0 : 2;
}

#endif
