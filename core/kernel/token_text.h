/* The text of a token with line continuations folded away.  The parts of core/kernel that read tokens share
 * it; any thread. */
#ifndef RKB_KERNEL_TOKEN_TEXT_H
#define RKB_KERNEL_TOKEN_TEXT_H

#include <rkb/ext/kernel.h>

/* The offset at or after `at` that is no line continuation. */
size_t rkb_fold(const char *text, size_t size, size_t at);
/* Copies the token without its continuations, NUL-terminated and cut to room; returns the full length. */
size_t rkb_token_folded(const char *text, const rkb_token_t *token, char *out, size_t room);
/* Skips white space and comments at c, of a text without continuations. */
const char *rkb_skip_blank(const char *c);
bool rkb_token_is(const char *text, const rkb_token_t *token, const char *word);
/* A block comment that begins with "rkb-kernel:". */
bool rkb_token_is_manifest(const char *text, const rkb_token_t *token);

#endif
