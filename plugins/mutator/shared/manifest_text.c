/* Finds manifest values in the text by the positions that the manifest reports. */
#include "shared/manifest_text.h"
#include <string.h>

/* Offset of a line and column, both from 1; the text's end when the text has no such place. */
static uint32_t offset_of(const char *text, uint32_t line, uint32_t column) {
   const char *at = text;
   for (; line > 1; line--) {
      const char *newline = strchr(at, '\n');
      if (!newline)
         return (uint32_t)strlen(text);
      at = newline + 1;
   }
   size_t rest = strcspn(at, "\n");
   return (uint32_t)((size_t)(at - text) + (column - 1 < rest ? column - 1 : rest));
}

/* The end of the manifest's part for this launch: the next launch, or the end of the comment. */
static uint32_t launch_end(const char *text, const rkb_manifest_t *manifest, uint32_t launch) {
   if (launch + 1 < manifest->launch_count)
      return offset_of(text, manifest->launches[launch + 1].line, 1);
   return manifest->comment_start + manifest->comment_length;
}

bool manifest_launch_value(const char *text, const rkb_manifest_t *manifest, uint32_t launch, const char *key,
                           const char *value, manifest_span_t *span) {
   const uint32_t end = launch_end(text, manifest, launch);
   const size_t length = strlen(key);
   uint32_t line = offset_of(text, manifest->launches[launch].line, 1);
   while (line < end) {
      uint32_t stop = line + (uint32_t)strcspn(text + line, "\n"), at = line;
      at += (uint32_t)strspn(text + at, " -");
      if (strncmp(text + at, key, length) == 0 && text[at + length] == ':') {
         at += (uint32_t)length + 1;
         at += (uint32_t)strspn(text + at, " ");
         while (stop > at && (text[stop - 1] == ' ' || text[stop - 1] == '\r'))
            stop--;
         *span = (manifest_span_t){at, stop - at};
         return strlen(value) == span->length && strncmp(text + at, value, span->length) == 0;
      }
      line = stop + 1;
   }
   return false;
}

bool manifest_choices_end(const char *text, const rkb_manifest_t *manifest, uint32_t parameter,
                          uint32_t *at) {
   const rkb_tune_parameter_t *of = &manifest->tune[parameter];
   const uint32_t start = offset_of(text, of->line, 1),
                  end = manifest->comment_start + manifest->comment_length;
   const char *choices = start < end ? memmem(text + start, end - start, "choices:", 8) : NULL;
   const char *name = start < end ? memmem(text + start, end - start, of->name, strlen(of->name)) : NULL;
   if (!choices || !name || name > choices || memchr(name, '\n', (size_t)(choices - name)))
      return false;
   const char *close = choices + strcspn(choices, "]\n");
   *at = (uint32_t)(close - text);
   return *close == ']';
}

bool manifest_counts_threads(const rkb_manifest_t *manifest, const char *name) {
   for (uint32_t l = 0; l < manifest->launch_count; l++)
      if (strcmp(manifest->launches[l].block, name) == 0)
         return true;
   return false;
}

bool manifest_expression_at(const char *list, uint32_t index, manifest_span_t *span) {
   uint32_t depth = 0, first = 0;
   for (uint32_t i = 0;; i++) {
      if (list[i] == '(')
         depth++;
      else if (list[i] == ')' && depth > 0)
         depth--;
      if (list[i] != '\0' && (list[i] != ',' || depth > 0))
         continue;
      if (index == 0) {
         uint32_t last = i;
         while (first < last && strchr(" \t\n", list[first]))
            first++;
         while (last > first && strchr(" \t\n", list[last - 1]))
            last--;
         *span = (manifest_span_t){first, last - first};
         return last > first;
      }
      if (list[i] == '\0')
         return false;
      index--;
      first = i + 1;
   }
}
