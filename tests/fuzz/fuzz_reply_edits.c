/* Edit application: up to the first byte 1 the input is the text, behind it the reply. */
#include <stdlib.h>
#include <string.h>
#include "reply/reply_edits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
   const uint8_t *middle = size ? memchr(data, 1, size) : NULL;
   rkb_error_t err = {0};
   char *edited = NULL;
   uint32_t count = 0;
   if (!middle)
      return 0;
   size_t text_bytes = (size_t)(middle - data), reply_bytes = size - text_bytes - 1;
   char *text = strndup((const char *)data, text_bytes), *reply = malloc(reply_bytes + 1);
   memcpy(reply, middle + 1, reply_bytes);
   int status = edits_apply(text, reply, reply_bytes, &edited, &count, &err);
   if ((status == RKB_OK) != (edited != NULL) || (status == RKB_OK && !count) ||
       (status != RKB_OK && !err.message[0]))
      abort();
   free(edited);
   free(text);
   free(reply);
   return 0;
}
