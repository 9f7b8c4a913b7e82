/* One question in progress; ask.c, answer.c and replays.c share it.  Any thread; one thread at a time per question. */
#ifndef RKB_LLM_PENDING_QUESTION_H
#define RKB_LLM_PENDING_QUESTION_H

#include "base/hash.h"
#include "llm/llm_internal.h"
#include "llm/provider.h"

typedef struct rkb_pending_question {
   rkb_llm_t *llm;
   const rkb_llm_asker_t *asker;
   const rkb_llm_question_t *question;
   const rkb_model_t *model;
   char *body;
   char *prompt;            /* as stored in the archive */
   char key[RKB_HASH_TEXT]; /* does not include the draw */
   char draw_key[RKB_HASH_TEXT];
   rkb_call_record_t call;
   double charged; /* charged by all attempts, those of earlier processes included */
   bool estimated;
} rkb_pending_question_t;

/* answer.c */

/* Makes an answer from a text (or NULL) and a message (or NULL), both without keys; owned, free it with
 * rkb_llm_answer_free. */
rkb_llm_answer_t *rkb_pending_answer(const rkb_pending_question_t *pending, uint32_t outcome,
                                     const rkb_text_t *text, const char *message);
/* Makes the answer of a complete reply; source is NULL for a reply from the provider itself. */
rkb_llm_answer_t *rkb_pending_answer_reply(const rkb_pending_question_t *pending, const rkb_reply_t *reply,
                                           const char *source, double worth, double seconds);
uint32_t rkb_reply_outcome(const rkb_reply_t *reply); /* enum rkb_llm_outcome of a whole reply */
const char *rkb_run_result_message(uint32_t outcome);
/* The reply's cost in USD at the model's price; 0 without a final report of its usage. */
double rkb_reply_worth(const rkb_model_t *model, const rkb_reply_t *reply);
/* Fills in a row's reply and tokens.  The texts still belong to the reply. */
void rkb_call_fill(rkb_call_record_t *call, const rkb_reply_t *reply, bool replied);

/* replays.c */

/* The answer that an earlier process stored in the archive. */
rkb_llm_answer_t *rkb_pending_answer_found(const rkb_pending_question_t *pending,
                                           const rkb_call_found_t *found);
/* *answered false: neither cassette nor cache has it. */
int rkb_pending_try_replays(rkb_pending_question_t *pending, bool *answered, rkb_llm_answer_t **answer,
                            rkb_error_t *err);
/* Stores a bought reply in the cache and the cassette, as the model's entry says. */
void rkb_pending_keep(const rkb_pending_question_t *pending, const rkb_reply_t *reply);

#endif
