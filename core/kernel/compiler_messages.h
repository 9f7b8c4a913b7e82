/* Shortens the compiler's messages to what a person or a model needs to mend the text. */
#ifndef RKB_KERNEL_COMPILER_MESSAGES_H
#define RKB_KERNEL_COMPILER_MESSAGES_H

#include <rkb/ext/kernel.h>
#include "base/text.h"

/* The first error's place and text (and the next ones, as far as they fit) become the finding's message. */
void diagnostics_finding(const char *log, size_t bytes, const char *name, rkb_finding_t *finding);
/* The warnings about the candidate's own text, one a line as name:line:column: warning: text. */
void diagnostics_warnings(const char *log, size_t bytes, const char *name, rkb_text_t *out);

#endif
