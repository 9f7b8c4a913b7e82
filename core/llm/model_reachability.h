/* Checks before a run begins that its models can be asked: key, address and name of each.  Runs an event loop of its own on the
 * calling thread. */
#ifndef RKB_LLM_MODEL_REACHABILITY_H
#define RKB_LLM_MODEL_REACHABILITY_H

#include "llm/llm.h"

enum rkb_presence {
   RKB_PRESENCE_FOUND = 1,   /* the server has the model */
   RKB_PRESENCE_UNTOLD,      /* the server answers, but does not say which models it has */
   RKB_PRESENCE_NO_KEY,      /* the key is missing or cannot be one */
   RKB_PRESENCE_UNREACHABLE, /* nothing answers at the address */
   RKB_PRESENCE_REFUSED,     /* the server does not take the key */
   RKB_PRESENCE_UNKNOWN      /* the server has no such model */
};

typedef struct rkb_presence_report {
   const char *model;  /* the entry's name; lives as long as the models */
   uint32_t state;     /* enum rkb_presence */
   char text[640];     /* one sentence, without keys */
} rkb_presence_report_t;

/* Checks every model that is used, is not replayed and is no command, unless its entry says check: false.
 * Takes at most a minute, and ten seconds when nothing answers.  With send_keys, keys go to any address that
 * the pipeline names, as they do in a run; otherwise they go only to the providers' own addresses.  tell is
 * called once for each model, in the order of the file. */
void rkb_models_look_for(const rkb_models_t *models, bool send_keys, void (*tell)(void *argument, const rkb_presence_report_t *report),
                         void *argument);

static inline bool rkb_reachability_is_good(uint32_t state) {
   return state == RKB_PRESENCE_FOUND || state == RKB_PRESENCE_UNTOLD;
}

#endif
