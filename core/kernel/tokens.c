/* Splits a CUDA C++ text into tokens, as <rkb/ext/kernel.h> describes them.  Lint, mutators, the manifest
 * reader and the include policy read them.  Owns only the returned array; any thread.  Never refuses a text:
 * bytes that begin no token become tokens of their own kind.  Time is linear in the text. */
#include "kernel/kernel.h"
#include "kernel/token_text.h"
#include "base/hash.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

struct rkb_tokens {
   rkb_token_t *list;
   uint32_t count, room;
   uint32_t more_holders; /* holders besides the first; atomic */
};

typedef struct reader {
   const char *text;
   size_t size;
   size_t at;
   uint32_t line;
   size_t line_start;
   bool line_is_blank; /* nothing but white space and comments on this line so far */
   uint32_t depth;
} reader_t;

size_t rkb_fold(const char *text, size_t size, size_t at) {
   while (at + 1 < size && text[at] == '\\') {
      if (text[at + 1] == '\n')
         at += 2;
      else if (at + 2 < size && text[at + 1] == '\r' && text[at + 2] == '\n')
         at += 3;
      else
         break;
   }
   return at;
}

const char *rkb_skip_blank(const char *c) {
   for (;;) {
      c += strspn(c, " \t\f\v\r");
      if (c[0] != '/' || c[1] != '*')
         return c;
      const char *close = strstr(c + 2, "*/");
      if (!close)
         return c + strlen(c);
      c = close + 2;
   }
}

static int peek_at(const reader_t *reader, size_t at) {
   at = rkb_fold(reader->text, reader->size, at);
   return at < reader->size ? (unsigned char)reader->text[at] : -1;
}

static size_t after(const reader_t *reader, size_t at) {
   at = rkb_fold(reader->text, reader->size, at);
   return at < reader->size ? at + 1 : reader->size;
}

static bool is_letter(int c) {
   return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c >= 0x80;
}

static bool is_digit(int c) {
   return c >= '0' && c <= '9';
}

