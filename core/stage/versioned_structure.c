/* Reads a structure by the size that it states (versioned_structure.h). */
#include "stage/versioned_structure.h"

#include <string.h>

enum { MOST_GIVEN = 4096 }; /* bytes; a larger size was never set */

int rkb_versioned_read(void *own, size_t own_bytes, const void *given, size_t least, const char *name,
                   rkb_error_t *err) {
   uint32_t bytes = 0;
   if (given)
      memcpy(&bytes, given, sizeof bytes);
   if (bytes < least || bytes > MOST_GIVEN)
      return rkb_fail(err, RKB_ERR_CONTRACT,
                      "the %s it gave has .size %u, and %zu to %d are possible; set it to sizeof(%s)", name,
                      bytes, least, MOST_GIVEN, name);
   memset(own, 0, own_bytes);
   memcpy(own, given, bytes < own_bytes ? bytes : own_bytes);
   return RKB_OK;
}
