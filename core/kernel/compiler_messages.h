/* Shortens the compiler's messages to the part that a person or a model needs to correct the text. */
#ifndef RKB_KERNEL_COMPILER_MESSAGES_H
#define RKB_KERNEL_COMPILER_MESSAGES_H

#include <rkb/ext/kernel.h>
#include "base/text.h"

/* Makes the finding's message from the first error's place and text, and from the next errors as far as they
 * fit. */
void diagnostics_finding(const char *log, size_t bytes, const char *name, rkb_finding_t *finding);
/* Appends the warnings about the candidate's own text, one per line as name:line:column: warning: text. */
void diagnostics_warnings(const char *log, size_t bytes, const char *name, rkb_text_t *out);

#endif
