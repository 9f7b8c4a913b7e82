/* Code tokens of a text. */
#include "source_tokens.h"
#include <stdlib.h>
#include <string.h>

int source_open(source_t *source, const rkb_kernel_api_t *kernel, const char *text, size_t bytes,
                rkb_error_t *err) {
   uint32_t count;
   *source = (source_t){.text = text, .bytes = bytes};
   rkb_tokens_t *tokens = kernel->tokens(text, bytes);
   if (!tokens)
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot split a text of %zu bytes", bytes);
   const rkb_token_t *all = kernel->tokens_at(tokens, &count);
   source->code = malloc((count > 0 ? count : 1) * sizeof *source->code);
   if (!source->code) {
      kernel->tokens_free(tokens);
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate %u tokens", count);
   }
   for (uint32_t i = 0; i < count; i++)
      if (all[i].kind != RKB_TOKEN_COMMENT)
         source->code[source->count++] = all[i];
   kernel->tokens_free(tokens);
   return RKB_OK;
}

void source_close(source_t *source) {
   free(source->code);
   *source = (source_t){0};
}

/* Returns the next byte of a token, without line continuations, or -1; *at moves past it. */
static int next_byte(const source_t *source, const rkb_token_t *token, uint32_t *at) {
   const uint32_t end = token->start + token->length;
   while (*at + 1 < end && source->text[*at] == '\\') {
      if (source->text[*at + 1] == '\n')
         *at += 2;
      else if (*at + 2 < end && source->text[*at + 1] == '\r' && source->text[*at + 2] == '\n')
         *at += 3;
      else
         break;
   }
   return *at < end ? (unsigned char)source->text[(*at)++] : -1;
}

bool source_spells(const source_t *source, uint32_t i, const char *word) {
   uint32_t at = source->code[i].start;
   for (; *word; word++)
      if (next_byte(source, &source->code[i], &at) != (unsigned char)*word)
         return false;
   return next_byte(source, &source->code[i], &at) < 0;
}

bool source_kind(const source_t *source, uint32_t i, uint32_t kind) {
   return i < source->count && source->code[i].kind == kind;
}

bool source_same(const source_t *left, uint32_t i, const source_t *right, uint32_t j) {
   if (i >= left->count || j >= right->count || left->code[i].kind != right->code[j].kind)
      return false;
   uint32_t a = left->code[i].start, b = right->code[j].start;
   for (;;) {
      int x = next_byte(left, &left->code[i], &a), y = next_byte(right, &right->code[j], &b);
      if (x != y)
         return false;
      if (x < 0)
         return true;
   }
}

size_t source_copy(const source_t *source, uint32_t i, char *out, size_t size) {
   size_t length = 0;
   uint32_t at = i < source->count ? source->code[i].start : 0;
   int byte = i < source->count ? next_byte(source, &source->code[i], &at) : -1;
   for (; byte >= 0; byte = next_byte(source, &source->code[i], &at)) {
      if (length + 1 < size)
         out[length] = (char)byte;
      length++;
   }
   if (size > 0)
      out[length < size ? length : size - 1] = '\0';
   return length;
}

uint32_t source_closing(const source_t *source, uint32_t open) {
   uint32_t depth = 0;
   for (uint32_t i = open; i < source->count; i++) {
      if (source->code[i].kind != RKB_TOKEN_PUNCTUATION)
         continue;
      const char c = source->text[source->code[i].start];
      if (c == '(' || c == '[' || c == '{')
         depth++;
      else if ((c == ')' || c == ']' || c == '}') && --depth == 0)
         return i;
   }
   return SOURCE_NONE;
}

uint32_t source_closing_angle(const source_t *source, uint32_t open) {
   uint32_t depth = 0;
   for (uint32_t i = open; i < source->count; i++) {
      if (source_is(source, i, "<")) {
         depth++;
      } else if (source_is(source, i, ">") || source_is(source, i, ">>")) {
         uint32_t closes = source_is(source, i, ">>") ? 2 : 1;
         if (depth <= closes)
            return i;
         depth -= closes;
      } else if (source_is(source, i, "(") || source_is(source, i, "[")) {
         i = source_closing(source, i);
         if (i == SOURCE_NONE)
            return SOURCE_NONE;
      } else if (source_is(source, i, ";") || source_is(source, i, "{")) {
         return SOURCE_NONE;
      }
   }
   return SOURCE_NONE;
}
