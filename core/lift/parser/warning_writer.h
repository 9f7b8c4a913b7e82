/* A text's warnings, as libclang gives them, written as parser_protocol.h says.  The parser's one thread. */
#ifndef RKB_LIFT_PARSER_WARNING_WRITER_H
#define RKB_LIFT_PARSER_WARNING_WRITER_H

#include <clang-c/Index.h>
#include "base/text.h"

/* Appends the whole answer: the first LIFT_MAX_WARNINGS that stand in the kernel. */
void warnings_write(CXTranslationUnit unit, rkb_text_t *answer);

#endif
