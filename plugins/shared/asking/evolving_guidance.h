/* Prompts that evolve: variants of the guidance that a prompt gives, and what was gained with each.
 *
 * Variant 0 gives no guidance.  Every few generations one request has a model write another variant, from the outcomes of the known ones.
 * The note of that request's candidate holds it, and the candidate's number is its number.  Every request draws its variant by UCB1, from
 * what the candidates made with each variant gained.  Both depend on the request's number and window alone, so that a run repeats itself,
 * and a resumed run goes on in the same way.  Runs on the job's worker. */
#ifndef PLUGIN_ASKING_EVOLVING_GUIDANCE_H
#define PLUGIN_ASKING_EVOLVING_GUIDANCE_H

#include "side_question.h"

#define VARIANTS_MOST 8 /* the number of newest variants that are still drawn, in addition to variant 0 */

typedef struct variants_told {
   /* Owned: what the note of the job's candidate holds, if a variant was written now; or NULL. */
   char *note;
   int64_t variant; /* the variant that was drawn; 0: none */
} variants_told_t;

/* Draws a variant and adds it as slot "guidance"; then, where it is this request's turn, asks for another.
 * every: generations; 0: nothing happens.  number: the request's number. */
int evolving_guidance_add(context_t *context, const rkb_llm_api_t *llm, const side_question_t *question,
                          int64_t number, int64_t every, variants_told_t *told, rkb_error_t *err);

#endif
