/* Checks YAML mappings against a table of keys.  Any thread. */
#include "base/key_table.h"

#include <string.h>

enum { MOST_KEYS = 128 };

void rkb_keys_only(const rkb_key_t *table, const rkb_yaml_t *map, const char *what, uint32_t of,
                   rkb_problems_t *problems) {
   const char *known[MOST_KEYS + 1];
   uint32_t count = 0;
   for (const rkb_key_t *key = table; key->name && count < MOST_KEYS; key++)
      if (key->of & of)
         known[count++] = key->name;
   known[count] = NULL;
   rkb_yaml_only(map, what, known, problems);
}

const rkb_key_t *rkb_key_find(const rkb_key_t *table, const char *name, uint32_t of) {
   for (const rkb_key_t *key = table; key->name; key++)
      if ((key->of & of) && strcmp(key->name, name) == 0)
         return key;
   return NULL;
}
