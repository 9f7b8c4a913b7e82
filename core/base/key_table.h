/* Tables of the keys that a YAML mapping may have.  The reader, the help text and the documentation all use the same table.
 * Tables are constants; any thread may read them. */
#ifndef RKB_BASE_KEY_TABLE_H
#define RKB_BASE_KEY_TABLE_H

#include "base/yaml.h"

typedef struct rkb_key {
   const char *name;
   uint32_t of;                /* which mappings may have this key: bits of an enum of the table */
   const char *fallback;       /* the default, as text; NULL: there is no default */
   const char *const *choices; /* the words that are allowed, NULL-terminated; NULL: not a choice of words */
   bool required;
   const char *meaning;
} rkb_key_t;

/* Tables end with a NULL name. */

/* Adds a problem for each key of map that the table does not list for the mappings in `of`.  what names the mapping. */
void rkb_keys_only(const rkb_key_t *table, const rkb_yaml_t *map, const char *what, uint32_t of,
                   rkb_problems_t *problems);

/* The table's entry for name among those whose `of` shares a bit with the argument `of`; NULL when there is none. */
const rkb_key_t *rkb_key_find(const rkb_key_t *table, const char *name, uint32_t of);

#endif
