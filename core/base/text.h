/* A growing text with a limit.  When an append would exceed the limit, the text is cut: `cut` becomes true and later appends are dropped.  So a writer checks
 * once, at the end.  One thread at a time. */
#ifndef RKB_BASE_TEXT_H
#define RKB_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <rkb/plugin.h>
#include "base/memory.h"

typedef struct rkb_text {
   /* NUL-terminated once anything was appended; NULL before.  Use rkb_text_get for a never-NULL view */
   char *data;
   size_t length; /* without the NUL */
   size_t room;
   size_t limit;
   bool cut;
} rkb_text_t;

void rkb_text_init(rkb_text_t *text, size_t limit); /* limit: most bytes; must not be 0 */
void rkb_text_free(rkb_text_t *text);               /* leaves it empty and usable */
void rkb_text_clear(rkb_text_t *text);              /* keeps the memory */
void rkb_text_append(rkb_text_t *text, const char *data, size_t bytes);
void rkb_text_add(rkb_text_t *text, const char *zero_terminated);
void rkb_text_format(rkb_text_t *text, const char *fmt, ...) RKB_PRINTF(2, 3);
void rkb_text_vformat(rkb_text_t *text, const char *fmt, va_list ap);
const char *rkb_text_get(const rkb_text_t *text); /* "" when empty */
/* the malloc'd bytes, now the caller's */
RKB_NEVER_NULL char *rkb_text_take(rkb_text_t *text);

#endif
