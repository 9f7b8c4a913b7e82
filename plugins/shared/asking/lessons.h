/* The scratchpad: lessons that a model distils from what the run has found, every few generations.
 *
 * One request distils, and its candidate's note keeps what came of it; later requests see the note as they see everything else,
 * after the window.  Whether a request distils follows from its number and what its window shows alone, so that a run
 * repeats itself and a resumed one goes on alike. */
#ifndef PLUGIN_ASKING_LESSONS_H
#define PLUGIN_ASKING_LESSONS_H

#include "model_choice.h"

#define LESSONS_MOST_BYTES 2048

/* Slot "lessons": the newest that the window shows, or nothing. */
void lessons_add(context_t *context);

/* Whole generations that the job sees; *window: requests of one. */
int64_t lessons_generations(const context_t *context, int64_t *window);

/* Whether a request is to distil: every generations (0: never) generations it sees, the first of their requests at which no
 * later lessons are visible, one window after the other. */
bool lessons_due(const context_t *context, int64_t number, int64_t every);

/* Asks one of the models for lessons.  RKB_OK with *note (owned), the end of a candidate's note.  NULL when there was no answer or
 * the budget is spent: the job goes on without lessons. */
int lessons_distil(const context_t *context, const rkb_llm_api_t *llm, const rkb_prompt_t *prompt,
                   const choice_model_t *models, uint32_t model_count, const char *choice,
                   const char *objective, char **note, rkb_error_t *err);

#endif
