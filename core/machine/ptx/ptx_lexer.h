/* Splits PTX text into tokens.  Borrows the text; one thread at a time; never reads past the end. */
#ifndef RKB_MACHINE_PTX_PTX_LEXER_H
#define RKB_MACHINE_PTX_PTX_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ptx_token_kind {
   PTX_TOKEN_END,
   PTX_TOKEN_NAME,   /* identifiers, registers and labels: [%$_A-Za-z][%$_A-Za-z0-9]* */
   PTX_TOKEN_DOTTED, /* ".global", ".v4", ".shared::cta": directives and modifiers, the dot included */
   PTX_TOKEN_NUMBER, /* as written: 12, 0x1F, 0f3F800000, 1.5 */
   PTX_TOKEN_STRING, /* without the quotes */
   PTX_TOKEN_SIGN,   /* one character */
   PTX_TOKEN_BAD     /* a byte that begins no token */
};

typedef struct ptx_token {
   uint32_t kind;
   const char *text;
   size_t length;
   uint32_t line; /* from 1 */
} ptx_token_t;

typedef struct ptx_lexer {
   const char *at, *end;
   uint32_t line;
   ptx_token_t token; /* the current one */
} ptx_lexer_t;

void ptx_lexer_start(ptx_lexer_t *lexer, const char *text, size_t bytes); /* token is the first one */
void ptx_lexer_next(ptx_lexer_t *lexer);
bool ptx_token_is(const ptx_token_t *token, const char *text);

#endif
