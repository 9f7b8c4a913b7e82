/* Kernels' texts as an embedding model sees them.  Notes keep the embeddings, so that each is bought once.
 *
 * A note keeps a vector as its sketch: 64 sums of its numbers with fixed random signs (Achlioptas,
 * 'Database-friendly random projections', 2003).  From sketches the cosine of two vectors is estimated with a
 * standard error of (1 - c^2) / 8: below 0.01 where c is above 0.96.  Runs on the job's worker. */
#ifndef PLUGIN_ASKING_EMBEDDING_H
#define PLUGIN_ASKING_EMBEDDING_H

#include "model_choice.h"

#define EMBEDDING_SUMS 64
/* The question about a kernel has this number and the kernel's, among a job's questions. */
#define EMBEDDING_CHILD 512

typedef struct embedding {
   bool known;
   signed char sums[EMBEDDING_SUMS];
   double worth_usd;
} embedding_t;

/* Asks the model for the text's embedding.  Where the answer is no vector, the embedding stays unknown; that
 * is no failure. */
int embedding_ask(context_t *context, const rkb_llm_api_t *llm, const char *model, const char *text, uint32_t child, embedding_t *embedding,
                  rkb_error_t *err);
/* Reads a reply's text, a JSON array of numbers; false when it is something else. */
bool embedding_read(const char *text, embedding_t *embedding);
double embedding_cosine(const embedding_t *one, const embedding_t *other);

/* Returns the part of a note that keeps the embedding, from a line end on. */
const char *embedding_note(context_t *context, const char *model, const embedding_t *embedding);
/* Returns the visible candidate whose embedding by that model is nearest, if their cosine is at least
 * `least`; else NULL. */
const rkb_archive_row_t *embedding_repeated(const context_t *context, const char *model, const embedding_t *embedding, double least, double *cosine);

#endif
