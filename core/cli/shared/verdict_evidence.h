/* Prints a verdict's evidence in a few lines: place in the source, thread, bytes, inputs, values. */
#ifndef RKB_CLI_SHARED_VERDICT_EVIDENCE_H
#define RKB_CLI_SHARED_VERDICT_EVIDENCE_H

#include "archive/archive.h"

/* The candidate of the verdict; used to show the source line. */
typedef struct rkb_evidence_source {
   const char *name; /* name of its file, or "candidate 17" */
   const char *text; /* the whole source, or NULL */
} rkb_evidence_source_t;

/* Prints the verdict's message and evidence to standard output, at most eight lines.  Evidence of an unknown form is printed
 * as it is. */
void rkb_print_evidence(const rkb_verdict_record_t *verdict, const rkb_evidence_source_t *source);
/* Makes a mangled name readable: "_Z7softmaxILi256ELi1EEvPKfPfi" becomes "softmax<256, 1>".  Understands plain names with integer
 * arguments; copies anything else unchanged.  Returns out. */
const char *rkb_readable_kernel(const char *symbol, char *out, size_t size);

#endif
