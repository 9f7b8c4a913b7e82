/* Limits the load on a provider: questions in progress at once, and requests and tokens per minute.  All
 * models at one address share the limits.  Any thread except the loop's. */
#ifndef RKB_LLM_RATE_LIMITS_H
#define RKB_LLM_RATE_LIMITS_H

#include "llm/model_entry.h"

typedef struct rkb_limits rkb_limits_t;

rkb_limits_t *rkb_limits_new(const rkb_models_t *models);
void rkb_limits_free(rkb_limits_t *limits);

/* A waiter calls this regularly; true ends the wait. */
typedef bool (*rkb_give_up_t)(void *argument);

/* Waits until a question of at most this many tokens may start.  False when give_up ended the wait. */
bool rkb_limits_take(rkb_limits_t *limits, const rkb_model_t *model, int64_t tokens, rkb_give_up_t give_up,
                     void *argument);
/* Ends a question.  used: the tokens it really used; negative when not known. */
void rkb_limits_give(rkb_limits_t *limits, const rkb_model_t *model, int64_t reserved, int64_t used);
/* Sleeps.  False when give_up ended the sleep. */
bool rkb_limits_pause(uint64_t nanoseconds, rkb_give_up_t give_up, void *argument);

#endif
