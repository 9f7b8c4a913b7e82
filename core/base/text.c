/* A growing text with a size limit.  Owns its bytes until rkb_text_take; one thread at a time. */
#include "base/text.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 64u

void rkb_text_init(rkb_text_t *text, size_t limit) {
   assert(limit > 0);
   *text = (rkb_text_t){.limit = limit};
}

void rkb_text_free(rkb_text_t *text) {
   free(text->data);
   rkb_text_init(text, text->limit);
}

void rkb_text_clear(rkb_text_t *text) {
   text->length = 0;
   text->cut = false;
   if (text->data)
      text->data[0] = '\0';
}

/* Makes room for `bytes` more and the NUL.  The caller has checked that they are within the limit. */
static void reserve(rkb_text_t *text, size_t bytes) {
   size_t wanted = text->length + bytes + 1;
   if (wanted <= text->room)
      return;
   size_t room = text->room < FIRST_ROOM ? FIRST_ROOM : text->room;
   while (room < wanted)
      room = room > SIZE_MAX / 2 ? wanted : room * 2;
   text->data = rkb_grow(text->data, room, 1);
   text->room = room;
}

void rkb_text_append(rkb_text_t *text, const char *data, size_t bytes) {
   if (text->cut)
      return;
   size_t left = text->limit - text->length;
   size_t kept = bytes < left ? bytes : left;
   reserve(text, kept);
   if (kept)
      memcpy(text->data + text->length, data, kept);
   text->length += kept;
   text->data[text->length] = '\0';
   text->cut = kept < bytes;
}

void rkb_text_add(rkb_text_t *text, const char *zero_terminated) {
   rkb_text_append(text, zero_terminated, strlen(zero_terminated));
}

void rkb_text_format(rkb_text_t *text, const char *fmt, ...) {
   va_list ap;
   va_start(ap, fmt);
   rkb_text_vformat(text, fmt, ap);
   va_end(ap);
}

void rkb_text_vformat(rkb_text_t *text, const char *fmt, va_list ap) {
   if (text->cut)
      return;
   va_list again;
   va_copy(again, ap);
   int length = vsnprintf(NULL, 0, fmt, again);
   va_end(again);
   if (length < 0) {
      text->cut = true;
      return;
   }
   size_t left = text->limit - text->length;
   size_t kept = (size_t)length < left ? (size_t)length : left;
   reserve(text, kept);
   vsnprintf(text->data + text->length, kept + 1, fmt, ap);
   text->length += kept;
   text->cut = kept < (size_t)length;
}

const char *rkb_text_get(const rkb_text_t *text) {
   return text->data ? text->data : "";
}

char *rkb_text_take(rkb_text_t *text) {
   char *data = text->data ? text->data : rkb_allocate(1, 1);
   rkb_text_init(text, text->limit);
   return data;
}
