/* What a verdict rests on, in a few lines: where in the source, which thread, which bytes, which inputs, which values. */
#ifndef RKB_CLI_EVIDENCE_H
#define RKB_CLI_EVIDENCE_H

#include "archive/archive.h"

/* The candidate that a verdict is about, for the source line. */
typedef struct rkb_evidence_source {
   const char *name; /* its file, or "candidate 17" */
   const char *text; /* the whole source, or NULL */
} rkb_evidence_source_t;

/* Prints the verdict's message and evidence to standard output, at most eight lines.  Evidence of an unknown form is printed
 * as it is. */
void rkb_print_evidence(const rkb_verdict_record_t *verdict, const rkb_evidence_source_t *source);
/* "softmax<256, 1>" of "_Z7softmaxILi256ELi1EEvPKfPfi": plain names with integer arguments; anything else unchanged.
 * Returns out. */
const char *rkb_readable_kernel(const char *symbol, char *out, size_t size);

#endif
