/* The scratchpad: lessons that a model distils from what the run has found, every few generations.
 *
 * One request distils, and the note of its candidate keeps the lessons.  Later requests see the note as they
 * see everything else: after the window.  The number of a request and what its window shows decide whether it
 * distils, so that a run repeats itself, and a resumed run goes on in the same way. */
#ifndef PLUGIN_ASKING_LESSONS_H
#define PLUGIN_ASKING_LESSONS_H

#include "model_choice.h"

#define LESSONS_MOST_BYTES 2048

/* Slot "lessons": the newest lessons that the window shows, if any. */
void lessons_add(context_t *context);

/* Returns how many whole generations the job sees; *window: how many requests a generation has. */
int64_t lessons_generations(const context_t *context, int64_t *window);

/* Whether a request is to distil.  Lessons are due every so many generations (0: never).  As long as no
 * lessons that late are visible, the first request that sees another generation distils. */
bool lessons_due(const context_t *context, int64_t number, int64_t every);

/* Asks one of the models for lessons.  RKB_OK with *note (owned), the end of a candidate's note.  NULL when there was no answer or
 * the budget is spent: the job goes on without lessons. */
int lessons_distil(const context_t *context, const rkb_llm_api_t *llm, const rkb_prompt_t *prompt,
                   const choice_model_t *models, uint32_t model_count, const char *choice,
                   const char *objective, char **note, rkb_error_t *err);

#endif
