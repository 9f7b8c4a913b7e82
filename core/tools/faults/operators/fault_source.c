/* Structure of a kernel file, found from its tokens.  Owns the text and the token list; any thread. */
#include "tools/faults/operators/fault_source.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "kernel/token_text.h"

bool source_is(const source_t *s, uint32_t token, const char *word) {
   return token < s->count && rkb_token_is(s->text, &s->code[token], word);
}

bool source_is_any(const source_t *s, uint32_t token, const char *const *words) {
   for (; *words; words++)
      if (source_is(s, token, *words))
         return true;
   return false;
}

bool source_is_name(const source_t *s, uint32_t token) {
   static const char *const keywords[] = {"if",    "for",    "while", "return", "else",   "float", "int",
                                          "const", "sizeof", "long",  "bool",   "switch", NULL};
   return token < s->count && s->code[token].kind == RKB_TOKEN_IDENTIFIER &&
          !source_is_any(s, token, keywords);
}

uint32_t source_start(const source_t *s, uint32_t token) {
   return s->code[token].start;
}
uint32_t source_end(const source_t *s, uint32_t token) {
   return s->code[token].start + s->code[token].length;
}
const char *source_at(const source_t *s, uint32_t token) {
   return s->text + s->code[token].start;
}
uint32_t source_length(const source_t *s, uint32_t token) {
   return s->code[token].length;
}

bool source_same(const source_t *s, uint32_t a, uint32_t b) {
   return s->code[a].length == s->code[b].length &&
          memcmp(source_at(s, a), source_at(s, b), s->code[a].length) == 0;
}

static bool opens(const source_t *s, uint32_t token) {
   static const char *const words[] = {"(", "[", "{", NULL};
   return source_is_any(s, token, words);
}

static bool closes(const source_t *s, uint32_t token) {
   static const char *const words[] = {")", "]", "}", NULL};
   return source_is_any(s, token, words);
}

uint32_t source_match(const source_t *s, uint32_t token) {
   uint32_t depth = 0;
   for (uint32_t i = token; i < s->count; i++) {
      depth += opens(s, i);
      if (closes(s, i) && --depth == 0)
         return i;
   }
   return NO_TOKEN;
}

uint32_t source_match_back(const source_t *s, uint32_t token) {
   uint32_t depth = 0;
   for (uint32_t i = token; i != NO_TOKEN; i--) {
      depth += closes(s, i);
      if (opens(s, i) && --depth == 0)
         return i;
   }
   return NO_TOKEN;
}

uint32_t source_statement_end(const source_t *s, uint32_t token) {
   if (token >= s->count || closes(s, token))
      return NO_TOKEN;
   if (source_is(s, token, "{"))
      return source_match(s, token);
   if (source_is(s, token, "if") || source_is(s, token, "for") || source_is(s, token, "while")) {
      uint32_t close = source_match(s, token + 1),
               end = close == NO_TOKEN ? NO_TOKEN : source_statement_end(s, close + 1);
      return end != NO_TOKEN && source_is(s, end + 1, "else") ? source_statement_end(s, end + 2) : end;
   }
   for (uint32_t i = token; i < s->count; i++) {
      if (opens(s, i))
         i = source_match(s, i);
      if (i >= s->count || source_is(s, i, ";"))
         return i < s->count ? i : NO_TOKEN;
   }
   return NO_TOKEN;
}

uint32_t source_statement_start(const source_t *s, uint32_t token) {
   for (uint32_t i = token; i != NO_TOKEN && i > 0; i--) {
      uint32_t before = i - 1;
      if (source_is(s, before, ";") || source_is(s, before, "{") || source_is(s, before, "}") ||
          source_is(s, before, "else"))
         return i;
      if (closes(s, before)) {
         uint32_t open = source_match_back(s, before);
         if (open == NO_TOKEN)
            return NO_TOKEN;
         if (open > 0 && (source_is(s, open - 1, "if") || source_is(s, open - 1, "for") ||
                          source_is(s, open - 1, "while")))
            return i;
         i = open + 1;
      } else if (opens(s, before)) {
         return NO_TOKEN; /* the token is inside brackets, so it is no statement of its own */
      }
   }
   return NO_TOKEN;
}

bool source_is_operator(const source_t *s, uint32_t token, const char *word) {
   return token > 0 && token < s->count && source_is(s, token, word) &&
          source_end(s, token - 1) < source_start(s, token) && !source_is(s, token - 1, "template") &&
          !source_is(s, token - 1, ",") && !source_is(s, token - 1, "(");
}

