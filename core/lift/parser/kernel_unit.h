/* One kernel's text as a translation unit of libclang, preceded by this program's declarations.  Only the
 * parser's one thread. */
#ifndef RKB_LIFT_PARSER_KERNEL_UNIT_H
#define RKB_LIFT_PARSER_KERNEL_UNIT_H

#include <clang-c/Index.h>
#include <stdbool.h>
#include "base/text.h"

#define KERNEL_PATH "/kernel/kernel.cu"

typedef struct kernel_unit {
   CXIndex index;
   CXTranslationUnit unit; /* NULL: the text is refused, and answer holds why */
} kernel_unit_t;

/* Opens the unit.  warn: reports the warnings that are useful for a kernel; otherwise no warnings. */
void kernel_unit_open(kernel_unit_t *opened, const char *declarations, const char *text, bool warn, rkb_text_t *answer);
void kernel_unit_close(kernel_unit_t *opened);

/* Makes the answer a refusal. */
void kernel_unit_refuse(rkb_text_t *answer, const char *why);
/* The line of the kernel at which a diagnostic points; 0: it points elsewhere. */
unsigned kernel_unit_line(CXDiagnostic diagnostic);

void kernel_unit_version(void); /* prints libclang's version line */

#endif
