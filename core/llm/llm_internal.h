/* The language model service of a run; shared by the service's files. */
#ifndef RKB_LLM_LLM_INTERNAL_H
#define RKB_LLM_LLM_INTERNAL_H

#include "llm/api_keys.h"
#include "llm/ledger.h"
#include "llm/rate_limits.h"

struct rkb_llm {
   rkb_llm_options_t options;
   rkb_keys_t *keys;
   rkb_ledger_t *ledger;
   rkb_limits_t *limits;
   bool told_over_budget; /* accessed atomically */
};

/* Calls over_budget the first time it is called.  [any] */
void rkb_llm_tell_over_budget(rkb_llm_t *llm, const rkb_model_t *model, double reservation);

#endif
