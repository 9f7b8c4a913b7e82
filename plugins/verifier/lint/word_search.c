/* Finds words (word_search.h). */
#include "word_search.h"

#include <stdlib.h>
#include <string.h>

typedef struct search {
   const lint_subject_t *subject;
   word_visit_t visit;
   void *argument;
} search_t;

/* Words of a text inside the candidate's: a macro's body or a PTX string.  Its places are those of the token
 * it came from. */
static void search_text(const search_t *search, const rkb_token_t *from, const char *text, size_t bytes,
                        bool in_ptx);

static bool is_asm(const source_t *source, uint32_t i) {
   return source_is(source, i, "asm") || source_is(source, i, "__asm__") || source_is(source, i, "__asm");
}

static bool is_plain_string(const source_t *source, uint32_t i) {
   const rkb_token_t *token = &source->code[i];
   return token->kind == RKB_TOKEN_STRING && token->length >= 2 && source->text[token->start] == '"';
}

/* Strings that follow one another are one string to the compiler: "%%sm" "id".  Returns the first token behind them. */
static uint32_t search_strings(const search_t *search, const source_t *source, uint32_t first, uint32_t end,
                               const rkb_token_t *from) {
   uint32_t after = first + 1;
   size_t bytes = source->code[first].length;
   for (; after < end && is_plain_string(source, first) && is_plain_string(source, after); after++)
      bytes += source->code[after].length;
   char *joined = after > first + 1 ? malloc(bytes + 1) : NULL;
   size_t length = 0;
   for (uint32_t i = first; i < after; i++) { /* without memory each is searched by itself */
      const rkb_token_t *token = &source->code[i];
      const size_t skipped = joined && i > first, kept = token->length - skipped - (joined && i + 1 < after);
      if (joined)
         memcpy(joined + length, source->text + token->start + skipped, kept);
      else
         search_text(search, from ? from : token, source->text + token->start, token->length, true);
      length += kept;
   }
   if (joined)
      search_text(search, from ? from : &source->code[first], joined, length, true);
   free(joined);
   return after;
}

/* The strings of an asm statement up to its first colon; operands behind it are C. */
static uint32_t search_asm(const search_t *search, const source_t *source, uint32_t i,
                           const rkb_token_t *from) {
   uint32_t open = i + 1;
   while (source_kind(source, open, RKB_TOKEN_IDENTIFIER)) /* volatile */
      open++;
   uint32_t close = source_is(source, open, "(") ? source_closing(source, open) : SOURCE_NONE;
   if (close == SOURCE_NONE)
      return i;
   uint32_t at = open + 1;
   while (at < close && !source_is(source, at, ":") && !source_is(source, at, "::"))
      at =
         source->code[at].kind == RKB_TOKEN_STRING ? search_strings(search, source, at, close, from) : at + 1;
   return at;
}

static void search_source(const search_t *search, const source_t *source, const rkb_token_t *from,
                          bool in_ptx) {
   for (uint32_t i = 0; i < source->count; i++) {
      const rkb_token_t *token = &source->code[i];
      const rkb_token_t *place = from ? from : token;
      if (token->kind == RKB_TOKEN_PUNCTUATION)
         continue;
      if (token->kind == RKB_TOKEN_IDENTIFIER) {
         const word_t word = {source, i, place->line, place->column, in_ptx, from && !in_ptx};
         search->visit(search->argument, &word);
      }
      if (token->kind == RKB_TOKEN_DIRECTIVE && token->length > 1)
         search_text(search, place, source->text + token->start + 1, token->length - 1, false);
      /* A string in a macro may become PTX wherever the macro is used. */
      if (token->kind == RKB_TOKEN_STRING && from && !in_ptx && token->length > 2)
         search_text(search, place, source->text + token->start + 1, token->length - 2, true);
      if (token->kind == RKB_TOKEN_IDENTIFIER && !in_ptx && is_asm(source, i))
         i = search_asm(search, source, i, from);
   }
}

/* Makes white space of the escapes that stand for it, so that the word behind one begins with its own letter. */
static void blank_escapes(char *text, size_t bytes) {
   for (size_t i = 0; i + 1 < bytes; i++)
      if (text[i] == '\\') {
         if (strchr("nrtvf", text[i + 1]))
            text[i] = text[i + 1] = ' ';
         i++;
      }
}

static void search_text(const search_t *search, const rkb_token_t *from, const char *text, size_t bytes,
                        bool in_ptx) {
   source_t inner;
   rkb_error_t err;
   char *blanked = in_ptx ? malloc(bytes + 1) : NULL;
   if (in_ptx && bytes > 2 && text[0] == '"') { /* without its quotes */
      text++;
      bytes -= 2;
   }
   if (in_ptx && !blanked)
      return;
   if (blanked) {
      memcpy(blanked, text, bytes);
      blank_escapes(blanked, bytes);
   }
   if (source_open(&inner, search->subject->kernel, blanked ? blanked : text, bytes, &err) == RKB_OK) {
      search_source(search, &inner, from, in_ptx);
      source_close(&inner);
   }
   free(blanked);
}

void lint_each_word(const lint_subject_t *subject, word_visit_t visit, void *argument) {
   const search_t search = {subject, visit, argument};
   search_source(&search, subject->source, NULL, false);
}
