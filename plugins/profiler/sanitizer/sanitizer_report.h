/* Reads what compute-sanitizer writes: reports, and a summary at the end.  The text may come from a program
 * on another machine, so it is not trusted.  Pure; any thread. */
#ifndef SANITIZER_REPORT_H
#define SANITIZER_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum { SANITIZER_MOST_REPORTS = 4 };

typedef struct sanitizer_summary {
   bool ended;      /* whether the tool wrote its summary */
   uint64_t errors; /* racecheck counts its errors here, and its warnings too */
   uint64_t warnings;
   char failure[256]; /* why the tool did not work at all, or "" */
   /* The first ones, a line each: "Invalid __global__ write of size 4 bytes; at scale+0x80; by thread
    * (0,0,0)". */
   uint32_t report_count;
   char reports[SANITIZER_MOST_REPORTS][384];
} sanitizer_summary_t;

void sanitizer_report_read(const char *text, size_t length, sanitizer_summary_t *summary);

#endif