static bool is_space(int c) {
   return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

/* Each skip_* returns the offset just past the thing that begins at `at`. */

static size_t skip_identifier(const reader_t *reader, size_t at) {
   while (is_letter(peek_at(reader, at)) || is_digit(peek_at(reader, at)))
      at = after(reader, at);
   return at;
}

/* A preprocessing number, as in the C++ standard.  It includes texts that are no valid literals, because the compiler's tokeniser takes them too. */
static size_t skip_number(const reader_t *reader, size_t at) {
   int before = 0;
   for (;;) {
      int c = peek_at(reader, at);
      bool sign =
         (c == '+' || c == '-') && (before == 'e' || before == 'E' || before == 'p' || before == 'P');
      bool separator = c == '\'' && (is_letter(peek_at(reader, after(reader, at))) ||
                                     is_digit(peek_at(reader, after(reader, at))));
      if (!is_letter(c) && !is_digit(c) && c != '.' && !sign && !separator)
         return at;
      before = c;
      at = after(reader, at);
   }
}

/* at is the opening quote.  An unescaped end of line ends the literal, as in the compiler.  Otherwise an apostrophe in the words of an #error line would
 * swallow the rest of the text. */
static size_t skip_quoted(const reader_t *reader, size_t at) {
   int quote = peek_at(reader, at);
   at = after(reader, at);
   for (;;) {
      int c = peek_at(reader, at);
      if (c < 0 || c == '\n')
         return rkb_fold(reader->text, reader->size, at) < reader->size
                   ? rkb_fold(reader->text, reader->size, at)
                   : reader->size;
      at = after(reader, at);
      if (c == quote)
         return at;
      if (c == '\\' && peek_at(reader, at) >= 0 && peek_at(reader, at) != '\n')
         at = after(reader, at);
   }
}

/* at is the quote after R.  Line continuations are not folded inside a raw string ([lex.pptoken] in the C++
 * standard). */
static size_t skip_raw(const reader_t *reader, size_t at) {
   const char *text = reader->text;
   size_t open = at + 1, delimiter;
   while (open < reader->size && open - at <= 17 && text[open] != '(' && text[open] != '\n')
      open++;
   if (open >= reader->size || text[open] != '(')
      return skip_quoted(reader, at);
   delimiter = open - at - 1;
   for (size_t i = open + 1; i < reader->size; i++) {
      const char *close = memchr(text + i, ')', reader->size - i);
      if (!close)
         break;
      i = (size_t)(close - text);
      if (i + delimiter + 1 < reader->size && memcmp(close + 1, text + at + 1, delimiter) == 0 &&
          close[1 + delimiter] == '"')
         return i + delimiter + 2;
   }
   return reader->size;
}

static size_t skip_line_comment(const reader_t *reader, size_t at) {
   while (peek_at(reader, at) >= 0 && peek_at(reader, at) != '\n')
      at = after(reader, at);
   return at;
}

/* at is the '/'.  An unclosed comment runs to the end. */
static size_t skip_block_comment(const reader_t *reader, size_t at) {
   int before = 0;
   at = after(reader, after(reader, at));
   while (peek_at(reader, at) >= 0) {
      int c = peek_at(reader, at);
      at = after(reader, at);
      if (before == '*' && c == '/')
         return at;
      before = c;
   }
   return reader->size;
}

/* The whole logical line from '#', block comments inside included, a closing line comment left out. */
static size_t skip_directive(const reader_t *reader, size_t at) {
   size_t end = at;
   for (;;) {
      int c = peek_at(reader, at), next = c < 0 ? -1 : peek_at(reader, after(reader, at));
      if (c < 0 || c == '\n' || (c == '/' && next == '/'))
         return end;
      if (c == '/' && next == '*')
         at = skip_block_comment(reader, at);
      else if (c == '"' || c == '\'')
         at = skip_quoted(reader, at);
      else
         at = after(reader, at);
      if (!is_space(c))
         end = at;
   }
}

static size_t skip_punctuation(const reader_t *reader, size_t at) {
   static const char *const long_ones[] = {
      "<<=", ">>=", "...", "->*", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&",
      "||",  "+=",  "-=",  "*=",  "/=", "%=", "&=", "|=", "^=", "::", "##", ".*", NULL};
   const int second = peek_at(reader, after(reader, at));
   if (second <= 0 || !strchr("<=>.*-+&|:#", second)) /* the second bytes of all longer tokens: most texts need no search */
      return after(reader, at);
   for (uint32_t i = 0; long_ones[i]; i++) {
      size_t end = at;
      const char *c = long_ones[i];
      while (*c && peek_at(reader, end) == (unsigned char)*c) {
         end = after(reader, end);
         c++;
      }
      if (!*c)
         return end;
   }
   return after(reader, at);
}

/* Length of the literal prefix at `at` (u8, L, uR, ...) when a quote follows it, else 0; raw says whether it
 * has an R. */
static size_t literal_prefix(const reader_t *reader, size_t at, bool *raw) {
   static const char *const prefixes[] = {"u8R", "LR", "uR", "UR", "R", "u8", "L", "u", "U", NULL};
   for (uint32_t i = 0; prefixes[i]; i++) {
      size_t length = strlen(prefixes[i]);
      if (at + length < reader->size && memcmp(reader->text + at, prefixes[i], length) == 0) {
         char quote = reader->text[at + length];
         *raw = prefixes[i][length - 1] == 'R';
         if (quote == '"' || (quote == '\'' && !*raw))
            return length;
      }
   }
   return 0;
}

static uint32_t scan(const reader_t *reader, size_t at, size_t *end) {
   int c = peek_at(reader, at), next = peek_at(reader, after(reader, at));
   bool raw = false;
   size_t prefix = c == 'u' || c == 'U' || c == 'L' || c == 'R' ? literal_prefix(reader, at, &raw) : 0;
   if (prefix) {
      *end = raw ? skip_raw(reader, at + prefix) : skip_quoted(reader, at + prefix);
      return reader->text[at + prefix] == '"' ? RKB_TOKEN_STRING : RKB_TOKEN_CHARACTER;
   }
   if (c == '"' || c == '\'') {
      *end = skip_quoted(reader, at);
      return c == '"' ? RKB_TOKEN_STRING : RKB_TOKEN_CHARACTER;
   }
   if (c == '/' && (next == '/' || next == '*')) {
      *end = next == '/' ? skip_line_comment(reader, at) : skip_block_comment(reader, at);
      return RKB_TOKEN_COMMENT;
   }
   if (c == '#' && reader->line_is_blank) {
      *end = skip_directive(reader, at);
      return RKB_TOKEN_DIRECTIVE;
   }
   if (is_letter(c)) {
      *end = skip_identifier(reader, at);
      return RKB_TOKEN_IDENTIFIER;
   }
   if (is_digit(c) || (c == '.' && is_digit(next))) {
      *end = skip_number(reader, at);
      return RKB_TOKEN_NUMBER;
   }
   if (c > ' ' && c < 0x7f && c != '@' && c != '`' && c != '\\') {
      *end = skip_punctuation(reader, at);
      return RKB_TOKEN_PUNCTUATION;
   }
   *end = after(reader, at);
   return RKB_TOKEN_UNKNOWN;
}

static void move_to(reader_t *reader, size_t end) {
   while (reader->at < end) {
      const char *newline = memchr(reader->text + reader->at, '\n', end - reader->at);
      if (!newline)
         break;
      reader->line++;
      reader->at = (size_t)(newline - reader->text) + 1;
      reader->line_start = reader->at;
   }
   reader->at = end;
}

static void push(rkb_tokens_t *tokens, rkb_token_t token) {
   if (tokens->count == tokens->room) {
      uint32_t room = tokens->room ? tokens->room * 2 : 256;
      tokens->list = rkb_grow(tokens->list, room, sizeof *tokens->list);
      tokens->room = room;
   }
   tokens->list[tokens->count++] = token;
}

static uint32_t brace_depth(reader_t *reader, uint32_t kind, size_t at) {
   int c = kind == RKB_TOKEN_PUNCTUATION ? peek_at(reader, at) : 0;
   if (c == '}' && reader->depth)
      reader->depth--;
   return c == '{' ? reader->depth++ : reader->depth;
}

rkb_tokens_t *rkb_tokens_new(const char *text, size_t bytes) {
   reader_t reader = {.text = text, .size = bytes, .line = 1, .line_is_blank = true};
   rkb_tokens_t *tokens = rkb_allocate(1, sizeof *tokens);
   for (;;) {
      size_t start = rkb_fold(text, bytes, reader.at), end = start;
      rkb_token_t token;
      move_to(&reader, start);
      if (start >= bytes)
         return tokens;
      if (is_space((unsigned char)text[start])) {
         if (text[start] == '\n')
            reader.line_is_blank = true;
         move_to(&reader, start + 1);
         continue;
      }
      token.kind = scan(&reader, start, &end);
      token.start = (uint32_t)start;
      token.length = (uint32_t)(end - start);
      token.line = reader.line;
      token.column = (uint32_t)(start - reader.line_start) + 1;
      token.depth = brace_depth(&reader, token.kind, start);
      push(tokens, token);
      if (token.kind != RKB_TOKEN_COMMENT)
         reader.line_is_blank = false;
      move_to(&reader, end);
   }
}

const rkb_token_t *rkb_tokens_at(const rkb_tokens_t *tokens, uint32_t *count) {
   *count = tokens->count;
   return tokens->list;
}

rkb_tokens_t *rkb_tokens_ref(rkb_tokens_t *tokens) {
   __atomic_fetch_add(&tokens->more_holders, 1, __ATOMIC_RELAXED);
   return tokens;
}

void rkb_tokens_free(rkb_tokens_t *tokens) {
   if (!tokens || __atomic_fetch_sub(&tokens->more_holders, 1, __ATOMIC_ACQ_REL) != 0)
      return;
   free(tokens->list);
   free(tokens);
}

size_t rkb_token_folded(const char *text, const rkb_token_t *token, char *out, size_t room) {
   size_t at = token->start, end = at + token->length, length = 0;
   while (at < end) {
      at = rkb_fold(text, end, at);
      if (at >= end)
         break;
      if (length + 1 < room)
         out[length] = text[at];
      length++;
      at++;
   }
   if (room)
      out[length < room ? length : room - 1] = '\0';
   return length;
}

bool rkb_token_is(const char *text, const rkb_token_t *token, const char *word) {
   size_t at = token->start, end = at + token->length;
   for (; *word; word++) {
      at = rkb_fold(text, end, at);
      if (at >= end || text[at] != *word)
         return false;
      at++;
   }
   return rkb_fold(text, end, at) >= end;
}

/* The manifest decides the candidate's meaning, so its comment counts, except its blank lines, `#` lines and
 * trailing white space.  Other differences of layout count too; they only cost a build, because identity is
 * decided again on PTX and plans. */
static void hash_manifest(rkb_hasher_t *hasher, const char *text, const rkb_token_t *token) {
   const char *at = text + token->start, *end = at + token->length;
   while (at < end) {
      const char *newline = memchr(at, '\n', (size_t)(end - at));
      const char *stop = newline ? newline : end, *first = at;
      while (stop > at && is_space((unsigned char)stop[-1]))
         stop--;
      while (first < stop && is_space((unsigned char)*first))
         first++;
      if (first < stop && *first != '#')
         rkb_hasher_add(hasher, at, (size_t)(stop - at));
      at = newline ? newline + 1 : end;
   }
}

bool rkb_token_is_manifest(const char *text, const rkb_token_t *token) {
   static const char mark[] = "rkb-kernel:";
   const char *at = text + token->start, *end = at + token->length;
   if (token->kind != RKB_TOKEN_COMMENT || token->length < 2 || at[1] != '*')
      return false;
   for (at += 2; at < end && is_space((unsigned char)*at); at++)
      continue;
   return (size_t)(end - at) >= sizeof mark - 1 && memcmp(at, mark, sizeof mark - 1) == 0;
}

/* Whether a macro may make a string of its argument (`#x`, or `%:x`, which is the same): then blanks between tokens are seen. */
static bool makes_strings(const char *text, size_t bytes, const rkb_tokens_t *tokens) {
   if (memmem(text, bytes, "%:", 2))
      return true;
   for (uint32_t n = 0; n < tokens->count; n++) {
      const rkb_token_t *token = &tokens->list[n];
      if (token->kind == RKB_TOKEN_DIRECTIVE && token->length > 1 &&
          memchr(text + token->start + 1, '#', token->length - 1))
         return true;
   }
   return false;
}

static void hash_tokens(const char *text, size_t bytes, const rkb_tokens_t *tokens, char out[RKB_HASH_TEXT]) {
   rkb_hasher_t *hasher = rkb_hasher_new();
   char *folded = rkb_allocate(bytes + 1, 1);
   const bool blanks = makes_strings(text, bytes, tokens);
   for (uint32_t i = 0; i < tokens->count; i++) {
      const rkb_token_t *token = &tokens->list[i];
      if (blanks && i &&
          (tokens->list[i - 1].kind == RKB_TOKEN_COMMENT ||
           token->start > tokens->list[i - 1].start + tokens->list[i - 1].length))
         rkb_hasher_add(hasher, " ", 1);
      if (token->kind != RKB_TOKEN_COMMENT) {
         /* In a raw string a line continuation is part of the value, so the hash takes the raw bytes. */
         size_t length = rkb_token_folded(text, token, folded, bytes + 1);
         if (token->kind == RKB_TOKEN_STRING)
            rkb_hasher_add(hasher, text + token->start, token->length);
         else
            rkb_hasher_add(hasher, folded, length);
      } else if (rkb_token_is_manifest(text, token))
         hash_manifest(hasher, text, token);
   }
   rkb_hasher_finish(hasher, out);
   free(folded);
}

void rkb_tokens_hash(const char *text, size_t bytes, char out[RKB_HASH_TEXT]) {
   rkb_tokens_t *tokens = rkb_tokens_new(text, bytes);
   hash_tokens(text, bytes, tokens, out);
   rkb_tokens_free(tokens);
}

void rkb_source_hash(const rkb_source_t *source, char out[RKB_HASH_TEXT]) {
   hash_tokens(source->text, source->bytes, source->tokens, out);
}
