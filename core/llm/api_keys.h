/* The keys of a run's models: read once, kept out of core files and of every text this program writes. */
#ifndef RKB_LLM_API_KEYS_H
#define RKB_LLM_API_KEYS_H

#include "base/text.h"
#include "llm/model_entry.h"

typedef struct rkb_keys rkb_keys_t;

/* Reads the key of every model that is not replayed.  From the first key on this process leaves no core file
 * and cannot be traced by others of the same user (PR_SET_DUMPABLE; prctl(2)).  A key that is named and
 * absent is an error. */
int rkb_keys_open(const rkb_models_t *models, rkb_keys_t **keys, rkb_error_t *err);
void rkb_keys_close(rkb_keys_t *keys);                                     /* wipes them; NULL is accepted */
const char *rkb_keys_of(const rkb_keys_t *keys, const rkb_model_t *model); /* NULL when it has none */
/* Overwrites every key that occurs in the text with asterisks: what a server echoes must not reach a log. */
void rkb_keys_strip(const rkb_keys_t *keys, char *text, size_t bytes);

#endif
