/* Language models: the entries under a pipeline's "models:", and questions to them (<rkb/ext/llm.h> without
 * jobs).
 *
 * Threads.  Models are read and checked by the thread that opens the pipeline.  Open and close are [loop].
 * ask blocks and is called on any thread but the loop's, which must be turning meanwhile: transfers run
 * there. */
#ifndef RKB_LLM_LLM_H
#define RKB_LLM_LLM_H

#include <rkb/ext/llm.h>
#include "base/log.h"
#include "base/yaml.h"
#include "archive/archive.h"
#include "system/http.h"
#include "system/loop.h"

typedef struct rkb_models rkb_models_t;
typedef struct rkb_llm rkb_llm_t;

/* Reads "models:" (NULL or a null node: none).  Everything lives in the arena.  All problems are added: also
 * a model without a price, or without an output limit, where money is limited (cost_limit 0 or more).  Keys
 * are named, not read.  The bytes that values alone do not show (cassettes, the price table) are given to
 * depends, when it is not NULL. */
rkb_models_t *rkb_models_read(rkb_arena_t *arena, const rkb_yaml_t *yaml, double cost_limit,
                              void (*depends)(void *argument, const char *hash), void *argument,
                              rkb_problems_t *problems);
uint32_t rkb_models_count(const rkb_models_t *models); /* NULL has none */
const rkb_llm_model_t *rkb_models_at(const rkb_models_t *models, uint32_t index);
const rkb_llm_model_t *rkb_models_find(const rkb_models_t *models, const char *name);
/* How many questions may be under way at once, all models together. */
uint32_t rkb_models_concurrency(const rkb_models_t *models);
/* Whether any of them sends over HTTP (and is not replayed). */
bool rkb_models_need_http(const rkb_models_t *models);

typedef struct rkb_llm_options {
   const rkb_models_t *models; /* borrowed until close */
   rkb_archive_t *archive;     /* or NULL: replies are not kept */
   rkb_loop_t *loop;
   rkb_http_t *http; /* or NULL: this build has none */
   rkb_log_t *log;
   double cost_limit; /* USD; negative: none */
   /* Called once, on any thread, when the money is over; or NULL. */
   void (*over_budget)(void *argument, const char *text);
   void *argument;
} rkb_llm_options_t;

/* Reads the keys, makes this process one that leaves no core file, and marks calls of an earlier process that
 * never ended as charged whole. */
int rkb_llm_open(const rkb_llm_options_t *options, rkb_llm_t **llm, rkb_error_t *err);
void rkb_llm_close(rkb_llm_t *llm); /* no question may be under way; NULL is accepted */

/* Who asks: names the question in the archive. */
typedef struct rkb_llm_asker {
   const char *stage; /* id of the pipeline entry */
   uint32_t section;
   int64_t request;
   int64_t child;
   uint64_t deadline_ns;              /* CLOCK_MONOTONIC; 0: none */
   bool (*cancelled)(void *argument); /* or NULL; asked about 20 times a second */
   void *argument;
} rkb_llm_asker_t;

int rkb_llm_ask(rkb_llm_t *llm, const rkb_llm_asker_t *asker, const rkb_llm_question_t *question,
                rkb_llm_answer_t **answer, rkb_error_t *err);
void rkb_llm_answer_free(rkb_llm_answer_t *answer);

/* Whether a question was turned away because it did not fit under the limit.  [any] */
bool rkb_llm_is_over_budget(const rkb_llm_t *llm);

/* Charged to this run so far, reservations included.  [any] */
double rkb_llm_spent(rkb_llm_t *llm);

#endif
