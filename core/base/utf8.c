/* Which bytes are well-formed UTF-8, by table 3-7 of the Unicode standard (the same set as in RFC 3629, section 4). */
#include "base/utf8.h"

#include <stdbool.h>

static bool within(unsigned char byte, unsigned char low, unsigned char high) {
   return byte >= low && byte <= high;
}

size_t rkb_utf8_character(const char *text, size_t length) {
   const unsigned char *c = (const unsigned char *)text;
   /* Only the range of the second byte depends on the first byte. */
   unsigned char low = 0x80, high = 0xbf;
   size_t bytes;
   if (c[0] < 0x80)
      return 1;
   if (within(c[0], 0xc2, 0xdf)) {
      bytes = 2;
   } else if (within(c[0], 0xe0, 0xef)) {
      bytes = 3;
      low = c[0] == 0xe0 ? 0xa0 : low;
      high = c[0] == 0xed ? 0x9f : high;
   } else if (within(c[0], 0xf0, 0xf4)) {
      bytes = 4;
      low = c[0] == 0xf0 ? 0x90 : low;
      high = c[0] == 0xf4 ? 0x8f : high;
   } else {
      return 0;
   }
   if (length < bytes || !within(c[1], low, high))
      return 0;
   for (size_t i = 2; i < bytes; i++) {
      if (!within(c[i], 0x80, 0xbf))
         return 0;
   }
   return bytes;
}

void rkb_utf8_mend(const char *text, size_t length, rkb_text_t *out) {
   while (length) {
      size_t bytes = rkb_utf8_character(text, length);
      if (bytes)
         rkb_text_append(out, text, bytes);
      else
         rkb_text_add(out, "\xef\xbf\xbd");
      text += bytes ? bytes : 1;
      length -= bytes ? bytes : 1;
   }
}
