/* Prompts that evolve: variants of the guidance that a prompt gives, each with a gain of its own.
 *
 * Variant 0 gives none.  Every few generations one request has a model write another from the outcomes of those that are known; it stands in the
 * note of that request's candidate, and its number is that candidate's.  Every request draws its variant by UCB1 from what the candidates
 * gained that were made with each.  Both follow from the request's number and window alone, so that a run repeats itself and a resumed
 * one goes on alike.  On the job's worker. */
#ifndef PLUGIN_ASKING_VARIANTS_H
#define PLUGIN_ASKING_VARIANTS_H

#include "side_question.h"

#define VARIANTS_MOST 8 /* the number of newest variants that are still drawn, in addition to variant 0 */

typedef struct variants_told {
   char *note;      /* owned: what the note of the job's candidate holds when a variant was written now; or NULL */
   int64_t variant; /* the one that was drawn; 0: none */
} variants_told_t;

/* Draws a variant and adds it as slot "guidance"; then, when it is this request's turn, asks for another.  every: generations; 0: nothing
 * happens.  number: the request's. */
int variants_add(context_t *context, const rkb_llm_api_t *llm, const side_question_t *question, int64_t number, int64_t every,
                 variants_told_t *told, rkb_error_t *err);

#endif
