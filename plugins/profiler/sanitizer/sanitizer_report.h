/* Reads what compute-sanitizer writes: reports, and a summary at the end.  The text comes from a program on another machine, perhaps: it may
 * hold anything.  Pure; any thread. */
#ifndef SANITIZER_REPORT_H
#define SANITIZER_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum { SANITIZER_MOST_REPORTS = 4 };

typedef struct sanitizer_summary {
   bool ended;            /* the tool came to its summary */
   uint64_t errors;       /* racecheck: its errors, warnings besides */
   uint64_t warnings;
   char failure[256];     /* why it did not work at all; "" */
   uint32_t report_count; /* the first ones, each one line: "Invalid __global__ write of size 4 bytes; at scale+0x80; by thread (0,0,0)" */
   char reports[SANITIZER_MOST_REPORTS][384];
} sanitizer_summary_t;

void sanitizer_report_read(const char *text, size_t length, sanitizer_summary_t *summary);

#endif
