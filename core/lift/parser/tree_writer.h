/* A text's syntax tree, as libclang sees it, written as parser_protocol.h says.  The parser's one thread. */
#ifndef RKB_LIFT_PARSER_TREE_WRITER_H
#define RKB_LIFT_PARSER_TREE_WRITER_H

#include "base/text.h"

/* Appends the whole answer, the tree or the refusal. */
void tree_write(const char *declarations, const char *text, rkb_text_t *answer);
void tree_writer_version(void); /* prints libclang's own line */

#endif
