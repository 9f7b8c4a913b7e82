/* The keys of a run's models.  They are read once, and kept out of core files and out of every text that this program writes. */
#ifndef RKB_LLM_API_KEYS_H
#define RKB_LLM_API_KEYS_H

#include "base/text.h"
#include "llm/model_entry.h"

typedef struct rkb_keys rkb_keys_t;

/* Reads the key of every model that is not replayed.  Once a key was read, the process leaves no core file and other processes of
 * the same user cannot trace it (PR_SET_DUMPABLE; prctl(2)).  A key that is named but absent is an error. */
int rkb_keys_open(const rkb_models_t *models, rkb_keys_t **keys, rkb_error_t *err);
/* Reads the key of one model; the caller wipes and frees it.  *key is NULL for a model that sends none.
 * Protects the process as rkb_keys_open does. */
int rkb_key_read(const rkb_model_t *model, char **key, rkb_error_t *err);
void rkb_keys_close(rkb_keys_t *keys); /* wipes the keys; NULL is accepted */
const char *rkb_keys_of(const rkb_keys_t *keys, const rkb_model_t *model); /* NULL when the model has none */
/* Overwrites every key in the text with asterisks.  A server may echo a key, and a log must not contain it. */
void rkb_keys_strip(const rkb_keys_t *keys, char *text, size_t bytes);

#endif