static bool ends_operand(const source_t *s, uint32_t token) {
   static const char *const words[] = {",", ";", "=", "?", ":", "&&", "||", "return", "+=", "-=", NULL};
   return source_is_any(s, token, words);
}

uint32_t source_left(const source_t *s, uint32_t token) {
   uint32_t i = token;
   while (i > 0 && !opens(s, i - 1) && !ends_operand(s, i - 1)) {
      i--;
      if (closes(s, i)) {
         if (source_is(s, i, "}"))
            return NO_TOKEN;
         i = source_match_back(s, i);
      }
      if (i == NO_TOKEN)
         return NO_TOKEN;
   }
   return i;
}

uint32_t source_right(const source_t *s, uint32_t token) {
   uint32_t i = token;
   while (i + 1 < s->count && !closes(s, i + 1) && !ends_operand(s, i + 1)) {
      i++;
      if (opens(s, i))
         i = source_match(s, i);
      if (i == NO_TOKEN)
         return NO_TOKEN;
   }
   return i;
}

const function_t *source_function_of(const source_t *s, uint32_t token) {
   for (uint32_t i = 0; i < s->function_count; i++)
      if (token > s->functions[i].body && token < s->functions[i].end)
         return &s->functions[i];
   return NULL;
}

bool source_has_parameter(const source_t *s, const function_t *f, uint32_t name, const char *type,
                          bool pointer) {
   for (uint32_t i = f->open + 1; i < f->close; i++) {
      if (!source_same(s, i, name) || !(source_is(s, i + 1, ",") || i + 1 == f->close))
         continue;
      bool points = source_is(s, i - 1, "*");
      return points == pointer && source_is(s, points ? i - 2 : i - 1, type);
   }
   return false;
}

bool source_is_float_local(const source_t *s, const function_t *f, uint32_t token) {
   for (uint32_t i = f->body; i < token; i++)
      if (source_is(s, i, "float") && !source_is(s, i - 1, "<") && !source_is(s, i + 1, "*") &&
          !source_is(s, i + 1, ")")) {
         /* In a declaration, names stand after float and after each comma outside brackets. */
         bool name = true;
         for (uint32_t k = i + 1; k < token && !source_is(s, k, ";"); k++) {
            if (opens(s, k))
               k = source_match(s, k);
            else if (name && source_same(s, k, token))
               return true;
            name = source_is(s, k, ",");
         }
      }
   for (uint32_t i = f->open + 1; i < f->close; i++) /* parameters passed by value */
      if (source_same(s, i, token) && source_is(s, i - 1, "float"))
         return true;
   return false;
}

static void find_functions(source_t *s) {
   bool global = false;
   for (uint32_t i = 0; i < s->count && s->function_count < MOST_FUNCTIONS; i++) {
      global = source_is(s, i, "__global__") || (global && !source_is(s, i, "}") && !source_is(s, i, ";"));
      if (!source_is(s, i, "(") || i == 0 || !source_is_name(s, i - 1))
         continue;
      uint32_t close = source_match(s, i), body = close == NO_TOKEN ? NO_TOKEN : close + 1;
      if (source_is(s, body, "const"))
         body++;
      if (source_is(s, body, "{")) {
         s->functions[s->function_count++] = (function_t){.name = i - 1,
                                                          .open = i,
                                                          .close = close,
                                                          .body = body,
                                                          .end = source_match(s, body),
                                                          .global = global};
         i = s->functions[s->function_count - 1].end;
         global = false;
         if (i == NO_TOKEN)
            break;
      }
   }
}

void source_open(char *text, size_t bytes, source_t *s) {
   uint32_t all = 0;
   memset(s, 0, sizeof *s);
   rkb_tokens_t *tokens = rkb_tokens_new(text, bytes);
   const rkb_token_t *list = rkb_tokens_at(tokens, &all);
   rkb_token_t *code = rkb_allocate(all + 1, sizeof *code);
   s->text = text;
   s->bytes = bytes;
   for (uint32_t i = 0; i < all; i++) {
      if (list[i].kind == RKB_TOKEN_COMMENT && !s->manifest_end && rkb_token_is_manifest(text, &list[i])) {
         s->manifest = list[i].start;
         s->manifest_end = list[i].start + list[i].length;
      }
      if (list[i].kind != RKB_TOKEN_COMMENT && list[i].kind != RKB_TOKEN_DIRECTIVE)
         code[s->count++] = list[i];
   }
   rkb_tokens_free(tokens);
   s->code = s->memory = code;
   find_functions(s);
}

void source_close(source_t *s) {
   free(s->memory);
   free(s->text);
   memset(s, 0, sizeof *s);
}
