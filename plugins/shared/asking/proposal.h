/* From a filled context to a candidate: asks a model, reads its reply, and emits a candidate. */
#ifndef PLUGIN_ASKING_PROPOSAL_H
#define PLUGIN_ASKING_PROPOSAL_H

#include "model_choice.h"
#include "structure_cache.h"

#define PROPOSAL_MOST 16     /* proposals of a job */
#define PROPOSAL_MOST_AGAIN 3 /* their questions have numbers below SIDE_LESSONS (side_question.h) */

/* A proposal: what is asked, and how. */
typedef struct proposal {
   const rkb_prompt_t *prompt;
   const choice_model_t *models;
   uint32_t model_count;
   const char *choice; /* "weights", "ucb", "thompson" */
   uint32_t child;     /* which of the job's proposals */
   const char *what;   /* for the note: "translation", "fix of 12" */
   const rkb_item_t *const *parents;
   uint32_t parent_count;
   const char *advice;  /* what its note says after its first line (recommendations.h), or NULL */
   const char *guidance; /* the same of guidance (evolving_guidance.h), or NULL */
   int64_t variant;      /* the number of the guidance it was made with; 0: none */
   const char *lessons;  /* what its note ends with (lessons.h), or NULL */
   double worth_usd;     /* of questions that were asked for it before, and that count with its own */
   uint32_t again;      /* how often to ask again when a reply repeats a candidate, at most PROPOSAL_MOST_AGAIN */
   double near;         /* how alike structures must be to count as a repetition (novelty.h); above 1: only texts do */
   structure_cache_t
      *structures;        /* of the kernels that were compared before; not NULL where again is not 0 */
   const char *embedding; /* a model that embeds replies, or NULL or "" */
   double alike;        /* from which cosine on two embeddings count as a repetition */
   const char *edited;  /* text that edits of the reply apply to, or NULL: only whole kernels are read */
} proposal_t;

enum proposal_result {
   PROPOSAL_MADE = 1, /* a candidate was emitted, even if its reply cannot be used */
   PROPOSAL_NONE,     /* nothing to emit, because there was no money or no reply; err->message says which */
};

/* Returns RKB_OK with *result, or a failure of the program itself. */
int proposal_make(context_t *context, const rkb_llm_api_t *llm, const proposal_t *proposal, uint32_t *result,
                  rkb_error_t *err);

#endif
