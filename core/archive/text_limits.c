/* Limits on the length of texts that the archive stores.  Pure functions over the caller's statement. */
#include "archive/archive_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"

static void bind_copy(rkb_statement_t *statement, rkb_kept_t *kept, char *copy) {
   assert(kept->count < (int)(sizeof kept->copies / sizeof kept->copies[0]));
   kept->copies[kept->count++] = copy;
   rkb_bind_text(statement, copy);
}

void rkb_bind_cut_text(rkb_statement_t *statement, rkb_kept_t *kept, const char *text, size_t limit) {
   size_t length = text ? strlen(text) : 0, end = limit;
   if (length <= limit) {
      rkb_bind_text(statement, text);
      return;
   }
   while (end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80) /* do not cut inside a UTF-8 character */
      end--;
   bind_copy(statement, kept,
             rkb_format("%.*s\n[cut: %zu of %zu bytes]", (int)end, text, length - end, length));
}

void rkb_bind_cut_json(rkb_statement_t *statement, rkb_kept_t *kept, const char *json, size_t limit) {
   size_t length = json ? strlen(json) : 0;
   if (length <= limit) {
      rkb_bind_text(statement, json);
      return;
   }
   bind_copy(statement, kept, rkb_format("{\"bytes\":%zu,\"cut\":true}", length));
}

void rkb_kept_free(rkb_kept_t *kept) {
   for (int i = 0; i < kept->count; i++)
      free(kept->copies[i]);
   kept->count = 0;
}
