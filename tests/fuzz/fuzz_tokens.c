/* Any bytes as tokens: in order, without overlap, only white space and continuations between them, places
 * that count right. */
#include <stdlib.h>
#include <string.h>

#include "kernel/includes.h"
#include "kernel/kernel.h"
#include "kernel/token_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
   char *text = malloc(size + 1), hash[RKB_HASH_TEXT];
   rkb_finding_t finding = {0};
   rkb_tokens_t *tokens;
   const rkb_token_t *list;
   size_t at = 0, line_start = 0;
   uint32_t count, line = 1;
   memcpy(text, data, size);
   text[size] = '\0';
   tokens = rkb_tokens_new(text, size);
   list = rkb_tokens_at(tokens, &count);
   for (uint32_t i = 0; i <= count; i++) {
      size_t start = i < count ? list[i].start : size;
      if (start < at || (i < count && (!list[i].length || list[i].length > size - start)))
         abort();
      for (; at < start; at++) {
         if (!strchr(" \t\r\n\f\v\\", text[at]))
            abort();
         if (text[at] == '\n') {
            line++;
            line_start = at + 1;
         }
      }
      if (i == count)
         break;
      if (list[i].line != line || list[i].column != start - line_start + 1)
         abort();
      for (; at < start + list[i].length; at++) {
         if (text[at] == '\n') {
            line++;
            line_start = at + 1;
         }
      }
   }
   includes_check(text, size, list, count, &finding);
   rkb_tokens_hash(text, size, hash);
   rkb_tokens_free(tokens);
   free(text);
   return 0;
}
