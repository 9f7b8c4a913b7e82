/* The keys of a kind of YAML mapping as a table: what the reader takes and what the program and the documentation say about it.
 * Constants; any thread. */
#ifndef RKB_BASE_KEYS_H
#define RKB_BASE_KEYS_H

#include "base/yaml.h"

typedef struct rkb_key {
   const char *name;
   uint32_t of;                /* the mappings that have it, as bits of the table's own enum */
   const char *fallback;       /* what holds without it; NULL: nothing does */
   const char *const *choices; /* words it takes, NULL-terminated; NULL: other values */
   bool required;
   const char *meaning;
} rkb_key_t;

/* Tables end with a NULL name. */

/* Adds a problem for each key of the mapping that none of the table's entries with a bit of of has; what names the mapping. */
void rkb_keys_only(const rkb_key_t *table, const rkb_yaml_t *map, const char *what, uint32_t of,
                   rkb_problems_t *problems);

/* The entry of that name among those with a bit of of; NULL when there is none. */
const rkb_key_t *rkb_key_find(const rkb_key_t *table, const char *name, uint32_t of);

#endif
