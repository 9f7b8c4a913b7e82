/* Language models: the entries under a pipeline's "models:", and questions to them (<rkb/ext/llm.h> without jobs).
 *
 * Threads.  The thread that opens the pipeline reads and checks the models.  Open and close are [loop].  ask blocks; call it on
 * any thread except the loop's.  The loop must be running meanwhile, because transfers run on it. */
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

/* Reads "models:" (NULL or a null node: no models).  Everything lives in the arena.  Adds all problems; if
 * money is limited (cost_limit 0 or more), a model without a price or an output limit is a problem too.  Keys
 * are named, not read.  If depends is not NULL, it receives the hashes of files that the entries refer to
 * (cassettes, the price table).  used: for each entry of yaml, whether a stage names it; an unused entry
 * needs no key and cannot be asked.  NULL: all are used. */
rkb_models_t *rkb_models_read(rkb_arena_t *arena, const rkb_yaml_t *yaml, const bool *used, double cost_limit,
                              void (*depends)(void *argument, const char *hash), void *argument,
                              rkb_problems_t *problems);
uint32_t rkb_models_count(const rkb_models_t *models); /* 0 for NULL */
const rkb_llm_model_t *rkb_models_at(const rkb_models_t *models, uint32_t index);
const rkb_llm_model_t *rkb_models_find(const rkb_models_t *models, const char *name);
/* The largest number of questions in progress at once, over all models. */
uint32_t rkb_models_concurrency(const rkb_models_t *models);
/* Whether any model that is not replayed is reached over HTTP. */
bool rkb_models_need_http(const rkb_models_t *models);

typedef struct rkb_llm_options {
   const rkb_models_t *models; /* borrowed until close */
   rkb_archive_t *archive;     /* or NULL: replies are not stored */
   rkb_loop_t *loop;
   rkb_http_t *http; /* or NULL in a build without HTTP */
   rkb_log_t *log;
   double cost_limit; /* USD; negative: none */
   /* Called once, on any thread, when a question did not fit the budget; may be NULL. */
   void (*over_budget)(void *argument, const char *text);
   void *argument;
} rkb_llm_options_t;

/* Reads the keys, makes this process leave no core file, and charges in full the calls that an earlier process never ended. */
int rkb_llm_open(const rkb_llm_options_t *options, rkb_llm_t **llm, rkb_error_t *err);
void rkb_llm_close(rkb_llm_t *llm); /* no question may be in progress; NULL is accepted */

/* The asker of a question; identifies the question in the archive. */
typedef struct rkb_llm_asker {
   const char *stage; /* id of the pipeline entry */
   uint32_t section;
   int64_t request;
   int64_t child;
   uint64_t deadline_ns;              /* CLOCK_MONOTONIC; 0: none */
   bool (*cancelled)(void *argument); /* or NULL; called about 20 times a second */
   void *argument;
} rkb_llm_asker_t;

int rkb_llm_ask(rkb_llm_t *llm, const rkb_llm_asker_t *asker, const rkb_llm_question_t *question,
                rkb_llm_answer_t **answer, rkb_error_t *err);
void rkb_llm_answer_free(rkb_llm_answer_t *answer);

/* Whether a question was refused because it did not fit the budget.  [any] */
bool rkb_llm_is_over_budget(const rkb_llm_t *llm);

/* USD charged to this run so far, reservations included.  [any] */
double rkb_llm_spent(rkb_llm_t *llm);
/* As rkb_llm_spent, split into charges and reservations. */
void rkb_llm_money(rkb_llm_t *llm, double *charged, double *reserved);

#endif
