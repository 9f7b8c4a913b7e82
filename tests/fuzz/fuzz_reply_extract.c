/* Code extraction: whatever a model writes, a kernel comes out whole or a reason does. */
#include <stdlib.h>
#include <string.h>
#include "reply/extract.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
   rkb_error_t err = {0};
   char *source = NULL;
   char *exact = malloc(size + 1); /* without a NUL behind it: reads past the end are found */
   memcpy(exact, data, size);
   int status = extract_kernel(exact, size, &source, &err);
   if (status == RKB_OK && (!strstr(source, "__global__") || strlen(source) > EXTRACT_MOST_BYTES + 64))
      abort();
   if (status != RKB_OK && (source || !err.message[0]))
      abort();
   free(source);
   free(exact);
   return 0;
}
