/* Reads UTF-8 one character at a time, for callers that point at a bad byte or replace it.  Any thread. */
#ifndef RKB_BASE_UTF8_H
#define RKB_BASE_UTF8_H

#include <stddef.h>
#include "base/text.h"

/* The length (1 to 4) of the well-formed character that text begins with; 0 when it is malformed (RFC 3629: no overlong forms,
 * no surrogates, nothing above U+10FFFF).  length must not be 0. */
size_t rkb_utf8_character(const char *text, size_t length);
/* Appends text, with U+FFFD in place of each byte that belongs to no well-formed character. */
void rkb_utf8_mend(const char *text, size_t length, rkb_text_t *out);

#endif
