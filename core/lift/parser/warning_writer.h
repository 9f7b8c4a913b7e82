/* A text's warnings, as libclang gives them, written in the form of parser_protocol.h.  Only the parser's one
 * thread. */
#ifndef RKB_LIFT_PARSER_WARNING_WRITER_H
#define RKB_LIFT_PARSER_WARNING_WRITER_H

#include <clang-c/Index.h>
#include "base/text.h"

/* Appends the whole answer: the first LIFT_MAX_WARNINGS warnings whose place is in the kernel. */
void warnings_write(CXTranslationUnit unit, rkb_text_t *answer);

#endif
