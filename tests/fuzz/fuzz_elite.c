/* Any bytes as an entry of a library: refused with a reason, or an elite whose text is those very bytes. */
#include <stdlib.h>
#include <string.h>

#include "library/elite.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
   rkb_elite_t elite;
   rkb_error_t err = {0};
   char identity[RKB_HASH_TEXT], *text = NULL;
   rkb_hash_text(data, size, identity);
   if (rkb_elite_read((const char *)data, size, identity, &elite, &err) != RKB_OK) {
      if (elite.owner || !err.message[0])
         abort();
      return 0;
   }
   if (rkb_elite_write(&elite, &text, &err) != RKB_OK || strlen(text) != size || memcmp(text, data, size) != 0)
      abort();
   free(text);
   rkb_elite_free(&elite);
   return 0;
}
