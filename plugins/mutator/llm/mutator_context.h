/* The stage rkb.mutator.llm with its options, and the kernels that one of its requests works on and shows to the model.  Any
 * thread. */
#ifndef LLM_MUTATOR_CONTEXT_H
#define LLM_MUTATOR_CONTEXT_H

#include <rkb/ext/llm.h>
#include "asking/context.h"
#include "asking/structure_cache.h"

enum mode { IMPROVE, FIX, CROSSOVER, EXPLORE };

typedef struct mutator_config {
   const char *mode;
   rkb_prompt_t improve, fix, crossover, explore, lean_prompt, distil, plan, advise, evolve;
   rkb_table_list_t models, planner, advisor;
   const char *choice, *rejects, *embedding, *profile;
   double near, lean, alike;
   int64_t proposals, again, best, verdicts, siblings, scratchpad, library, variants;
} mutator_config_t;

typedef struct mutator {
   const rkb_host_t *host;
   const mutator_config_t *config;
   const rkb_llm_api_t *llm;
   context_services_t services;
   structure_cache_t *structures; /* owned */
   enum mode mode;
} mutator_t;

/* Fills the slots of the prompt.  *edited: the text to which edits apply, or NULL.  False: this request gives no kernel to work on. */
bool mutator_context_fill(const mutator_t *me, context_t *context, const rkb_item_t *in, const char **edited);

/* The parents of the new candidate.  For a crossover they are all kernels that the prompt showed; otherwise
 * the one that was changed.  A fix of a kernel that the strategy did not name has no parent, because only a
 * request's own candidates may be named as parents. */
uint32_t mutator_context_parents(const mutator_t *me, const rkb_item_t *in, const char *edited,
                                 const rkb_item_t **parents);

#endif
