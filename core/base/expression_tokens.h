/* The tokens of expressions, for expression_parser.c: white space, symbols, words and names; and messages about
 * the token that comes next.  One thread at a time. */
#ifndef RKB_BASE_EXPRESSION_TOKENS_H
#define RKB_BASE_EXPRESSION_TOKENS_H

#include "base/expression_node.h"

static inline bool is_digit(char c) {
   return c >= '0' && c <= '9';
}

static inline bool begins_name(char c) {
   return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static inline bool continues_name(char c) {
   return begins_name(c) || is_digit(c);
}

void rkb_expression_skip_space(parser_t *parser);
/* The length of the name that text begins with; 0 when there is none.  A dot between two names belongs to the
 * name: device.warp_size. */
uint32_t rkb_expression_name_length(const char *text);
/* Consumes a symbol or a word if it comes next.  A word must match a whole name. */
bool rkb_expression_take(parser_t *parser, const char *token);
/* Reports a problem at byte `at` of the text; returns NULL. */
node_t *rkb_expression_refuse(parser_t *parser, uint32_t at, const char *fmt, ...) RKB_PRINTF(3, 4);
/* Reports an unexpected token, with advice for people who write C, Python or YAML; returns NULL. */
node_t *rkb_expression_refuse_next(parser_t *parser, const char *expected);

#endif
