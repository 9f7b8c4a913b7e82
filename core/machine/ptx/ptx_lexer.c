/* Splits PTX text into tokens (PTX ISA 9.0, chapter 4).  A pure function of the text; any thread. */
#include "machine/ptx/ptx_lexer.h"

#include <ctype.h>
#include <string.h>

static bool begins_name(char c) {
   return isalpha((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

static bool continues_name(char c) {
   return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static void skip_space(ptx_lexer_t *lexer) {
   while (lexer->at < lexer->end) {
      const char *at = lexer->at;
      if (*at == '\n') {
         lexer->line++;
         lexer->at++;
      } else if (isspace((unsigned char)*at) || *at == '\0') {
         lexer->at++;
      } else if (*at == '/' && at + 1 < lexer->end && at[1] == '/') {
         const char *stop = memchr(at, '\n', (size_t)(lexer->end - at));
         if (!stop)
            stop = lexer->end;
         lexer->at = stop;
      } else if (*at == '/' && at + 1 < lexer->end && at[1] == '*') {
         for (at += 2; at < lexer->end && !(*at == '*' && at + 1 < lexer->end && at[1] == '/'); at++)
            lexer->line += *at == '\n';
         lexer->at = at < lexer->end ? at + 2 : lexer->end;
      } else {
         return;
      }
   }
}

static void take(ptx_lexer_t *lexer, uint32_t kind, const char *stop) {
   lexer->token.kind = kind;
   lexer->token.length = (size_t)(stop - lexer->at);
   lexer->at = stop;
}

void ptx_lexer_next(ptx_lexer_t *lexer) {
   skip_space(lexer);
   const char *at = lexer->at, *end = lexer->end;
   lexer->token = (ptx_token_t){PTX_TOKEN_END, at, 0, lexer->line};
   if (at >= end)
      return;
   const char *stop = at + 1;
   if (begins_name(*at)) {
      while (stop < end && continues_name(*stop))
         stop++;
      take(lexer, PTX_TOKEN_NAME, stop);
   } else if (*at == '.' && stop < end && (continues_name(*stop))) {
      while (stop < end && (continues_name(*stop) ||
                            (*stop == ':' && stop + 2 < end && stop[1] == ':' && continues_name(stop[2]))))
         stop += *stop == ':' ? 2 : 1;
      take(lexer, PTX_TOKEN_DOTTED, stop);
   } else if (isdigit((unsigned char)*at)) {
      bool hexadecimal = *at == '0' && stop < end && strchr("xXfFdD", *stop);
      while (stop < end && (isalnum((unsigned char)*stop) || (*stop == '.' && !hexadecimal) ||
                            ((*stop == '+' || *stop == '-') && !hexadecimal && strchr("eE", stop[-1]))))
         stop++;
      take(lexer, PTX_TOKEN_NUMBER, stop);
   } else if (*at == '"') {
      while (stop < end && *stop != '"' && *stop != '\n')
         stop++;
      lexer->at++;
      lexer->token.text++;
      take(lexer, PTX_TOKEN_STRING, stop);
      if (lexer->at < end && *lexer->at == '"')
         lexer->at++;
   } else {
      take(lexer, ispunct((unsigned char)*at) ? PTX_TOKEN_SIGN : PTX_TOKEN_BAD, stop);
   }
}

void ptx_lexer_start(ptx_lexer_t *lexer, const char *text, size_t bytes) {
   *lexer = (ptx_lexer_t){.at = text, .end = text + bytes, .line = 1};
   ptx_lexer_next(lexer);
}

bool ptx_token_is(const ptx_token_t *token, const char *text) {
   return token->length == strlen(text) && memcmp(token->text, text, token->length) == 0;
}
