/* Kernels' texts as an embedding model sees them, kept in notes so that each is bought once.
 *
 * A vector is kept as its sketch: 64 sums of its numbers with fixed random signs (Achlioptas, 'Database-friendly random projections',
 * 2003), of which the cosine of two vectors is estimated with a standard error of (1 - c^2) / 8: below 0.01 where c is above 0.96.  A
 * sketch stands in its candidate's note.  On the job's worker. */
#ifndef PLUGIN_ASKING_EMBEDDING_H
#define PLUGIN_ASKING_EMBEDDING_H

#include "model_choice.h"

#define EMBEDDING_SUMS 64
#define EMBEDDING_CHILD 512 /* of a job's questions: this and the number of the question for the kernel */

typedef struct embedding {
   bool known;
   signed char sums[EMBEDDING_SUMS];
   double worth_usd;
} embedding_t;

/* Asks the model for the text.  Without an answer that is a vector the embedding is not known, which is no failure. */
int embedding_ask(context_t *context, const rkb_llm_api_t *llm, const char *model, const char *text, uint32_t child, embedding_t *embedding,
                  rkb_error_t *err);
/* From a reply's text, a JSON array of numbers; false when it is none. */
bool embedding_read(const char *text, embedding_t *embedding);
double embedding_cosine(const embedding_t *one, const embedding_t *other);

/* The part of a note that keeps it, from a line end on. */
const char *embedding_note(context_t *context, const char *model, const embedding_t *embedding);
/* The visible candidate whose embedding by that model is nearest, from a cosine of least on; NULL: there is none. */
const rkb_archive_row_t *embedding_repeated(const context_t *context, const char *model, const embedding_t *embedding, double least, double *cosine);

#endif
