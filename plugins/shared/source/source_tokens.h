/* A candidate's text as code tokens (no comments): what a token says, and which bracket closes which.  One
 * thread. */
#ifndef PLUGIN_SOURCE_H
#define PLUGIN_SOURCE_H

#include <rkb/ext/kernel.h>

#define SOURCE_NONE UINT32_MAX

typedef struct source {
   const char *text; /* borrowed */
   size_t bytes;
   rkb_token_t *code; /* all tokens but comments, in order */
   uint32_t count;
} source_t;

int source_open(source_t *source, const rkb_kernel_api_t *kernel, const char *text, size_t bytes,
                rkb_error_t *err);
void source_close(source_t *source);

/* The rest of source_is, after the first byte; i must be a token's number. */
bool source_spells(const source_t *source, uint32_t i, const char *word);

/* Whether token i is this word, line continuations left out; false past the end.  Rules ask about many words
 * at every token, and the first byte nearly always decides. */
static inline bool source_is(const source_t *source, uint32_t i, const char *word) {
   if (i >= source->count)
      return false;
   const char first = source->text[source->code[i].start];
   return (first == *word || first == '\\') && source_spells(source, i, word);
}
bool source_kind(const source_t *source, uint32_t i, uint32_t kind);
bool source_same(const source_t *left, uint32_t i, const source_t *right, uint32_t j);
/* Copies token i, NUL-terminated and cut to size; returns its whole length. */
size_t source_copy(const source_t *source, uint32_t i, char *out, size_t size);

/* Returns the token that closes the (, [ or { at open; SOURCE_NONE when none does. */
uint32_t source_closing(const source_t *source, uint32_t open);
/* Returns the > that closes the < at open, counting angles and passing over brackets; SOURCE_NONE when a ; or
 * { comes first. */
uint32_t source_closing_angle(const source_t *source, uint32_t open);

#endif
