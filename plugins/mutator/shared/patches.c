/* Replacements in a text. */
#include "shared/patches.h"
#include <stdlib.h>
#include <string.h>

void patches_add(patches_t *patches, uint32_t start, uint32_t length, const char *fmt, ...) {
   if (patches->count == PATCHES_MAX) {
      patches->failed = true;
      return;
   }
   char *text = NULL;
   va_list ap;
   va_start(ap, fmt);
   int written = vasprintf(&text, fmt, ap);
   va_end(ap);
   if (written < 0) {
      patches->failed = true;
      return;
   }
   patches->list[patches->count++] = (patch_t){start, length, text};
}

void patches_free(patches_t *patches) {
   for (uint32_t i = 0; i < patches->count; i++)
      free(patches->list[i].text);
   patches->count = 0;
   patches->failed = false;
}

static int compare_starts(const void *left, const void *right) {
   uint32_t a = ((const patch_t *)left)->start, b = ((const patch_t *)right)->start;
   return a < b ? -1 : a > b;
}

char *patches_apply(patches_t *patches, const char *text, size_t bytes) {
   size_t length = bytes, from = 0, to = 0;
   qsort(patches->list, patches->count, sizeof patches->list[0], compare_starts);
   for (uint32_t i = 0; i < patches->count; i++) {
      const patch_t *patch = &patches->list[i];
      if (patch->start < from || (size_t)patch->start + patch->length > bytes)
         return NULL;
      from = (size_t)patch->start + patch->length;
      length += strlen(patch->text);
   }
   char *out = patches->failed ? NULL : malloc(length + 1);
   if (!out)
      return NULL;
   from = 0;
   for (uint32_t i = 0; i < patches->count; i++) {
      const patch_t *patch = &patches->list[i];
      memcpy(out + to, text + from, patch->start - from);
      to += patch->start - from;
      memcpy(out + to, patch->text, strlen(patch->text));
      to += strlen(patch->text);
      from = (size_t)patch->start + patch->length;
   }
   memcpy(out + to, text + from, bytes - from);
   out[to + bytes - from] = '\0';
   return out;
}
