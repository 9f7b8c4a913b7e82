/* Cassettes: exchanges with a model in one readable file, which are replayed instead of sent.  docs/language-models.md has the
 * format.  An exchange never contains keys or headers.  A loaded cassette does not change; any thread may use it. */
#ifndef RKB_LLM_CASSETTE_H
#define RKB_LLM_CASSETTE_H

#include "llm/provider.h"

typedef struct rkb_cassette rkb_cassette_t;

/* A question, with all parts by which an exchange may be found. */
typedef struct rkb_cassette_question {
   const char *key; /* over provider, address, model, body and draw */
   const char *stage;
   const char *system, *user;
   int64_t request, child;
} rkb_cassette_question_t;

/* Reads a cassette; NULL after adding problems.  Passes the file's hash to depends. */
rkb_cassette_t *rkb_cassette_load(rkb_arena_t *arena, const char *path, rkb_place_t place,
                                  void (*depends)(void *argument, const char *hash), void *argument,
                                  rkb_problems_t *problems);
/* Fills reply from the exchange with this key, or else from the first exchange whose stage, request, child and texts all match.
 * False when there is none.  The same question always finds the same exchange. */
bool rkb_cassette_play(const rkb_cassette_t *cassette, const rkb_cassette_question_t *question,
                       rkb_reply_t *reply);

/* Appends one exchange to the file at path.  A new file gets a header.  [any], but only one process at a time. */
int rkb_cassette_record(const char *path, const rkb_model_t *model, const rkb_cassette_question_t *question,
                        const rkb_reply_t *reply, rkb_error_t *err);

#endif
