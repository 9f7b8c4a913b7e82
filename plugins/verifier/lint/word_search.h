/* Finds occurrences of words in a candidate: identifiers of its code and of macro bodies, and words of inline PTX.  Owns nothing;
 * any thread. */
#ifndef LINT_WORD_SEARCH_H
#define LINT_WORD_SEARCH_H

#include "rules.h"

/* One occurrence of a word. */
typedef struct word {
   const source_t *source;
   uint32_t index;
   uint32_t line, column; /* in the candidate, whichever text the word was found in */
   bool in_ptx, in_macro;
} word_t;

typedef void (*word_visit_t)(void *argument, const word_t *word);

/* Every identifier of a candidate, in the order of the text; those of PTX strings and macro bodies at the places of what they stand in. */
void lint_each_word(const lint_subject_t *subject, word_visit_t visit, void *argument);

#endif
