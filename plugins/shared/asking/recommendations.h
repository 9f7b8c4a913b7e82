/* Answers of one model before another writes the kernel: three recommendations from a kernel's profiles, and
 * a plan in words.  Recommendations belong to the profile of one candidate, and are kept in the note of the
 * candidate that was made with them.  A later request with the same profile reuses them without asking again;
 * as with every note, only requests after its window see it.  Runs on the job's worker. */
#ifndef PLUGIN_ASKING_RECOMMENDATIONS_H
#define PLUGIN_ASKING_RECOMMENDATIONS_H

#include "side_question.h"

/* Slot "advice" for the candidate of that number: from a visible note, else by a question.  *note (owned, or
 * NULL): where the question was asked now, what the note of the job's candidate is to hold. */
int advice_add(context_t *context, const rkb_llm_api_t *llm, const side_question_t *question, int64_t candidate, char **note, rkb_error_t *err);

/* Slot "plan", by a question; *worth_usd receives its price, 0 when there is no plan. */
int plan_add(context_t *context, const rkb_llm_api_t *llm, const side_question_t *question, double *worth_usd, rkb_error_t *err);

#endif
