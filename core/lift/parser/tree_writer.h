/* A text's syntax tree, as libclang gives it, written in the form of parser_protocol.h.  Only the parser's
 * one thread. */
#ifndef RKB_LIFT_PARSER_TREE_WRITER_H
#define RKB_LIFT_PARSER_TREE_WRITER_H

#include <clang-c/Index.h>
#include "base/text.h"

/* Appends the whole answer, the tree or a refusal. */
void tree_write(CXTranslationUnit unit, const char *text, rkb_text_t *answer);

#endif
