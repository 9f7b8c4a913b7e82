/* The table of every key under "models:" with its default.  model_entry.c reads the keys, and docs/language-models.md describes them,
 * from this table.  Constants; any thread. */
#ifndef RKB_LLM_MODEL_KEYS_H
#define RKB_LLM_MODEL_KEYS_H

#include "base/key_table.h"

enum rkb_model_map {
   RKB_KEYS_MODEL = 1,
   RKB_KEYS_MODEL_KEY = 2,    /* key: */
   RKB_KEYS_MODEL_LIMITS = 4, /* limits: */
};

/* Sorted as in the documentation. */
extern const rkb_key_t RKB_MODEL_KEYS[];

extern const char *const RKB_CACHE_CHOICES[]; /* cache: enum rkb_cache_use */

#endif
